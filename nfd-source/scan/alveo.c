// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD (Xilinx) Alveo cards: class 1200, for other designs in the vendor's FPGAs have the vendor id
 * too. A card shows a function for management (xclmgmt, .0) and one for users (xocl, .1).
 */
#include "config.h"

#include "scan/alveo.h"

#include "scan/accelerator.h"
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
	static const struct nfd_accelerator accelerator = {
		.scanner = &nfd_alveo_scanner,
		.stem = NFD_F "xilinx-alveo",
		.functions_share_card = true,
	};

	nfd_accelerator_labels(scan, &accelerator);
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
