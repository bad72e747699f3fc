/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a GPU of AMD, or a partition of one, adds to the counts by kind.
 */
#pragma once

#include "scan/amd_kind.h"
#include "scan/amd_topology.h"
#include "scan/pci_bus.h"

#define NFD_AMD_GPUS_MAX NFD_AMD_NODES_MAX
#define NFD_AMD_PATH_SIZE 256

/**
 * nfd_amd_gpu_path() - where a GPU's attribute is, below the root.
 * @file: attribute; "" for the folder.
 */
void nfd_amd_gpu_path(const struct nfd_pci_function *function, const char *file,
		      char ret[NFD_AMD_PATH_SIZE]);

/**
 * nfd_amd_gpu_count() - count what a GPU has.
 * @topology: its node is marked as found.
 * @function: one that the amdgpu driver has.
 */
void nfd_amd_gpu_count(struct nfd_scan *scan, struct nfd_amd_counts *counts,
		       struct nfd_amd_topology *topology, const struct nfd_pci_function *function);

/**
 * nfd_amd_partitions_count() - count what the partitions have that are not a GPU's own, from
 * sys/devices/platform/amdgpu_xcp_<n>. To be called after all GPUs are counted.
 */
void nfd_amd_partitions_count(struct nfd_scan *scan, struct nfd_amd_counts *counts,
			      struct nfd_amd_topology *topology);
