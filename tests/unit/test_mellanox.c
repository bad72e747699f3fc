// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/mellanox: adapters, their RDMA devices, firmware and SR-IOV (spec gpu-stack.md 3.3, 15b3).
 */
#include "config.h"

#include "scan/mellanox.h"

#include "scan/scan.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define A "0000:17:00.0"
#define B "0000:17:00.1"
#define V "0000:17:00.2"
#define IB(address, name) TREE_PCI address "/infiniband/" name
#define ETHERNET_AT(address, device) PCI_AT(address, "20000", "15B3:" device, "mlx5_core")
#define INFINIBAND_AT(address, device) PCI_AT(address, "20700", "15B3:" device, "mlx5_core")
#define FIRMWARE_AT(address, name, version) FILE_AT(IB(address, name) "/fw_ver", version "\n")
#define BOARD_AT(address, name, id) FILE_AT(IB(address, name) "/board_id", id "\n")
#define LINK_LAYER_AT(address, name, port, layer) \
	FILE_AT(IB(address, name) "/ports/" port "/link_layer", layer "\n")

static const struct scan_row rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "no driver", { PCI_UNBOUND_AT(A, "20000", "15B3:1021") }, "nic-15b3.count=1\n" },
	{ "one adapter",
	  { INFINIBAND_AT(A, "1021"), FIRMWARE_AT(A, "mlx5_0", "28.39.1002"),
	    BOARD_AT(A, "mlx5_0", "MT_0000000838"),
	    FILE_AT(IB(A, "mlx5_0") "/hca_type", "MT4129\n"),
	    LINK_LAYER_AT(A, "mlx5_0", "1", "InfiniBand"),
	    FILE_AT(TREE_PCI A "/sriov_totalvfs", "16\n"),
	    FILE_AT(TREE_PCI A "/sriov_numvfs", "4\n") },
	  "nic-15b3.board=MT_0000000838\nnic-15b3.count=1\nnic-15b3.firmware.version.full=28.39.1002\n"
	  "nic-15b3.firmware.version.major=28\nnic-15b3.firmware.version.minor=39\n"
	  "nic-15b3.firmware.version.revision=1002\nnic-15b3.hca-type=MT4129\n"
	  "nic-15b3.link.infiniband=1\nnic-15b3.rdma.capable=true\nnic-15b3.sriov.capable=true\n"
	  "nic-15b3.sriov.vfs=4\n" },
	{ "two that agree, one without an RDMA device (bonded)",
	  { ETHERNET_AT(A, "1021"), ETHERNET_AT(B, "1021"), ETHERNET_AT("0000:98:00.0", "1021"),
	    FIRMWARE_AT(A, "mlx5_bond_0", "28.39.1002"),
	    FIRMWARE_AT("0000:98:00.0", "mlx5_2", "28.39.1002"),
	    LINK_LAYER_AT(A, "mlx5_bond_0", "1", "Ethernet"),
	    LINK_LAYER_AT("0000:98:00.0", "mlx5_2", "1", "Ethernet") },
	  "nic-15b3.count=3\nnic-15b3.firmware.version.full=28.39.1002\n"
	  "nic-15b3.firmware.version.major=28\nnic-15b3.firmware.version.minor=39\n"
	  "nic-15b3.firmware.version.revision=1002\nnic-15b3.link.ethernet=2\n"
	  "nic-15b3.rdma.capable=true\n" },
	{ "two that differ",
	  { INFINIBAND_AT(A, "1021"), ETHERNET_AT(B, "101D"),
	    FIRMWARE_AT(A, "mlx5_0", "28.39.1002"), FIRMWARE_AT(B, "mlx5_1", "22.39.1002"),
	    BOARD_AT(A, "mlx5_0", "MT_0000000838"), BOARD_AT(B, "mlx5_1", "MT_0000000359"),
	    FILE_AT(IB(A, "mlx5_0") "/hca_type", "MT4129\n"),
	    FILE_AT(IB(B, "mlx5_1") "/hca_type", "MT4125\n"),
	    LINK_LAYER_AT(A, "mlx5_0", "1", "InfiniBand"),
	    LINK_LAYER_AT(B, "mlx5_1", "1", "Ethernet") },
	  "nic-15b3.board.mt_0000000359.count=1\nnic-15b3.board.mt_0000000838.count=1\n"
	  "nic-15b3.count=2\nnic-15b3.firmware.22.39.1002.count=1\n"
	  "nic-15b3.firmware.28.39.1002.count=1\nnic-15b3.hca-type.mt4125.count=1\n"
	  "nic-15b3.hca-type.mt4129.count=1\nnic-15b3.link.ethernet=1\n"
	  "nic-15b3.link.infiniband=1\nnic-15b3.rdma.capable=true\n" },
	{ "two ports of a function, one of each kind",
	  { PCI_AT(A, "20000", "15B3:1007", "mlx4_core"),
	    LINK_LAYER_AT(A, "mlx4_0", "1", "InfiniBand"),
	    LINK_LAYER_AT(A, "mlx4_0", "2", "Ethernet") },
	  "nic-15b3.count=1\nnic-15b3.link.ethernet=1\nnic-15b3.link.infiniband=1\n"
	  "nic-15b3.rdma.capable=true\n" },
	{ "a link layer that says nothing",
	  { ETHERNET_AT(A, "1021"), LINK_LAYER_AT(A, "mlx5_0", "1", "Unspecified") },
	  "nic-15b3.count=1\nnic-15b3.rdma.capable=true\n" },
	{ "several RDMA devices, the first counts",
	  { ETHERNET_AT(A, "1021"), FIRMWARE_AT(A, "mlx5_1", "2.0.0"),
	    FIRMWARE_AT(A, "mlx5_0", "1.0.0") },
	  "nic-15b3.count=1\nnic-15b3.firmware.version.full=1.0.0\n"
	  "nic-15b3.firmware.version.major=1\nnic-15b3.firmware.version.minor=0\n"
	  "nic-15b3.firmware.version.revision=0\nnic-15b3.rdma.capable=true\n" },
	{ "virtual functions and their RDMA devices are apart",
	  { ETHERNET_AT(A, "1021"), ETHERNET_AT(V, "101E"), LINK_AT(TREE_PCI V "/physfn", "../" A),
	    FIRMWARE_AT(V, "mlx5_2", "1.0.0"), FILE_AT(TREE_PCI V "/sriov_totalvfs", "8\n") },
	  "nic-15b3.count=1\nnic-15b3.vf-count=1\n" },
	{ "virtual functions of a guest look physical",
	  { ETHERNET_AT(V, "101E") },
	  "nic-15b3.count=1\n" },
	{ "other vendors' adapters",
	  { PCI_AT("0000:31:00.0", "20000", "14E4:16D8", "bnxt_en"),
	    FIRMWARE_AT("0000:31:00.0", "bnxt_re0", "1.0.0"),
	    PCI_AT("0000:32:00.0", "20000", "1D0F:EFA1", "efa"),
	    FIRMWARE_AT("0000:32:00.0", "rdmap50s0", "1.0.0"),
	    PCI_AT("0000:33:00.0", "20000", "8086:1592", "ice"),
	    FIRMWARE_AT("0000:33:00.0", "irdma0", "1.0.0"),
	    FILE_AT("sys/class/infiniband/rxe0/fw_ver", "1.0.0\n") },
	  "" },
	{ "other functions of the vendor",
	  { PCI_UNBOUND_AT(A, "80100", "15B3:C2D5"), PCI_UNBOUND_AT(B, "60400", "15B3:1976"),
	    PCI_AT(V, "10802", "15B3:6001", "nvme") },
	  "" },
	{ "one that no longer answers",
	  { ETHERNET_AT(A, "1021"), ETHERNET_AT(B, "1021"),
	    FILE_AT(TREE_PCI B "/power_state", "error"), FIRMWARE_AT(B, "mlx5_1", "1.0.0") },
	  "nic-15b3.count=1\n" },
	{ "virtual functions are off",
	  { ETHERNET_AT(A, "1021"), FILE_AT(TREE_PCI A "/sriov_totalvfs", "8\n"),
	    FILE_AT(TREE_PCI A "/sriov_numvfs", "0\n") },
	  "nic-15b3.count=1\nnic-15b3.sriov.capable=true\nnic-15b3.sriov.vfs=0\n" },
	{ "firmware without virtual functions",
	  { ETHERNET_AT(A, "1021"), FILE_AT(TREE_PCI A "/sriov_totalvfs", "0\n"),
	    FILE_AT(TREE_PCI A "/sriov_numvfs", "0\n") },
	  "nic-15b3.count=1\n" },
	{ "virtual functions of two adapters",
	  { ETHERNET_AT(A, "1021"), FILE_AT(TREE_PCI A "/sriov_totalvfs", "8\n"),
	    FILE_AT(TREE_PCI A "/sriov_numvfs", "2\n"), ETHERNET_AT(B, "1021"),
	    FILE_AT(TREE_PCI B "/sriov_totalvfs", "8\n"),
	    FILE_AT(TREE_PCI B "/sriov_numvfs", "3\n") },
	  "nic-15b3.count=2\nnic-15b3.sriov.capable=true\nnic-15b3.sriov.vfs=5\n" },
	{ "numbers malformed",
	  { ETHERNET_AT(A, "1021"), FILE_AT(TREE_PCI A "/sriov_totalvfs", "8\n"),
	    FILE_AT(TREE_PCI A "/sriov_numvfs", "-1\n"), ETHERNET_AT(B, "1021"),
	    FILE_AT(TREE_PCI B "/sriov_totalvfs", "65536\n") },
	  "nic-15b3.count=2\nnic-15b3.sriov.capable=true\nunknown nic-15b3.sriov\n" },
	{ "firmware of one unreadable leaves what is published",
	  { ETHERNET_AT(A, "1021"), ETHERNET_AT(B, "1021"), FIRMWARE_AT(A, "mlx5_0", "1.0.0"),
	    DIR_AT(IB(B, "mlx5_1") "/fw_ver") },
	  "nic-15b3.count=2\nnic-15b3.rdma.capable=true\nunknown nic-15b3.firmware\n" },
	{ "RDMA devices are a loop",
	  { ETHERNET_AT(A, "1021"), LINK_AT(TREE_PCI A "/infiniband", "infiniband") },
	  "nic-15b3.count=1\nunknown nic-15b3.firmware\nunknown nic-15b3.board\n"
	  "unknown nic-15b3.hca-type\nunknown nic-15b3.link\nunknown nic-15b3.rdma\n" },
	{ "link layer unreadable",
	  { ETHERNET_AT(A, "1021"), DIR_AT(IB(A, "mlx5_0") "/ports/1/link_layer") },
	  "nic-15b3.count=1\nnic-15b3.rdma.capable=true\nunknown nic-15b3.link\n" },
	{ "texts that are no values",
	  { ETHERNET_AT(A, "1021"), FIRMWARE_AT(A, "mlx5_0", ""), BOARD_AT(A, "mlx5_0", "///"),
	    FILE_AT(IB(A, "mlx5_0") "/hca_type", "a b\xff\n") },
	  "nic-15b3.count=1\nnic-15b3.hca-type=a_b\nnic-15b3.rdma.capable=true\n" },
	{ "a text over the cap",
	  { ETHERNET_AT(A, "1021"),
	    BOARD_AT(A, "mlx5_0",
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") },
	  "nic-15b3.count=1\nnic-15b3.rdma.capable=true\nunknown nic-15b3.board\n" },
	{ "kinds too long for a key are dropped",
	  { ETHERNET_AT(A, "1021"), ETHERNET_AT(B, "1021"), BOARD_AT(A, "mlx5_0", "short"),
	    BOARD_AT(B, "mlx5_1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") },
	  "nic-15b3.board.short.count=1\nnic-15b3.count=2\nnic-15b3.rdma.capable=true\n" },
	{ "a name longer than the kernel's",
	  { ETHERNET_AT(A, "1021"),
	    FIRMWARE_AT(A, "mlx5_00000000000000000000000000000000000000000000000000000000000",
			"1") },
	  "nic-15b3.count=1\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_mellanox_scanner, *state);
}

static const struct {
	const char *name;
	struct tree_entry tree[2];
	bool is_here;
} here_rows[] = {
	{ "Ethernet", { ETHERNET_AT(A, "1021") }, true },
	{ "InfiniBand", { INFINIBAND_AT(A, "1021") }, true },
	{ "management interface of a DPU", { PCI_UNBOUND_AT(A, "80100", "15B3:C2D5") }, false },
	{ "another vendor", { PCI_UNBOUND_AT(A, "20000", "8086:1592") }, false },
};

static void knows_whether_it_is_here(void **state)
{
	const __typeof__(here_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	struct nfd_scan scan = { .options = &options };
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	scan.root = tree_root(tree, false);
	assert_int_equal(nfd_mellanox_scanner.is_here(&scan), row->is_here);
	nfd_scan_done(&scan);
}

int main(void)
{
	struct unit_suite suite = { .name = "mellanox" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_ROWS(&suite, knows_whether_it_is_here, here_rows, name);
	return unit_run(&suite);
}
