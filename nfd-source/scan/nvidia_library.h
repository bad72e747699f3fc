/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the NVIDIA user-space library lies and which version it is (spec gpu-stack.md 2.3). Shared
 * by the scanner, the watcher of library folders and doctor.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "base/root.h"

#define NFD_NVIDIA_VERSION_SIZE 32
#define NFD_NVIDIA_LIBRARIES_MAX 8

/* One version found; of several files with the same version the first one. */
struct nfd_nvidia_library {
	char version[NFD_NVIDIA_VERSION_SIZE]; /* "580.126.09" */
	char path[512];                        /* resolved file below the root */
};

struct nfd_nvidia_libraries {
	struct nfd_nvidia_library library[NFD_NVIDIA_LIBRARIES_MAX];
	size_t count; /* 0: none found; over 1: several installations; [0] is the one in force */
	int error;    /* first failure that leaves the answer open (EIO, EACCES, ELOOP), else 0 */
	char error_path[512];
};

/**
 * nfd_nvidia_library_dirs() - the folders that are searched, relative to a driver root.
 * @ret_count: number of them.
 * Return: static array; "" is the driver root itself.
 */
const char *const *nfd_nvidia_library_dirs(size_t *ret_count);

/**
 * nfd_nvidia_driver_roots() - the driver roots in the order of search, relative to the root:
 * the driver container's first, then the host's own ("").
 */
const char *const *nfd_nvidia_driver_roots(size_t *ret_count);

/**
 * nfd_nvidia_libraries_find() - search all of them.
 * @root: borrowed.
 * @dir:  the one folder to search instead, below the root (setting sources.nvidia.libraryDir); NULL or
 *        "" for the known places.
 * @deep: also list the folders for versioned files without the .so.1 link, and read etc/ld.so.cache;
 *        wanted where an NVIDIA device or module is there.
 * @ret:  filled.
 */
void nfd_nvidia_libraries_find(const struct nfd_root *root, const char *dir, bool deep,
			       struct nfd_nvidia_libraries *ret);
