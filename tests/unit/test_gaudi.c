// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/gaudi: which functions are Gaudi accelerators, and what the cards agree on (gpu-stack.md
 * 3.3).
 */
#include "config.h"

#include "scan/gaudi.h"

#include "scan/scan.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define RULE "intel.feature.node.kubernetes.io/gaudi=true\n"
#define I "intel-gaudi."
#define ACCEL(number, attribute) "sys/class/accel/accel" number "/device/" attribute
#define HL(number, attribute) "sys/class/habanalabs/hl" number "/" attribute
#define DRIVER(full, major, minor, revision)                                      \
	I "driver.version.full=" full "\n" I "driver.version.major=" major "\n" I \
	  "driver.version.minor=" minor "\n" I "driver.version.revision=" revision "\n"
#define FIRMWARE(full, major, minor, revision)                                        \
	I "firmware.version.full=" full "\n" I "firmware.version.major=" major "\n" I \
	  "firmware.version.minor=" minor "\n" I "firmware.version.revision=" revision "\n"
#define GAUDI_AT(address) PCI_AT(address, "120000", "1DA3:1020", "habanalabs")
#define ONE GAUDI_AT("0000:19:00.0")
#define TWO ONE, GAUDI_AT("0000:1a:00.0")
#define FIRST FILE_AT(ACCEL("0", "pci_addr"), "0000:19:00.0\n")
#define SECOND FILE_AT(ACCEL("1", "pci_addr"), "0000:1a:00.0\n")

static const struct scan_row scan_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "rule alone, without the driver",
	  { PCI_UNBOUND_AT("0000:19:00.0", "120000", "1DA3:1063") },
	  I "count=1\n" RULE },
	{ "first generation",
	  { PCI_AT("0000:19:00.0", "120000", "1DA3:1000", "habanalabs") },
	  I "count=1\n" RULE },
	{ "third generation",
	  { PCI_AT("0000:19:00.0", "120000", "1DA3:1060", "habanalabs") },
	  I "count=1\n" RULE },
	{ "Goya is no Gaudi", { PCI_AT("0000:19:00.0", "120000", "1DA3:0001", "habanalabs") }, "" },
	{ "Greco is no Gaudi",
	  { PCI_AT("0000:19:00.0", "120000", "1DA3:0030", "habanalabs") },
	  "" },
	{ "another class", { PCI_AT("0000:19:00.0", "20000", "1DA3:1020", "x") }, "" },
	{ "another vendor", { PCI_AT("0000:19:00.0", "120000", "17CB:A100", "qaic") }, "" },
	{ "one that no longer answers is not counted",
	  { TWO, FILE_AT(TREE_PCI "0000:1a:00.0/power_state", "error") },
	  I "count=1\n" RULE },
	{ "a virtual function is no card",
	  { TWO, LINK_AT(TREE_PCI "0000:1a:00.0/physfn", "../0000:19:00.0") },
	  I "count=1\n" RULE },
	{ "all facts",
	  { TWO, FIRST, SECOND, FILE_AT(ACCEL("0", "device_type"), "GAUDI2\n"),
	    FILE_AT(ACCEL("1", "device_type"), "GAUDI2\n"),
	    FILE_AT(ACCEL("0", "driver_ver"), "1.19.2-32cab8e\n"),
	    FILE_AT(ACCEL("1", "driver_ver"), "1.19.2-32cab8e\n"),
	    FILE_AT(ACCEL("0", "fw_os_ver"), "hl-gaudi2-1.19.2-fw-57.2.4-sec-9 (Jan 16 2026)"),
	    FILE_AT(ACCEL("1", "fw_os_ver"), "hl-gaudi2-1.19.2-fw-57.2.4-sec-9 (Jan 16 2026)"),
	    FILE_AT(ACCEL("0", "status"), "Operational\n"),
	    FILE_AT(ACCEL("1", "status"), "In reset\n") },
	  I "count=2\n" DRIVER("1.19.2-32cab8e", "1", "19", "2")
		  FIRMWARE("57.2.4-sec-9", "57", "2", "4") I "operational=1\n" I
							     "type=GAUDI2\n" RULE },
	{ "cards that differ give no fact",
	  { TWO, FIRST, SECOND, FILE_AT(ACCEL("0", "device_type"), "GAUDI2\n"),
	    FILE_AT(ACCEL("1", "device_type"), "GAUDI3\n"),
	    FILE_AT(ACCEL("0", "driver_ver"), "1.19.2\n"),
	    FILE_AT(ACCEL("1", "driver_ver"), "1.19.2\n") },
	  I "count=2\n" DRIVER("1.19.2", "1", "19", "2") RULE },
	{ "a card that says nothing differs from none",
	  { TWO, FIRST, SECOND, FILE_AT(ACCEL("0", "device_type"), "\n"),
	    FILE_AT(ACCEL("1", "device_type"), "GAUDI3 HL-338\n") },
	  I "count=2\n" I "type=GAUDI3-HL-338\n" RULE },
	{ "none is operational",
	  { ONE, FIRST, FILE_AT(ACCEL("0", "status"), "Malfunction\n") },
	  I "count=1\n" I "operational=0\n" RULE },
	{ "kernel of the card's processor",
	  { ONE, FIRST, FILE_AT(ACCEL("0", "cpucp_kernel_ver"), "5.10.18-hl #1 SMP\n"),
	    FILE_AT(ACCEL("0", "armcp_kernel_ver"), "4.1\n") },
	  I "count=1\n" FIRMWARE("5.10.18-hl", "5", "10", "18") RULE },
	{ "firmware version without a number at its start",
	  { ONE, FIRST, FILE_AT(ACCEL("0", "fw_os_ver"), "unknown build\n") },
	  I "count=1\n" I "firmware.version.full=unknown\n" RULE },
	{ "by the link to the PCI function",
	  { ONE, FILE_AT(TREE_PCI "0000:19:00.0/device_type", "GAUDI2\n"),
	    LINK_AT("sys/class/accel/accel0/device", "../../../bus/pci/devices/0000:19:00.0") },
	  I "count=1\n" I "type=GAUDI2\n" RULE },
	{ "nodes of other drivers stand beside it",
	  { ONE, FILE_AT(ACCEL("1", "pci_addr"), "0000:19:00.0\n"),
	    FILE_AT(ACCEL("1", "device_type"), "GAUDI2\n"),
	    PCI_AT("0000:00:0b.0", "120000", "8086:643E", "intel_vpu"),
	    FILE_AT(TREE_PCI "0000:00:0b.0/device_type", "NPU\n"),
	    LINK_AT("sys/class/accel/accel0/device", "../../../bus/pci/devices/0000:00:0b.0"),
	    FILE_AT(ACCEL("2", "device_type"), "without an address\n"),
	    FILE_AT(ACCEL("3", "pci_addr"), "0000:77:00.0\n"),
	    FILE_AT(ACCEL("3", "device_type"), "address of nothing\n"),
	    FILE_AT(ACCEL("4", "pci_addr"), "../../x\n"),
	    FILE_AT(ACCEL("4", "device_type"), "no address\n"),
	    FILE_AT("sys/class/accel/accel_controlD0/device/pci_addr", "0000:19:00.0\n"),
	    FILE_AT("sys/class/accel/accel_controlD0/device/device_type", "control\n"),
	    FILE_AT("sys/class/accel/accel12345678/device/pci_addr", "0000:19:00.0\n"),
	    FILE_AT("sys/class/accel/accel12345678/device/device_type", "too long\n") },
	  I "count=1\n" I "type=GAUDI2\n" RULE },
	{ "older kernels: another class, attributes of its own, armcp",
	  { ONE, FILE_AT(HL("0", "pci_addr"), "0000:19:00.0\n"),
	    FILE_AT(HL("0", "device_type"), "GAUDI\n"),
	    FILE_AT(HL("0", "armcp_kernel_ver"), "4.19.0\n"),
	    FILE_AT(HL("0", "status"), "Operational\n"),
	    FILE_AT("sys/class/habanalabs/hl_controlD0/pci_addr", "0000:19:00.0\n"),
	    FILE_AT("sys/class/habanalabs/hl_controlD0/device_type", "control\n") },
	  I "count=1\n" FIRMWARE("4.19.0", "4", "19", "0") I "operational=1\n" I
							     "type=GAUDI\n" RULE },
	{ "the newer class decides",
	  { ONE, FIRST, FILE_AT(ACCEL("0", "device_type"), "GAUDI2\n"),
	    FILE_AT(HL("0", "pci_addr"), "0000:19:00.0\n"),
	    FILE_AT(HL("0", "device_type"), "GAUDI\n") },
	  I "count=1\n" I "type=GAUDI2\n" RULE },
	{ "a type without legal bytes",
	  { ONE, FIRST, FILE_AT(ACCEL("0", "device_type"), "///\n") },
	  I "count=1\n" RULE },
	{ "a fact of one card cannot be told",
	  { TWO, FIRST, SECOND, FILE_AT(ACCEL("0", "device_type"), "GAUDI2\n"),
	    LINK_AT(ACCEL("1", "device_type"), "device_type"),
	    FILE_AT(ACCEL("0", "status"), "Operational\n"),
	    LINK_AT(ACCEL("1", "status"), "status") },
	  I "count=2\n" RULE "unknown " I "type\nunknown " I "operational\n" },
	{ "folder of the class cannot be told",
	  { ONE, LINK_AT("sys/class/accel", "accel") },
	  I "count=1\n" RULE "unknown " I "type\nunknown " I "driver.version\nunknown " I
	    "firmware.version\nunknown " I "operational\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_gaudi_scanner, *state);
}

static const struct {
	const char *name, *ids;
	bool is_here;
} here_rows[] = {
	{ "Gaudi 2", "PCI_CLASS=120000\nPCI_ID=1DA3:1020\n", true },
	{ "Goya", "PCI_CLASS=120000\nPCI_ID=1DA3:0001\n", false },
	{ "NPU", "PCI_CLASS=120000\nPCI_ID=8086:643E\n", false },
};

static void knows_where_it_is(void **state)
{
	const __typeof__(here_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan scan = { .options = &options };

	tree_file(tree, TREE_PCI "0000:19:00.0/uevent", row->ids);
	scan.root = tree_root(tree, false);
	assert_int_equal(nfd_gaudi_scanner.is_here(&scan), row->is_here);
	nfd_scan_done(&scan);
}

int main(void)
{
	struct unit_suite suite = { .name = "gaudi" };

	UNIT_ROWS(&suite, scans, scan_rows, name);
	UNIT_ROWS(&suite, knows_where_it_is, here_rows, name);
	return unit_run(&suite);
}
