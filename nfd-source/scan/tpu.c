// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Google TPUs.
 */
#include "config.h"

#include "scan/tpu.h"

#include "scan/pci_bus.h"

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_tpu_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "google-tpu", NULL };

const struct nfd_scanner nfd_tpu_scanner = {
	.name = "tpu",
	.summary = "Google TPUs",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_TPU,
	.is_here = is_here,
};
