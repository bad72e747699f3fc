// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/uevent: lines of the kernel's uevent file, whole and broken.
 */
#include "config.h"

#include "scan/uevent.h"

#include <string.h>

#include "tests/unit/unit.h"

#define D63 "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static const struct {
	const char *name, *text;
	struct nfd_pci_uevent expected;
} rows[] = {
	{ "empty", "", { 0 } },
	{ "as the kernel writes it",
	  "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:27B8\nPCI_SUBSYS_ID=10DE:16EE\n"
	  "PCI_SLOT_NAME=0000:01:00.0\nMODALIAS=pci:v000010DEd000027B8\n",
	  { 0x30200, 0x10de, 0x27b8, 0x10de, 0x16ee, "nvidia", true, true } },
	{ "no final newline",
	  "PCI_CLASS=30200\nPCI_ID=10DE:27B8",
	  { 0x30200, 0x10de, 0x27b8, 0, 0, "", true, true } },
	{ "lower case",
	  "PCI_CLASS=abcde\nPCI_ID=10de:27b8\n",
	  { 0xabcde, 0x10de, 0x27b8, 0, 0, "", true, true } },
	{ "short ids", "PCI_CLASS=1\nPCI_ID=1:2\n", { 1, 1, 2, 0, 0, "", true, true } },
	{ "all ones",
	  "PCI_CLASS=FFFFFF\nPCI_ID=FFFF:FFFF\n",
	  { 0xffffff, 0xffff, 0xffff, 0, 0, "", true, true } },
	{ "class only", "PCI_CLASS=30000\n", { 0x30000, 0, 0, 0, 0, "", true, false } },
	{ "ids only", "PCI_ID=10DE:1\n", { 0, 0x10de, 1, 0, 0, "", false, true } },
	{ "class of seven digits", "PCI_CLASS=1030200\n", { 0 } },
	{ "class empty", "PCI_CLASS=\n", { 0 } },
	{ "class with a sign", "PCI_CLASS=-30200\n", { 0 } },
	{ "class with a prefix", "PCI_CLASS=0x30200\n", { 0 } },
	{ "id of five digits", "PCI_ID=110DE:27B8\n", { 0 } },
	{ "second id of five digits", "PCI_ID=10DE:127B8\n", { 0 } },
	{ "id without colon", "PCI_ID=10DE27B8\n", { 0 } },
	{ "id cut", "PCI_ID=10DE:", { 0 } },
	{ "id with more behind", "PCI_ID=10DE:27B8 \n", { 0 } },
	{ "subsystem malformed",
	  "PCI_ID=10DE:27B8\nPCI_SUBSYS_ID=zz:1\n",
	  { 0, 0x10de, 0x27b8, 0, 0, "", false, true } },
	{ "key inside a line", "XPCI_CLASS=30200\n PCI_ID=10DE:1\n", { 0 } },
	{ "key is case-sensitive", "pci_id=10DE:1\n", { 0 } },
	{ "key without value", "PCI_CLASS\nDRIVER", { 0 } },
	{ "driver empty", "DRIVER=\n", { 0 } },
	{ "driver not UTF-8", "DRIVER=\xff\xfe\n", { .driver = "\xff\xfe" } },
	{ "driver of 63", "DRIVER=" D63 "\n", { .driver = D63 } },
	{ "driver of 64 is cut", "DRIVER=" D63 "x\n", { .driver = D63 } },
	{ "the last line wins",
	  "DRIVER=a\nDRIVER=b\nPCI_ID=1:1\nPCI_ID=2:2\n",
	  { .vendor = 2, .device = 2, .driver = "b", .has_ids = true } },
	{ "empty lines", "\n\n\nPCI_ID=1:1\n\n", { .vendor = 1, .device = 1, .has_ids = true } },
};

static void parses(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_pci_uevent uevent;

	memset(&uevent, 0xa5, sizeof(uevent));
	nfd_uevent_parse_pci(row->text, &uevent);
	assert_int_equal(uevent.has_class, row->expected.has_class);
	assert_int_equal(uevent.has_ids, row->expected.has_ids);
	assert_string_equal(uevent.driver, row->expected.driver);
	if (row->expected.has_class)
		assert_int_equal(uevent.class_code, row->expected.class_code);
	if (!row->expected.has_ids)
		return;
	assert_int_equal(uevent.vendor, row->expected.vendor);
	assert_int_equal(uevent.device, row->expected.device);
	assert_int_equal(uevent.subsystem_vendor, row->expected.subsystem_vendor);
	assert_int_equal(uevent.subsystem_device, row->expected.subsystem_device);
}

int main(void)
{
	struct unit_suite suite = { .name = "uevent" };

	UNIT_ROWS(&suite, parses, rows, name);
	return unit_run(&suite);
}
