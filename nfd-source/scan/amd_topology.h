/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the compute driver of AMD's GPUs tells of them: sys/class/kfd/kfd/topology/nodes. A GPU has
 * one node, a partitioned one a node for each partition; the render minor says whose node it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/root.h"

#define NFD_AMD_TOPOLOGY "sys/class/kfd/kfd/topology/nodes"
#define NFD_AMD_NODES_MAX 1024

/* Numbers are UINT64_MAX where the file has none. */
struct nfd_amd_node {
	uint64_t render_minor;       /* of /dev/dri/renderD<minor>; never 0 */
	uint64_t simd_count;         /* SIMD units */
	uint64_t simd_per_cu;        /* of them in a compute unit */
	uint64_t gfx_target_version; /* major * 10000 + minor * 100 + stepping: 90402 */
	uint64_t memory_bytes;       /* of the first memory bank */
	bool is_found;               /* nfd_amd_topology_find() gave it */
};

struct nfd_amd_topology {
	struct nfd_amd_node *node; /* array of @count in the order of the folders' names; owned */
	size_t count;
	int error; /* 0; -ENOMEM; else the first fault: then the nodes are not to be used */
	char error_path[160]; /* what could not be read */
};

/**
 * nfd_amd_topology_read() - read the nodes of GPUs; nodes of processors are left out.
 * @root: borrowed.
 * @ret:  filled, without nodes where the compute driver is not there. Owner: caller,
 *        nfd_amd_topology_done(). @ret->error is -EPERM where the device cgroup of this process
 *        keeps the GPU's render node from it.
 */
void nfd_amd_topology_read(const struct nfd_root *root, struct nfd_amd_topology *ret);

/**
 * nfd_amd_topology_find() - the node of a render minor; the first of several, and marked as found.
 * @render_minor: 0 for none.
 * Return: borrowed; NULL when there is none.
 */
const struct nfd_amd_node *nfd_amd_topology_find(struct nfd_amd_topology *topology,
						 uint64_t render_minor);

/**
 * nfd_amd_topology_is_exhausted() - whether every node has been found.
 */
bool nfd_amd_topology_is_exhausted(const struct nfd_amd_topology *topology);

/**
 * nfd_amd_topology_done() - free; a zeroed one is fine.
 */
void nfd_amd_topology_done(struct nfd_amd_topology *topology);

/**
 * nfd_amd_family() - libdrm's name of the family of a GPU ("AI", "GC_11_0_0").
 * @gfx_target_version: as in struct nfd_amd_node.
 * Return: static text; NULL where the version does not settle the family.
 */
const char *nfd_amd_family(uint64_t gfx_target_version);
