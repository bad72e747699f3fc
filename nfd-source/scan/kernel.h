/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel release: kernel-version.*, as NFD's kernel source (spec nfd.md 2.2).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_scanner;

#define NFD_KERNEL_RELEASE_SIZE 256

/**
 * nfd_kernel_release() - the release of the running kernel, from proc/sys/kernel/osrelease, trimmed.
 * @ret: receives it as it stands; names of folders hold this text.
 * Return: as nfd_root_read_line().
 */
ssize_t nfd_kernel_release(const struct nfd_root *root, char ret[NFD_KERNEL_RELEASE_SIZE])
	nfd_must_check;
