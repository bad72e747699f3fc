// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Qualcomm Cloud AI accelerators.
 */
#include "config.h"

#include "scan/qualcomm.h"

#include "scan/pci_bus.h"

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_qualcomm_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
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
	.is_here = is_here,
};
