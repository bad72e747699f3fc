// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/pci_device: spec nfd.md 2.5 and 3.
 */
#include "config.h"

#include "scan/pci_device.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define IDS(class, vendor, device)                                             \
	"instance pci.device class=" class " vendor=" vendor " device=" device \
					   " subsystem_vendor=0000 subsystem_device=0000"

static const struct scan_row rows[] = {
	{ "every class, with or without a driver",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	    PCI_UNBOUND_AT("0000:02:00.0", "60400", "8086:352A") },
	  "",
	  .features = IDS("0302", "10de", "27b8") "\n" IDS("0604", "8086", "352a") "\n" },
	{ "with a subsystem",
	  { FILE_AT(TREE_PCI "0000:01:00.0/uevent",
		    "PCI_CLASS=20000\nPCI_ID=15B3:1021\nPCI_SUBSYS_ID=15B3:0041\n") },
	  "",
	  .features = "instance pci.device class=0200 vendor=15b3 device=1021 "
		      "subsystem_vendor=15b3 subsystem_device=0041\n" },
	{ "ids in the attributes alone",
	  { FILE_AT(TREE_PCI "0000:01:00.0/class", "0x030000\n"),
	    FILE_AT(TREE_PCI "0000:01:00.0/vendor", "0x1002\n"),
	    FILE_AT(TREE_PCI "0000:01:00.0/device", "0x0001\n") },
	  "",
	  .features = IDS("0300", "1002", "0001") "\n" },
	{ "what some have",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1592"),
	    FILE_AT(TREE_PCI "0000:01:00.0/sriov_totalvfs", "64\n"),
	    FILE_AT(TREE_PCI "0000:01:00.0/iommu_group/type", "DMA-FQ\n"),
	    FILE_AT(TREE_PCI "0000:01:00.0/iommu/intel-iommu/version", "6:0\n") },
	  "",
	  .features = IDS("0200", "8086", "1592") " sriov_totalvfs=64 iommu_group/type=DMA-FQ "
						  "iommu/intel-iommu/version=6:0\n" },
	{ "empty, with a prefix, not readable",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1592"),
	    FILE_AT(TREE_PCI "0000:01:00.0/sriov_totalvfs", "0x10\n"),
	    FILE_AT(TREE_PCI "0000:01:00.0/iommu_group/type", "\n"),
	    DIR_AT(TREE_PCI "0000:01:00.0/iommu/intel-iommu/version") },
	  "",
	  .features = IDS("0200", "8086", "1592") " sriov_totalvfs=10 iommu_group/type=\n" },
	{ "longer than any kernel writes",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1592"),
	    FILE_AT(TREE_PCI "0000:01:00.0/iommu_group/type",
		    "0123456789012345678901234567890123456789012345678901234567890123") },
	  "",
	  .features = IDS("0200", "8086", "1592") "\n" },
	{ "in the order of addresses, also in domains of more than 16 bits",
	  { PCI_UNBOUND_AT("10000:01:00.0", "10800", "144D:0003"),
	    PCI_UNBOUND_AT("0000:0a:00.0", "10800", "144D:0002"),
	    PCI_UNBOUND_AT("0000:02:00.0", "10800", "144D:0001") },
	  "",
	  .features = IDS("0108", "144d", "0001") "\n" IDS("0108", "144d",
							   "0002") "\n" IDS("0108", "144d",
									    "0003") "\n" },
	{ "no bus", { DIR_AT("sys/bus") }, "", .features = "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_pci_device_scanner, *state);
}

static const struct {
	const char *name;
	struct tree_entry tree[2];
	const char *text;
} bus_rows[] = {
	{ "an empty bus",
	  { DIR_AT("sys/bus/pci/devices") },
	  "doubt pci-\ndoubt gpu-\ninstances pci.device\n" },
	{ "a bus that cannot be read",
	  { LINK_AT("sys/bus/pci/devices", "devices") },
	  "unknown pci-\nunknown gpu-\n" },
};

/* The bus is not read where nobody wants raw features. */
static void tells_of_the_bus(void **state)
{
	const __typeof__(bus_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .root = tree_root(tree, false), .options = &options };

	tree_fill(tree, row->tree);
	assert_string_equal(scan_text_request(&nfd_pci_device_scanner, &request), "");
	request.features = true;
	assert_string_equal(scan_text_request(&nfd_pci_device_scanner, &request), row->text);
}

int main(void)
{
	struct unit_suite suite = { .name = "pci_device" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_ROWS(&suite, tells_of_the_bus, bus_rows, name);
	return unit_run(&suite);
}
