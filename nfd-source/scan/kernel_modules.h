/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel modules: the raw features kernel.loadedmodule and kernel.enabledmodule of NFD's kernel
 * source (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_modules_scanner;
