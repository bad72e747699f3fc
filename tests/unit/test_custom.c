// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/custom: spec nfd.md 2.9.
 */
#include "config.h"

#include "scan/custom.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define MODULES "proc/modules"
#define OTHER_AT PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1592")
#define MELLANOX_AT PCI_UNBOUND_AT("0000:02:00.0", "20700", "15B3:1021")
#define BOTH "ib_core 1 0 - Live 0x0\nib_uverbs 1 0 - Live 0x0\nrdma_ucm 1 0 - Live 0x0\n"

static const struct scan_row rows[] = {
	{ "nothing", { OTHER_AT, FILE_AT(MODULES, "") }, "" },
	{ "no list of modules", { OTHER_AT }, "" },
	{ "no bus", { FILE_AT(MODULES, BOTH) }, "rdma.available=true\n" },
	{ "a card", { OTHER_AT, MELLANOX_AT }, "rdma.capable=true\n" },
	{ "a card of any class",
	  { PCI_UNBOUND_AT("0000:02:00.0", "60400", "15B3:1978") },
	  "rdma.capable=true\n" },
	{ "a card and the modules",
	  { MELLANOX_AT, FILE_AT(MODULES, BOTH) },
	  "rdma.available=true\nrdma.capable=true\n" },
	{ "one module", { OTHER_AT, FILE_AT(MODULES, "ib_uverbs 1\n") }, "" },
	{ "one module twice", { OTHER_AT, FILE_AT(MODULES, "rdma_ucm 1\nrdma_ucm 1\n") }, "" },
	{ "modules that begin so",
	  { OTHER_AT, FILE_AT(MODULES, "ib_uverbs_x 1\nrdma_ucm2 1\nib 1\n") },
	  "" },
	{ "the list of modules is not readable",
	  { OTHER_AT, DIR_AT(MODULES) },
	  "unknown rdma.available\n" },
	{ "the bus is not readable",
	  { LINK_AT("sys/bus/pci/devices", "devices") },
	  "unknown pci-\nunknown gpu-\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_custom_scanner, *state);
}

static const struct {
	const char *name;
	unsigned int labels_off, features_off; /* sources as bits */
	const char *text;
} source_rows[] = {
	{ "all", 0, 0, "rdma.available=true\nrdma.capable=true\n" },
	{ "pci discovers nothing", 0, 1U << NFD_SOURCE_PCI,
	  "rdma.available=true\nstopped rdma.capable core.featureSources\n" },
	{ "kernel discovers nothing", 0, 1U << NFD_SOURCE_KERNEL,
	  "stopped rdma.available core.featureSources\nrdma.capable=true\n" },
	{ "custom discovers nothing anyway", 0, 1U << NFD_SOURCE_CUSTOM,
	  "rdma.available=true\nrdma.capable=true\n" },
	{ "custom gives no labels", 1U << NFD_SOURCE_CUSTOM, 0,
	  "stopped rdma.available core.labelSources\nstopped rdma.capable core.labelSources\n" },
	{ "pci gives no labels", 1U << NFD_SOURCE_PCI, 0,
	  "rdma.available=true\nrdma.capable=true\n" },
};

static void depends_on_sources(void **state)
{
	const __typeof__(source_rows[0]) *row = *state;
	const struct tree_entry entry[] = { MELLANOX_AT, FILE_AT(MODULES, BOTH), { 0 } };
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .options = &options, .root = tree_root(tree, false) };
	static const struct nfd_vendors ours;

	tree_fill(tree, entry);
	request.vendors = &ours;
	options.source.labels_off = row->labels_off;
	options.source.features_off = row->features_off;
	unit_assert_contains(scan_text_request(NULL, &request), row->text);
}

int main(void)
{
	struct unit_suite suite = { .name = "custom" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_ROWS(&suite, depends_on_sources, source_rows, name);
	return unit_run(&suite);
}
