/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel modules: the raw features kernel.loadedmodule and kernel.enabledmodule of NFD's kernel
 * source (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_modules_scanner;

#define NFD_KERNEL_MODULES "proc/modules"

/**
 * nfd_kernel_modules_loaded() - whether some modules are loaded, all of them (NFD_KERNEL_MODULES).
 * @name: array of @count names, at most 31, as the kernel has them, with '_'.
 * Return: 1 or 0; negative errno of the read.
 */
int nfd_kernel_modules_loaded(const struct nfd_root *root, const char *const *name, size_t count)
	nfd_must_check;
