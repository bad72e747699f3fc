// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sys/bus/node/devices, proc/swaps, sys/bus/nd/devices/<device>/{devtype,mode} and
 * sys/kernel/mm/hugepages/hugepages-<size>kB/nr_hugepages.
 */
#include "config.h"

#include "scan/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/instance.h"

#define NODES "sys/bus/node/devices"
#define SWAPS "proc/swaps"
#define ND_DEVICES "sys/bus/nd/devices"
#define HUGEPAGES "sys/kernel/mm/hugepages"
#define SWAPS_MAX 65536
#define PATH_SIZE 512

enum { ND_DEVTYPE, ND_MODE };

static const struct nfd_instance_kind nd_kind = {
	.feature = "memory.nv",
	.dir = ND_DEVICES,
	.file = { "devtype", "mode" },
	.label_files = 1U << ND_DEVTYPE,
	.prefix = NFD_F "memory-nv.dax",
};

static const char *true_or_false(bool is_true)
{
	return is_true ? "true" : "false";
}

static void scan_numa(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names nodes = { 0 };
	char count[32];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = "true", .path = NODES, .detail = count
	};
	int r = nfd_root_list(scan->root, NODES, &nodes);

	if (r < 0) {
		nfd_scan_failed(scan, NFD_F "memory-numa", NODES, r);
		return;
	}
	snprintf(count, sizeof(count), "%zu", nodes.count);
	nfd_scan_feature(scan, "memory.numa", "is_numa", true_or_false(nodes.count > 1));
	nfd_scan_feature(scan, "memory.numa", "node_count", count);
	if (nodes.count > 1)
		nfd_scan_label(scan, &finding, NFD_F "memory-numa");
}

/* Lines that hold more than blanks; @text is changed. */
static size_t count_lines(char *text)
{
	size_t count = 0;
	char *line;

	while ((line = strsep(&text, "\n")))
		count += *nfd_trim(line) != '\0';
	return count;
}

/* The first line is a heading. */
static void scan_swap(struct nfd_scan *scan)
{
	static const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
						    .value = "true",
						    .path = SWAPS };
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(scan->root, SWAPS, SWAPS_MAX, &text);
	bool is_on;

	if (len < 0) {
		nfd_scan_failed(scan, NFD_F "memory-swap", SWAPS, (int)len);
		return;
	}
	is_on = count_lines(text) > 1;
	nfd_scan_feature(scan, "memory.swap", "enabled", true_or_false(is_on));
	if (is_on)
		nfd_scan_label(scan, &finding, NFD_F "memory-swap");
}

/* Regions, namespaces, buses and DIMMs alike: all are devices on that bus. */
static void scan_nv(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names devices = { 0 };
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
				       .value = "true",
				       .path = ND_DEVICES };
	int r = nfd_root_list(scan->root, ND_DEVICES, &devices);

	if (r < 0)
		nfd_scan_failed(scan, NFD_F "memory-nv.", ND_DEVICES, r);
	if (r == 0 || r == -ENOENT)
		nfd_scan_feature_set(scan, NFD_INSTANCES, nd_kind.feature);
	for (size_t i = 0; i < devices.count; i++) {
		struct nfd_instance device;

		nfd_scan_entry(scan, &nd_kind, devices.name[i], &device);
		if (device.has[ND_DEVTYPE] && strcmp(device.text[ND_DEVTYPE], "nd_dax") == 0)
			nfd_scan_entry_label(scan, &nd_kind, devices.name[i], &device, ND_DEVTYPE,
					     NFD_F "memory-nv.dax");
	}
	finding.detail = devices.count > 0 ? devices.name[0] : NULL;
	if (devices.count > 0)
		nfd_scan_label(scan, &finding, NFD_F "memory-nv.present");
}

/*
 * "hugepages-2048kB" into "hugepages-2Mi", the form that Kubernetes has for such resources: the
 * largest unit that needs no fraction. Returns whether it is such a name.
 */
static bool make_size(const char *name, char *ret, size_t size)
{
	static const char *const units[] = { "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	char digits[16];
	uint64_t number;
	size_t unit = 0;
	int end = 0;

	if (sscanf(name, "hugepages-%15[0-9]kB%n", digits, &end) != 1 || end == 0 || name[end] ||
	    nfd_parse_uint(digits, UINT64_MAX, &number) < 0)
		return false;
	for (; number > 0 && number % 1024 == 0 && unit + 1 < NFD_ARRAY_SIZE(units); unit++)
		number /= 1024;
	snprintf(ret, size, "hugepages-%ju%s", (uintmax_t)number, number > 0 ? units[unit] : "");
	return true;
}

/* Adds the pages of one size. Returns whether there are any. */
static bool add_hugepages(struct nfd_scan *scan, const char *name)
{
	char path[PATH_SIZE], size[64], count[64];
	uint64_t number;
	ssize_t len;

	if (!make_size(name, size, sizeof(size)))
		return false;
	snprintf(path, sizeof(path), HUGEPAGES "/%s/nr_hugepages", name);
	len = nfd_root_read_line(scan->root, path, count, sizeof(count));
	if (len == -ENOTDIR)
		return false;
	nfd_scan_feature(scan, "memory.hugepages", size, len < 0 ? "" : count);
	return len > 0 && nfd_parse_uint(count, INT64_MAX, &number) == 0 && number > 0;
}

/* They have no labels. */
static void scan_hugepages(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names sizes = { 0 };
	bool is_on = false;
	int r;

	if (!scan->features)
		return;
	r = nfd_root_list(scan->root, HUGEPAGES, &sizes);
	if (r < 0 && r != -ENOENT)
		return;
	for (size_t i = 0; i < sizes.count; i++)
		is_on |= add_hugepages(scan, sizes.name[i]);
	nfd_scan_feature(scan, "memory.hugepages", "enabled", true_or_false(is_on));
}

static void run(struct nfd_scan *scan)
{
	scan_numa(scan);
	scan_swap(scan);
	scan_nv(scan);
	scan_hugepages(scan);
}

static const char *const subsystems[] = { "node", "nd", NULL };
static const char *const prefixes[] = { NFD_F "memory-", NULL };
static const char *const features[] = { "memory.numa", "memory.swap", "memory.hugepages",
					"memory.nv", NULL };

const struct nfd_scanner nfd_memory_scanner = {
	.name = "memory",
	.summary = "NUMA, swap, persistent memory, huge pages",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_MEMORY,
};
