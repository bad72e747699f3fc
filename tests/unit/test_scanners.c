// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/scan: what holds for each scanner of the table, and scans with some of them.
 */
#include "config.h"

#include "scan/scan.h"

#include <string.h>

#include "scan/local.h"
#include "scan/nvidia_labels.h"
#include "tests/unit/labels.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define FEATURES "features.d"

/* Something for every scanner. */
static const struct tree_entry rich[] = {
	PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	FILE_AT("sys/module/xe/version", "1.2"),
	FILE_AT("sys/module/nvidia/version", "580.1.2"),
	FILE_AT("proc/driver/nvidia/version", "Module 580.1.2"),
	FILE_AT("sys/bus/usb/devices/1-1/bDeviceClass", "ff"),
	FILE_AT("sys/bus/usb/devices/1-1/idProduct", "089a"),
	PCI_AT("0000:10:00.0", "30000", "8086:56C0", "i915"),
	PCI_AT("0000:11:00.0", "120000", "1002:74A1", "amdgpu"),
	PCI_AT("0000:12:00.0", "120000", "1DA3:1020", "habanalabs"),
	PCI_AT("0000:13:00.0", "20000", "15B3:1021", "mlx5_core"),
	PCI_AT("0000:14:00.0", "C8000", "1D0F:7164", "neuron"),
	PCI_AT("0000:15:00.0", "120000", "1AE0:0063", "vfio-pci"),
	PCI_AT("0000:16:00.0", "120000", "17CB:A100", "qaic"),
	PCI_AT("0000:17:00.0", "120000", "19E5:D802", "devdrv_device_driver"),
	PCI_AT("0000:18:00.0", "120000", "10EE:5004", "xclmgmt"),
	FILE_AT("sys/devices/soc0/family", "Tegra"),
	FILE_AT("dev/dxg", ""),
	FILE_AT("etc/os-release", "ID=x\nVERSION_ID=1.2\n"),
	FILE_AT("proc/sys/kernel/osrelease", "6.1"),
	FILE_AT("sys/bus/cpu/devices/cpu0/topology/thread_siblings_list", "0,1"),
	FILE_AT("sys/bus/cpu/devices/cpu0/topology/physical_package_id", "0"),
	FILE_AT("proc/swaps", "Filename\n/dev/sda\n"),
	FILE_AT("sys/class/net/eth0/device/sriov_totalvfs", "1"),
	FILE_AT("sys/block/sda/queue/rotational", "0"),
	FILE_AT("boot/config-6.1", "CONFIG_NO_HZ=y\n"),
	FILE_AT("sys/fs/selinux/enforce", "1"),
	FILE_AT("proc/modules", "ice 1 0 - Live 0x0\n"),
	FILE_AT("sys/devices/virtual/dmi/id/sys_vendor", "x"),
	FILE_AT(FEATURES "/other", "example.com/a=1"),
	{ 0 },
};

/* Every key that a scanner gives has one of the prefixes under which it is reported unknown. */
static void keys_have_their_prefixes(void **state)
{
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);
	size_t count;
	const struct nfd_scanner *const *scanners = nfd_scanners(&count);

	(void)state;
	tree_fill(tree, rich);
	options.local.dir = tree_path(tree, FEATURES);
	for (size_t i = 0; i < count; i++) {
		struct nfd_scan scan = { .root = root, .options = &options };
		struct nfd_unknowns prefixes = { 0 };

		for (const char *const *prefix = scanners[i]->key_prefixes; *prefix; prefix++)
			assert_int_equal(nfd_unknowns_add(&prefixes, *prefix, "", false), 0);
		scanners[i]->run(&scan);
		assert_int_equal(scan.labels.count > 0, scanners[i]->key_prefixes[0] != NULL);
		for (size_t j = 0; j < scan.labels.count; j++)
			assert_non_null(nfd_unknowns_find(&prefixes, scan.labels.label[j].key));
		nfd_unknowns_done(&prefixes);
		nfd_scan_done(&scan);
	}
}

/* A scan for one subsystem takes the results of the other scanners from the scan before. */
static void partial_scan_takes_over_the_rest(void **state)
{
	const struct tree_entry before[] = { PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1"),
					     FILE_AT("etc/os-release", "ID=x\n"),
					     DIR_AT("proc/sys/kernel/osrelease"),
					     { 0 } };
	const struct tree_entry after[] = { PCI_UNBOUND_AT("0000:02:00.0", "20000", "14e4:1"),
					    FILE_AT("etc/os-release", "ID=y\n"),
					    { 0 } };
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	struct nfd_scan first, second;
	struct nfd_scan_request request = { .root = tree_root(tree, false), .options = &options };

	(void)state;
	tree_fill(tree, before);
	assert_int_equal(nfd_scan_run(&first, &request, NULL), 0);
	tree_fill(tree, after);
	request.scanners = nfd_scanners_for_subsystem("pci");
	request.before = &first;
	assert_int_equal(nfd_scan_run(&second, &request, NULL), 0);
	nfd_scan_done(&first);
	assert_string_equal(labels_text(&second.labels),
			    "pci-0200_14e4.present=true\npci-0200_8086.present=true\n"
			    "pci-14e4.present=true\npci-8086.present=true\n"
			    "system-os_release.ID=x\n");
	assert_non_null(nfd_unknowns_find(&second.unknowns, NFD_F "kernel-version.full"));
	nfd_scan_done(&second);
}

static const char *published_text(const struct nfd_set *set)
{
	cleanup_set struct nfd_set published = { 0 };

	assert_int_equal(nfd_set_copy(set, &published), 0);
	return labels_text(&published);
}

/* What is in feature files beside a card, before and after it is there. */
static const struct {
	const char *name, *text, *without, *with;
} bare_rows[] = {
	{ "a bare key gives way", "pci-8086.present=maybe\n", "pci-8086.present=maybe\n",
	  "pci-8086.present=true\n" },
	{ "a full key does not", NFD_F "pci-8086.present=maybe\n", "pci-8086.present=maybe\n",
	  "pci-8086.present=maybe\n" },
	{ "the full one of both", NFD_F "pci-8086.present=full\npci-8086.present=maybe\n",
	  "pci-8086.present=full\n", "pci-8086.present=full\n" },
};

/* Also a scan for one subsystem gives what a whole scan does. */
static void feature_files_and_devices(void **state)
{
	const __typeof__(bare_rows[0]) *row = *state;
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	const struct nfd_vendors vendors = { 0 };
	struct nfd_scan_request request = { .root = tree_root(tree, false),
					    .options = &options,
					    .vendors = &vendors };
	struct nfd_scan first, second, third;

	options.local.dir = tree_path(tree, "features.d");
	options.label_white_list = (char[]){ "^pci-8086" };
	tree_file(tree, "features.d/other", row->text);
	tree_fill(tree, (struct tree_entry[]){ DIR_AT(TREE_PCI), { 0 } });
	assert_int_equal(nfd_scan_run(&first, &request, NULL), 0);
	assert_string_equal(published_text(&first.labels), row->without);
	tree_fill(tree, (struct tree_entry[]){ PCI_UNBOUND_AT("0000:01:00.0", "20000", "8086:1"),
					       { 0 } });
	request.scanners = nfd_scanners_for_subsystem("pci");
	request.before = &first;
	assert_int_equal(nfd_scan_run(&second, &request, NULL), 0);
	assert_string_equal(published_text(&second.labels), row->with);
	request.scanners = nfd_scanners_for_subsystem("usb");
	request.before = &second;
	assert_int_equal(nfd_scan_run(&third, &request, NULL), 0);
	assert_string_equal(published_text(&third.labels), row->with);
	nfd_scan_done(&first);
	nfd_scan_done(&second);
	nfd_scan_done(&third);
}

static const char *const kinds[] = { "flags", "attributes", "instances" };

/* Lines "<kind> <feature>=<JSON>" of the features of a scanner. */
static const char *features_text(const cJSON *features, const struct nfd_scanner *scanner)
{
	const char *text = "";

	for (size_t i = 0; i < NFD_ARRAY_SIZE(kinds); i++)
		for (const char *const *name = scanner->features; name && *name; name++) {
			cJSON *of_kind = cJSON_GetObjectItemCaseSensitive(features, kinds[i]);
			cJSON *entry = cJSON_GetObjectItemCaseSensitive(of_kind, *name);
			char *json = entry ? cJSON_PrintUnformatted(entry) : NULL;

			if (json)
				text = unit_text("%s%s %s=%s\n", text, kinds[i], *name, json);
			cJSON_free(json);
		}
	return text;
}

/* Lines of the labels that a scanner has stated. */
static const char *labels_by(const struct nfd_scan *scan, const struct nfd_scanner *scanner)
{
	const char *text = "";

	for (size_t i = 0; i < scan->labels.count; i++)
		if (nfd_scanner_of_label(&scan->labels.label[i]) == scanner)
			text = unit_text("%s%s=%s\n", text, scan->labels.label[i].key,
					 scan->labels.label[i].value);
	return text;
}

/* A host that was made. */
struct host {
	const char *feature_files;
	const struct nfd_root *root;
};

static struct host make_host(const struct tree_entry *entry)
{
	const char *tree = tree_new();

	tree_fill(tree, entry);
	return (struct host){ tree_path(tree, FEATURES), tree_root(tree, false) };
}

static void run_on(const struct host *host, struct nfd_scan_request request, struct nfd_scan *scan)
{
	struct nfd_scan_options options = scan_options(0);

	options.local.dir = host->feature_files;
	request.options = &options;
	request.root = host->root;
	request.features = true;
	assert_int_equal(nfd_scan_run(scan, &request, NULL), 0);
	scan->options = NULL;
}

/* One scanner sees a host with nothing left on it; the others do not look. */
static void only_those_concerned_look(void **state)
{
	static const struct tree_entry nothing[] = { DIR_AT("sys/bus"), DIR_AT(FEATURES), { 0 } };
	const struct host full = make_host(rich), empty = make_host(nothing);
	struct nfd_scan_request request = { 0 };
	struct nfd_scan before, after, partial;
	size_t count;
	const struct nfd_scanner *const *scanners = nfd_scanners(&count);

	(void)state;
	run_on(&full, request, &before);
	run_on(&empty, request, &after);
	for (size_t i = 0; i < count; i++) {
		request.before = &before;
		request.scanners = UINT32_C(1) << i;
		run_on(&empty, request, &partial);
		for (size_t j = 0; j < count; j++) {
			/* The last one, of feature files, takes part in each scan. */
			bool looks = j == i || j == count - 1;
			const struct nfd_scan *from = looks ? &after : &before;

			/* It goes by what another one has found. */
			if (i == j && scanners[i] == &nfd_nvidia_labels_scanner)
				continue;
			assert_string_equal(labels_by(&partial, scanners[j]),
					    labels_by(from, scanners[j]));
			assert_string_equal(features_text(partial.features, scanners[j]),
					    features_text(from->features, scanners[j]));
		}
		nfd_scan_done(&partial);
	}
	nfd_scan_done(&before);
	nfd_scan_done(&after);
}

/* Every scanner of NFD's has something here that it cannot read. */
static const struct tree_entry unreadable[] = {
	LINK_AT("sys/bus/cpu/devices", "devices"),
	LINK_AT("sys/bus/node/devices", "devices"),
	LINK_AT("sys/class/net", "net"),
	LINK_AT("sys/block", "block"),
	LINK_AT("sys/bus/pci/devices", "devices"),
	FILE_AT("proc/sys/kernel/osrelease", "6.1"),
	DIR_AT("boot/config-6.1"),
	DIR_AT("sys/fs/selinux/enforce"),
	DIR_AT("proc/modules"),
	LINK_AT(FEATURES, FEATURES),
	{ 0 },
};

static bool is_in_doubt(const struct nfd_scan *scan, const struct nfd_scanner *scanner)
{
	for (size_t i = 0; i < scan->unknowns.count; i++) {
		const char *prefix = scan->unknowns.unknown[i].prefix;

		/* Feature files can have keys of any form. */
		if ((*prefix ? nfd_scanner_of(prefix) : &nfd_local_scanner) == scanner)
			return true;
	}
	return false;
}

static const struct {
	const char *name;
	enum nfd_vendor_verdict verdict;
} verdict_rows[] = {
	{ "ours to write", NFD_VENDOR_WRITE },
	{ "left", NFD_VENDOR_LEAVE },
};

static void nfd_labels_are_left(void **state)
{
	const __typeof__(verdict_rows[0]) *row = *state;
	const struct nfd_vendors vendors = { .of = { [NFD_VENDOR_NFD] = { row->verdict, "" } } };
	const struct nfd_scan_request request = { .vendors = &vendors };
	const struct host full = make_host(rich), broken = make_host(unreadable);
	bool ours = row->verdict == NFD_VENDOR_WRITE;
	struct nfd_scan read, failed;
	size_t count;
	const struct nfd_scanner *const *scanners = nfd_scanners(&count);

	run_on(&full, request, &read);
	run_on(&broken, request, &failed);
	for (size_t i = 0; i < count; i++) {
		bool has_labels = scanners[i]->key_prefixes[0] != NULL;

		if (scanners[i]->vendor != NFD_VENDOR_NFD)
			continue;
		assert_int_equal(*labels_by(&read, scanners[i]) != '\0', ours && has_labels);
		assert_int_equal(*features_text(read.features, scanners[i]) != '\0',
				 ours && scanners[i]->features);
		assert_int_equal(is_in_doubt(&failed, scanners[i]), ours && has_labels);
	}
	nfd_scan_done(&read);
	nfd_scan_done(&failed);
}

int main(void)
{
	struct unit_suite suite = { .name = "scanners" };

	UNIT_CASE(&suite, keys_have_their_prefixes);
	UNIT_CASE(&suite, partial_scan_takes_over_the_rest);
	UNIT_ROWS(&suite, feature_files_and_devices, bare_rows, name);
	UNIT_CASE(&suite, only_those_concerned_look);
	UNIT_ROWS(&suite, nfd_labels_are_left, verdict_rows, name);
	return unit_run(&suite);
}
