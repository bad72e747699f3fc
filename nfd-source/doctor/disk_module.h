/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nvidia kernel module on disk (spec gpu-stack.md 2.1): for the running kernel, and its version.
 */
#pragma once

#include <stdbool.h>

#include "base/root.h"
#include "scan/nvidia_library.h"

struct nfd_disk_module {
	int error;     /* modules.dep of the running kernel could not be read (negative errno); 0 */
	bool is_there; /* an nvidia module for the running kernel */
	char path[512];                        /* of that module, below the root */
	char version[NFD_NVIDIA_VERSION_SIZE]; /* "" when it cannot be read (compressed) */
	char other_kernel[128];                /* another kernel that has one; "" for none */
};

/**
 * nfd_disk_module_find() - look it up in lib/modules/<release>/modules.dep.
 * @release: of the running kernel; "" finds nothing.
 * @ret:     filled.
 */
void nfd_disk_module_find(const struct nfd_root *root, const char *release,
			  struct nfd_disk_module *ret);

/**
 * nfd_modinfo_version() - "version=" of a kernel module, from its .modinfo section.
 * @data: @size bytes of an ELF file, hostile.
 * @ret:  receives the version; "" when there is none or this is no such file.
 */
void nfd_modinfo_version(const char *data, size_t size, char ret[NFD_NVIDIA_VERSION_SIZE]);
