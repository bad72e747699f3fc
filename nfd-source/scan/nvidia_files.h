/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files say of NVIDIA's GPUs where NVML says nothing: model, count and mode.
 */
#pragma once

#include "scan/gfd.h"

/**
 * nfd_gfd_put_files() - add gpu.product, gpu.count and gpu.mode.
 * @gfd: without a good report. Reads proc/driver/nvidia/gpus/<address>/information; where no GPU has one,
 *       pci.ids names those that are bound to vfio-pci. Nothing is added with a MIG strategy, for
 *       files do not say what is partitioned.
 */
void nfd_gfd_put_files(struct nfd_gfd *gfd);
