/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs that are no PCI devices: gpu-tegra.present, gpu-paravirtual.present and .vendor.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_platform_gpu_scanner;

#define NFD_DEVICE_TREE_COMPATIBLE "proc/device-tree/compatible" /* at most 1023 bytes are taken */
#define NFD_DEVICE_TREE_MODEL "proc/device-tree/model"

/**
 * nfd_platform_tegra() - the file that says that the host is a Tegra system on chip.
 * @ret_failed: receives the file that could not be read, NULL when none failed; may be NULL.
 * @ret_code:   receives why, negative errno; untouched without a failure; may be NULL.
 * Return: path below the root: sys/devices/soc0/family or proc/device-tree/compatible; NULL when none says
 *         so.
 */
const char *nfd_platform_tegra(const struct nfd_root *root, const char **ret_failed, int *ret_code);

/**
 * nfd_platform_tegra_compute() - CUDA compute capability of the GPU in a Tegra system on chip, by the
 * chip's name in proc/device-tree/compatible.
 * @ret_major, @ret_minor: 0 and 0 for a chip that is not known.
 */
void nfd_platform_tegra_compute(const struct nfd_root *root, int *ret_major, int *ret_minor);

/**
 * nfd_platform_is_wsl() - whether the host has the paravirtual GPU of WSL2 (dev/dxg).
 */
bool nfd_platform_is_wsl(const struct nfd_root *root);
