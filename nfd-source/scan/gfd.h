/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts that write labels of gpu-feature-discovery (spec gpu-stack.md 1.3) have in common: what is
 * known so far, which labels must not be written, and how one is.
 */
#pragma once

#include "scan/gfd_config.h"
#include "scan/nvidia_report.h"
#include "scan/scanner.h"

#define NFD_GFD "nvidia.com/"
#define NFD_NVML_SOURCE "libnvidia-ml.so.1"

/* Labels that are decided together; bits. */
enum nfd_gfd_group {
	NFD_GFD_DRIVER = 1 << 0,
	NFD_GFD_CUDA = 1 << 1,
	NFD_GFD_MIG_CAPABLE = 1 << 2,
	NFD_GFD_MIG_STRATEGY = 1 << 3,
	NFD_GFD_MPS = 1 << 4,
	NFD_GFD_MODEL = 1 << 5,   /* gpu.product, gpu.count */
	NFD_GFD_SHARING = 1 << 6, /* gpu.replicas, gpu.sharing-strategy */
	NFD_GFD_MEMORY = 1 << 7,
	NFD_GFD_FAMILY = 1 << 8, /* gpu.family, gpu.compute. */
	NFD_GFD_MIG = 1 << 9,    /* mig-, and of a partition in place of a GPU */
	NFD_GFD_MODE = 1 << 10,
	NFD_GFD_CLIQUE = 1 << 11,
};

/* Everything that follows from how GPUs are partitioned and shared. */
#define NFD_GFD_RESOURCES (NFD_GFD_MODEL | NFD_GFD_SHARING | NFD_GFD_MEMORY | NFD_GFD_MIG)

struct nfd_gfd {
	struct nfd_scan *scan;
	const struct nfd_gfd_config *config;
	enum nfd_mig_strategy strategy; /* that is in force */
	struct nfd_nvidia_report report;
	unsigned int lost; /* enum nfd_gfd_group: not to be written */
	bool is_stopgap;   /* what files give is less than what NVML said before */
};

/**
 * nfd_gfd_lose() - labels of some groups are not written, and their last values stay.
 * @groups:   enum nfd_gfd_group; those that were lost before are passed over.
 * @reason:   in words.
 * @is_doubt: nothing is at fault.
 */
void nfd_gfd_lose(struct nfd_gfd *gfd, unsigned int groups, const char *reason, bool is_doubt);

/**
 * nfd_gfd_put() - add nvidia.com/<suffix>, where its group was not lost.
 * @group: one of enum nfd_gfd_group.
 * @value: legal label value, may be "".
 * @path:  see struct nfd_finding.
 */
void nfd_gfd_put(struct nfd_gfd *gfd, enum nfd_gfd_group group, const char *value, const char *path,
		 const char *fmt, ...) nfd_printf_like(5, 6);

/**
 * nfd_gfd_mode() - what a GPU is for, by its PCI class: "graphics" (0300) or "compute" (0302).
 */
const char *nfd_gfd_mode(const struct nfd_pci_function *function);

/**
 * nfd_gfd_put_number() - the same with a number.
 */
void nfd_gfd_put_number(struct nfd_gfd *gfd, enum nfd_gfd_group group, uint64_t value,
			const char *path, const char *fmt, ...) nfd_printf_like(5, 6);
