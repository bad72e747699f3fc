// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the nodes: lines "name value", decimal, of which few are wanted. Sizes and numbers of
 * everything are bounded, and one node that cannot be read leaves all of them in doubt, for it may
 * be any GPU's.
 */
#include "config.h"

#include "scan/amd_topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* The kernel prints such a file into one page; a node's has about 800 bytes. */
#define PROPERTIES_SIZE 8192
#define PATH_SIZE sizeof(((struct nfd_amd_topology *)0)->error_path)

struct property {
	const char *name;
	size_t offset; /* of the uint64_t in struct nfd_amd_node */
};

static const struct property node_properties[] = {
	{ "drm_render_minor", offsetof(struct nfd_amd_node, render_minor) },
	{ "simd_count", offsetof(struct nfd_amd_node, simd_count) },
	{ "simd_per_cu", offsetof(struct nfd_amd_node, simd_per_cu) },
	{ "gfx_target_version", offsetof(struct nfd_amd_node, gfx_target_version) },
};

static const struct property bank_properties[] = {
	{ "size_in_bytes", offsetof(struct nfd_amd_node, memory_bytes) },
};

/*
 * The kernel gives the version by the graphics core (kgd2kfd_probe() in kfd_device.c) and the
 * family by the graphics core or the chip (amdgpu_discovery.c, amdgpu_device.c); these are the
 * pairs. 100306 is missing: cores 10.3.6 and 10.3.7, which are families of their own, both have it.
 */
static const struct {
	unsigned int gfx_target_version;
	const char *family;
} families[] = {
	{ 70000, "KV" },         { 70001, "CI" },         { 80001, "CZ" },
	{ 80002, "VI" },         { 80003, "VI" },         { 90000, "AI" },
	{ 90002, "RV" },         { 90004, "AI" },         { 90006, "AI" },
	{ 90008, "AI" },         { 90010, "AI" },         { 90012, "RV" },
	{ 90400, "AI" },         { 90401, "AI" },         { 90402, "AI" },
	{ 90500, "AI" },         { 100100, "NV" },        { 100101, "NV" },
	{ 100102, "NV" },        { 100103, "NV" },        { 100300, "NV" },
	{ 100301, "NV" },        { 100302, "NV" },        { 100303, "VGH" },
	{ 100304, "NV" },        { 100305, "YC" },        { 110000, "GC_11_0_0" },
	{ 110001, "GC_11_0_0" }, { 110002, "GC_11_0_0" }, { 110003, "GC_11_0_1" },
	{ 110500, "GC_11_5_0" }, { 110501, "GC_11_5_0" }, { 110502, "GC_11_5_0" },
	{ 110503, "GC_11_5_0" }, { 120000, "GC_12_0_0" }, { 120001, "GC_12_0_0" },
};

const char *nfd_amd_family(uint64_t gfx_target_version)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(families); i++)
		if (families[i].gfx_target_version == gfx_target_version)
			return families[i].family;
	return NULL;
}

/* Takes one line, cut into name and value. The first line of a name counts. */
static int take_property(const struct property *property, size_t count, const char *name,
			 const char *value, struct nfd_amd_node *node)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t *field = (uint64_t *)((char *)node + property[i].offset);

		if (strcmp(property[i].name, name) != 0 || *field != UINT64_MAX)
			continue;
		if (nfd_parse_uint(value, UINT64_MAX - 1, field) < 0)
			return -EBADMSG;
	}
	return 0;
}

static int read_properties(const struct nfd_root *root, const char *path,
			   const struct property *property, size_t count, struct nfd_amd_node *node)
{
	char text[PROPERTIES_SIZE], *line, *rest = text;
	ssize_t len;
	int r = 0;

	len = nfd_root_read(root, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	while (r == 0 && (line = strsep(&rest, "\n"))) {
		const char *name = strsep(&line, " ");

		if (line)
			r = take_property(property, count, name, line, node);
	}
	return r;
}

/* Reads one node. Returns 1 for one of a GPU, 0 for another. */
static int read_node(const struct nfd_root *root, const char *name, struct nfd_amd_node *node,
		     char path[PATH_SIZE])
{
	int r;

	*node = (struct nfd_amd_node){ UINT64_MAX, UINT64_MAX, UINT64_MAX,
				       UINT64_MAX, UINT64_MAX, false };
	snprintf(path, PATH_SIZE, NFD_AMD_TOPOLOGY "/%s/properties", name);
	r = read_properties(root, path, node_properties, NFD_ARRAY_SIZE(node_properties), node);
	if (r < 0)
		return r;
	if (node->render_minor == 0 || node->render_minor == UINT64_MAX)
		return 0;
	snprintf(path, PATH_SIZE, NFD_AMD_TOPOLOGY "/%s/mem_banks/0/properties", name);
	r = read_properties(root, path, bank_properties, NFD_ARRAY_SIZE(bank_properties), node);
	return r < 0 && !nfd_root_is_absent(r) ? r : 1;
}

static bool is_node(const char *name)
{
	uint64_t number;

	return nfd_parse_uint(name, UINT32_MAX, &number) == 0;
}

void nfd_amd_topology_read(const struct nfd_root *root, struct nfd_amd_topology *ret)
{
	cleanup_names struct nfd_names names = { 0 };
	int r;

	*ret = (struct nfd_amd_topology){ .error_path = NFD_AMD_TOPOLOGY };
	r = nfd_root_list(root, NFD_AMD_TOPOLOGY, &names);
	if (r == 0 && names.count > NFD_AMD_NODES_MAX)
		r = -E2BIG;
	if (r == 0 && names.count > 0) {
		ret->node = calloc(names.count, sizeof(*ret->node));
		r = ret->node ? 0 : -ENOMEM;
	}
	for (size_t i = 0; r >= 0 && i < names.count; i++) {
		if (!is_node(names.name[i]))
			continue;
		r = read_node(root, names.name[i], &ret->node[ret->count], ret->error_path);
		ret->count += r > 0;
		if (nfd_root_is_absent(r))
			r = 0;
	}
	if (r < 0 && !nfd_root_is_absent(r))
		ret->error = r;
}

const struct nfd_amd_node *nfd_amd_topology_find(struct nfd_amd_topology *topology,
						 uint64_t render_minor)
{
	for (size_t i = 0; render_minor > 0 && i < topology->count; i++)
		if (topology->node[i].render_minor == render_minor) {
			topology->node[i].is_found = true;
			return &topology->node[i];
		}
	return NULL;
}

bool nfd_amd_topology_is_exhausted(const struct nfd_amd_topology *topology)
{
	for (size_t i = 0; i < topology->count; i++)
		if (!topology->node[i].is_found)
			return false;
	return true;
}

void nfd_amd_topology_done(struct nfd_amd_topology *topology)
{
	free(topology->node);
	*topology = (struct nfd_amd_topology){ 0 };
}
