// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Qualcomm Cloud AI 100. The vendor's WLAN cards, modems and root ports share its vendor id, so the
 * device id decides.
 */
#include "config.h"

#include "scan/qualcomm.h"

#include "scan/accelerator.h"
#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x17cb, .device = 0xa100 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_qualcomm_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	static const struct nfd_accelerator accelerator = {
		.scanner = &nfd_qualcomm_scanner,
		.stem = NFD_F "qualcomm-ai100",
	};

	nfd_accelerator_labels(scan, &accelerator);
}

static const char *const subsystems[] = { "pci", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "qualcomm-ai100", NULL };

const struct nfd_scanner nfd_qualcomm_scanner = {
	.name = "qualcomm",
	.summary = "Qualcomm Cloud AI accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_QUALCOMM,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
