// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of Intel's rules for GPUs, NPUs and accelerators.
 */
#include "config.h"

#include "scan/intel.h"

#include "scan/pci_bus.h"

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_intel_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "drm", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { "gpu.intel.com/", "intel.feature.node.kubernetes.io/",
					NULL };

const struct nfd_scanner nfd_intel_scanner = {
	.name = "intel",
	.summary = "labels of Intel's rules for GPUs, NPUs and accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_INTEL,
	.is_here = is_here,
};
