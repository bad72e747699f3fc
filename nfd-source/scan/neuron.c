// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AWS Neuron accelerators.
 */
#include "config.h"

#include "scan/neuron.h"

#include "scan/pci_bus.h"

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_neuron_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "aws-neuron", NULL };

const struct nfd_scanner nfd_neuron_scanner = {
	.name = "neuron",
	.summary = "AWS Neuron accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_NEURON,
	.is_here = is_here,
};
