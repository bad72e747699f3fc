// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kind has two stems of keys; what is written below them is one of three rules. Values become
 * parts of keys here, so a label whose key would be illegal is left out.
 */
#include "config.h"

#include "scan/amd_kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "scan/amd_topology.h"
#include "scan/pci_bus.h"

struct kind {
	const char *stem[2]; /* the second may be NULL */
	const char *source;  /* below the root */
	void (*write)(struct nfd_scan *scan, const struct kind *kind,
		      const struct nfd_amd_value *value, size_t count);
};

static void put_value(struct nfd_scan *scan, const struct kind *kind, const char *stem,
		      const struct nfd_amd_value *value)
{
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = value->text,
					     .path = kind->source };

	nfd_scan_label(scan, &finding, "%s", stem);
}

static void put_count(struct nfd_scan *scan, const struct kind *kind, const char *stem,
		      const struct nfd_amd_value *value)
{
	char key[NFD_LABEL_KEY_SIZE];

	snprintf(key, sizeof(key), "%s.%s", stem, value->text);
	if (nfd_label_key_check(key, NULL) < 0) {
		nfd_log(NFD_LOG_DEBUG, "left out a label whose key would be too long", "key", key,
			NULL);
		return;
	}
	nfd_scan_count(scan, NFD_RANK_DETAIL, value->count, kind->source, "%s", key);
}

static void write_counts(struct nfd_scan *scan, const struct kind *kind,
			 const struct nfd_amd_value *value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_count(scan, kind, kind->stem[0], &value[i]);
}

static void write_agreed(struct nfd_scan *scan, const struct kind *kind,
			 const struct nfd_amd_value *value, size_t count)
{
	for (size_t i = 0; count == 1 && i < NFD_ARRAY_SIZE(kind->stem); i++)
		put_value(scan, kind, kind->stem[i], value);
}

/* The usual rule: a count per value below the first stem; the rest depends on whether all agree. */
static void write_common(struct nfd_scan *scan, const struct kind *kind,
			 const struct nfd_amd_value *value, size_t count)
{
	write_counts(scan, kind, value, count);
	write_agreed(scan, kind, value, count);
	for (size_t i = 0; count > 1 && i < count; i++)
		put_count(scan, kind, kind->stem[1], &value[i]);
}

#define BOTH(name)                                            \
	{                                                     \
		"beta.amd.com/gpu." name, "amd.com/gpu." name \
	}

static const struct kind kinds[NFD_AMD_KIND_COUNT] = {
	[NFD_AMD_DEVICE_ID] = { BOTH("device-id"), NFD_PCI_DEVICES, write_common },
	[NFD_AMD_PRODUCT_NAME] = { BOTH("product-name"), NFD_PCI_DEVICES, write_common },
	[NFD_AMD_FIRMWARE] = { { "beta.amd.com/gpu.firmware" }, NFD_PCI_DEVICES, write_counts },
	/* The labeller's key has moved below "gpu."; its documentation has the other one. */
	[NFD_AMD_PARTITION] = { { "amd.com/gpu.compute-memory-partition",
				  "amd.com/compute-memory-partition" },
				NFD_PCI_DEVICES,
				write_agreed },
	[NFD_AMD_VRAM] = { BOTH("vram"), NFD_AMD_TOPOLOGY, write_common },
	[NFD_AMD_SIMD_COUNT] = { BOTH("simd-count"), NFD_AMD_TOPOLOGY, write_common },
	[NFD_AMD_CU_COUNT] = { BOTH("cu-count"), NFD_AMD_TOPOLOGY, write_common },
	[NFD_AMD_FAMILY] = { BOTH("family"), NFD_AMD_TOPOLOGY, write_common },
};

static struct nfd_amd_value *add_value(struct nfd_amd_counts *counts, enum nfd_amd_kind kind)
{
	struct nfd_amd_value *bigger;

	bigger = realloc(counts->of[kind].value, (counts->of[kind].count + 1) * sizeof(*bigger));
	if (!bigger)
		return NULL;
	counts->of[kind].value = bigger;
	bigger += counts->of[kind].count++;
	*bigger = (struct nfd_amd_value){ .count = 0 };
	return bigger;
}

void nfd_amd_count(struct nfd_scan *scan, struct nfd_amd_counts *counts, enum nfd_amd_kind kind,
		   const char *text)
{
	struct nfd_amd_value *value = NULL;
	char legal[NFD_LABEL_VALUE_SIZE];

	if (nfd_label_value_from_version(text, legal) == 0)
		return;
	for (size_t i = 0; i < counts->of[kind].count && !value; i++)
		if (strcmp(counts->of[kind].value[i].text, legal) == 0)
			value = &counts->of[kind].value[i];
	if (!value)
		value = add_value(counts, kind);
	if (!value) {
		scan->error = -ENOMEM;
		return;
	}
	memcpy(value->text, legal, sizeof(legal));
	value->count++;
}

void nfd_amd_failed(struct nfd_scan *scan, struct nfd_amd_counts *counts, enum nfd_amd_kind first,
		    enum nfd_amd_kind last, const char *path, int code)
{
	if (code == -ENOMEM)
		scan->error = code;
	for (size_t i = first; i <= last && !nfd_root_is_absent(code); i++) {
		counts->of[i].is_unknown = true;
		for (size_t j = 0; j < NFD_ARRAY_SIZE(kinds[i].stem) && kinds[i].stem[j]; j++)
			nfd_scan_failed(scan, kinds[i].stem[j], path, code);
	}
}

void nfd_amd_counts_write(struct nfd_scan *scan, const struct nfd_amd_counts *counts)
{
	for (size_t i = 0; i < NFD_AMD_KIND_COUNT; i++)
		if (!counts->of[i].is_unknown)
			kinds[i].write(scan, &kinds[i], counts->of[i].value, counts->of[i].count);
}

void nfd_amd_counts_done(struct nfd_amd_counts *counts)
{
	for (size_t i = 0; i < NFD_AMD_KIND_COUNT; i++)
		free(counts->of[i].value);
	*counts = (struct nfd_amd_counts){ 0 };
}
