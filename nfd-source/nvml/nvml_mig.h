/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MIG devices, the parts into which some GPUs can be divided, and the names of their profiles.
 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "nvml/nvml_device.h"

/* "1c.1g.12345678901gb+me.all" and more. */
#define NFD_NVML_PROFILE_SIZE 48

/**
 * nfd_nvml_mig_add() - the MIG devices of a GPU.
 * @device: MIG is on there; memory_bytes is known, or the profiles stay unnamed. Its entry receives the
 *          array "mig" in the order of NVML's indexes: {"profile","memoryMb","multiprocessors",
 *          "gpuInstanceSlices","computeInstanceSlices","copyEngines","decoders","encoders",
 *          "jpegEngines","ofaEngines"}, each as far as it can be told; and failures. No array when the
 *          library lacks one of the calls, or cannot say how many devices there may be.
 */
void nfd_nvml_mig_add(const struct nfd_nvml_device *device);

/**
 * nfd_nvml_mig_profile() - the name of a profile: [<C>c.]<G>g.<MM>gb[suffix] (spec gpu-stack.md 1.5).
 * @gpu_profile:     index of the GPU instance's profile, 0 to 16.
 * @compute_profile: index of the compute instance's profile, 0 to 7.
 * @memory_mb:       of the MIG device (nvmlDeviceGetAttributes_v2), in 2^20 bytes.
 * @total_bytes:     of the GPU (nvmlDeviceGetMemoryInfo).
 * @ret:             "1c.3g.20gb", "1g.10gb+me"; untouched on an error.
 * Return: 0; -EINVAL for an index of no known profile, or memory that makes no sense.
 */
int nfd_nvml_mig_profile(unsigned int gpu_profile, unsigned int compute_profile, uint64_t memory_mb,
			 uint64_t total_bytes, char ret[NFD_NVML_PROFILE_SIZE]) nfd_must_check;
