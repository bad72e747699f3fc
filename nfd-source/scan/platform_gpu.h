/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs that are no PCI devices: gpu-tegra.present, gpu-paravirtual.present and .vendor.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_platform_gpu_scanner;

/**
 * nfd_platform_is_wsl() - whether the host has the paravirtual GPU of WSL2 (dev/dxg).
 */
bool nfd_platform_is_wsl(const struct nfd_root *root);
