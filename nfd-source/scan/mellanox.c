// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NVIDIA (Mellanox) network adapters: firmware, board, SR-IOV.
 */
#include "config.h"

#include "scan/mellanox.h"

#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x15b3, .class_code = 0x0200 },
	{ .vendor = 0x15b3, .class_code = 0x0207 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_mellanox_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "infiniband", "net", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "nic-15b3.", NULL };

const struct nfd_scanner nfd_mellanox_scanner = {
	.name = "mellanox",
	.summary = "NVIDIA (Mellanox) network adapters: firmware, board, SR-IOV",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_MELLANOX,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
