// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of AMD's node labeller and operator.
 */
#include "config.h"

#include "scan/amd.h"

#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1002, .class_code = 0x0300 },
	{ .vendor = 0x1002, .class_code = 0x0302 },
	{ .vendor = 0x1002, .class_code = 0x0380 },
	{ .vendor = 0x1002, .class_code = 0x1200 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_amd_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "drm", "module", "drivers", NULL };
static const char *const prefixes[] = { "amd.com/gpu.", "beta.amd.com/gpu.", NFD_F "amd-", NULL };

const struct nfd_scanner nfd_amd_scanner = {
	.name = "amd",
	.summary = "labels of AMD's node labeller and operator",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_AMD,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
