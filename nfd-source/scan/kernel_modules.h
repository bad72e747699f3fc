/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel modules: the raw features kernel.loadedmodule and kernel.enabledmodule of NFD's kernel
 * source (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_modules_scanner;

/**
 * nfd_kernel_modules_loaded() - how many of some modules are loaded (proc/modules).
 * @name: array of @count names as the kernel has them, with '_'.
 * Return: number; 0 also when the list cannot be read.
 */
size_t nfd_kernel_modules_loaded(const struct nfd_root *root, const char *const *name,
				 size_t count);
