/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of NVIDIA's library are used, by name.
 */
#pragma once

#include "nvml/nvml_abi.h"

/**
 * nfd_nvml_calls_find() - look up all calls in a loaded library.
 * @library: of dlopen(); borrowed, and stays loaded while @ret is used.
 * @ret:     filled; a function that the library lacks is NULL and must not be called.
 */
void nfd_nvml_calls_find(void *library, struct nvml_calls *ret);
