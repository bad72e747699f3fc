/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of the versions of driver and CUDA.
 */
#pragma once

#include "scan/gfd.h"

/**
 * nfd_gfd_put_driver() - add cuda.driver-version.* and the older cuda.driver.*: what NVML states, else
 * the version of the loaded module, which is the same.
 */
void nfd_gfd_put_driver(struct nfd_gfd *gfd);

/**
 * nfd_gfd_put_cuda() - add cuda.runtime-version.* and the older cuda.runtime.*.
 * @gfd: with a good report.
 */
void nfd_gfd_put_cuda(struct nfd_gfd *gfd);
