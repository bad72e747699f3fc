// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of AMD's node labeller, from sysfs alone, and of AMD's operator. The labeller asks libdrm
 * as well: for the family, which follows from the topology here, for firmware, of which the versions
 * are in sysfs and the feature versions are not, and for names of boards that state none.
 */
#include "config.h"

#include "scan/amd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scan/amd_gpu.h"
#include "scan/amd_kind.h"
#include "scan/amd_topology.h"
#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1002, .class_code = 0x0300 },
	{ .vendor = 0x1002, .class_code = 0x0302 },
	{ .vendor = 0x1002, .class_code = 0x0380 },
	{ .vendor = 0x1002, .class_code = 0x1200 },
};

/* Device ids of the rules that AMD's operator gives to NFD. */
static const uint16_t gpu_ids[] = {
	0x738c, 0x738e, 0x73a1, 0x73a2, 0x73a3, 0x73ab, 0x73af, 0x73bf, 0x7408,
	0x740c, 0x740f, 0x7448, 0x7449, 0x744a, 0x744c, 0x745e, 0x7460, 0x74a0,
	0x74a1, 0x74a2, 0x74a5, 0x74a8, 0x74a9, 0x7550, 0x75a0, 0x75a3, 0x75a8,
};
static const uint16_t vgpu_ids[] = {
	0x73ae, 0x7410, 0x7461, 0x74b5, 0x74b6, 0x74b9, 0x74bc, 0x74bd, 0x75b0, 0x75b3, 0x75b8,
};

static const struct {
	const char *key;
	const uint16_t *id; /* array of @count */
	size_t count;
} rules[] = {
	{ NFD_F "amd-gpu", gpu_ids, NFD_ARRAY_SIZE(gpu_ids) },
	{ NFD_F "amd-vgpu", vgpu_ids, NFD_ARRAY_SIZE(vgpu_ids) },
};

static const struct {
	const char *key;
	const char *path;
} module_labels[] = {
	{ "amd.com/gpu.driver-version", "sys/module/amdgpu/version" },
	{ "amd.com/gpu.driver-src-version", "sys/module/amdgpu/srcversion" },
};

/* Whether a file is there; the second of each key as in scan/amd_kind. */
static const struct {
	const char *key[2];
	const char *file;
} support_labels[] = {
	{ { "amd.com/gpu.compute-partitioning-supported",
	    "amd.com/compute-partitioning-supported" },
	  "available_compute_partition" },
	{ { "amd.com/gpu.memory-partitioning-supported", "amd.com/memory-partitioning-supported" },
	  "available_memory_partition" },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_amd_scanner, true) > 0;
}

static bool is_ours(const struct nfd_pci_function *function)
{
	return nfd_pci_matches(functions, NFD_ARRAY_SIZE(functions), function);
}

/* What AMD's labeller counts as a GPU: a function that the driver has, and that still answers. */
static bool is_driven(const struct nfd_pci_function *function)
{
	return is_ours(function) && !function->is_unresponsive &&
	       strcmp(function->driver, "amdgpu") == 0;
}

static void add_module(struct nfd_scan *scan)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(module_labels); i++) {
		char text[128], value[NFD_LABEL_VALUE_SIZE];
		const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
						     .value = value,
						     .path = module_labels[i].path,
						     .detail = text };
		ssize_t len;

		len = nfd_root_read_line(scan->root, module_labels[i].path, text, sizeof(text));
		if (len < 0)
			nfd_scan_failed(scan, module_labels[i].key, module_labels[i].path,
					(int)len);
		else if (nfd_label_value_from_version(text, value) > 0)
			nfd_scan_label(scan, &finding, "%s", module_labels[i].key);
	}
}

/* As the labeller does it, the first GPU stands for all. */
static void add_support(struct nfd_scan *scan, const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(support_labels); i++) {
		char path[NFD_AMD_PATH_SIZE];
		struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .path = path };
		int r;

		nfd_amd_gpu_path(function, support_labels[i].file, path);
		r = nfd_root_exists(scan->root, path);
		finding.value = r > 0 ? "true" : "false";
		for (size_t j = 0; j < NFD_ARRAY_SIZE(support_labels[i].key); j++)
			if (r < 0)
				nfd_scan_failed(scan, support_labels[i].key[j], path, r);
			else
				nfd_scan_label(scan, &finding, "%s", support_labels[i].key[j]);
	}
}

static void add_rules(struct nfd_scan *scan, const struct nfd_pci_function *function)
{
	char path[NFD_AMD_PATH_SIZE], detail[16];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_ESSENTIAL, .value = "true", .path = path, .detail = detail
	};

	nfd_amd_gpu_path(function, "", path);
	snprintf(detail, sizeof(detail), "%04x:%04x", function->vendor, function->device);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rules); i++)
		for (size_t j = 0; j < rules[i].count; j++)
			if (rules[i].id[j] == function->device &&
			    !nfd_set_find(&scan->labels, rules[i].key))
				nfd_scan_label(scan, &finding, "%s", rules[i].key);
}

/* All that needs the driver. */
static void add_gpus(struct nfd_scan *scan, const struct nfd_pci_bus *bus,
		     const struct nfd_pci_function *first)
{
	struct nfd_amd_topology topology;
	struct nfd_amd_counts counts = { 0 };
	size_t count = 0;

	nfd_amd_topology_read(scan->root, &topology);
	if (topology.error)
		nfd_amd_failed(scan, &counts, NFD_AMD_VRAM, NFD_AMD_FAMILY, topology.error_path,
			       topology.error);
	for (size_t i = 0; i < bus->count && count <= NFD_AMD_GPUS_MAX; i++)
		if (is_driven(&bus->function[i]) && ++count <= NFD_AMD_GPUS_MAX)
			nfd_amd_gpu_count(scan, &counts, &topology, &bus->function[i]);
	if (count > NFD_AMD_GPUS_MAX)
		nfd_amd_failed(scan, &counts, 0, NFD_AMD_KIND_COUNT - 1, NFD_PCI_DEVICES, -E2BIG);
	nfd_amd_partitions_count(scan, &counts, &topology);
	nfd_amd_counts_write(scan, &counts);
	add_module(scan);
	add_support(scan, first);
	nfd_amd_counts_done(&counts);
	nfd_amd_topology_done(&topology);
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	const struct nfd_pci_function *first = NULL;

	for (size_t i = 0; bus && i < bus->count; i++) {
		if (is_ours(&bus->function[i]))
			add_rules(scan, &bus->function[i]);
		if (!first && is_driven(&bus->function[i]))
			first = &bus->function[i];
	}
	if (first)
		add_gpus(scan, bus, first);
}

static const char *const subsystems[] = { "pci", "drm", "module", "drivers", NULL };
static const char *const prefixes[] = { "amd.com/gpu.",      "amd.com/compute-", "amd.com/memory-",
					"beta.amd.com/gpu.", NFD_F "amd-",       NULL };

const struct nfd_scanner nfd_amd_scanner = {
	.name = "amd",
	.summary = "labels of AMD's node labeller and operator",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_AMD,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
