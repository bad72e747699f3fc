/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NVIDIA driver: version and flavour of the loaded module, version of the user-space library,
 * and whether they match (spec gpu-stack.md 2.1, 2.3, 2.4).
 */
#pragma once

#include "scan/nvidia_library.h"
#include "scan/pci_bus.h"
#include "scan/scanner.h"

#define NFD_NVIDIA_GPUS "proc/driver/nvidia/gpus"

extern const struct nfd_scanner nfd_nvidia_scanner;

struct nfd_nvidia_module {
	char version[NFD_NVIDIA_VERSION_SIZE]; /* "" when not loaded or unknown */
	char path[64];                         /* file that gave it, below the root */
	const char *flavor;                    /* "open", "proprietary"; NULL when unknown */
	int error; /* negative errno that leaves the version open, else 0 */
	char error_path[64];
};

/**
 * nfd_nvidia_parse_version() - version and flavour from proc/driver/nvidia/version.
 * @text:        content: line 1 "NVRM version: …Module  580.126.09 …"; any bytes, NUL-terminated.
 * @ret_version: receives "580.126.09"; "" when line 1 has no such token behind the word Module.
 * @ret_flavor:  receives "open" or "proprietary"; NULL when there is no version.
 */
void nfd_nvidia_parse_version(const char *text, char ret_version[NFD_NVIDIA_VERSION_SIZE],
			      const char **ret_flavor);

/**
 * nfd_nvidia_module_read() - facts about the loaded module, from sys/module/nvidia/version and
 * proc/driver/nvidia/version.
 * @root: borrowed.
 * @ret:  filled.
 */
void nfd_nvidia_module_read(const struct nfd_root *root, struct nfd_nvidia_module *ret);

/* What the driver says of one GPU in proc/driver/nvidia/gpus/<address>/information. */
struct nfd_nvidia_information {
	char model[96];   /* "Model"; "" when not stated */
	bool is_excluded; /* "GPU Excluded: Yes" */
	int minor;        /* "Device Minor", 0 to 255; -1 when not stated */
};

/**
 * nfd_nvidia_is_gpu() - whether a function is a GPU of NVIDIA's: vendor 10de, class 0300 or 0302.
 */
bool nfd_nvidia_is_gpu(const struct nfd_pci_function *function);

/**
 * nfd_nvidia_information_read() - read that file, lines "Key: <blanks> value".
 * @address: as nfd_pci_format_address() writes it.
 * @ret:     filled in any case; as not stated when the file cannot be read.
 * Return: 0; negative errno as nfd_root_read(): absent where the driver does not hold the GPU.
 */
int nfd_nvidia_information_read(const struct nfd_root *root, const char *address,
				struct nfd_nvidia_information *ret) nfd_must_check;
