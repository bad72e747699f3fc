// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Huawei Ascend accelerators.
 */
#include "config.h"

#include "scan/ascend.h"

#include "scan/pci_bus.h"

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_ascend_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "huawei-ascend", NULL };

const struct nfd_scanner nfd_ascend_scanner = {
	.name = "ascend",
	.summary = "Huawei Ascend accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_ASCEND,
	.is_here = is_here,
};
