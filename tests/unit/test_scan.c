// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/scan: the table of scanners, what they have in common, and a whole run.
 */
#include "config.h"

#include "scan/scan.h"

#include <errno.h>
#include <string.h>

#include "scan/gpu.h"
#include "scan/pci.h"
#include "scan/usb.h"
#include "tests/unit/labels.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

static void table_is_sound(void **state)
{
	size_t count;
	const struct nfd_scanner *const *scanners = nfd_scanners(&count);

	(void)state;
	assert_true(count >= 8);
	for (size_t i = 0; i < count; i++) {
		assert_true(scanners[i]->name[0] && scanners[i]->summary[0]);
		assert_non_null(scanners[i]->run);
		assert_non_null(scanners[i]->subsystems);
		assert_non_null(scanners[i]->key_prefixes);
		/* Labels, raw features or both. */
		assert_true(scanners[i]->key_prefixes[0] || scanners[i]->features[0]);
		/* What is NFD's has a name there. */
		assert_true(scanners[i]->vendor != NFD_VENDOR_NFD || scanners[i]->source);
		for (const char *const *prefix = scanners[i]->key_prefixes; *prefix; prefix++)
			assert_true(scanners[i]->vendor ||
				    strncmp(*prefix, NFD_F, strlen(NFD_F)) == 0);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(scanners[i]->name, scanners[j]->name);
	}
}

/* What every scanner that looks at PCI functions for a vendor says of a bus that cannot be read. */
#define VENDORS_UNKNOWN                                                                       \
	"unknown amd.com/gpu.\nunknown amd.com/compute-\nunknown amd.com/memory-\n"           \
	"unknown beta.amd.com/gpu.\nunknown amd-\nunknown gpu.intel.com/\n"                   \
	"unknown intel.feature.node.kubernetes.io/\n"                                         \
	"unknown intel.feature.node.kubernetes.io/gaudi\nunknown intel-gaudi.\n"              \
	"unknown nic-15b3.\nunknown aws-neuron\nunknown google-tpu\nunknown qualcomm-ai100\n" \
	"unknown huawei-ascend\nunknown xilinx-alveo\nunknown nvidia.com/\n"

static const struct scan_row rows[] = {
	{ "empty root: sysfs is not mounted",
	  { DIR_AT("etc") },
	  "unknown pci-\nunknown gpu-\nunknown gpu-tegra.\nunknown gpu-paravirtual.\n"
	  "unknown usb-\nunknown driver-\nunknown driver-nvidia.\n" VENDORS_UNKNOWN },
	{ "empty sysfs is none",
	  { DIR_AT("sys"), FILE_AT("etc/os-release", "ID=x\n") },
	  "system-os_release.ID=x\nunknown pci-\nunknown gpu-\nunknown gpu-tegra.\n"
	  "unknown gpu-paravirtual.\nunknown usb-\nunknown driver-\nunknown driver-nvidia.\n" VENDORS_UNKNOWN },
	{ "B7 no PCI bus", { DIR_AT("sys/bus") }, "" },
	{ "several scanners",
	  { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	    FILE_AT("etc/os-release", "ID=x\n"), FILE_AT("proc/sys/kernel/osrelease", "6.1.0\n") },
	  "gpu-10de.count=1\ngpu-10de.device-27b8.count=1\ngpu-10de.driver.nvidia=1\n"
	  "kernel-version.full=6.1.0\nkernel-version.major=6\nkernel-version.minor=1\n"
	  "kernel-version.revision=0\npci-0302_10de.present=true\npci-10de.present=true\n"
	  "system-os_release.ID=x\nnvidia.com/gpu.machine=unknown\nnvidia.com/gpu.mode=compute\n"
	  "nvidia.com/vgpu.present=false\n" },
	{ "one that fails does not stop the others",
	  { LINK_AT("sys/bus/pci/devices", "devices"), FILE_AT("etc/os-release", "ID=x\n") },
	  "system-os_release.ID=x\nunknown pci-\nunknown gpu-\n" VENDORS_UNKNOWN },
};

static void runs(void **state)
{
	scan_check_row(NULL, *state);
}

/* A run with an expression over one GPU; NULL where the expression is refused. */
static const char *run_filtered(char *pattern, struct nfd_error *err)
{
	const struct tree_entry entry[] = { PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
					    { 0 } };
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	const char *text = NULL;
	struct nfd_scan scan;

	tree_fill(tree, entry);
	options.label_white_list = pattern;
	if (nfd_scan_run(&scan,
			 &(struct nfd_scan_request){ .root = tree_root(tree, false),
						     .options = &options },
			 err) == 0)
		text = labels_text(&scan.labels);
	nfd_scan_done(&scan);
	nfd_scan_done(&scan);
	return text;
}

static void white_list_stops_all_but_the_vendor(void **state)
{
	(void)state;
	assert_string_equal(run_filtered((char[]){ "count$" }, NULL),
			    "gpu-10de.count=1\ngpu-10de.device-27b8.count=1\n"
			    "!gpu-10de.driver.nvidia=1\n!pci-0302_10de.present=true\n"
			    "pci-10de.present=true\n"
			    "!nvidia.com/gpu.machine=unknown\n!nvidia.com/gpu.mode=compute\n"
			    "!nvidia.com/vgpu.present=false\n");
}

#define OFF(source) (1U << NFD_SOURCE_##source)
#define KERNEL_OFF "!kernel-version.full=x\n"
#define KERNEL_ON "kernel-version.full=x\n"

/* Labels of a root with a Mellanox function, the modules of RDMA and a kernel, and how many raw features of kernel
 * there are. Those of our own, as pci-15b3.present, no setting takes away. */
static const struct {
	const char *name;
	struct nfd_source_options source;
	const char *labels;
	int kernel_features;
} source_rows[] = {
	{ "none left out",
	  { 0, 0 },
	  KERNEL_ON "pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		    "rdma.available=true\nrdma.capable=true\n",
	  1 },
	{ "labels",
	  { OFF(KERNEL) | OFF(PCI), 0 },
	  KERNEL_OFF "!pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		     "rdma.available=true\nrdma.capable=true\n",
	  1 },
	{ "features, of which labels are made",
	  { 0, OFF(KERNEL) },
	  KERNEL_OFF "pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		     "!rdma.available=true\nrdma.capable=true\n",
	  0 },
	{ "features of pci",
	  { 0, OFF(PCI) },
	  KERNEL_ON "!pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		    "rdma.available=true\n!rdma.capable=true\n",
	  1 },
	{ "custom has no features",
	  { 0, OFF(CUSTOM) },
	  KERNEL_ON "pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		    "rdma.available=true\nrdma.capable=true\n",
	  1 },
	{ "labels of custom",
	  { OFF(CUSTOM), 0 },
	  KERNEL_ON "pci-0b40_15b3.present=true\npci-15b3.present=true\n"
		    "!rdma.available=true\n!rdma.capable=true\n",
	  1 },
};

static void leaves_out_sources(void **state)
{
	static const struct tree_entry entry[] = {
		PCI_AT("0000:01:00.0", "B4000", "15B3:0001", "x"),
		FILE_AT("proc/modules", "ib_uverbs 1 0 - Live 0x0\nrdma_ucm 1 0 - Live 0x0\n"),
		FILE_AT("proc/sys/kernel/osrelease", "x\n"),
		{ 0 }
	};
	const __typeof__(source_rows[0]) *row = *state;
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan_request request = { .options = &options, .features = true };
	const cJSON *flags, *instances;
	struct nfd_scan scan;

	tree_fill(tree, entry);
	options.source = row->source;
	request.root = tree_root(tree, false);
	assert_int_equal(nfd_scan_run(&scan, &request, NULL), 0);
	assert_string_equal(labels_text(&scan.labels), row->labels);
	flags = cJSON_GetObjectItemCaseSensitive(scan.features, "flags");
	assert_int_equal(cJSON_HasObjectItem(flags, "kernel.loadedmodule"), row->kernel_features);
	/* Without a bus the list is empty, and there. */
	instances = cJSON_GetObjectItemCaseSensitive(scan.features, "instances");
	assert_true(cJSON_HasObjectItem(instances, "usb.device"));
	nfd_scan_done(&scan);
}

static void broken_white_list_is_named(void **state)
{
	struct nfd_error err = { 0 };

	(void)state;
	assert_null(run_filtered((char[]){ "(" }, &err));
	assert_int_equal(err.code, -EINVAL);
	unit_assert_contains(err.text, "core.labelWhiteList: \"(\" is no regular expression");
}

static const struct {
	const char *name, *key, *value, *text;
} label_rows[] = {
	{ "legal", "a", "1", "a=1\n" },
	{ "illegal value", "a", "1 2", "" },
	{ "illegal key", "a b", "1", "" },
	{ "empty value", "a", "", "a=\n" },
	{ "key of 64", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "1",
	  "" },
};

static void states_label(void **state)
{
	const __typeof__(label_rows[0]) *row = *state;
	const struct nfd_finding finding = { NFD_RANK_NORMAL, row->value, "some/path", "detail" };
	struct nfd_scan scan = { 0 };

	nfd_scan_label(&scan, &finding, NFD_F "%s", row->key);
	assert_string_equal(labels_text(&scan.labels), row->text);
	if (scan.labels.count)
		assert_string_equal(scan.labels.label[0].source, "some/path: detail");
	assert_int_equal(scan.error, 0);
	nfd_scan_done(&scan);
}

static void key_beyond_all_limits_is_refused(void **state)
{
	const struct nfd_finding finding = { NFD_RANK_NORMAL, "1", "path", NULL };
	struct nfd_scan scan = { 0 };

	(void)state;
	nfd_scan_label(&scan, &finding, NFD_F "%s", unit_repeat('a', 5000));
	nfd_scan_label(&scan, &finding, "%s/a", unit_repeat('a', 5000));
	nfd_scan_count(&scan, NFD_RANK_NORMAL, 1, "path", "%s/a", unit_repeat('a', 5000));
	nfd_scan_stopped(&scan, &finding, "setting", "%s/a", unit_repeat('a', 5000));
	assert_int_equal(scan.labels.count, 0);
	nfd_scan_done(&scan);
}

static void counts_and_stops(void **state)
{
	const struct nfd_finding finding = { NFD_RANK_NORMAL, "1", "path", NULL };
	struct nfd_scan scan = { 0 };

	(void)state;
	nfd_scan_count(&scan, NFD_RANK_DETAIL, 4294967295U, "path", NFD_F "n");
	nfd_scan_stopped(&scan, &finding, "some.setting", NFD_F "s");
	assert_string_equal(labels_text(&scan.labels), "n=4294967295\n!s=1\n");
	assert_int_equal(scan.labels.label[0].rank, NFD_RANK_DETAIL);
	assert_string_equal(scan.labels.label[0].source, "path");
	assert_string_equal(scan.labels.label[1].stopped_by, "some.setting");
	nfd_scan_done(&scan);
}

static void failures_are_judged(void **state)
{
	struct nfd_scan scan = { 0 };

	(void)state;
	nfd_scan_failed(&scan, "a", "path", -ENOENT);
	nfd_scan_failed(&scan, "a", "path", -ENODEV);
	assert_int_equal(scan.unknowns.count, 0);
	nfd_scan_failed(&scan, "a", "path", -EIO);
	nfd_scan_doubt(&scan, "b", "odd");
	assert_int_equal(scan.unknowns.count, 2);
	assert_string_equal(scan.unknowns.unknown[0].reason,
			    unit_text("cannot read \"path\": %s", strerror(EIO)));
	assert_false(scan.unknowns.unknown[0].doubt);
	assert_true(scan.unknowns.unknown[1].doubt);
	nfd_scan_done(&scan);
}

static void features_on_request(void **state)
{
	const struct tree_entry entry[] = {
		PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
		FILE_AT("sys/bus/usb/devices/1-1/bDeviceClass", "ff"),
		FILE_AT("sys/bus/usb/devices/1-1/idVendor", "1a6e"),
		FILE_AT("sys/bus/usb/devices/1-1/idProduct", "089a"),
		FILE_AT("sys/module/xe/version", "1.2"),
		{ 0 },
	};
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan scan;
	char *text;

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_scan_run(&scan,
				      &(struct nfd_scan_request){ .root = tree_root(tree, false),
								  .options = &options,
								  .features = true },
				      NULL),
			 0);
	text = cJSON_PrintUnformatted(scan.features);
	unit_assert_contains(text, "\"nfd-source.driver\":{\"elements\":{\"xe\":\"1.2\"}}");
	unit_assert_contains(text, "\"nfd-source.pci\":{\"elements\":[{\"attributes\":{"
				   "\"class\":\"0302\",\"vendor\":\"10de\",\"device\":\"27b8\","
				   "\"subsystem_vendor\":\"0000\",\"subsystem_device\":\"0000\","
				   "\"address\":\"0000:01:00.0\",\"driver\":\"nvidia\"}}]}");
	unit_assert_contains(text, "\"nfd-source.usb\":{\"elements\":[{\"attributes\":{"
				   "\"name\":\"1-1\",\"class\":\"ff\",\"vendor\":\"1a6e\","
				   "\"device\":\"089a\"}}]}");
	cJSON_free(text);
	nfd_scan_done(&scan);
}

static const struct {
	const char *key, *scanner;
} owner_rows[] = {
	{ NFD_F "pci-10de.present", "pci" },
	{ NFD_F "gpu-10de.count", "gpu" },
	{ NFD_F "gpu-tegra.present", "platform_gpu" },
	{ NFD_F "driver-xe.version.full", "driver" },
	{ NFD_F "driver-nvidia.match", "nvidia" },
	{ NFD_F "driver-nvidia_fs.version.full", "driver" },
	{ NFD_F "kernel-version.full", "kernel" },
	{ NFD_F "other", NULL },
	{ "pci-10de.present", NULL },
	{ "", NULL },
};

static void knows_who_makes_a_key(void **state)
{
	const __typeof__(owner_rows[0]) *row = *state;
	const struct nfd_scanner *scanner = nfd_scanner_of(row->key);

	if (row->scanner)
		assert_string_equal(scanner->name, row->scanner);
	else
		assert_null(scanner);
}

static void subsystems_lead_to_scanners(void **state)
{
	size_t count;
	const struct nfd_scanner *const *scanners = nfd_scanners(&count);
	uint32_t pci = nfd_scanners_for_subsystem("pci");

	(void)state;
	for (size_t i = 0; i < count; i++)
		if (scanners[i] == &nfd_pci_scanner || scanners[i] == &nfd_gpu_scanner)
			assert_true(pci >> i & 1);
		else if (scanners[i] == &nfd_usb_scanner)
			assert_int_equal(nfd_scanners_for_subsystem("usb"), UINT32_C(1) << i);
	assert_int_equal(nfd_scanners_for_subsystem("nonsense"), 0);
}

int main(void)
{
	struct unit_suite suite = { .name = "scan" };

	UNIT_CASE(&suite, table_is_sound);
	UNIT_ROWS(&suite, runs, rows, name);
	UNIT_CASE(&suite, white_list_stops_all_but_the_vendor);
	UNIT_ROWS(&suite, leaves_out_sources, source_rows, name);
	UNIT_CASE(&suite, broken_white_list_is_named);
	UNIT_ROWS(&suite, states_label, label_rows, name);
	UNIT_CASE(&suite, key_beyond_all_limits_is_refused);
	UNIT_CASE(&suite, counts_and_stops);
	UNIT_CASE(&suite, failures_are_judged);
	UNIT_CASE(&suite, features_on_request);
	UNIT_ROWS(&suite, knows_who_makes_a_key, owner_rows, key);
	UNIT_CASE(&suite, subsystems_lead_to_scanners);
	return unit_run(&suite);
}
