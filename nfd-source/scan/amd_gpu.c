// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the attributes of one GPU, all of which the driver keeps in memory: nothing here wakes a
 * card. What its node of the topology has counts for partitions too.
 */
#include "config.h"

#include "scan/amd_gpu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define PLATFORM_DEVICES "sys/devices/platform"
#define PARTITION_PREFIX "amdgpu_xcp_"

/* The labeller's names of firmware, and those of the files in fw_version. */
static const struct {
	const char *name;
	const char *file;
} firmwares[] = {
	{ "CE", "ce" },   { "MC", "mc" },      { "ME", "me" },   { "MEC", "mec" }, { "PFP", "pfp" },
	{ "RLC", "rlc" }, { "SDMA0", "sdma" }, { "SMC", "smc" }, { "UVD", "uvd" }, { "VCE", "vce" },
};

void nfd_amd_gpu_path(const struct nfd_pci_function *function, const char *file,
		      char ret[NFD_AMD_PATH_SIZE])
{
	char address[NFD_PCI_ADDRESS_SIZE];

	nfd_pci_format_address(function, address);
	snprintf(ret, NFD_AMD_PATH_SIZE, NFD_PCI_DEVICES "/%s%s%s", address, *file ? "/" : "",
		 file);
}

/* Reads an attribute of a GPU for a kind. Returns whether it has a text. */
static bool read_text(struct nfd_scan *scan, struct nfd_amd_counts *counts,
		      const struct nfd_pci_function *function, enum nfd_amd_kind kind,
		      const char *file, char text[NFD_AMD_PATH_SIZE])
{
	char path[NFD_AMD_PATH_SIZE];
	ssize_t len;

	nfd_amd_gpu_path(function, file, path);
	len = nfd_root_read_line(scan->root, path, text, NFD_AMD_PATH_SIZE);
	if (len < 0)
		nfd_amd_failed(scan, counts, kind, kind, path, (int)len);
	return len > 0;
}

/* "AMD Radeon PRO W7900 (48GB)" loses its parentheses; what else is illegal becomes '_'. */
static void count_product(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			  const struct nfd_pci_function *function)
{
	char text[NFD_AMD_PATH_SIZE], *end = text;

	if (!read_text(scan, counts, function, NFD_AMD_PRODUCT_NAME, "product_name", text))
		return;
	for (const char *c = text; *c; c++)
		if (*c != '(' && *c != ')')
			*end++ = *c;
	*end = '\0';
	nfd_amd_count(scan, counts, NFD_AMD_PRODUCT_NAME, text);
}

/* "0x0000009b" of ce_fw_version is CE.fw.155. */
static void count_firmware(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			   const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(firmwares); i++) {
		char file[64], text[NFD_AMD_PATH_SIZE], value[32];
		uint64_t version;

		snprintf(file, sizeof(file), "fw_version/%s_fw_version", firmwares[i].file);
		if (!read_text(scan, counts, function, NFD_AMD_FIRMWARE, file, text))
			continue;
		if (nfd_parse_hex(text, UINT32_MAX, &version) < 0) {
			nfd_amd_gpu_path(function, file, text);
			nfd_amd_failed(scan, counts, NFD_AMD_FIRMWARE, NFD_AMD_FIRMWARE, text,
				       -EBADMSG);
			continue;
		}
		snprintf(value, sizeof(value), "%s.fw.%" PRIu64, firmwares[i].name, version);
		nfd_amd_count(scan, counts, NFD_AMD_FIRMWARE, value);
	}
}

/* "SPX" and "NPS1" are spx_nps1. */
static void count_partition(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			    const struct nfd_pci_function *function)
{
	char compute[NFD_AMD_PATH_SIZE], memory[NFD_AMD_PATH_SIZE], text[NFD_LABEL_VALUE_SIZE];

	if (!read_text(scan, counts, function, NFD_AMD_PARTITION, "current_compute_partition",
		       compute) ||
	    !read_text(scan, counts, function, NFD_AMD_PARTITION, "current_memory_partition",
		       memory))
		return;
	snprintf(text, sizeof(text), "%.30s_%.30s", compute, memory);
	for (char *c = text; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	nfd_amd_count(scan, counts, NFD_AMD_PARTITION, text);
}

/* The node of a device, by its folder drm/renderD<minor>. @device is a path below the root. */
static const struct nfd_amd_node *find_node(struct nfd_scan *scan, struct nfd_amd_counts *counts,
					    struct nfd_amd_topology *topology, const char *device)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[NFD_AMD_PATH_SIZE + 8];
	uint64_t minor = 0;
	int r;

	snprintf(path, sizeof(path), "%s/drm", device);
	r = nfd_root_list(scan->root, path, &names);
	if (r < 0)
		nfd_amd_failed(scan, counts, NFD_AMD_VRAM, NFD_AMD_FAMILY, path, r);
	for (size_t i = 0; i < names.count && minor == 0; i++)
		if (strncmp(names.name[i], "renderD", 7) == 0 &&
		    nfd_parse_uint(names.name[i] + 7, UINT32_MAX, &minor) < 0)
			minor = 0;
	return nfd_amd_topology_find(topology, minor);
}

static void count_number(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			 enum nfd_amd_kind kind, uint64_t number, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", number, unit);
	nfd_amd_count(scan, counts, kind, text);
}

/* What GPUs and partitions have. Memory is in whole MiB before it is rounded to GiB. */
static void count_node(struct nfd_scan *scan, struct nfd_amd_counts *counts,
		       const struct nfd_amd_node *node)
{
	if (node->memory_bytes != UINT64_MAX)
		count_number(scan, counts, NFD_AMD_VRAM, ((node->memory_bytes >> 20) + 512) >> 10,
			     "G");
	if (node->simd_count == UINT64_MAX)
		return;
	count_number(scan, counts, NFD_AMD_SIMD_COUNT, node->simd_count, "");
	if (node->simd_per_cu != UINT64_MAX && node->simd_per_cu != 0)
		count_number(scan, counts, NFD_AMD_CU_COUNT, node->simd_count / node->simd_per_cu,
			     "");
}

void nfd_amd_gpu_count(struct nfd_scan *scan, struct nfd_amd_counts *counts,
		       struct nfd_amd_topology *topology, const struct nfd_pci_function *function)
{
	const struct nfd_amd_node *node;
	char text[NFD_AMD_PATH_SIZE];
	const char *family;

	snprintf(text, sizeof(text), "%04x", function->device);
	nfd_amd_count(scan, counts, NFD_AMD_DEVICE_ID, text);
	count_product(scan, counts, function);
	count_firmware(scan, counts, function);
	count_partition(scan, counts, function);
	nfd_amd_gpu_path(function, "", text);
	node = find_node(scan, counts, topology, text);
	if (!node)
		return;
	count_node(scan, counts, node);
	family = nfd_amd_family(node->gfx_target_version);
	if (family)
		nfd_amd_count(scan, counts, NFD_AMD_FAMILY, family);
}

static bool is_partition(const char *name)
{
	size_t len = strlen(PARTITION_PREFIX);
	uint64_t number;

	return strncmp(name, PARTITION_PREFIX, len) == 0 &&
	       nfd_parse_uint(name + len, UINT32_MAX, &number) == 0;
}

/*
 * The first partition is the GPU's own; the others are platform devices, of which a GPU has as many
 * as it can have partitions. Those in use have a node.
 */
void nfd_amd_partitions_count(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			      struct nfd_amd_topology *topology)
{
	cleanup_names struct nfd_names names = { 0 };
	size_t left = NFD_AMD_GPUS_MAX;
	int r;

	if (nfd_amd_topology_is_exhausted(topology))
		return;
	r = nfd_root_list(scan->root, PLATFORM_DEVICES, &names);
	for (size_t i = 0; i < names.count && r == 0; i++) {
		const struct nfd_amd_node *node;
		char path[NFD_AMD_PATH_SIZE];

		if (!is_partition(names.name[i]))
			continue;
		snprintf(path, sizeof(path), PLATFORM_DEVICES "/%s", names.name[i]);
		node = find_node(scan, counts, topology, path);
		if (node)
			count_node(scan, counts, node);
		if (--left == 0)
			r = -E2BIG;
	}
	if (r < 0)
		nfd_amd_failed(scan, counts, NFD_AMD_VRAM, NFD_AMD_FAMILY, PLATFORM_DEVICES, r);
}
