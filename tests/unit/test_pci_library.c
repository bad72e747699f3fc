// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/pci_library: libpci on a made sysfs; nothing in it may end the program (field case B2).
 */
#include "config.h"

#include "scan/pci_library.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define AT TREE_PCI "0000:01:00.0"

static const struct nfd_pci_function gpu = {
	.bus = 1, .class_code = 0x030200, .vendor = 0x10de, .device = 0x27b8
};

static const struct tree_entry host[] = {
	FILE_AT(AT "/vendor", "0x10de\n"),
	FILE_AT(AT "/device", "0x27b8\n"),
	FILE_AT(AT "/class", "0x030200\n"),
	FILE_AT(AT "/irq", "16\n"),
	FILE_AT(AT "/resource", "0x0 0x0 0x0\n"),
	FILE_AT(AT "/numa_node", "1\n"),
	FILE_AT("sys/bus/pci/slots/7/address", "0000:01:00\n"),
	{ 0 },
};

static void no_bus(void **state)
{
	struct nfd_pci_library *library = NULL;
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_pci_library_open(tree_root(tree_new(), false), &library, &err),
			 -ENOENT);
	assert_null(library);
	unit_assert_contains(err.text, NFD_PCI_DEVICES);
	nfd_pci_library_close(NULL);
}

static void without_library_ids_only(void **state)
{
	struct nfd_pci_description description;

	(void)state;
	memset(&description, 0xa5, sizeof(description));
	assert_int_equal(nfd_pci_library_describe(NULL, &gpu, &description), 0);
	assert_string_equal(description.device, "Device 10de:27b8");
	assert_string_equal(description.class_name, "Class 0302");
	assert_int_equal(description.numa_node, -1);
	assert_string_equal(description.slot, "");
}

static void describes(void **state)
{
	const char *tree = tree_new();
	struct nfd_pci_description description;
	struct nfd_pci_library *library = NULL;

	(void)state;
	tree_fill(tree, host);
	assert_int_equal(nfd_pci_library_open(tree_root(tree, false), &library, NULL), 0);
	assert_int_equal(nfd_pci_library_describe(library, &gpu, &description), 0);
	assert_int_equal(description.numa_node, 1);
	assert_string_equal(description.slot, "7");
	assert_true(description.device[0] && description.class_name[0]);
	nfd_pci_library_close(library);
}

static void b2_vanished_function_is_no_end(void **state)
{
	const char *tree = tree_new();
	struct nfd_pci_description description;
	struct nfd_pci_library *library = NULL;
	const struct nfd_pci_function gone = { .bus = 2, .vendor = 0x10de, .device = 0x27b8 };

	(void)state;
	tree_fill(tree, host);
	assert_int_equal(nfd_pci_library_open(tree_root(tree, false), &library, NULL), 0);
	assert_int_equal(nfd_pci_library_describe(library, &gone, &description), -EIO);
	assert_true(description.device[0]);
	assert_int_equal(description.numa_node, -1);
	assert_int_equal(nfd_pci_library_describe(library, &gpu, &description), 0);
	nfd_pci_library_close(library);
}

/* libpci follows links by itself: one that leaves the root must not be read. */
static void link_out_of_the_root_is_not_read(void **state)
{
	const struct tree_entry entry[] = { FILE_AT("outside/numa_node", "3\n"),
					    FILE_AT("outside/vendor", "0x10de\n"),
					    LINK_AT("root/" AT, "../../../../../outside"),
					    { 0 } };
	const char *tree = tree_new();
	struct nfd_pci_description description;
	struct nfd_pci_library *library = NULL;

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_pci_library_open(tree_root(tree_path(tree, "root"), false), &library,
					      NULL),
			 0);
	assert_int_equal(nfd_pci_library_describe(library, &gpu, &description), -EIO);
	assert_int_equal(description.numa_node, -1);
	nfd_pci_library_close(library);
}

int main(void)
{
	struct unit_suite suite = { .name = "pci_library" };

	UNIT_CASE(&suite, no_bus);
	UNIT_CASE(&suite, without_library_ids_only);
	UNIT_CASE(&suite, describes);
	UNIT_CASE(&suite, b2_vanished_function_is_no_end);
	UNIT_CASE(&suite, link_out_of_the_root_is_not_read);
	return unit_run(&suite);
}
