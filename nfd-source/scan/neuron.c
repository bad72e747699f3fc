// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AWS Neuron accelerators, by the ids that their driver knows: the vendor's VGA function, disks and
 * network cards share its vendor id. Their class, 0c80, is on no list of classes.
 */
#include "config.h"

#include "scan/neuron.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/accelerator.h"
#include "scan/pci_bus.h"

#define CORE_COUNT NFD_F "aws-neuron.core-count"
#define CORES_MAX 4096
#define DEVICES "sys/devices/virtual/neuron_device"
#define PATH_SIZE 320
#define STEM_OF_DEVICE "neuron"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1d0f, .device = 0x7064 }, { .vendor = 0x1d0f, .device = 0x7065 },
	{ .vendor = 0x1d0f, .device = 0x7066 }, { .vendor = 0x1d0f, .device = 0x7067 },
	{ .vendor = 0x1d0f, .device = 0x7164 }, { .vendor = 0x1d0f, .device = 0x7264 },
	{ .vendor = 0x1d0f, .device = 0x7364 }, { .vendor = 0x1d0f, .device = 0x7564 },
	{ .vendor = 0x1d0f, .device = 0x7565 },
};

static const struct nfd_accelerator_model models[] = {
	{ .device = 0x7064, .name = "inf1" }, { .device = 0x7065, .name = "inf1" },
	{ .device = 0x7066, .name = "inf1" }, { .device = 0x7067, .name = "inf1" },
	{ .device = 0x7164, .name = "trn1" }, { .device = 0x7264, .name = "inf2" },
	{ .device = 0x7364, .name = "trn2" }, { .device = 0x7564, .name = "trn3" },
	{ .device = 0x7565, .name = "trn3" },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_neuron_scanner, true) > 0;
}

/* Cores of one device. Returns 1, 0 when the driver does not state them, negative errno. */
static int read_cores(const struct nfd_root *root, const char *name, char path[PATH_SIZE],
		      unsigned int *ret)
{
	uint64_t cores;
	char text[32];
	ssize_t len;

	snprintf(path, PATH_SIZE, DEVICES "/%s/core_count", name);
	len = nfd_root_read_line(root, path, text, sizeof(text));
	if (len < 0)
		return nfd_root_is_absent((int)len) ? 0 : (int)len;
	if (nfd_parse_uint(text, CORES_MAX, &cores) < 0)
		return -EBADMSG;
	*ret = (unsigned int)cores;
	return 1;
}

static bool is_device(const char *name)
{
	size_t len = strlen(STEM_OF_DEVICE);

	return strncmp(name, STEM_OF_DEVICE, len) == 0 && name[len] &&
	       strspn(name + len, "0123456789") == strlen(name + len);
}

/* The sum is a fact only when every device states its part. */
static void add_cores(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	unsigned int sum = 0, cores = 0;
	char path[PATH_SIZE] = DEVICES;
	int r = nfd_root_list(scan->root, DEVICES, &names);

	if (r == -ENOMEM)
		scan->error = r;
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		if (!is_device(names.name[i]))
			continue;
		r = read_cores(scan->root, names.name[i], path, &cores);
		if (r == 0)
			return;
		sum += cores;
	}
	if (r < 0)
		nfd_scan_failed(scan, CORE_COUNT, path, r);
	else if (sum > 0)
		nfd_scan_count(scan, NFD_RANK_NORMAL, sum, DEVICES, CORE_COUNT);
}

static void run(struct nfd_scan *scan)
{
	static const struct nfd_accelerator accelerator = {
		.scanner = &nfd_neuron_scanner,
		.stem = NFD_F "aws-neuron",
		.fact = "generation",
		.model = models,
		.model_count = NFD_ARRAY_SIZE(models),
	};

	nfd_accelerator_labels(scan, &accelerator);
	add_cores(scan);
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "aws-neuron", NULL };

const struct nfd_scanner nfd_neuron_scanner = {
	.name = "neuron",
	.summary = "AWS Neuron accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_NEURON,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
