/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel release: kernel-version.*, as NFD's kernel source (spec nfd.md 2.2).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_scanner;
