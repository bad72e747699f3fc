// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/gpu: what is a GPU, and the counts (field cases B5, B6, K2).
 */
#include "config.h"

#include "scan/gpu.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name;
	uint32_t class_code;
	uint16_t vendor;
	bool is_gpu;
} class_rows[] = {
	{ "NVIDIA VGA", 0x030000, 0x10de, true },
	{ "NVIDIA 3D", 0x030200, 0x10de, true },
	{ "AMD display", 0x038000, 0x1002, true },
	{ "Intel VGA", 0x030000, 0x8086, true },
	{ "Moore Threads", 0x030000, 0x1ed5, true },
	{ "accelerator of anybody", 0x120000, 0x1da3, true },
	{ "NVIDIA audio", 0x040300, 0x10de, false },
	{ "NVIDIA bridge", 0x068000, 0x10de, false },
	{ "NVIDIA XGA", 0x030100, 0x10de, false },
	{ "management controller", 0x030000, 0x1a03, false },
	{ "cloud VGA", 0x030000, 0x1d0f, false },
	{ "hypervisor VGA", 0x030000, 0x1234, false },
	{ "Microsoft 3D", 0x030200, 0x1414, false },
	{ "processing accelerator of another kind", 0x120100, 0x10de, false },
	{ "nothing", 0, 0, false },
};

static void knows_gpus(void **state)
{
	const __typeof__(class_rows[0]) *row = *state;
	const struct nfd_pci_function function = { .class_code = row->class_code,
						   .vendor = row->vendor };

	assert_int_equal(nfd_gpu_is_accelerator(&function), row->is_gpu);
}

static const struct scan_row scan_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "B6 four GPUs with their audio functions",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	    PCI_AT("0000:01:00.1", "40300", "10DE:22BC", "snd_hda_intel"),
	    PCI_AT("0000:02:00.0", "30200", "10DE:27B8", "vfio-pci"),
	    PCI_AT("0000:02:00.1", "40300", "10DE:22BC", "snd_hda_intel"),
	    PCI_AT("0000:03:00.0", "30200", "10DE:27B8", "nouveau"),
	    PCI_UNBOUND_AT("0000:04:00.0", "30200", "10DE:27B8") },
	  "gpu-10de.count=4\ngpu-10de.device-27b8.count=4\ngpu-10de.driver.none=1\n"
	  "gpu-10de.driver.nouveau=1\ngpu-10de.driver.nvidia=1\ngpu-10de.driver.vfio-pci=1\n" },
	{ "B5 virtual functions are counted apart",
	  { PCI_AT("0000:01:00.0", "30000", "8086:56C0", "i915"),
	    PCI_AT("0000:01:00.1", "30000", "8086:56C0", "vfio-pci"),
	    LINK_AT(TREE_PCI "0000:01:00.1/physfn", "../0000:01:00.0"),
	    PCI_UNBOUND_AT("0000:01:00.2", "30000", "8086:56C0"),
	    LINK_AT(TREE_PCI "0000:01:00.2/physfn", "../0000:01:00.0") },
	  "gpu-8086.count=1\ngpu-8086.device-56c0.count=1\ngpu-8086.driver.i915=1\n"
	  "gpu-8086.vf-count=2\n" },
	{ "virtual functions alone",
	  { PCI_UNBOUND_AT("0000:01:00.1", "30200", "10DE:1"),
	    LINK_AT(TREE_PCI "0000:01:00.1/physfn", "../0000:01:00.0") },
	  "gpu-10de.vf-count=1\n" },
	{ "K2 two models",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:20B2", "nvidia"),
	    PCI_AT("0000:02:00.0", "30000", "10DE:1EB8", "nvidia") },
	  "gpu-10de.count=2\ngpu-10de.device-1eb8.count=1\ngpu-10de.device-20b2.count=1\n"
	  "gpu-10de.driver.nvidia=2\n" },
	{ "one that no longer answers is not counted",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:20B2", "nvidia"),
	    PCI_AT("0000:02:00.0", "30200", "10DE:20B2", "nvidia"),
	    FILE_AT(TREE_PCI "0000:02:00.0/power_state", "error") },
	  "gpu-10de.count=1\ngpu-10de.device-20b2.count=1\ngpu-10de.driver.nvidia=1\n" },
	{ "accelerators outside the class list count too",
	  { PCI_AT("0000:01:00.0", "120000", "1DA3:1020", "habanalabs") },
	  "gpu-1da3.count=1\ngpu-1da3.device-1020.count=1\ngpu-1da3.driver.habanalabs=1\n" },
	{ "driver name with illegal bytes",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:1", "a b/c") },
	  "gpu-10de.count=1\ngpu-10de.device-0001.count=1\ngpu-10de.driver.a_b_c=1\n" },
	{ "driver name without legal bytes",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:1", "///") },
	  "gpu-10de.count=1\ngpu-10de.device-0001.count=1\ngpu-10de.driver.none=1\n" },
	{ "empty bus is a doubt", { DIR_AT("sys/bus/pci/devices") }, "doubt pci-\ndoubt gpu-\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_gpu_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "gpu" };

	UNIT_ROWS(&suite, knows_gpus, class_rows, name);
	UNIT_ROWS(&suite, scans, scan_rows, name);
	return unit_run(&suite);
}
