// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD (Xilinx) Alveo cards.
 */
#include "config.h"

#include "scan/alveo.h"

#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x10ee, .class_code = 0x1200 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_alveo_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "xilinx-alveo", NULL };

const struct nfd_scanner nfd_alveo_scanner = {
	.name = "alveo",
	.summary = "AMD (Xilinx) Alveo cards",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_ALVEO,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
