// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/amd: the rows and rules of gpu-stack.md 3.1, GPUs that count and those that do not, and
 * topologies that no kernel writes.
 */
#include "config.h"

#include "scan/amd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan/amd_gpu.h"
#include "scan/scan.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define GPU(address) TREE_PCI address
#define GPU_AT(address, ids) PCI_AT(address, "120000", ids, "amdgpu")
#define MINOR_AT(address, minor) DIR_AT(GPU(address) "/drm/renderD" minor)
#define NODE(number) NFD_AMD_TOPOLOGY "/" number "/"
#define BANK(number) NODE(number) "mem_banks/0/properties"
#define NODE_AT(number, minor, simds, gfx)                                                        \
	FILE_AT(NODE(number) "properties",                                                        \
		"cpu_cores_count 0\nsimd_count " simds "\nsimd_per_cu 4\ngfx_target_version " gfx \
		"\nvendor_id 4098\ndrm_render_minor " minor "\n")
#define CPU_NODE_AT(number)                                                        \
	FILE_AT(NODE(number) "properties", "cpu_cores_count 64\nsimd_count 0\n"    \
					   "simd_per_cu 0\ngfx_target_version 0\n" \
					   "drm_render_minor 0\n")
#define BANK_AT(number, bytes) \
	FILE_AT(BANK(number), "heap_type 1\nsize_in_bytes " bytes "\nflags 0\n")

/* Of every GPU that the driver has, with @id as device id. */
#define NO_PARTITIONING                                  \
	"amd.com/compute-partitioning-supported=false\n" \
	"amd.com/gpu.compute-partitioning-supported=false\n"
#define NO_MEMORY_PARTITIONING "amd.com/gpu.memory-partitioning-supported=false\n"
#define NO_MEMORY_PARTITIONING_OLD "amd.com/memory-partitioning-supported=false\n"

#define DEVICE_ID(id) "amd.com/gpu.device-id=" id "\n"
#define BETA_DEVICE_ID(id, count) \
	"beta.amd.com/gpu.device-id=" id "\nbeta.amd.com/gpu.device-id." id "=" count "\n"

/* The labels of one MI300X about which only @more and @beta are of interest. */
#define MI300X(more, beta)                                                                         \
	NO_PARTITIONING DEVICE_ID("74a1")                                                          \
		NO_MEMORY_PARTITIONING more NO_MEMORY_PARTITIONING_OLD BETA_DEVICE_ID("74a1", "1") \
			beta "amd-gpu=true\n"

#define TOPOLOGY_UNKNOWN                                                        \
	"unknown beta.amd.com/gpu.vram\nunknown amd.com/gpu.vram\n"             \
	"unknown beta.amd.com/gpu.simd-count\nunknown amd.com/gpu.simd-count\n" \
	"unknown beta.amd.com/gpu.cu-count\nunknown amd.com/gpu.cu-count\n"     \
	"unknown beta.amd.com/gpu.family\nunknown amd.com/gpu.family\n"

static const struct scan_row which_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "audio function of a GPU is none",
	  { PCI_AT("0000:03:00.1", "40300", "1002:AB38", "snd_hda_intel") },
	  "" },
	{ "bridge of a GPU's board is none",
	  { PCI_AT("0000:01:00.0", "60400", "1002:74A1", "pcieport") },
	  "" },
	{ "a device id of another vendor is none",
	  { PCI_AT("0000:03:00.0", "120000", "1DA3:74A1", "habanalabs") },
	  "" },
	{ "GPU given to a guest has only the operator's label",
	  { PCI_AT("0000:03:00.0", "120000", "1002:74A1", "vfio-pci"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name", "AMD Instinct MI300X OAM\n") },
	  "amd-gpu=true\n" },
	{ "GPU without a driver likewise",
	  { PCI_UNBOUND_AT("0000:03:00.0", "38000", "1002:740F") },
	  "amd-gpu=true\n" },
	{ "GPU of the old driver that no rule names",
	  { PCI_AT("0000:03:00.0", "30000", "1002:6798", "radeon") },
	  "" },
	{ "virtual functions on the host",
	  { PCI_UNBOUND_AT("0000:03:00.0", "38000", "1002:740F"),
	    PCI_AT("0000:03:02.0", "38000", "1002:7410", "vfio-pci"),
	    LINK_AT(GPU("0000:03:02.0") "/physfn", "../0000:03:00.0") },
	  "amd-gpu=true\namd-vgpu=true\n" },
	{ "virtual function in a guest",
	  { GPU_AT("0002:00:01.0", "1002:74B5") },
	  NO_PARTITIONING DEVICE_ID("74b5") NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD
		  BETA_DEVICE_ID("74b5", "1") "amd-vgpu=true\n" },
	{ "a card that no longer answers counts for the operator alone",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/power_state", "error\n") },
	  "amd-gpu=true\n" },
	{ "driver without its files", { GPU_AT("0000:03:00.0", "1002:74A1") }, MI300X("", "") },
};

static const struct scan_row count_rows[] = {
	{ "one value: all three forms",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), GPU_AT("0000:04:00.0", "1002:74A1") },
	  NO_PARTITIONING DEVICE_ID("74a1") NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD
		  BETA_DEVICE_ID("74a1", "2") "amd-gpu=true\n" },
	{ "several values: counts alone",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), GPU_AT("0000:04:00.0", "1002:740F"),
	    GPU_AT("0000:05:00.0", "1002:74A1") },
	  NO_PARTITIONING
	  "amd.com/gpu.device-id.740f=1\namd.com/gpu.device-id.74a1=2\n" NO_MEMORY_PARTITIONING
		  NO_MEMORY_PARTITIONING_OLD
	  "beta.amd.com/gpu.device-id.740f=1\nbeta.amd.com/gpu.device-id.74a1=2\n"
	  "amd-gpu=true\n" },
	{ "product name: blanks, parentheses, other bytes",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name", "AMD (TM) MI250X/MI250 \n") },
	  MI300X("amd.com/gpu.product-name=AMD_TM_MI250X_MI250\n",
		 "beta.amd.com/gpu.product-name=AMD_TM_MI250X_MI250\n"
		 "beta.amd.com/gpu.product-name.AMD_TM_MI250X_MI250=1\n") },
	{ "product name: 46 bytes fit into the key",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name",
		    "A234567890B234567890C234567890D234567890E23456\n") },
	  MI300X("amd.com/gpu.product-name=A234567890B234567890C234567890D234567890E23456\n",
		 "beta.amd.com/gpu.product-name=A234567890B234567890C234567890D234567890E23456\n"
		 "beta.amd.com/gpu.product-name.A234567890B234567890C234567890D234567890E23456=1\n") },
	{ "product name: 47 do not, and only the value is written",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name",
		    "A234567890B234567890C234567890D234567890E234567\n") },
	  MI300X("amd.com/gpu.product-name=A234567890B234567890C234567890D234567890E234567\n",
		 "beta.amd.com/gpu.product-name=A234567890B234567890C234567890D234567890E234567\n") },
	{ "product name: empty, and nothing legal",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), GPU_AT("0000:04:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name", "\n"),
	    FILE_AT(GPU("0000:04:00.0") "/product_name", "(())\n") },
	  NO_PARTITIONING DEVICE_ID("74a1") NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD
		  BETA_DEVICE_ID("74a1", "2") "amd-gpu=true\n" },
	{ "product name: unreadable on one GPU leaves all in doubt",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), GPU_AT("0000:04:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/product_name", "AMD\n"),
	    DIR_AT(GPU("0000:04:00.0") "/product_name") },
	  NO_PARTITIONING DEVICE_ID("74a1") NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD
		  BETA_DEVICE_ID("74a1", "2") "amd-gpu=true\n"
					      "unknown beta.amd.com/gpu.product-name\n"
					      "unknown amd.com/gpu.product-name\n" },
	{ "firmware in decimal, below beta alone",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/mec_fw_version", "0x0000009b\n"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/sdma_fw_version", "0xffffffff\n"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/vce_fw_version", "0x00000000\n"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/sos_fw_version", "0x00360057\n") },
	  MI300X("", "beta.amd.com/gpu.firmware.MEC.fw.155=1\n"
		     "beta.amd.com/gpu.firmware.SDMA0.fw.4294967295=1\n"
		     "beta.amd.com/gpu.firmware.VCE.fw.0=1\n") },
	{ "firmware that is no number",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/mec_fw_version", "0x0000009b\n"),
	    FILE_AT(GPU("0000:03:00.0") "/fw_version/smc_fw_version", "new\n") },
	  MI300X("", "") "unknown beta.amd.com/gpu.firmware\n" },
	{ "module with and without versions",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), FILE_AT("sys/module/amdgpu/version", "6.10.5\n"),
	    FILE_AT("sys/module/amdgpu/srcversion", "\n") },
	  NO_PARTITIONING DEVICE_ID(
		  "74a1") "amd.com/gpu.driver-version=6.10.5\n" NO_MEMORY_PARTITIONING
		  NO_MEMORY_PARTITIONING_OLD BETA_DEVICE_ID("74a1", "1") "amd-gpu=true\n" },
	{ "module that cannot be read",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), DIR_AT("sys/module/amdgpu/version"),
	    FILE_AT("sys/module/amdgpu/srcversion", "533BB7E5866E52F63B9ACCB\n") },
	  NO_PARTITIONING DEVICE_ID(
		  "74a1") "amd.com/gpu.driver-src-version=533BB7E5866E52F63B9ACCB\n" NO_MEMORY_PARTITIONING
		  NO_MEMORY_PARTITIONING_OLD BETA_DEVICE_ID(
			  "74a1", "1") "amd-gpu=true\nunknown amd.com/gpu.driver-version\n" },
};

#define MODES_AT(address, compute, memory)                                                    \
	FILE_AT(GPU(address) "/current_compute_partition", compute "\n"),                     \
		FILE_AT(GPU(address) "/current_memory_partition", memory "\n"),               \
		FILE_AT(GPU(address) "/available_compute_partition", "SPX, DPX, QPX, CPX\n"), \
		FILE_AT(GPU(address) "/available_memory_partition", "NPS1, NPS4\n")
#define SUPPORTED "amd.com/compute-partitioning-supported=true\n"
#define PARTITIONING(mode)                                      \
	"amd.com/compute-memory-partition=" mode "\n" SUPPORTED \
	"amd.com/gpu.compute-memory-partition=" mode "\n"       \
	"amd.com/gpu.compute-partitioning-supported=true\n"
#define MEMORY_SUPPORTED "amd.com/gpu.memory-partitioning-supported=true\n"
#define MEMORY_SUPPORTED_OLD "amd.com/memory-partitioning-supported=true\n"

static const struct scan_row partition_rows[] = {
	{ "all agree",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), MODES_AT("0000:03:00.0", "SPX", "NPS1"),
	    GPU_AT("0000:04:00.0", "1002:74A1"), MODES_AT("0000:04:00.0", "SPX", "NPS1") },
	  PARTITIONING("spx_nps1") DEVICE_ID("74a1")
		  MEMORY_SUPPORTED MEMORY_SUPPORTED_OLD BETA_DEVICE_ID("74a1",
								       "2") "amd-gpu=true\n" },
	{ "one differs: no label",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), MODES_AT("0000:03:00.0", "SPX", "NPS1"),
	    GPU_AT("0000:04:00.0", "1002:74A1"), MODES_AT("0000:04:00.0", "CPX", "NPS1") },
	  SUPPORTED "amd.com/gpu.compute-partitioning-supported=true\n" DEVICE_ID("74a1")
		  MEMORY_SUPPORTED MEMORY_SUPPORTED_OLD BETA_DEVICE_ID("74a1",
								       "2") "amd-gpu=true\n" },
	{ "a GPU that cannot be partitioned has no say, but the first stands for all",
	  { GPU_AT("0000:03:00.0", "1002:740F"), GPU_AT("0000:04:00.0", "1002:740F"),
	    MODES_AT("0000:04:00.0", "CPX", "NPS4") },
	  "amd.com/compute-memory-partition=cpx_nps4\n"
	  "amd.com/compute-partitioning-supported=false\n"
	  "amd.com/gpu.compute-memory-partition=cpx_nps4\n"
	  "amd.com/gpu.compute-partitioning-supported=false\n" DEVICE_ID("740f")
		  NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD
			  BETA_DEVICE_ID("740f", "2") "amd-gpu=true\n" },
	{ "a GPU in reset leaves it in doubt",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), MODES_AT("0000:03:00.0", "SPX", "NPS1"),
	    GPU_AT("0000:04:00.0", "1002:74A1"),
	    DIR_AT(GPU("0000:04:00.0") "/current_compute_partition") },
	  SUPPORTED "amd.com/gpu.compute-partitioning-supported=true\n" DEVICE_ID(
		  "74a1") MEMORY_SUPPORTED MEMORY_SUPPORTED_OLD
		  BETA_DEVICE_ID("74a1",
				 "2") "amd-gpu=true\nunknown amd.com/gpu.compute-memory-partition\n"
				      "unknown amd.com/compute-memory-partition\n" },
	{ "support that cannot be told",
	  { GPU_AT("0000:03:00.0", "1002:74A1"),
	    LINK_AT(GPU("0000:03:00.0") "/available_compute_partition",
		    "available_compute_partition") },
	  DEVICE_ID("74a1") NO_MEMORY_PARTITIONING NO_MEMORY_PARTITIONING_OLD BETA_DEVICE_ID(
		  "74a1", "1") "amd-gpu=true\nunknown amd.com/gpu.compute-partitioning-supported\n"
			       "unknown amd.com/compute-partitioning-supported\n" },
	{ "partitions count by their nodes; those not in use have none",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), MINOR_AT("0000:03:00.0", "128"),
	    NODE_AT("1", "128", "152", "90402"), NODE_AT("2", "129", "152", "90402"),
	    NODE_AT("3", "130", "152", "90402"), BANK_AT("1", "51535413248"),
	    BANK_AT("2", "51535413248"), BANK_AT("3", "51535413248"),
	    DIR_AT("sys/devices/platform/amdgpu_xcp_1/drm/renderD129"),
	    DIR_AT("sys/devices/platform/amdgpu_xcp_1/drm/card2"),
	    DIR_AT("sys/devices/platform/amdgpu_xcp_2/drm/renderD130"),
	    DIR_AT("sys/devices/platform/amdgpu_xcp_3/drm/renderD131"),
	    DIR_AT("sys/devices/platform/amdgpu_xcp_x/drm/renderD129"),
	    DIR_AT("sys/devices/platform/serial8250/drm/renderD129") },
	  NO_PARTITIONING "amd.com/gpu.cu-count=38\n" DEVICE_ID(
		  "74a1") "amd.com/gpu.family=AI\n" NO_MEMORY_PARTITIONING
			  "amd.com/gpu.simd-count=152\namd.com/gpu.vram=48G\n" NO_MEMORY_PARTITIONING_OLD
			  "beta.amd.com/gpu.cu-count=38\nbeta.amd.com/gpu.cu-count.38=3\n" BETA_DEVICE_ID(
				  "74a1",
				  "1") "beta.amd.com/gpu.family=AI\nbeta.amd.com/gpu.family.AI=1\n"
				       "beta.amd.com/gpu.simd-count=152\nbeta.amd.com/gpu.simd-count.152=3\n"
				       "beta.amd.com/gpu.vram=48G\nbeta.amd.com/gpu.vram.48G=3\n"
				       "amd-gpu=true\n" },
};

/* Labels of one node with 416 SIMD units of 4 a compute unit. */
#define NODE_416 "amd.com/gpu.simd-count=416\n"
#define BETA_NODE_416 "beta.amd.com/gpu.simd-count=416\nbeta.amd.com/gpu.simd-count.416=1\n"
#define CU_104 "amd.com/gpu.cu-count=104\n"
#define BETA_CU_104 "beta.amd.com/gpu.cu-count=104\nbeta.amd.com/gpu.cu-count.104=1\n"

/* One MI300X on minor 128 whose node gives @cu and so on. */
#define WITH_NODE(cu, family, rest, beta_cu, beta_rest)                                  \
	NO_PARTITIONING cu DEVICE_ID("74a1") family NO_MEMORY_PARTITIONING rest          \
		NO_MEMORY_PARTITIONING_OLD beta_cu BETA_DEVICE_ID("74a1", "1") beta_rest \
		"amd-gpu=true\n"
#define ONE_GPU GPU_AT("0000:03:00.0", "1002:74A1"), MINOR_AT("0000:03:00.0", "128")

static const struct scan_row topology_rows[] = {
	{ "a node without memory bank, of an unsettled family",
	  { ONE_GPU, CPU_NODE_AT("0"), NODE_AT("1", "128", "416", "100306") },
	  WITH_NODE(CU_104, "", NODE_416, BETA_CU_104, BETA_NODE_416) },
	{ "half a GiB rounds up, less does not",
	  { ONE_GPU, NODE_AT("1", "128", "416", "0"), BANK_AT("1", "536870912"),
	    GPU_AT("0000:04:00.0", "1002:74A1"), MINOR_AT("0000:04:00.0", "129"),
	    NODE_AT("2", "129", "416", "0"), BANK_AT("2", "536870911") },
	  NO_PARTITIONING CU_104 DEVICE_ID("74a1") NO_MEMORY_PARTITIONING NODE_416
	  "amd.com/gpu.vram.0G=1\namd.com/gpu.vram.1G=1\n" NO_MEMORY_PARTITIONING_OLD
	  "beta.amd.com/gpu.cu-count=104\nbeta.amd.com/gpu.cu-count.104=2\n" BETA_DEVICE_ID(
		  "74a1",
		  "2") "beta.amd.com/gpu.simd-count=416\nbeta.amd.com/gpu.simd-count.416=2\n"
		       "beta.amd.com/gpu.vram.0G=1\nbeta.amd.com/gpu.vram.1G=1\n"
		       "amd-gpu=true\n" },
	{ "no SIMD units in a compute unit",
	  { ONE_GPU, FILE_AT(NODE("1") "properties",
			     "simd_count 416\nsimd_per_cu 0\ndrm_render_minor 128\n") },
	  WITH_NODE("", "", NODE_416, "", BETA_NODE_416) },
	{ "a node without what is wanted",
	  { ONE_GPU, FILE_AT(NODE("1") "properties", "drm_render_minor 128\n") },
	  MI300X("", "") },
	{ "GPU without a render node has no node",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), DIR_AT(GPU("0000:03:00.0") "/drm/card0"),
	    DIR_AT(GPU("0000:03:00.0") "/drm/renderDx"), NODE_AT("1", "128", "416", "90402"),
	    CPU_NODE_AT("0") },
	  MI300X("", "") },
	{ "two nodes of one minor: the first counts",
	  { ONE_GPU, NODE_AT("1", "128", "416", "0"), NODE_AT("2", "128", "8", "0") },
	  WITH_NODE(CU_104, "", NODE_416, BETA_CU_104, BETA_NODE_416) },
	{ "first line of a name counts, other lines and names are passed over",
	  { ONE_GPU, FILE_AT(NODE("1") "properties",
			     "\nx\n simd_count 1\nxsimd_count 2\nsimd_count 416\n"
			     "simd_count 7\nsimd_per_cu 4\ndrm_render_minor 128\nunique_id -1") },
	  WITH_NODE(CU_104, "", NODE_416, BETA_CU_104, BETA_NODE_416) },
	{ "folders that are no nodes",
	  { ONE_GPU, FILE_AT(NODE("x") "properties", "drm_render_minor 128\nsimd_count 9\n"),
	    FILE_AT(NODE("-1") "properties", "drm_render_minor 128\nsimd_count 9\n"),
	    DIR_AT(NODE("3")) },
	  MI300X("", "") },
	{ "a number that is none",
	  { ONE_GPU, NODE_AT("1", "128", "many", "90402") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "a number that does not fit",
	  { ONE_GPU, NODE_AT("1", "128", "99999999999999999999", "90402") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "a negative number",
	  { ONE_GPU, NODE_AT("1", "128", "-4", "90402") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "another GPU's node that cannot be read",
	  { ONE_GPU, NODE_AT("1", "128", "416", "90402"), DIR_AT(NODE("2") "properties") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "a bank that cannot be read",
	  { ONE_GPU, NODE_AT("1", "128", "416", "90402"), DIR_AT(BANK("1")) },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "a bank without a size",
	  { ONE_GPU, NODE_AT("1", "128", "416", "0"), FILE_AT(BANK("1"), "heap_type 1\n") },
	  WITH_NODE(CU_104, "", NODE_416, BETA_CU_104, BETA_NODE_416) },
	{ "nodes that are a loop",
	  { ONE_GPU, LINK_AT(NFD_AMD_TOPOLOGY, "nodes") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "a device folder that is a loop",
	  { GPU_AT("0000:03:00.0", "1002:74A1"), LINK_AT(GPU("0000:03:00.0") "/drm", "drm"),
	    NODE_AT("1", "128", "416", "90402") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "platform devices that are a loop, where a node is left",
	  { ONE_GPU, NODE_AT("1", "128", "416", "90402"), NODE_AT("2", "129", "416", "90402"),
	    LINK_AT("sys/devices/platform", "platform") },
	  MI300X("", "") TOPOLOGY_UNKNOWN },
	{ "platform devices are not looked at where none is",
	  { ONE_GPU, NODE_AT("1", "128", "416", "0"), LINK_AT("sys/devices/platform", "platform") },
	  WITH_NODE(CU_104, "", NODE_416, BETA_CU_104, BETA_NODE_416) },
};

static void scans(void **state)
{
	scan_check_row(&nfd_amd_scanner, *state);
}

/* Every key has one of the prefixes under which it is reported unknown. */
static void keys_have_their_prefixes(void **state)
{
	const struct tree_entry entry[] = {
		ONE_GPU,
		MODES_AT("0000:03:00.0", "SPX", "NPS1"),
		NODE_AT("1", "128", "416", "90402"),
		BANK_AT("1", "206141652992"),
		FILE_AT(GPU("0000:03:00.0") "/product_name", "AMD\n"),
		FILE_AT(GPU("0000:03:00.0") "/fw_version/mec_fw_version", "0x1\n"),
		FILE_AT("sys/module/amdgpu/version", "6.10.5\n"),
		FILE_AT("sys/module/amdgpu/srcversion", "533BB7E5866E52F63B9ACCB\n"),
		{ 0 },
	};
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan scan = { .options = &options };

	(void)state;
	tree_fill(tree, entry);
	scan.root = tree_root(tree, false);
	nfd_amd_scanner.run(&scan);
	assert_int_equal(scan.error, 0);
	assert_int_equal(scan.labels.count, 28);
	for (size_t i = 0; i < scan.labels.count; i++)
		assert_ptr_equal(nfd_scanner_of(scan.labels.label[i].key), &nfd_amd_scanner);
	nfd_scan_done(&scan);
}

static const struct {
	const char *name;
	unsigned int gfx_target_version;
	const char *family;
} family_rows[] = {
	{ "Kaveri", 70000, "KV" },
	{ "Hawaii", 70001, "CI" },
	{ "Carrizo", 80001, "CZ" },
	{ "Polaris", 80003, "VI" },
	{ "Vega 10", 90000, "AI" },
	{ "Raven", 90002, "RV" },
	{ "Vega 20", 90006, "AI" },
	{ "MI100", 90008, "AI" },
	{ "MI210, MI250", 90010, "AI" },
	{ "Renoir", 90012, "RV" },
	{ "MI300", 90402, "AI" },
	{ "MI350", 90500, "AI" },
	{ "Navi 10", 100100, "NV" },
	{ "Navi 21", 100300, "NV" },
	{ "Van Gogh", 100303, "VGH" },
	{ "Yellow Carp", 100305, "YC" },
	{ "Raphael or Mendocino", 100306, NULL },
	{ "Navi 31", 110000, "GC_11_0_0" },
	{ "Navi 32", 110001, "GC_11_0_0" },
	{ "Phoenix", 110003, "GC_11_0_1" },
	{ "Strix", 110500, "GC_11_5_0" },
	{ "Navi 48", 120001, "GC_12_0_0" },
	{ "one to come", 130000, NULL },
	{ "none", 0, NULL },
};

static void knows_families(void **state)
{
	const __typeof__(family_rows[0]) *row = *state;
	const char *family = nfd_amd_family(row->gfx_target_version);

	if (row->family)
		assert_string_equal(family, row->family);
	else
		assert_null(family);
}

/* A folder with more nodes than any machine has is not read at all. */
static void refuses_too_many_nodes(void **state)
{
	struct nfd_amd_topology topology;
	const char *tree = tree_new();

	(void)state;
	for (unsigned int i = 0; i <= NFD_AMD_NODES_MAX; i++)
		tree_file(tree, unit_text(NFD_AMD_TOPOLOGY "/%u/properties", i),
			  "drm_render_minor 128\n");
	nfd_amd_topology_read(tree_root(tree, false), &topology);
	assert_int_equal(topology.error, -E2BIG);
	assert_string_equal(topology.error_path, NFD_AMD_TOPOLOGY);
	assert_int_equal(topology.count, 0);
	nfd_amd_topology_done(&topology);
}

/* More GPUs than any machine has: the operator's label alone can be told. */
static void refuses_too_many_gpus(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new(), *text;

	(void)state;
	for (unsigned int i = 0; i <= NFD_AMD_GPUS_MAX; i++)
		tree_file(tree, unit_text(TREE_PCI "%04x:00:00.0/uevent", i),
			  "DRIVER=amdgpu\nPCI_CLASS=120000\nPCI_ID=1002:74A1\n");
	text = scan_text(&nfd_amd_scanner, tree_root(tree, false), &options, false);
	assert_null(strstr(text, "device-id="));
	assert_non_null(strstr(text, "\namd-gpu=true\nunknown beta.amd.com/gpu.device-id\n"));
	assert_non_null(strstr(text, "\nunknown amd.com/gpu.family\n"));
}

/* A file that is longer than the kernel's page is not the kernel's. */
static void refuses_long_properties(void **state)
{
	char *text = malloc(10001);
	struct nfd_amd_topology topology;
	const char *tree = tree_new();

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 10000);
	text[10000] = '\0';
	tree_file(tree, NODE("1") "properties", text);
	free(text);
	nfd_amd_topology_read(tree_root(tree, false), &topology);
	assert_int_equal(topology.error, -EFBIG);
	nfd_amd_topology_done(&topology);
}

int main(void)
{
	struct unit_suite suite = { .name = "amd" };

	UNIT_ROWS(&suite, scans, which_rows, name);
	UNIT_ROWS(&suite, scans, count_rows, name);
	UNIT_ROWS(&suite, scans, partition_rows, name);
	UNIT_ROWS(&suite, scans, topology_rows, name);
	UNIT_CASE(&suite, keys_have_their_prefixes);
	UNIT_ROWS(&suite, knows_families, family_rows, name);
	UNIT_CASE(&suite, refuses_too_many_nodes);
	UNIT_CASE(&suite, refuses_too_many_gpus);
	UNIT_CASE(&suite, refuses_long_properties);
	return unit_run(&suite);
}
