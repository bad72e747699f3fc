// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia_labels: what gpu-feature-discovery writes for the same GPUs (spec gpu-stack.md 1.3, 1.6), with
 * reports of NVML that are good and that are not.
 */
#include "config.h"

#include "scan/nvidia_labels.h"

#include <string.h>

#include "scan/scan.h"
#include "tests/unit/nvml_row.h"
#include "tests/unit/unit.h"

static const struct nvml_row rows[] = {
	{ "two L4",
	  { HARDWARE, DMI, L4_AT(A0), L4_AT(A1) },
	  REPORT(L4("3B") "," L4("AF")),
	  0,
	  NULL,
	  NULL,
	  DRIVER CUDA N "gpu.compute.major=8\n" N "gpu.compute.minor=9\n" N "gpu.count=2\n" N
			"gpu.family=ada-lovelace\n" N "gpu.machine=PowerEdge-R750-SKU1\n" N
			"gpu.memory=23034\n" N "gpu.mode=compute\n" N "gpu.product=NVIDIA-L4\n" N
			"gpu.replicas=1\n" N "gpu.sharing-strategy=none\n" N "mig.capable=false\n" N
			"mps.capable=false\n" N "vgpu.present=false\n" },
	{ "no devices: one label",
	  { HARDWARE, DMI, MODULE, L4_AT(A0) },
	  REPORT(""),
	  0,
	  NULL,
	  NULL,
	  N "vgpu.present=false\n" },
	{ "display helper alone",
	  { HARDWARE },
	  REPORT(CARD("3B", "NVIDIA DGX Display", "")),
	  0,
	  NULL,
	  NULL,
	  N "vgpu.present=false\n" },
	{ "display helper is skipped",
	  { HARDWARE, L4_AT(A0) },
	  REPORT(L4("3B") "," CARD("AF", "DGX Display", CC(8, 0))),
	  0,
	  NULL,
	  "gpu.count gpu.mode",
	  N "gpu.count=1\n" N "gpu.mode=compute\n" },

	/* Names. */
	{ "D1 sanitised",
	  { HARDWARE },
	  REPORT(CARD("3B", "NVIDIA  GeForce (TM) RTX 4090/24GB, X", "")),
	  0,
	  NULL,
	  "gpu.product",
	  N "gpu.product=NVIDIA-GeForce-TM-RTX-409024GB-X\n" },
	{ "D1 nothing legal",
	  { HARDWARE },
	  REPORT(CARD("3B", "(((", "")),
	  0,
	  NULL,
	  "gpu.product gpu.count",
	  N "gpu.count=1\n" },
	{ "D2 the profile survives the cut",
	  { HARDWARE },
	  REPORT(CARD("3B", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
		      MIG_ON(PART("1g.24gb", "24192")))),
	  NFD_MIG_SINGLE,
	  NULL,
	  "gpu.product",
	  N "gpu.product=NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edi-MIG-1g.24gb\n" },
	{ "machine unknown",
	  { HARDWARE },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.machine",
	  N "gpu.machine=unknown\n" },
	{ "machine empty",
	  { HARDWARE, FILE_AT("sys/class/dmi/id/product_name", "\n") },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.machine",
	  "" },
	{ "machine unreadable",
	  { HARDWARE, DIR_AT("sys/class/dmi/id/product_name") },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.machine",
	  "unknown " N "gpu.machine\n" },
	/* Mode. */
	{ "graphics",
	  { HARDWARE, PCI_AT(A0, "30000", "10DE:2204", "nvidia") },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.mode",
	  N "gpu.mode=graphics\n" },
	{ "both modes",
	  { HARDWARE, PCI_AT(A0, "30000", "10DE:2204", "nvidia"), L4_AT(A1) },
	  REPORT(L4("3B") "," L4("AF")),
	  0,
	  NULL,
	  "gpu.mode",
	  N "gpu.mode=unknown\n" },
	{ "not on the bus",
	  { HARDWARE, DIR_AT(TREE_PCI) },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.mode",
	  N "gpu.mode=unknown\n" },
	{ "the address is no GPU",
	  { HARDWARE, PCI_AT(A0, "68000", "10DE:22A3", "x") },
	  REPORT(L4("3B")),
	  0,
	  NULL,
	  "gpu.mode",
	  N "gpu.mode=unknown\n" },
	{ "domain above ffff",
	  { HARDWARE, L4_AT("10000:3b:00.0") },
	  REPORT("{\"name\":\"x\",\"busId\":\"00010000:3B:00.0\"}"),
	  0,
	  NULL,
	  "gpu.mode",
	  N "gpu.mode=compute\n" },
	/* Calls that fail: what they would say stays. */
	{ "memory failed",
	  { HARDWARE },
	  REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetMemoryInfo"))),
	  0,
	  NULL,
	  "gpu.count gpu.memory",
	  N "gpu.count=1\nunknown " N "gpu.memory\n" },
	{ "memory of a GPU that does not stand for all",
	  { HARDWARE },
	  REPORT(CARD("3B", "x", GB("2097152")) "," CARD("AF", "x",
							 FAILED("nvmlDeviceGetMemoryInfo"))),
	  0,
	  NULL,
	  "gpu.memory",
	  N "gpu.memory=2\n" },
	{ "compute failed",
	  { HARDWARE },
	  REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetCudaComputeCapability"))),
	  0,
	  NULL,
	  "gpu.count gpu.family gpu.compute",
	  N "gpu.count=1\nunknown " N "gpu.family\nunknown " N "gpu.compute.\n" },
	{ "MIG mode failed",
	  { HARDWARE },
	  REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetMigMode"))),
	  0,
	  NULL,
	  "gpu.count gpu.repl mig.capable mps",
	  "unknown " N "mig.capable\nunknown " N "mps.\nunknown " N "gpu.count\nunknown " N
	  "gpu.replicas\n" },
	{ "fabric call failed",
	  { HARDWARE },
	  REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetGpuFabricInfo"))),
	  0,
	  NULL,
	  "gpu.clique",
	  "unknown " N "gpu.clique\n" },
	{ "address failed",
	  { HARDWARE },
	  REPORT("{\"name\":\"x\"" FAILED("nvmlDeviceGetPciInfo_v3") "}"),
	  0,
	  NULL,
	  "gpu.mode",
	  "unknown " N "gpu.mode\n" },
	{ "address is none",
	  { HARDWARE },
	  REPORT("{\"name\":\"x\",\"busId\":\"card 1\"}"),
	  0,
	  NULL,
	  "gpu.mode",
	  "unknown " N "gpu.mode\n" },
	{ "a call that no label needs",
	  { HARDWARE, L4_AT(A0) },
	  REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetUUID"))),
	  0,
	  NULL,
	  "/gpu.",
	  N "gpu.count=1\n" N "gpu.machine=unknown\n" N "gpu.mode=compute\n" N "gpu.product=x\n" N
	    "gpu.replicas=1\n" N "gpu.sharing-strategy=none\n" },
	{ "a GPU that is lost",
	  { HARDWARE, L4_AT(A0) },
	  REPORT(L4("3B") ",{\"index\":1,\"error\":{\"code\":15,\"text\":\"GPU is lost\"}}"),
	  0,
	  NULL,
	  "cuda.driver.major /gpu. mig. mps",
	  N "cuda.driver.major=580\n" N "gpu.machine=unknown\n"
	    "unknown " N "gpu.product\nunknown " N "gpu.count\nunknown " N
	    "gpu.replicas\nunknown " N "gpu.sharing-strategy\nunknown " N "gpu.memory\nunknown " N
	    "gpu.family\nunknown " N "gpu.compute.\n"
	    "unknown " N "mig.capable\nunknown " N "mps.\nunknown " N
	    "gpu.multiprocessors\nunknown " N "gpu.slices.\n"
	    "unknown " N "gpu.engines.\nunknown " N "gpu.mode\nunknown " N "gpu.clique\n" },
	{ "a GPU without a name",
	  { HARDWARE },
	  REPORT("{\"busId\":\"00000000:3B:00.0\"}"),
	  0,
	  NULL,
	  "gpu.count",
	  "unknown " N "gpu.count\n" },
	/* A sick driver takes nothing away. */
	{ "mismatch",
	  { HARDWARE, DMI, MODULE, L4_AT(A0), INFORMATION(A0, "NVIDIA L4", "No") },
	  "{\"init\":{\"code\":18,\"text\":\"Driver/library version mismatch\"}}",
	  0,
	  SLICE_GPU,
	  NULL,
	  DRIVER N "gpu.count=1\n" N "gpu.machine=PowerEdge-R750-SKU1\n" N "gpu.mode=compute\n" N
		   "gpu.product=NVIDIA-L4-SHARED\n" N "vgpu.present=false\nunknown " N "\n" },
	{ "not loadable",
	  { HARDWARE, L4_AT(A0) },
	  "{\"init\":{\"code\":0},\"loadError\":\"no such symbol\",\"devices\":[]}",
	  0,
	  NULL,
	  NULL,
	  N "gpu.machine=unknown\n" N "gpu.mode=compute\n" N "vgpu.present=false\nunknown " N
	    "\n" },
	{ "not countable",
	  { HARDWARE, L4_AT(A0) },
	  "{\"init\":{\"code\":0},\"count\":{\"code\":999},\"devices\":[]}",
	  0,
	  NULL,
	  "gpu.mode vgpu",
	  N "gpu.mode=compute\n" N "vgpu.present=false\n" },
	{ "no init", { HARDWARE }, "{}", 0, NULL, NULL, N "vgpu.present=false\nunknown " N "\n" },
	{ "no list",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"devices\":{}}",
	  0,
	  NULL,
	  NULL,
	  N "vgpu.present=false\nunknown " N "\n" },
	{ "devices of other types",
	  { HARDWARE },
	  REPORT("1,null,[],\"x\""),
	  0,
	  NULL,
	  "gpu.count gpu.machine",
	  N "gpu.machine=unknown\nunknown " N "gpu.count\n" },
};

static void scans(void **state)
{
	nvml_check_row(*state);
}

/* Ends other than a report. */
static const struct {
	const char *name;
	enum nfd_nvml_end end;
	const char *text;
} end_rows[] = {
	{ "not started", NFD_NVML_NOT_STARTED, "" },
	{ "pending", NFD_NVML_PENDING, "doubt " N "\n" },
	{ "hung", NFD_NVML_HUNG, "unknown " N "\n" },
	{ "crashed", NFD_NVML_CRASHED, "unknown " N "\n" },
	{ "rubbish", NFD_NVML_RUBBISH, "unknown " N "\n" },
};

static void ends(void **state)
{
	const __typeof__(end_rows[0]) *row = *state;
	const struct nfd_nvml nvml = { .end = row->end };
	struct nfd_scan_options options = scan_options(0);
	const struct tree_entry entry[] = { HARDWARE, L4_AT(A0), { 0 } };
	const char *tree = tree_new();

	tree_fill(tree, entry);
	assert_string_equal(scan_text_nvml(&nfd_nvidia_labels_scanner, tree_root(tree, false),
					   &options, &nvml),
			    unit_text(N "gpu.machine=unknown\n" N "gpu.mode=compute\n" N
					"vgpu.present=false\n%s",
				      row->text));
	options.vendor.nvml = 1;
	assert_string_equal(scan_text_nvml(&nfd_nvidia_labels_scanner, tree_root(tree, false),
					   &options, &nvml),
			    N "gpu.machine=unknown\n" N "gpu.mode=compute\n" N
			      "vgpu.present=false\n");
}

/* The reason names the call, the GPU and what the driver said. */
static void reasons(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	struct nfd_nvml nvml = {
		.end = NFD_NVML_DONE,
		.report = cJSON_Parse(REPORT(CARD("3B", "x", FAILED("nvmlDeviceGetMemoryInfo")))),
	};
	struct nfd_scan scan = { .options = &options, .nvml = &nvml };

	(void)state;
	scan.root = tree_root(tree_new(), false);
	nfd_nvidia_labels_scanner.run(&scan);
	assert_string_equal(nfd_unknowns_find(&scan.unknowns, N "gpu.memory")->reason,
			    "NVML: nvmlDeviceGetMemoryInfo of 00000000:3B:00.0 failed: 999 Unknown "
			    "Error");
	nfd_scan_done(&scan);
	nfd_nvml_done(&nvml);
}

/* The order in which devices are reported is no matter. */
static void k2_any_order(void **state)
{
	static const char *const orders[] = {
		REPORT(CARD("01", "B",
			    GB("1048576")) "," CARD("02", "A",
						    GB("2097152")) "," CARD("03", "A",
									    GB("3145728"))),
		REPORT(CARD("03", "A",
			    GB("3145728")) "," CARD("02", "A",
						    GB("2097152")) "," CARD("01", "B",
									    GB("1048576"))),
	};
	const struct nfd_scan_options options = scan_options(0);
	const struct nfd_root *root = tree_root(tree_new(), false);

	(void)state;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(orders); i++) {
		struct nfd_nvml nvml = { .end = NFD_NVML_DONE, .report = cJSON_Parse(orders[i]) };

		unit_assert_contains(scan_text_nvml(&nfd_nvidia_labels_scanner, root, &options,
						    &nvml),
				     N "gpu.memory=2\n");
		nfd_nvml_done(&nvml);
	}
}

static const struct {
	const char *name;
	struct tree_entry tree[4];
	bool is_here;
} here_rows[] = {
	{ "nothing", { DIR_AT("sys") }, false },
	{ "GPU", { L4_AT(A0) }, true },
	{ "virtual function alone", { L4_AT(A0), LINK_AT(TREE_PCI A0 "/physfn", "../" A1) }, true },
	{ "audio function alone", { PCI_AT(A0, "40300", "10DE:22BC", "x") }, false },
	{ "module", { MODULE }, true },
	{ "folder of a module", { FILE_AT("sys/module/nvidia/version", "1.2") }, false },
	{ "Tegra", { FILE_AT("sys/devices/soc0/family", "Tegra\n") }, true },
	{ "WSL2 with the library",
	  { FILE_AT("sys/kernel/x", ""), FILE_AT("dev/dxg", ""),
	    FILE_AT("usr/lib/wsl/lib/libnvidia-ml.so.1", "") },
	  true },
	{ "WSL2 without", { FILE_AT("sys/kernel/x", ""), FILE_AT("dev/dxg", "") }, false },
};

static void is_here(void **state)
{
	const __typeof__(here_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new(), *text;

	tree_fill(tree, row->tree);
	text = scan_text(NULL, tree_root(tree, false), &options, false);
	assert_int_equal(strstr(text, N "vgpu.present") || strstr(text, "doubt " N "vgpu."),
			 row->is_here);
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia_labels" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_ROWS(&suite, ends, end_rows, name);
	UNIT_CASE(&suite, reasons);
	UNIT_CASE(&suite, k2_any_order);
	UNIT_ROWS(&suite, is_here, here_rows, name);
	return unit_run(&suite);
}
