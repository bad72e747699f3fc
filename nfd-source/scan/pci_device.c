// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ids come with the bus, which was read already; below each function are read sriov_totalvfs,
 * iommu_group/type and iommu/intel-iommu/version. NFD tells neither address nor driver.
 */
#include "config.h"

#include "scan/pci_device.h"

#include <stdio.h>

#include "scan/pci.h"
#include "scan/pci_bus.h"

#define FEATURE "pci.device"
#define TEXT_SIZE 64

/* Names of attributes are their paths; some devices have none of them. */
static const char *const optional[] = {
	"sriov_totalvfs",
	"iommu_group/type",
	"iommu/intel-iommu/version",
};

#define OPTIONAL NFD_ARRAY_SIZE(optional)

/* Without the "0x" that some files write. */
static const char *bare(const char *text)
{
	return text[0] == '0' && text[1] == 'x' ? text + 2 : text;
}

static void add_function(struct nfd_scan *scan, const struct nfd_pci_function *function)
{
	struct nfd_attribute attribute[NFD_PCI_FIELDS + OPTIONAL];
	char id[NFD_PCI_FIELDS][8], text[OPTIONAL][TEXT_SIZE];
	size_t count = 0;

	for (; count < NFD_PCI_FIELDS; count++) {
		nfd_pci_format_field(function, count, id[count]);
		attribute[count] = (struct nfd_attribute){ nfd_pci_field_names[count], id[count] };
	}
	for (size_t i = 0; i < OPTIONAL; i++)
		if (nfd_pci_read_line(scan->root, function, optional[i], text[i], TEXT_SIZE) >= 0)
			attribute[count++] = (struct nfd_attribute){ optional[i], bare(text[i]) };
	nfd_scan_instance(scan, FEATURE, attribute, count);
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus;

	if (!scan->features)
		return;
	bus = nfd_pci_bus_get(scan);
	if (!bus || bus->is_unknown)
		return;
	nfd_scan_feature_set(scan, NFD_INSTANCES, FEATURE);
	for (size_t i = 0; i < bus->count; i++)
		add_function(scan, &bus->function[i]);
}

static const char *const subsystems[] = { "pci", NULL };
static const char *const prefixes[] = { NULL };
static const char *const features[] = { FEATURE, NULL };

const struct nfd_scanner nfd_pci_device_scanner = {
	.name = "pci_device",
	.summary = "all PCI functions as raw features",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_PCI,
};
