// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/intel and scan/intel_gpu: the rules of Intel's device plugins and the labels of their GPU
 * hook (gpu-stack.md 3.2).
 */
#include "config.h"

#include "scan/intel.h"

#include "scan/scan.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define R "intel.feature.node.kubernetes.io/"
#define G "gpu.intel.com/"
#define MODULE(name) DIR_AT("sys/module/" name)
#define CARD(number) "sys/class/drm/card" number "/"
#define CARD_AT(number) FILE_AT(CARD(number) "device/vendor", "0x8086\n")
#define VF_AT(address, class, ids, parent) \
	PCI_UNBOUND_AT(address, class, ids), LINK_AT(TREE_PCI address "/physfn", "../" parent)

#define GPU_AT PCI_AT("0000:03:00.0", "30000", "8086:46A6", "i915")
#define GPU_IDS G "device-id.0300-46a6.count=1\n" G "device-id.0300-46a6.present=true\n"

static const struct scan_row rule_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "gpu of class 0300 on i915", { GPU_AT, MODULE("i915") }, GPU_IDS R "gpu=true\n" },
	{ "gpu of class 0380 on xe",
	  { PCI_AT("0000:03:00.0", "38000", "8086:E20B", "xe"), MODULE("xe") },
	  G "device-id.0380-e20b.count=1\n" G "device-id.0380-e20b.present=true\n" R "gpu=true\n" },
	{ "a gpu held by vfio-pci alone is no gpu of the host",
	  { PCI_AT("0000:03:00.0", "30000", "8086:46A6", "vfio-pci"), MODULE("vfio_pci") },
	  GPU_IDS },
	{ "graphics of a management controller",
	  { PCI_AT("0000:03:00.0", "30000", "1A03:2000", "ast"), MODULE("i915") },
	  "" },
	{ "class 0302 is not in the rule",
	  { PCI_AT("0000:03:00.0", "30200", "8086:46A6", "i915"), MODULE("i915") },
	  "" },
	{ "a gpu that no longer answers",
	  { GPU_AT, FILE_AT(TREE_PCI "0000:03:00.0/power_state", "error"), MODULE("i915") },
	  "" },
	{ "module cannot be told",
	  { GPU_AT, LINK_AT("sys/module/i915", "i915") },
	  GPU_IDS "unknown " R "gpu\n" },
	{ "module cannot be told, but another is enough",
	  { GPU_AT, LINK_AT("sys/module/i915", "i915"), MODULE("xe") },
	  GPU_IDS R "gpu=true\nunknown " R "gpu\n" },

	{ "npu",
	  { PCI_AT("0000:00:0b.0", "120000", "8086:643E", "intel_vpu"), MODULE("intel_vpu") },
	  R "npu=true\n" },
	{ "npu without its module", { PCI_UNBOUND_AT("0000:00:0b.0", "120000", "8086:643E") }, "" },
	{ "another accelerator of Intel's",
	  { PCI_AT("0000:00:0b.0", "120000", "8086:0B2B", "x"), MODULE("intel_vpu") },
	  "" },
	{ "the id in another class",
	  { PCI_AT("0000:00:0b.0", "118000", "8086:643E", "x"), MODULE("intel_vpu") },
	  "" },

	{ "qat wants its module and that of vfio",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:4940", "4xxx"), MODULE("intel_qat"),
	    MODULE("vfio_pci") },
	  R "qat=true\n" },
	{ "qat without vfio",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:4940", "4xxx"), MODULE("intel_qat") },
	  "" },
	{ "qat without its module",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:4940", "vfio-pci"), MODULE("vfio_pci") },
	  "" },
	{ "qat, virtual functions alone",
	  { PCI_AT("0000:6b:00.1", "b4000", "8086:4941", "vfio-pci"), MODULE("intel_qat"),
	    MODULE("vfio_pci") },
	  "" },
	{ "qat, module cannot be told",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:4940", "4xxx"), MODULE("intel_qat"),
	    LINK_AT("sys/module/vfio_pci", "vfio_pci") },
	  "unknown " R "qat\n" },
	{ "qat of an older chip set",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:37C8", "c6xx"), MODULE("intel_qat"),
	    MODULE("vfio_pci") },
	  R "qat=true\n" },

	{ "dsa and iaa share a module",
	  { PCI_AT("0000:6a:01.0", "88000", "8086:0B25", "idxd"),
	    PCI_AT("0000:6a:02.0", "88000", "8086:0CFE", "idxd"), MODULE("idxd") },
	  R "dsa=true\n" R "iaa=true\n" },
	{ "dsa alone",
	  { PCI_AT("0000:6a:01.0", "88000", "8086:1212", "idxd"), MODULE("idxd") },
	  R "dsa=true\n" },
	{ "iaa without the module", { PCI_UNBOUND_AT("0000:6a:02.0", "88000", "8086:1216") }, "" },
	{ "another system peripheral",
	  { PCI_UNBOUND_AT("0000:6a:02.0", "88000", "8086:09A2"), MODULE("idxd") },
	  "" },
	{ "dlb",
	  { PCI_AT("0000:6d:00.0", "b4000", "8086:2710", "dlb2"), MODULE("dlb2") },
	  R "dlb=true\n" },
	{ "dlb without its module, beside one of qat",
	  { PCI_AT("0000:6d:00.0", "b4000", "8086:2710", "vfio-pci"), MODULE("intel_qat"),
	    MODULE("vfio_pci") },
	  "" },
	{ "fpga with the kernel's driver",
	  { PCI_AT("0000:6d:00.0", "120000", "8086:09C4", "dfl-pci"), MODULE("dfl_pci") },
	  R "fpga-arria10=true\n" },
	{ "fpga with Intel's driver",
	  { PCI_AT("0000:6d:00.0", "120000", "8086:09C4", "x"), MODULE("intel_fpga_pci") },
	  R "fpga-arria10=true\n" },
	{ "fpga without a driver", { PCI_UNBOUND_AT("0000:6d:00.0", "120000", "8086:09C4") }, "" },

	{ "virtual functions count as in the rule",
	  { PCI_AT("0000:4d:00.0", "38000", "8086:56C0", "i915"),
	    VF_AT("0000:4d:00.1", "38000", "8086:56C0", "0000:4d:00.0"),
	    VF_AT("0000:4d:00.2", "38000", "8086:56C0", "0000:4d:00.0"), MODULE("i915") },
	  G "device-id.0380-56c0.count=3\n" G "device-id.0380-56c0.present=true\n" G
	    "device.count=3\n" G "family=Flex_Series\n" G "product=Flex_170\n" R "gpu=true\n" },
	{ "two models of one class are counted apart",
	  { GPU_AT, PCI_AT("0000:04:00.0", "30000", "8086:56A0", "i915"),
	    PCI_AT("0000:05:00.0", "30000", "8086:56A0", "i915") },
	  GPU_IDS G "device-id.0300-56a0.count=2\n" G "device-id.0300-56a0.present=true\n" G
		    "family=A_Series\n" },
	{ "Max 1100",
	  { PCI_AT("0000:3a:00.0", "38000", "8086:0BDA", "i915") },
	  G "device-id.0380-0bda.count=1\n" G "device-id.0380-0bda.present=true\n" G
	    "device.count=1\n" G "family=Max_Series\n" G "product=Max_1100\n" },
	{ "Max 1550",
	  { PCI_AT("0000:3a:00.0", "38000", "8086:0BD5", "i915") },
	  G "device-id.0380-0bd5.count=1\n" G "device-id.0380-0bd5.present=true\n" G
	    "device.count=1\n" G "family=Max_Series\n" G "product=Max_1550\n" },
	{ "of the Max series without a product name",
	  { PCI_AT("0000:3a:00.0", "38000", "8086:0BD9", "i915") },
	  G "device-id.0380-0bd9.count=1\n" G "device-id.0380-0bd9.present=true\n" G
	    "family=Max_Series\n" },
	{ "Flex 140",
	  { PCI_AT("0000:3a:00.0", "38000", "8086:56C1", "i915") },
	  G "device-id.0380-56c1.count=1\n" G "device-id.0380-56c1.present=true\n" G
	    "device.count=1\n" G "family=Flex_Series\n" G "product=Flex_140\n" },
	{ "a product's id in the class of consumer cards",
	  { PCI_AT("0000:3a:00.0", "30000", "8086:56C1", "i915") },
	  G "device-id.0300-56c1.count=1\n" G "device-id.0300-56c1.present=true\n" },
	{ "of two products the later rule decides",
	  { PCI_AT("0000:3a:00.0", "38000", "8086:56C1", "i915"),
	    PCI_AT("0000:3b:00.0", "38000", "8086:56C1", "i915"),
	    PCI_AT("0000:3c:00.0", "38000", "8086:0BDA", "i915") },
	  G "device-id.0380-0bda.count=1\n" G "device-id.0380-0bda.present=true\n" G
	    "device-id.0380-56c1.count=2\n" G "device-id.0380-56c1.present=true\n" G
	    "device.count=2\n" G "family=Flex_Series\n" G "product=Flex_140\n" },
};

#define ONE(tiles) \
	G "cards=card0\n" GPU_IDS G "gpu-numbers=0\n" G "millicores=1000\n" G "tiles=" tiles "\n"
#define HOOK_UNKNOWN                                                                        \
	"unknown " G "cards\nunknown " G "gpu-numbers\nunknown " G "millicores\nunknown " G \
	"tiles\nunknown " G "memory.max\nunknown " G "numa-gpu-map\n"

static const struct scan_row card_rows[] = {
	{ "one without folders has one tile", { GPU_AT, CARD_AT("0") }, ONE("1") },
	{ "no card", { GPU_AT, DIR_AT("sys/class/drm") }, GPU_IDS },
	{ "another vendor's card",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("1") "device/vendor", "0x10de\n") },
	  ONE("1") },
	{ "a card without device, such as vgem's",
	  { GPU_AT, CARD_AT("0"), DIR_AT(CARD("1")) },
	  ONE("1") },
	{ "names that are no cards",
	  { GPU_AT, CARD_AT("0"), FILE_AT("sys/class/drm/card0-DP-1/device/vendor", "0x8086"),
	    FILE_AT("sys/class/drm/renderD128/device/vendor", "0x8086"),
	    FILE_AT("sys/class/drm/card/device/vendor", "0x8086"),
	    FILE_AT("sys/class/drm/card00000001/device/vendor", "0x8086"),
	    FILE_AT("sys/class/drm/controlD64/device/vendor", "0x8086") },
	  ONE("1") },
	{ "i915: tiles and memory of each",
	  { GPU_AT, CARD_AT("0"), DIR_AT(CARD("0") "gt/gt0"), DIR_AT(CARD("0") "gt/gt1"),
	    DIR_AT(CARD("0") "gt/gtx"), FILE_AT(CARD("0") "lmem_total_bytes", "68719476736\n") },
	  G "cards=card0\n" GPU_IDS G "gpu-numbers=0\n" G "memory.max=137438953472\n" G
	    "millicores=1000\n" G "tiles=2\n" },
	{ "xe: tiles, and no size of memory",
	  { GPU_AT, CARD_AT("0"), DIR_AT(CARD("0") "device/tile0/gt0"),
	    DIR_AT(CARD("0") "device/tile1/gt1") },
	  ONE("2") },
	{ "xe beside i915: the sum would lack a card",
	  { GPU_AT, CARD_AT("0"), DIR_AT(CARD("0") "device/tile0"), CARD_AT("1"),
	    FILE_AT(CARD("1") "lmem_total_bytes", "1000") },
	  G "cards=card0.card1\n" GPU_IDS G "gpu-numbers=0.1\n" G "millicores=2000\n" G
	    "tiles=2\n" },
	{ "a card without memory of its own adds none",
	  { GPU_AT, CARD_AT("0"), CARD_AT("1"), FILE_AT(CARD("1") "lmem_total_bytes", "1000") },
	  G "cards=card0.card1\n" GPU_IDS G "gpu-numbers=0.1\n" G "memory.max=1000\n" G
	    "millicores=2000\n" G "tiles=2\n" },
	{ "a physical function with virtual ones is none",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("0") "device/sriov_numvfs", "0\n"), CARD_AT("1"),
	    FILE_AT(CARD("1") "device/sriov_numvfs", "2\n") },
	  ONE("1") },
	{ "NUMA nodes in ascending order",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("0") "device/numa_node", "1\n"), CARD_AT("1"),
	    FILE_AT(CARD("1") "device/numa_node", "0\n"), CARD_AT("2"),
	    FILE_AT(CARD("2") "device/numa_node", "1\n"), CARD_AT("3"),
	    FILE_AT(CARD("3") "device/numa_node", "-1\n") },
	  G "cards=card0.card1.card2.card3\n" GPU_IDS G "gpu-numbers=0.1.2.3\n" G
	    "millicores=4000\n" G "numa-gpu-map=0-1_1-0.2\n" G "tiles=4\n" },
	{ "NUMA node out of range",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("0") "device/numa_node", "32768\n") },
	  ONE("1") },
	{ "memory is no number",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("0") "lmem_total_bytes", "1 GB\n") },
	  ONE("1") "unknown " G "memory.max\n" },
	{ "memory of no card",
	  { GPU_AT, CARD_AT("0"), FILE_AT(CARD("0") "lmem_total_bytes", "18446744073709551615\n") },
	  ONE("1") "unknown " G "memory.max\n" },
	{ "tiles cannot be told",
	  { GPU_AT, CARD_AT("0"), LINK_AT(CARD("0") "gt", "gt") },
	  G "cards=card0\n" GPU_IDS G "gpu-numbers=0\n" G "millicores=1000\nunknown " G
	    "tiles\nunknown " G "memory.max\n" },
	{ "NUMA node cannot be told",
	  { GPU_AT, CARD_AT("0"), LINK_AT(CARD("0") "device/numa_node", "numa_node") },
	  ONE("1") "unknown " G "numa-gpu-map\n" },
	{ "one of two cards cannot be told",
	  { GPU_AT, CARD_AT("0"), LINK_AT(CARD("1") "device/vendor", "vendor") },
	  GPU_IDS HOOK_UNKNOWN },
	{ "number of virtual functions cannot be told",
	  { GPU_AT, CARD_AT("0"), LINK_AT(CARD("0") "device/sriov_numvfs", "sriov_numvfs") },
	  GPU_IDS HOOK_UNKNOWN },
	{ "folder of the class cannot be told",
	  { GPU_AT, LINK_AT("sys/class/drm", "drm") },
	  GPU_IDS HOOK_UNKNOWN },
	{ "cards of a node whose function the rule does not look at",
	  { PCI_AT("0000:6b:00.0", "b4000", "8086:4940", "4xxx"), CARD_AT("0") },
	  "" },
};

/* The tree of a table has no room for these; the lists are the ones of the hook's own test. */
static void continues_long_lists(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const struct tree_entry gpu[] = { GPU_AT, { 0 } };
	const char *tree = tree_new();

	(void)state;
	tree_fill(tree, gpu);
	for (int i = 0; i < 27; i++) {
		tree_file(tree, unit_text(CARD("%d") "device/vendor", i), "0x8086\n");
		tree_file(tree, unit_text(CARD("%d") "device/numa_node", i), "0\n");
	}
	assert_string_equal(
		scan_text(&nfd_intel_scanner, tree_root(tree, 0), &options, false), G
		"cards=card0.card1.card10.card11.card12.card13.card14.card15.card16.ca\n" GPU_IDS G
		"gpu-numbers=0.1.10.11.12.13.14.15.16.17.18.19.2.20.21.22.23.24.25.26.3.4.5\n" G
		"gpu-numbers2=Z.6.7.8.9\n" G "millicores=27000\n" G
		"numa-gpu-map=0-0.1.10.11.12.13.14.15.16.17.18.19.2.20.21.22.23.24.25.26.3.4\n" G
		"numa-gpu-map2=Z.5.6.7.8.9\n" G "tiles=27\n");
}

static void gives_up_at_too_many_cards(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const struct tree_entry gpu[] = { GPU_AT, { 0 } };
	const char *tree = tree_new();

	(void)state;
	tree_fill(tree, gpu);
	for (int i = 0; i <= 1024; i++)
		tree_file(tree, unit_text(CARD("%d") "device/vendor", i), "0x8086\n");
	assert_string_equal(scan_text(&nfd_intel_scanner, tree_root(tree, 0), &options, false),
			    GPU_IDS HOOK_UNKNOWN);
}

static void is_not_everywhere(void **state)
{
	const struct tree_entry entries[] = { PCI_AT("0000:00:00.0", "60000", "8086:09A2", "x"),
					      PCI_AT("0000:6a:02.0", "88000", "8086:09A2", "x"),
					      MODULE("i915"),
					      CARD_AT("0"),
					      { 0 } };
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan scan = { .root = NULL, .options = &options };

	(void)state;
	tree_fill(tree, entries);
	scan.root = tree_root(tree, false);
	assert_false(nfd_intel_scanner.is_here(&scan));
	nfd_scan_done(&scan);
}

static void scans(void **state)
{
	scan_check_row(&nfd_intel_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "intel" };

	UNIT_ROWS(&suite, scans, rule_rows, name);
	UNIT_ROWS(&suite, scans, card_rows, name);
	UNIT_CASE(&suite, continues_long_lists);
	UNIT_CASE(&suite, gives_up_at_too_many_cards);
	UNIT_CASE(&suite, is_not_everywhere);
	return unit_run(&suite);
}
