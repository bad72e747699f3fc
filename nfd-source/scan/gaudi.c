// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intel Gaudi accelerators.
 */
#include "config.h"

#include "scan/gaudi.h"

#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1da3, .class_code = 0x1200 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_gaudi_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { "intel.feature.node.kubernetes.io/gaudi",
					NFD_F "intel-gaudi.", NULL };

const struct nfd_scanner nfd_gaudi_scanner = {
	.name = "gaudi",
	.summary = "Intel Gaudi accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_GAUDI,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
