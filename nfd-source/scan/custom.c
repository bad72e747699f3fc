// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NFD writes these keys without a prefix, and its master adds it.
 */
#include "config.h"

#include "scan/custom.h"

#include <errno.h>
#include <stdio.h>

#include "scan/kernel_modules.h"
#include "scan/pci_bus.h"

#define STEM NFD_F "rdma."

static const struct nfd_pci_match mellanox[] = { { .vendor = 0x15b3 } };
static const char *const modules[] = { "ib_uverbs", "rdma_ucm" };

/* A label made of raw features of another source, without which NFD has none. */
static void add(struct nfd_scan *scan, const struct nfd_finding *finding, enum nfd_source source,
		const char *name)
{
	if (scan->options->source.features_off >> source & 1)
		nfd_scan_stopped(scan, finding, "core.featureSources", STEM "%s", name);
	else
		nfd_scan_label(scan, finding, STEM "%s", name);
}

static void add_capable(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	char address[NFD_PCI_ADDRESS_SIZE], path[96];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = "true", .path = path, .detail = "vendor 15b3"
	};

	for (size_t i = 0; bus && i < bus->count; i++) {
		if (!nfd_pci_matches(mellanox, NFD_ARRAY_SIZE(mellanox), &bus->function[i]))
			continue;
		nfd_pci_format_address(&bus->function[i], address);
		snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s", address);
		add(scan, &finding, NFD_SOURCE_PCI, "capable");
		return;
	}
}

static void add_available(struct nfd_scan *scan)
{
	static const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
						    .value = "true",
						    .path = NFD_KERNEL_MODULES,
						    .detail = "ib_uverbs, rdma_ucm" };
	int r = nfd_kernel_modules_loaded(scan->root, modules, NFD_ARRAY_SIZE(modules));

	if (r == -ENOMEM)
		scan->error = r;
	if (r < 0)
		nfd_scan_failed(scan, STEM "available", NFD_KERNEL_MODULES, r);
	if (r > 0)
		add(scan, &finding, NFD_SOURCE_KERNEL, "available");
}

static void run(struct nfd_scan *scan)
{
	add_capable(scan);
	add_available(scan);
}

static const char *const subsystems[] = { "pci", "module", NULL };
static const char *const prefixes[] = { STEM, NULL };

const struct nfd_scanner nfd_custom_scanner = {
	.name = "custom",
	.summary = "RDMA, as the static rules of NFD's custom source",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_CUSTOM,
	.functions = mellanox,
	.function_count = NFD_ARRAY_SIZE(mellanox),
};
