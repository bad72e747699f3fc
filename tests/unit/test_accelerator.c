// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/accelerator and the scanners made of it: neuron, tpu, qualcomm, ascend, alveo. A vendor id
 * alone decides nothing (spec gpu-stack.md 3.3, the traps).
 */
#include "config.h"

#include "scan/accelerator.h"

#include "scan/alveo.h"
#include "scan/ascend.h"
#include "scan/neuron.h"
#include "scan/qualcomm.h"
#include "scan/scan.h"
#include "scan/tpu.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define NEURON "sys/devices/virtual/neuron_device/"
#define TPU_AT(address, device, subsystem)  \
	FILE_AT(TREE_PCI address "/uevent", \
		"PCI_CLASS=120000\nPCI_ID=1AE0:" device "\nPCI_SUBSYS_ID=1AE0:" subsystem "\n")

static const struct scan_row neuron_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "inf1, all four ids",
	  { PCI_AT("0000:00:1c.0", "C8000", "1D0F:7064", "neuron"),
	    PCI_AT("0000:00:1d.0", "C8000", "1D0F:7065", "neuron"),
	    PCI_AT("0000:00:1e.0", "C8000", "1D0F:7066", "neuron"),
	    PCI_AT("0000:00:1f.0", "C8000", "1D0F:7067", "neuron") },
	  "aws-neuron=true\naws-neuron.count=4\naws-neuron.generation=inf1\n" },
	{ "trn1",
	  { PCI_AT("0000:10:1c.0", "C8000", "1D0F:7164", "neuron") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n" },
	{ "inf2",
	  { PCI_UNBOUND_AT("0000:00:1f.0", "C8000", "1D0F:7264") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=inf2\n" },
	{ "trn2",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7364", "neuron") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn2\n" },
	{ "trn3, both ids",
	  { PCI_AT("0000:00:1e.0", "C8000", "1D0F:7564", "neuron"),
	    PCI_AT("0000:00:1f.0", "C8000", "1D0F:7565", "neuron") },
	  "aws-neuron=true\naws-neuron.count=2\naws-neuron.generation=trn3\n" },
	{ "two generations",
	  { PCI_AT("0000:00:1e.0", "C8000", "1D0F:7164", "neuron"),
	    PCI_AT("0000:00:1f.0", "C8000", "1D0F:7264", "neuron") },
	  "aws-neuron=true\naws-neuron.count=2\naws-neuron.generation.inf2.count=1\n"
	  "aws-neuron.generation.trn1.count=1\n" },
	{ "one that no longer answers is there but not counted",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    FILE_AT(TREE_PCI "0000:00:1f.0/power_state", "error") },
	  "aws-neuron=true\n" },
	{ "a virtual function is there but not counted",
	  { PCI_UNBOUND_AT("0000:00:1f.0", "C8000", "1D0F:7164"),
	    LINK_AT(TREE_PCI "0000:00:1f.0/physfn", "../0000:00:1e.0") },
	  "aws-neuron=true\n" },
	{ "cores of two devices",
	  { PCI_AT("0000:00:1e.0", "C8000", "1D0F:7164", "neuron"),
	    PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    FILE_AT(NEURON "neuron0/core_count", "2\n"),
	    FILE_AT(NEURON "neuron10/core_count", "2\n"),
	    FILE_AT(NEURON "neuron/core_count", "64\n"),
	    FILE_AT(NEURON "neuron0x/core_count", "64\n"),
	    FILE_AT(NEURON "power/core_count", "64\n") },
	  "aws-neuron=true\naws-neuron.core-count=4\naws-neuron.count=2\n"
	  "aws-neuron.generation=trn1\n" },
	{ "a device that does not state its cores",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    FILE_AT(NEURON "neuron0/core_count", "2\n"), DIR_AT(NEURON "neuron1") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n" },
	{ "cores malformed",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    FILE_AT(NEURON "neuron0/core_count", "two\n") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n"
	  "unknown aws-neuron.core-count\n" },
	{ "cores beyond reason",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    FILE_AT(NEURON "neuron0/core_count", "4097\n") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n"
	  "unknown aws-neuron.core-count\n" },
	{ "cores unreadable",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    DIR_AT(NEURON "neuron0/core_count") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n"
	  "unknown aws-neuron.core-count\n" },
	{ "devices are a loop",
	  { PCI_AT("0000:00:1f.0", "C8000", "1D0F:7164", "neuron"),
	    LINK_AT("sys/devices/virtual/neuron_device", "neuron_device") },
	  "aws-neuron=true\naws-neuron.count=1\naws-neuron.generation=trn1\n"
	  "unknown aws-neuron.core-count\n" },
	{ "trap: NVMe disk", { PCI_AT("0000:00:1f.0", "10802", "1D0F:CD01", "nvme") }, "" },
	{ "trap: EBS", { PCI_AT("0000:00:04.0", "10802", "1D0F:8061", "nvme") }, "" },
	{ "trap: VGA", { PCI_UNBOUND_AT("0000:00:03.0", "30000", "1D0F:1111") }, "" },
	{ "trap: ENA", { PCI_AT("0000:00:05.0", "20000", "1D0F:EC20", "ena") }, "" },
	{ "trap: EFA",
	  { PCI_AT("0000:00:06.0", "20000", "1D0F:EFA0", "efa"),
	    PCI_AT("0000:00:07.0", "20000", "1D0F:EFA1", "efa"),
	    PCI_AT("0000:00:08.0", "20000", "1D0F:EFA2", "efa") },
	  "" },
	{ "trap: FPGA", { PCI_UNBOUND_AT("0000:00:1d.0", "58000", "1D0F:F010") }, "" },
	{ "trap: the id of another vendor",
	  { PCI_UNBOUND_AT("0000:00:1d.0", "C8000", "1D0E:7164") },
	  "" },
};

static const struct scan_row tpu_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "v2 and v3 share an id",
	  { TPU_AT("0000:00:04.0", "0027", "004E"), TPU_AT("0000:00:05.0", "0027", "004E") },
	  "google-tpu=true\ngoogle-tpu.count=2\ngoogle-tpu.generation=v2\n" },
	{ "v3",
	  { TPU_AT("0000:00:04.0", "0027", "004F") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=v3\n" },
	{ "v2 or v3",
	  { TPU_AT("0000:00:04.0", "0027", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=1\n" },
	{ "v4",
	  { TPU_AT("0000:00:04.0", "005E", "0054") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=v4\n" },
	{ "v5p",
	  { TPU_AT("0000:00:04.0", "0062", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=v5p\n" },
	{ "v5e, whatever the class",
	  { PCI_AT("0000:00:04.0", "FF0000", "1AE0:0063", "vfio-pci") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=v5e\n" },
	{ "v6e",
	  { TPU_AT("0000:00:04.0", "006F", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=v6e\n" },
	{ "7x",
	  { TPU_AT("0000:00:04.0", "0076", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=1\ngoogle-tpu.generation=7x\n" },
	{ "a TPU without a public name",
	  { TPU_AT("0000:00:04.0", "0056", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=1\n" },
	{ "one known, one not",
	  { TPU_AT("0000:00:04.0", "005E", "0000"), TPU_AT("0000:00:05.0", "0056", "0000") },
	  "google-tpu=true\ngoogle-tpu.count=2\ngoogle-tpu.generation.v4.count=1\n" },
	{ "trap: NVMe disk", { PCI_AT("0000:00:04.0", "10802", "1AE0:001F", "nvme") }, "" },
	{ "trap: gVNIC", { PCI_AT("0000:00:05.0", "20000", "1AE0:0042", "gve") }, "" },
	{ "trap: IPU of a telephone",
	  { PCI_UNBOUND_AT("0000:01:00.0", "FF0000", "1AE0:ABCD") },
	  "" },
	{ "trap: Coral Edge TPU", { PCI_AT("0000:01:00.0", "FF0000", "1AC1:089A", "apex") }, "" },
};

static const struct scan_row qualcomm_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "two cards",
	  { PCI_AT("0000:c1:00.0", "120000", "17CB:A100", "qaic"),
	    PCI_AT("0000:c2:00.0", "120000", "17CB:A100", "vfio-pci") },
	  "qualcomm-ai100=true\nqualcomm-ai100.count=2\n" },
	{ "trap: WLAN",
	  { PCI_AT("0000:02:00.0", "28000", "17CB:1103", "ath11k_pci"),
	    PCI_AT("0000:03:00.0", "28000", "17CB:1101", "ath11k_pci") },
	  "" },
	{ "trap: modem", { PCI_AT("0000:02:00.0", "FF0000", "17CB:0300", "mhi-pci-generic") }, "" },
	{ "trap: root ports",
	  { PCI_AT("0000:00:00.0", "60400", "17CB:0400", "pcieport"),
	    PCI_AT("0001:00:00.0", "60400", "17CB:0109", "pcieport") },
	  "" },
	{ "trap: another accelerator",
	  { PCI_UNBOUND_AT("0000:02:00.0", "120000", "17CB:A080") },
	  "" },
	{ "trap: the id of another vendor",
	  { PCI_UNBOUND_AT("0000:02:00.0", "120000", "1DA3:A100") },
	  "" },
};

static const struct scan_row ascend_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "910B",
	  { PCI_AT("0000:01:00.0", "120000", "19E5:D802", "devdrv_device_driver"),
	    PCI_AT("0000:02:00.0", "120000", "19E5:D802", "devdrv_device_driver") },
	  "huawei-ascend=true\nhuawei-ascend.count=2\nhuawei-ascend.model=Ascend910B\n" },
	{ "310",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "19E5:D100") },
	  "huawei-ascend=true\nhuawei-ascend.count=1\nhuawei-ascend.model=Ascend310\n" },
	{ "310P",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "19E5:D500") },
	  "huawei-ascend=true\nhuawei-ascend.count=1\nhuawei-ascend.model=Ascend310P\n" },
	{ "910",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "19E5:D801") },
	  "huawei-ascend=true\nhuawei-ascend.count=1\nhuawei-ascend.model=Ascend910\n" },
	{ "910_93",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "19E5:D803") },
	  "huawei-ascend=true\nhuawei-ascend.count=1\nhuawei-ascend.model=Ascend910_93\n" },
	{ "two models, keys in lower case",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "19E5:D500"),
	    PCI_UNBOUND_AT("0000:02:00.0", "120000", "19E5:D802"),
	    PCI_UNBOUND_AT("0000:03:00.0", "120000", "19E5:D802") },
	  "huawei-ascend=true\nhuawei-ascend.count=3\nhuawei-ascend.model.ascend310p.count=1\n"
	  "huawei-ascend.model.ascend910b.count=2\n" },
	{ "trap: management controller",
	  { PCI_UNBOUND_AT("0000:01:00.0", "30000", "19E5:1711") },
	  "" },
	{ "trap: network cards",
	  { PCI_AT("0000:01:00.0", "20000", "19E5:1822", "hinic"),
	    PCI_AT("0000:02:00.0", "20000", "19E5:A222", "hns3") },
	  "" },
	{ "trap: disk", { PCI_AT("0000:01:00.0", "10802", "19E5:3754", "nvme") }, "" },
	{ "trap: engines of the processor",
	  { PCI_AT("0000:75:00.0", "120000", "19E5:A250", "hisi_zip"),
	    PCI_UNBOUND_AT("0000:76:00.0", "120000", "19E5:A127") },
	  "" },
	{ "trap: the id with another class",
	  { PCI_UNBOUND_AT("0000:01:00.0", "20000", "19E5:D802") },
	  "" },
	{ "trap: the id of another vendor",
	  { PCI_UNBOUND_AT("0000:01:00.0", "120000", "1DA3:D802") },
	  "" },
};

static const struct scan_row alveo_rows[] = {
	{ "no bus", { DIR_AT("sys") }, "" },
	{ "one card with two functions",
	  { PCI_AT("0000:3b:00.0", "120000", "10EE:5004", "xclmgmt"),
	    PCI_AT("0000:3b:00.1", "120000", "10EE:5005", "xocl") },
	  "xilinx-alveo=true\nxilinx-alveo.count=1\n" },
	{ "two cards, one of them without its second function",
	  { PCI_AT("0000:3b:00.0", "120000", "10EE:5004", "xclmgmt"),
	    PCI_AT("0000:3b:00.1", "120000", "10EE:5005", "xocl"),
	    PCI_UNBOUND_AT("0000:af:00.0", "120000", "10EE:D004") },
	  "xilinx-alveo=true\nxilinx-alveo.count=2\n" },
	{ "the same slot of other domains and buses",
	  { PCI_UNBOUND_AT("0000:3b:00.0", "120000", "10EE:5004"),
	    PCI_UNBOUND_AT("0001:3b:00.1", "120000", "10EE:5005"),
	    PCI_UNBOUND_AT("0001:3c:00.0", "120000", "10EE:5004"),
	    PCI_UNBOUND_AT("0001:3c:01.0", "120000", "10EE:5004") },
	  "xilinx-alveo=true\nxilinx-alveo.count=4\n" },
	{ "management does not answer, the card is still one",
	  { PCI_AT("0000:3b:00.0", "120000", "10EE:5004", "xclmgmt"),
	    FILE_AT(TREE_PCI "0000:3b:00.0/power_state", "error"),
	    PCI_AT("0000:3b:00.1", "120000", "10EE:5005", "xocl") },
	  "xilinx-alveo=true\nxilinx-alveo.count=1\n" },
	{ "trap: other designs",
	  { PCI_UNBOUND_AT("0000:01:00.0", "58000", "10EE:7011"),
	    PCI_AT("0000:02:00.0", "70001", "10EE:9038", "xdma"),
	    PCI_UNBOUND_AT("0000:03:00.0", "40100", "10EE:3FC6") },
	  "" },
};

static void check(const struct nfd_scanner *scanner, const struct scan_row *row)
{
	const struct nfd_scan_options options = scan_options(0);
	struct nfd_scan scan = { .options = &options };
	const char *tree = tree_new();

	scan_check_row(scanner, row);
	tree_fill(tree, row->tree);
	scan.root = tree_root(tree, false);
	assert_int_equal(scanner->is_here(&scan), row->text[0] != '\0');
	nfd_scan_done(&scan);
}

static void scans_neuron(void **state)
{
	check(&nfd_neuron_scanner, *state);
}

static void scans_tpu(void **state)
{
	check(&nfd_tpu_scanner, *state);
}

static void scans_qualcomm(void **state)
{
	check(&nfd_qualcomm_scanner, *state);
}

static void scans_ascend(void **state)
{
	check(&nfd_ascend_scanner, *state);
}

static void scans_alveo(void **state)
{
	check(&nfd_alveo_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "accelerator" };

	UNIT_ROWS(&suite, scans_neuron, neuron_rows, name);
	UNIT_ROWS(&suite, scans_tpu, tpu_rows, name);
	UNIT_ROWS(&suite, scans_qualcomm, qualcomm_rows, name);
	UNIT_ROWS(&suite, scans_ascend, ascend_rows, name);
	UNIT_ROWS(&suite, scans_alveo, alveo_rows, name);
	return unit_run(&suite);
}
