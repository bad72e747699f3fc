// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/pci_bus: addresses, and the walk over a bus with all that can be wrong with it.
 */
#include "config.h"

#include "scan/pci_bus.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

static const struct {
	const char *text, *formatted; /* NULL: no address */
} address_rows[] = {
	{ "0000:00:00.0", "0000:00:00.0" },
	{ "0000:ff:1f.7", "0000:ff:1f.7" },
	{ "ABCD:EF:1A.1", "abcd:ef:1a.1" },
	{ "10000:01:00.0", "10000:01:00.0" },
	{ "ffffffff:01:00.0", "ffffffff:01:00.0" },
	{ "00010000:01:00.0", "10000:01:00.0" },
	{ "", NULL },
	{ "0000:00:00", NULL },
	{ "0000:00:00.", NULL },
	{ "0000:00:00.8", NULL },
	{ "0000:00:20.0", NULL },
	{ "0000:00:00.00", NULL },
	{ "0000:00:00.0 ", NULL },
	{ "0000:00:00.0\n", NULL },
	{ "000:00:00.0", NULL },
	{ "000000000:00:00.0", NULL },
	{ "100000000:00:00.0", NULL },
	{ "0000:0:00.0", NULL },
	{ "0000:000:00.0", NULL },
	{ "0000:00:0.0", NULL },
	{ "0000.00:00.0", NULL },
	{ "0x00:00:00.0", NULL },
	{ "00:00.0", NULL },
	{ "pci0000:00", NULL },
	{ "\xff\xff\xff\xff:00:00.0", NULL },
};

static void parses_address(void **state)
{
	const __typeof__(address_rows[0]) *row = *state;
	struct nfd_pci_function function = { .vendor = 0x10de };
	char text[NFD_PCI_ADDRESS_SIZE];

	assert_int_equal(nfd_pci_parse_address(row->text, &function), row->formatted ? 0 : -EINVAL);
	assert_int_equal(function.vendor, 0x10de);
	nfd_pci_format_address(&function, text);
	assert_string_equal(text, row->formatted ? row->formatted : "0000:00:00.0");
}

#define AT TREE_PCI "0000:01:00.0"
#define GPU "0000:01:00.0 030200 10de:27b8"

/* @text: one line a function, then unknown facts; see bus_text(). */
static const struct scan_row bus_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "empty bus", { DIR_AT("sys/bus/pci/devices") }, "seen 0\ndoubt pci-\ndoubt gpu-\n" },
	{ "bus is a file", { FILE_AT("sys/bus/pci/devices", "") }, "" },
	{ "bus is a loop",
	  { LINK_AT("sys/bus/pci/devices", "devices") },
	  "unknown pci-\nunknown gpu-\n" },
	{ "one GPU",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia") },
	  GPU " nvidia listed gpu\nseen 1\n" },
	{ "B1 domains above ffff, in order of numbers",
	  { PCI_UNBOUND_AT("10001:8a:00.0", "30000", "1344:1"),
	    PCI_UNBOUND_AT("10000:01:00.0", "30200", "10DE:1"),
	    PCI_UNBOUND_AT("0000:00:0e.0", "20000", "8086:1"),
	    PCI_UNBOUND_AT("ffff:00:00.1", "20000", "8086:1"),
	    PCI_UNBOUND_AT("ffff:00:00.0", "20000", "8086:1") },
	  "0000:00:0e.0 020000 8086:0001 listed\nffff:00:00.0 020000 8086:0001 listed\n"
	  "ffff:00:00.1 020000 8086:0001 listed\n10000:01:00.0 030200 10de:0001 listed gpu\n"
	  "10001:8a:00.0 030000 1344:0001 listed\nseen 5\n" },
	{ "B2 dangling link, missing vendor, stray name",
	  { LINK_AT(TREE_PCI "0000:02:00.0", "../../nowhere"),
	    FILE_AT(TREE_PCI "0000:03:00.0/class", "0x030200\n"), DIR_AT(TREE_PCI "stray"),
	    PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia") },
	  GPU " nvidia listed gpu\nseen 3\nincomplete\n" },
	{ "uevent cannot be read",
	  { DIR_AT(AT "/uevent") },
	  "seen 1\nunknown pci-\nunknown gpu-\n" },
	{ "a loop in place of a function",
	  { LINK_AT(AT, "0000:01:00.0") },
	  "seen 1\nunknown pci-\nunknown gpu-\n" },
	{ "outside the list", { PCI_AT("0000:01:00.0", "10802", "1344:1", "nvme") }, "seen 1\n" },
	{ "outside the list, all wanted",
	  { PCI_AT("0000:01:00.0", "10802", "1344:1", "nvme") },
	  "0000:01:00.0 010802 1344:0001 nvme\nseen 1\n",
	  .all_devices = true },
	{ "attributes where the uevent has no ids",
	  { FILE_AT(AT "/uevent", ""), FILE_AT(AT "/class", "0x030200\n"),
	    FILE_AT(AT "/vendor", "0x10de\n"), FILE_AT(AT "/device", "0x27b8\n"),
	    LINK_AT(AT "/driver", "../../../bus/pci/drivers/vfio-pci") },
	  GPU " vfio-pci listed gpu\nseen 1\n" },
	{ "attributes without a uevent",
	  { FILE_AT(AT "/class", "0x030200"), FILE_AT(AT "/vendor", "0x10de"),
	    FILE_AT(AT "/device", "0x27b8"), FILE_AT(AT "/subsystem_vendor", "x") },
	  GPU " listed gpu\nseen 1\n" },
	{ "attribute malformed",
	  { FILE_AT(AT "/class", "0x030200"), FILE_AT(AT "/vendor", "nvidia"),
	    FILE_AT(AT "/device", "0x27b8") },
	  "seen 1\nunknown pci-\nunknown gpu-\n" },
	{ "attribute empty",
	  { FILE_AT(AT "/class", "0x030200"), FILE_AT(AT "/vendor", "\n"),
	    FILE_AT(AT "/device", "0x27b8") },
	  "seen 1\nunknown pci-\nunknown gpu-\n" },
	{ "vendor of 17 bits is malformed",
	  { FILE_AT(AT "/class", "0x030200"), FILE_AT(AT "/vendor", "0x110de"),
	    FILE_AT(AT "/device", "0x27b8") },
	  "seen 1\nunknown pci-\nunknown gpu-\n" },
	{ "virtual function",
	  { PCI_UNBOUND_AT("0000:01:00.1", "30200", "10DE:27B8"),
	    LINK_AT(TREE_PCI "0000:01:00.1/physfn", "../0000:01:00.0") },
	  "0000:01:00.1 030200 10de:27b8 listed gpu virtual\nseen 1\n" },
	{ "SR-IOV",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1"),
	    FILE_AT(AT "/sriov_totalvfs", "0\n") },
	  "0000:01:00.0 020000 8086:0001 listed sriov\nseen 1\n" },
	{ "class all ones is no GPU",
	  { PCI_UNBOUND_AT("0000:01:00.0", "FFFFFF", "10DE:27B8") },
	  "seen 1\n" },
	{ "vendor all ones",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "FFFF:FFFF") },
	  "0000:01:00.0 120000 ffff:ffff listed gpu unresponsive\nseen 1\n" },
	{ "power state error",
	  { PCI_UNBOUND_AT("0000:01:00.0", "30200", "10DE:27B8"),
	    FILE_AT(AT "/power_state", "error\n") },
	  GPU " listed gpu unresponsive\nseen 1\n" },
	{ "power state D3cold",
	  { PCI_UNBOUND_AT("0000:01:00.0", "30200", "10DE:27B8"),
	    FILE_AT(AT "/power_state", "D3cold\n") },
	  GPU " listed gpu\nseen 1\n" },
	{ "functions behind links, as in sysfs",
	  { FILE_AT("sys/devices/pci0000:00/0000:01:00.0/uevent",
		    "PCI_CLASS=30200\nPCI_ID=10DE:27B8\n"),
	    LINK_AT(AT, "../../../devices/pci0000:00/0000:01:00.0") },
	  GPU " listed gpu\nseen 1\n" },
};

static const char *bus_text(const struct nfd_root *root, bool all_devices)
{
	const struct nfd_scan_options options = scan_options(0);
	struct nfd_scan scan = { .root = root, .options = &options, .all_devices = all_devices };
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(&scan);
	const char *text = "";
	char address[NFD_PCI_ADDRESS_SIZE];

	assert_non_null(bus);
	assert_ptr_equal(nfd_pci_bus_get(&scan), bus);
	for (size_t i = 0; i < bus->count; i++) {
		const struct nfd_pci_function *f = &bus->function[i];

		nfd_pci_format_address(f, address);
		text = unit_text("%s%s %06x %04x:%04x%s%s%s%s%s%s%s\n", text, address,
				 f->class_code, f->vendor, f->device, f->driver[0] ? " " : "",
				 f->driver, f->white_listed ? " listed" : "",
				 f->is_gpu ? " gpu" : "", f->is_virtual ? " virtual" : "",
				 f->has_sriov ? " sriov" : "",
				 f->is_unresponsive ? " unresponsive" : "");
	}
	if (bus->seen || nfd_unknowns_find(&scan.unknowns, NFD_F "pci-"))
		text = bus->seen || scan.unknowns.unknown[0].doubt ?
			       unit_text("%sseen %zu\n", text, bus->seen) :
			       text;
	for (size_t i = 0; i < scan.unknowns.count; i++)
		text = unit_text("%s%s %s\n", text,
				 scan.unknowns.unknown[i].doubt ? "doubt" : "unknown",
				 scan.unknowns.unknown[i].prefix + strlen(NFD_F));
	text = unit_text("%s%s", text, scan.incomplete ? "incomplete\n" : "");
	assert_int_equal(scan.error, 0);
	nfd_unknowns_done(&scan.unknowns);
	nfd_pci_bus_free(scan.pci);
	return text;
}

static void reads_bus(void **state)
{
	const struct scan_row *row = *state;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++)
		assert_string_equal(bus_text(tree_root(tree, no_openat2), row->all_devices),
				    row->text);
}

static void note_path(void *cookie, enum nfd_read_kind kind, const char *path, const char *data,
		      size_t len)
{
	(void)kind;
	(void)data;
	(void)len;
	if (strstr(path, "config"))
		*(bool *)cookie = true;
}

static void b4_config_is_not_opened(void **state)
{
	const struct tree_entry entry[] = { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
					    FIFO_AT(AT "/config"),
					    { 0 } };
	const char *tree = tree_new();
	struct nfd_root *root = tree_root(tree, false);
	bool opened = false;

	(void)state;
	tree_fill(tree, entry);
	root->observer = note_path;
	root->observer_cookie = &opened;
	assert_string_equal(bus_text(root, true), GPU " nvidia listed gpu\nseen 1\n");
	assert_false(opened);
}

static void free_of_null_is_fine(void **state)
{
	(void)state;
	nfd_pci_bus_free(NULL);
}

int main(void)
{
	struct unit_suite suite = { .name = "pci_bus" };

	UNIT_ROWS(&suite, parses_address, address_rows, text);
	UNIT_ROWS(&suite, reads_bus, bus_rows, name);
	UNIT_CASE(&suite, b4_config_is_not_opened);
	UNIT_CASE(&suite, free_of_null_is_fine);
	return unit_run(&suite);
}
