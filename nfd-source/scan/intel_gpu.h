/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the feature hook of Intel's GPU plugin said of the cards in sysfs: gpu.intel.com/cards,
 * gpu-numbers, millicores, tiles, memory.max and numa-gpu-map.
 */
#pragma once

#include "scan/scanner.h"

#define NFD_INTEL_GPU "gpu.intel.com/"

/**
 * nfd_intel_gpu_add() - add the labels of the cards that Intel's drivers hold.
 * @scan: changed. Reads sys/class/drm/card<N>/device/{vendor,sriov_numvfs,numa_node} and, of i915,
 *        card<N>/gt/ and card<N>/lmem_total_bytes (bytes of one tile; only the module of Intel's
 *        own repository has it) or, of xe, card<N>/device/tile<N>. A physical function that has
 *        virtual ones is no card that a workload gets. Without a card there is no label; a read
 *        that fails makes the labels that need it unknown.
 */
void nfd_intel_gpu_add(struct nfd_scan *scan);
