// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/pci: white list, keys, labels (field case B3).
 */
#include "config.h"

#include "scan/pci.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define CLASS 0x1
#define VENDOR 0x2
#define DEVICE 0x4
#define ALL_FIELDS 0x1f

static const struct {
	const char *name;
	uint32_t class_code;
	bool listed;
} class_rows[] = {
	{ "VGA", 0x030000, true },
	{ "3D", 0x030200, true },
	{ "any interface", 0x0302ff, true },
	{ "network", 0x020000, true },
	{ "co-processor", 0x0b4000, true },
	{ "other processor", 0x0b0000, false },
	{ "accelerator", 0x120000, true },
	{ "storage", 0x010802, false },
	{ "none", 0, false },
	{ "all ones", 0xffffff, false },
	{ "digits inside do not count", 0x000302, false },
};

static void lists_class(void **state)
{
	const __typeof__(class_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	const struct nfd_scan_options none = { 0 };
	const struct nfd_pci_function function = { .class_code = row->class_code };

	assert_int_equal(nfd_pci_is_white_listed(&options, &function), row->listed);
	assert_false(nfd_pci_is_white_listed(&none, &function));
}

static const struct {
	const char *key;
	bool is_vendor_key;
} vendor_key_rows[] = {
	{ NFD_F "pci-10de.present", true },
	{ NFD_F "pci-0000.present", true },
	{ NFD_F "pci-10DE.present", false },
	{ NFD_F "pci-10d.present", false },
	{ NFD_F "pci-10dea.present", false },
	{ NFD_F "pci-0302_10de.present", false },
	{ NFD_F "pci-10de.sriov.capable", false },
	{ NFD_F "pci-10de.present.", false },
	{ NFD_F "usb-10de.present", false },
	{ "pci-10de.present", false },
	{ "", false },
};

static void knows_vendor_key(void **state)
{
	const __typeof__(vendor_key_rows[0]) *row = *state;

	assert_int_equal(nfd_pci_is_vendor_key(row->key), row->is_vendor_key);
}

static const struct {
	const char *name;
	unsigned int fields;
	bool has_sriov;
	const char *keys;
} key_rows[] = {
	{ "class and vendor", CLASS | VENDOR, false, "pci-10de.present pci-0302_10de.present " },
	{ "with SR-IOV", CLASS | VENDOR, true,
	  "pci-10de.present pci-0302_10de.present pci-0302_10de.sriov.capable " },
	{ "vendor alone", VENDOR, false, "pci-10de.present pci-10de.present " },
	{ "vendor and device", VENDOR | DEVICE, false, "pci-10de.present pci-10de_27b8.present " },
	{ "all", ALL_FIELDS, true,
	  "pci-10de.present pci-0302_10de_27b8_10de_16ee.present "
	  "pci-0302_10de_27b8_10de_16ee.sriov.capable " },
};

static void makes_keys(void **state)
{
	const __typeof__(key_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(row->fields);
	const struct nfd_pci_function function = {
		.class_code = 0x030200,
		.vendor = 0x10de,
		.device = 0x27b8,
		.subsystem_vendor = 0x10de,
		.subsystem_device = 0x16ee,
		.has_sriov = row->has_sriov,
	};
	char key[NFD_PCI_KEYS][NFD_PCI_KEY_SIZE];
	size_t count = nfd_pci_function_keys(&options, &function, key);
	const char *text = "";

	for (size_t i = 0; i < count; i++) {
		assert_memory_equal(key[i], NFD_F, sizeof(NFD_F) - 1);
		text = unit_text("%s%s ", text, key[i] + sizeof(NFD_F) - 1);
	}
	assert_string_equal(text, row->keys);
}

static const struct scan_row scan_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "B3 GPU and VGA",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:1EB8", "nvidia"),
	    PCI_UNBOUND_AT("0000:02:00.0", "30000", "1D0F:1111") },
	  "pci-0300_1d0f.present=true\npci-0302_10de.present=true\npci-10de.present=true\n"
	  "pci-1d0f.present=true\n" },
	{ "B3 accelerator class",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "10DE:1EB8") },
	  "pci-10de.present=true\npci-1200_10de.present=true\n" },
	{ "B3 finer fields",
	  { PCI_UNBOUND_AT("0000:01:00.0", "30200", "10DE:1EB8") },
	  "pci-10de.present=true\npci-10de_1eb8.present=true\n",
	  .fields = VENDOR | DEVICE },
	{ "SR-IOV",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1592"),
	    FILE_AT(TREE_PCI "0000:01:00.0/sriov_totalvfs", "64\n") },
	  "pci-0200_8086.present=true\npci-0200_8086.sriov.capable=true\npci-8086.present=true\n" },
	{ "outside the list gives nothing",
	  { PCI_UNBOUND_AT("0000:01:00.0", "10802", "1344:1") },
	  "" },
	{ "outside the list, all wanted",
	  { PCI_UNBOUND_AT("0000:01:00.0", "10802", "1344:1") },
	  "stopped pci-0108_1344.present sources.pci.deviceClassWhitelist\n"
	  "stopped pci-1344.present sources.pci.deviceClassWhitelist\n",
	  .all_devices = true },
	{ "many of one model",
	  { PCI_UNBOUND_AT("0000:01:00.0", "30200", "10DE:1"),
	    PCI_UNBOUND_AT("0000:02:00.0", "30200", "10DE:1"),
	    PCI_UNBOUND_AT("0000:03:00.0", "30200", "10DE:2") },
	  "pci-0302_10de.present=true\npci-10de.present=true\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_pci_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "pci" };

	UNIT_ROWS(&suite, lists_class, class_rows, name);
	UNIT_ROWS(&suite, knows_vendor_key, vendor_key_rows, key);
	UNIT_ROWS(&suite, makes_keys, key_rows, name);
	UNIT_ROWS(&suite, scans, scan_rows, name);
	return unit_run(&suite);
}
