// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of the NodeFeatureRules that Intel ships with its device plugins (facts as of release
 * 0.36): which PCI functions and kernel modules make a node one for GPU, NPU, QAT and so on, and
 * which GPUs are in it. As in the rules, virtual functions count like physical ones. Intel's SGX
 * rule asks the processor and not the PCI bus; it is not here.
 */
#include "config.h"

#include "scan/intel.h"

#include <stdio.h>

#include "scan/intel_gpu.h"
#include "scan/pci_bus.h"

#define VENDOR_INTEL 0x8086
#define STEM "intel.feature.node.kubernetes.io/"
#define MODULES_MAX 2
#define IDS_MAX 24

enum rule_name { GPU, NPU, QAT, DSA, IAA, DLB, FPGA, RULES };

/* Rule, class and device id (0: any) of every PCI function that a rule looks at. */
#define FUNCTIONS(X)           \
	X(GPU, 0x0300, 0)      \
	X(GPU, 0x0380, 0)      \
	X(NPU, 0x1200, 0x7e4c) \
	X(NPU, 0x1200, 0x643e) \
	X(NPU, 0x1200, 0xad1d) \
	X(NPU, 0x1200, 0x7d1d) \
	X(NPU, 0x1200, 0xb03e) \
	X(NPU, 0x1200, 0xfd3e) \
	X(NPU, 0x1200, 0xd71d) \
	X(QAT, 0x0b40, 0x37c8) \
	X(QAT, 0x0b40, 0x4940) \
	X(QAT, 0x0b40, 0x4942) \
	X(QAT, 0x0b40, 0x4944) \
	X(QAT, 0x0b40, 0x4946) \
	X(QAT, 0x0b40, 0x4948) \
	X(DSA, 0x0880, 0x0b25) \
	X(DSA, 0x0880, 0x11fb) \
	X(DSA, 0x0880, 0x1212) \
	X(IAA, 0x0880, 0x0cfe) \
	X(IAA, 0x0880, 0x1216) \
	X(DLB, 0x0b40, 0x2710) \
	X(FPGA, 0x1200, 0x09c4)

#define AS_MATCH(rule, class, id) { .vendor = VENDOR_INTEL, .device = id, .class_code = class },
#define AS_RULE(rule, class, id) rule,

static const struct nfd_pci_match functions[] = { FUNCTIONS(AS_MATCH) };
static const unsigned char rule_of[] = { FUNCTIONS(AS_RULE) };

/* A rule also wants modules: one of them, or all. */
static const struct rule {
	const char *name; /* of the key behind STEM */
	bool wants_all;
	const char *module[MODULES_MAX + 1];
} rules[RULES] = {
	[GPU] = { "gpu", false, { "i915", "xe", NULL } },
	[NPU] = { "npu", false, { "intel_vpu", NULL } },
	[QAT] = { "qat", true, { "intel_qat", "vfio_pci", NULL } },
	[DSA] = { "dsa", false, { "idxd", NULL } },
	[IAA] = { "iaa", false, { "idxd", NULL } },
	[DLB] = { "dlb", false, { "dlb2", NULL } },
	[FPGA] = { "fpga-arria10", false, { "dfl_pci", "intel_fpga_pci", NULL } },
};

/* What the rules call GPUs by; a later row replaces what an earlier one said, as later rules do. */
static const struct model {
	const char *family;
	const char *product; /* NULL: the family is all that is said */
	uint16_t class_code;
	uint16_t device[IDS_MAX]; /* ends with 0 */
} models[] = {
	{ "Max_Series", "Max_1100", 0x0380, { 0x0bda } },
	{ "Max_Series", "Max_1550", 0x0380, { 0x0bd5 } },
	{ "Max_Series", NULL, 0x0380, { 0x0bd0, 0x0bd5, 0x0bd6, 0x0bd7, 0x0bd9, 0x0bda, 0x0bdb } },
	{ "Flex_Series", "Flex_170", 0x0380, { 0x56c0 } },
	{ "Flex_Series", "Flex_140", 0x0380, { 0x56c1 } },
	{ "A_Series", NULL, 0x0300, { 0x5690, 0x5691, 0x5692, 0x5693, 0x5694, 0x5695,
				      0x5696, 0x5697, 0x56a0, 0x56a1, 0x56a2, 0x56a3,
				      0x56a4, 0x56a5, 0x56a6, 0x56b0, 0x56b1, 0x56b2,
				      0x56b3, 0x56ba, 0x56bb, 0x56bc, 0x56bd } },
};

/* The rule that looks at a function; RULES when none does or the function no longer answers. */
static enum rule_name find_rule(const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(functions); i++)
		if (!function->is_unresponsive && nfd_pci_matches(&functions[i], 1, function))
			return rule_of[i];
	return RULES;
}

static const struct nfd_pci_function *find_first(const struct nfd_pci_bus *bus, enum rule_name rule)
{
	for (size_t i = 0; i < bus->count; i++)
		if (find_rule(&bus->function[i]) == rule)
			return &bus->function[i];
	return NULL;
}

/*
 * The folder is there for a loaded module, and for a built-in one that has parameters: for the user
 * of the device the two are the same.
 */
static bool has_modules(struct nfd_scan *scan, const struct rule *rule, const char *key)
{
	char path[64];

	for (const char *const *module = rule->module; *module; module++) {
		int r;

		snprintf(path, sizeof(path), "sys/module/%s", *module);
		r = nfd_root_exists(scan->root, path);
		if (r < 0)
			nfd_scan_failed(scan, key, path, r);
		if ((r > 0) != rule->wants_all)
			return !rule->wants_all;
	}
	return rule->wants_all;
}

static void describe(const struct nfd_pci_function *function, char path[64], char detail[64])
{
	char address[NFD_PCI_ADDRESS_SIZE];

	nfd_pci_format_address(function, address);
	snprintf(path, 64, NFD_PCI_DEVICES "/%s", address);
	snprintf(detail, 64, "class %04x, %04x:%04x", function->class_code >> 8, function->vendor,
		 function->device);
}

static void add_rule(struct nfd_scan *scan, const struct nfd_pci_bus *bus, enum rule_name rule)
{
	const struct nfd_pci_function *first = find_first(bus, rule);
	char key[NFD_LABEL_KEY_SIZE], path[64], detail[64];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_ESSENTIAL, .value = "true", .path = path, .detail = detail
	};

	if (!first)
		return;
	snprintf(key, sizeof(key), STEM "%s", rules[rule].name);
	if (!has_modules(scan, &rules[rule], key))
		return;
	describe(first, path, detail);
	nfd_scan_label(scan, &finding, "%s", key);
}

/* GPUs with this class and device id. */
static unsigned int count_gpus(const struct nfd_pci_bus *bus, unsigned int class_code,
			       unsigned int device)
{
	unsigned int count = 0;

	for (size_t i = 0; i < bus->count; i++)
		count += bus->function[i].class_code >> 8 == class_code &&
			 bus->function[i].device == device && find_rule(&bus->function[i]) == GPU;
	return count;
}

static bool is_first_of_its_kind(const struct nfd_pci_bus *bus, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (bus->function[i].class_code >> 8 == bus->function[at].class_code >> 8 &&
		    bus->function[i].device == bus->function[at].device &&
		    find_rule(&bus->function[i]) == GPU)
			return false;
	return true;
}

/*
 * The rule counts all GPUs of a class under the id of the first, because a template cannot do
 * better; with one model in the node that is the same.
 */
static void add_device_ids(struct nfd_scan *scan, const struct nfd_pci_bus *bus)
{
	for (size_t i = 0; i < bus->count; i++) {
		const struct nfd_pci_function *function = &bus->function[i];
		unsigned int class_code = function->class_code >> 8;
		char path[64], detail[64], stem[64];
		const struct nfd_finding finding = {
			.rank = NFD_RANK_NORMAL, .value = "true", .path = path, .detail = detail
		};

		if (find_rule(function) != GPU || !is_first_of_its_kind(bus, i))
			continue;
		describe(function, path, detail);
		snprintf(stem, sizeof(stem), NFD_INTEL_GPU "device-id.%04x-%04x", class_code,
			 function->device);
		nfd_scan_label(scan, &finding, "%s.present", stem);
		nfd_scan_count(scan, NFD_RANK_NORMAL, count_gpus(bus, class_code, function->device),
			       NFD_PCI_DEVICES, "%s.count", stem);
	}
}

static void add_model(struct nfd_scan *scan, const struct nfd_pci_bus *bus,
		      const struct model *model)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .path = NFD_PCI_DEVICES };
	unsigned int count = 0;

	for (const uint16_t *device = model->device; *device; device++)
		count += count_gpus(bus, model->class_code, *device);
	if (count == 0)
		return;
	finding.value = model->family;
	nfd_scan_label(scan, &finding, NFD_INTEL_GPU "family");
	if (!model->product)
		return;
	finding.value = model->product;
	nfd_scan_label(scan, &finding, NFD_INTEL_GPU "product");
	nfd_scan_count(scan, NFD_RANK_NORMAL, count, NFD_PCI_DEVICES, NFD_INTEL_GPU "device.count");
}

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_intel_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);

	if (!bus)
		return;
	for (enum rule_name rule = 0; rule < RULES; rule++)
		add_rule(scan, bus, rule);
	if (!find_first(bus, GPU))
		return;
	add_device_ids(scan, bus);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(models); i++)
		add_model(scan, bus, &models[i]);
	nfd_intel_gpu_add(scan);
}

static const char *const subsystems[] = { "pci", "drm", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_INTEL_GPU, STEM, NULL };

const struct nfd_scanner nfd_intel_scanner = {
	.name = "intel",
	.summary = "labels of Intel's rules for GPUs, NPUs and accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_INTEL,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
