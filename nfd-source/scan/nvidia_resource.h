/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of what the device plugin offers: nvidia.com/gpu and its partitions (spec gpu-stack.md 1.5).
 */
#pragma once

#include "scan/gfd.h"

/* One resource; all texts borrowed. */
struct nfd_gfd_offer {
	const char *resource; /* "gpu", "mig-1g.10gb": key and name without "nvidia.com/" */
	const char *model;    /* as the driver names it */
	const char *profile;  /* of a partition, "1g.10gb"; NULL for whole GPUs */
	unsigned int count;
	bool is_unshared; /* sharing does not apply: a GPU that is there in partitions alone */
	const char *path; /* see struct nfd_finding */
};

/* The model that stands for all. */
struct nfd_gfd_model {
	const struct nfd_nvidia_gpu
		*gpu;       /* its first GPU that is not partitioned, else its first; NULL: none */
	unsigned int count; /* GPUs of that model */
};

/**
 * nfd_gfd_pick_model() - one model of several: one with GPUs that are not partitioned before others, as
 * gpu-feature-discovery has it; then the most GPUs; then the lowest PCI address.
 * @gpu: array of @count by address.
 */
struct nfd_gfd_model nfd_gfd_pick_model(const struct nfd_nvidia_gpu *gpu, size_t count);

/**
 * nfd_gfd_put_model() - add product and count of a resource.
 */
void nfd_gfd_put_model(struct nfd_gfd *gfd, const struct nfd_gfd_offer *offer);

/**
 * nfd_gfd_put_offer() - the same, replicas and sharing-strategy.
 */
void nfd_gfd_put_offer(struct nfd_gfd *gfd, const struct nfd_gfd_offer *offer);

/**
 * nfd_gfd_put_family() - add gpu.family, gpu.compute.major and .minor.
 * @major: 0: nothing is known, and nothing is added.
 */
void nfd_gfd_put_family(struct nfd_gfd *gfd, int major, int minor, const char *path);
