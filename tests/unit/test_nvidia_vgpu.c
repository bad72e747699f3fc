// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia_vgpu: the capability of a vGPU, and when config is opened at all (field case B4).
 */
#include "config.h"

#include "scan/nvidia_vgpu.h"

#include <string.h>

#include "scan/nvidia_labels.h"
#include "scan/scan.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

/* Bytes of configuration space from an offset on. */
struct bytes {
	size_t at;
	const char *data;
	size_t len;
};

#define B(at, text) at, text, sizeof(text) - 1
#define HAS_LIST                \
	{                       \
		B(0x06, "\x10") \
	}
#define FIRST(at)           \
	{                   \
		B(0x34, at) \
	}

/* Id, next, length, mark; then the record 0 with version and branch. */
#define VGPU             \
	"\x09\x00\x1b"   \
	"VF\x00\x16"     \
	"460.16\0\0\0\0" \
	"r460_00\0\0\0"

static const struct {
	const char *name;
	struct bytes bytes[8];
	const char *shown; /* "" for none, else version/branch */
} parse_rows[] = {
	{ "vGPU", { HAS_LIST, FIRST("\x40"), { B(0x40, VGPU) } }, "460.16/r460_00" },
	{ "no capability list", { FIRST("\x40"), { B(0x40, VGPU) } }, "" },
	{ "empty list", { HAS_LIST, { B(0x40, VGPU) } }, "" },
	{ "behind another capability",
	  { HAS_LIST, FIRST("\x60"), { B(0x60, "\x01\x40\x08") }, { B(0x40, VGPU) } },
	  "460.16/r460_00" },
	{ "passed through: a vendor capability of another kind",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x00\x14NV\x00\x16") } },
	  "" },
	{ "only the first vendor capability counts",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x60\x14NV") }, { B(0x60, VGPU) } },
	  "" },
	{ "a list that ends in ones",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\xff\x60\x08") }, { B(0x60, VGPU) } },
	  "" },
	{ "a list in a circle",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x01\x60\x08") }, { B(0x60, "\x05\x40\x08") } },
	  "" },
	{ "a capability of itself", { HAS_LIST, FIRST("\x40"), { B(0x40, "\x01\x40\x08") } }, "" },
	{ "too short for the mark",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x00\x04VF\x00\x16") } },
	  "" },
	{ "no room for records", { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x00\x05VF") } }, "/" },
	{ "record behind others",
	  { HAS_LIST,
	    FIRST("\x40"),
	    { B(0x40, "\x09\x00\x1fVF\x01\x04\x00\x00\x00\x16"
		      "550.54.14\0r550_00\0\0\0") } },
	  "550.54.14/r550_00" },
	{ "a record of no length",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x00\x1fVF\x01\x00") } },
	  "/" },
	{ "a record that leads out",
	  { HAS_LIST, FIRST("\x40"), { B(0x40, "\x09\x00\x1fVF\x01\xff") } },
	  "/" },
	{ "at the end of the space",
	  { HAS_LIST, FIRST("\xfc"), { B(0xfc, "\x09\x00\xffV") } },
	  "" },
	{ "length over the end",
	  { HAS_LIST,
	    FIRST("\xe4"),
	    { B(0xe4, "\x09\x00\xff"
		      "VF\x00\x16"
		      "1.2\0\0\0\0\0\0\0"
		      "r1") } },
	  "1.2/r1" },
	{ "texts without NUL",
	  { HAS_LIST,
	    FIRST("\x40"),
	    { B(0x40, "\x09\x00\x1bVF\x00\x16"
		      "12345678901234567890") } },
	  "1234567890/1234567890" },
};

static void fill(uint8_t config[NFD_PCI_CONFIG_SIZE], const struct bytes *bytes)
{
	memset(config, 0, NFD_PCI_CONFIG_SIZE);
	for (; bytes->data; bytes++)
		memcpy(config + bytes->at, bytes->data, bytes->len);
}

static void parses(void **state)
{
	const __typeof__(parse_rows[0]) *row = *state;
	uint8_t config[NFD_PCI_CONFIG_SIZE];
	struct nfd_vgpu vgpu;

	fill(config, row->bytes);
	nfd_vgpu_parse(config, &vgpu);
	assert_string_equal(vgpu.is_vgpu ? unit_text("%s/%s", vgpu.version, vgpu.branch) : "",
			    row->shown);
}

static void all_ones(void **state)
{
	uint8_t config[NFD_PCI_CONFIG_SIZE];
	struct nfd_vgpu vgpu;

	(void)state;
	memset(config, 0xff, sizeof(config));
	nfd_vgpu_parse(config, &vgpu);
	assert_false(vgpu.is_vgpu);
}

#define GPU "0000:06:00.0"
#define HARDWARE FILE_AT("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisors vme\n\n")
#define GUEST FILE_AT("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor\n\n")
#define ARM FILE_AT("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n\n")
#define P "nvidia.com/vgpu."
#define HELD PCI_AT(GPU, "30200", "10DE:1EB8", "nvidia")
#define SLEEPS FILE_AT(TREE_PCI GPU "/power/runtime_status", "suspended\n")

/* @config: what it holds; @len: how much of it a reader gets; 0: there is none. */
static const struct {
	const char *name;
	struct tree_entry tree[6];
	size_t len;
	const char *virtualization; /* of NVML's report; NULL for no report */
	const char *text;
} label_rows[] = {
	{ "hardware: nothing is opened", { HARDWARE, HELD }, 256, NULL, P "present=false\n" },
	{ "guest",
	  { GUEST, HELD },
	  256,
	  NULL,
	  P "host-driver-branch=r460_00\n" P "host-driver-version=460.16\n" P "present=true\n" },
	{ "no processor file",
	  { HELD },
	  256,
	  NULL,
	  P "host-driver-branch=r460_00\n" P "host-driver-version=460.16\n" P "present=true\n" },
	{ "Arm may be a guest",
	  { ARM, HELD },
	  256,
	  NULL,
	  P "host-driver-branch=r460_00\n" P "host-driver-version=460.16\n" P "present=true\n" },
	{ "no GPU", { GUEST, DIR_AT(TREE_PCI) }, 0, NULL, P "present=false\n" },
	{ "another vendor's",
	  { GUEST, PCI_AT(GPU, "30000", "1002:1", "amdgpu") },
	  256,
	  NULL,
	  P "present=false\n" },
	{ "64 bytes, no report", { GUEST, HELD }, 64, NULL, "doubt " P "\n" },
	{ "64 bytes, NVML says vGPU",
	  { GUEST, HELD },
	  64,
	  "2",
	  P "present=true\ndoubt " P "host-driver-\n" },
	{ "64 bytes, NVML says passed through", { GUEST, HELD }, 64, "1", P "present=false\n" },
	{ "64 bytes, NVML does not know", { GUEST, HELD }, 64, "null", "doubt " P "\n" },
	{ "no config", { GUEST, HELD }, 0, NULL, P "present=false\n" },
	{ "it sleeps", { GUEST, HELD, SLEEPS }, 256, NULL, "doubt " P "\n" },
	{ "it sleeps, NVML says none", { GUEST, HELD, SLEEPS }, 256, "0", P "present=false\n" },
};

static void labels(void **state)
{
	const __typeof__(label_rows[0]) *row = *state;
	const struct bytes bytes[] = { HAS_LIST, FIRST("\x40"), { B(0x40, VGPU) }, { 0 } };
	struct nfd_nvml nvml = { .end = NFD_NVML_NOT_STARTED };
	const struct nfd_scan_options options = scan_options(0);
	struct nfd_scan scan = { .options = &options };
	struct nfd_nvidia_report report;
	const char *tree = tree_new(), *text = "";
	uint8_t config[NFD_PCI_CONFIG_SIZE];

	tree_fill(tree, row->tree);
	fill(config, bytes);
	if (row->len)
		tree_bytes(tree, TREE_PCI GPU "/config", config, row->len);
	if (row->virtualization) {
		nvml.end = NFD_NVML_DONE;
		nvml.report = cJSON_Parse(
			unit_text("{\"init\":{\"code\":0},\"devices\":[{\"name\":\"x\",\"busId\":"
				  "\"00000000:06:00.0\",\"virtualization\":%s}]}",
				  row->virtualization));
		assert_non_null(nvml.report);
	}
	assert_int_equal(nfd_nvidia_report_read(&nvml, &report), 0);
	scan.root = tree_root(tree, false);
	nfd_nvidia_vgpu_labels(&scan, &report);
	for (size_t i = 0; i < scan.labels.count; i++)
		text = unit_text("%s%s=%s\n", text, scan.labels.label[i].key,
				 scan.labels.label[i].value);
	for (size_t i = 0; i < scan.unknowns.count; i++)
		if (strncmp(scan.unknowns.unknown[i].prefix, P, strlen(P)) == 0)
			text = unit_text("%sdoubt %s\n", text, scan.unknowns.unknown[i].prefix);
	assert_string_equal(text, row->text);
	nfd_nvidia_report_done(&report);
	nfd_nvml_done(&nvml);
	nfd_scan_done(&scan);
}

/* The flags of a machine with many features, whose line is longer than a page. */
static void long_flags(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	tree_fill(tree,
		  (struct tree_entry[]){ HELD, FILE_AT(TREE_PCI GPU "/config", "short"), { 0 } });
	tree_file(tree, "proc/cpuinfo",
		  unit_text("processor\t: 0\nflags\t\t: %s\n\n", unit_repeat('x', 9000)));
	unit_assert_contains(scan_text(&nfd_nvidia_labels_scanner, tree_root(tree, false), &options,
				       false),
			     P "present=false\n");
	tree_file(tree, "proc/cpuinfo",
		  unit_text("processor\t: 0\nflags\t\t: %s\n\n", unit_repeat('x', 20000)));
	unit_assert_contains(scan_text(&nfd_nvidia_labels_scanner, tree_root(tree, false), &options,
				       false),
			     "doubt " P "\n");
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia_vgpu" };

	UNIT_ROWS(&suite, parses, parse_rows, name);
	UNIT_CASE(&suite, all_ones);
	UNIT_ROWS(&suite, labels, label_rows, name);
	UNIT_CASE(&suite, long_flags);
	return unit_run(&suite);
}
