/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CDI specifications (spec gpu-stack.md 4.3), in etc/cdi, var/run/cdi and run/cdi.
 */
#pragma once

#include <stddef.h>

#include "base/root.h"

/**
 * nfd_cdi_count() - number of specifications of a kind of NVIDIA's.
 */
size_t nfd_cdi_count(const struct nfd_root *root);
