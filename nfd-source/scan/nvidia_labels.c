// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of gpu-feature-discovery.
 */
#include "config.h"

#include "scan/nvidia_labels.h"

#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x10de, .class_code = 0x0300 },
	{ .vendor = 0x10de, .class_code = 0x0302 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_nvidia_labels_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { "nvidia.com/", NULL };

const struct nfd_scanner nfd_nvidia_labels_scanner = {
	.name = "nvidia_labels",
	.summary = "labels of gpu-feature-discovery",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_NVIDIA,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
