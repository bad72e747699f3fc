/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of the host that belong to the GPU stack, from proc (one small read each).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/root.h"

enum nfd_process_kind {
	NFD_PROCESS_CONTAINERD,
	NFD_PROCESS_CRIO,
	NFD_PROCESS_DOCKERD,
	NFD_PROCESS_KUBELET,
	NFD_PROCESS_PERSISTENCED,
	NFD_PROCESS_FABRICMANAGER,
	NFD_PROCESS_DEVICE_PLUGIN,
	NFD_PROCESS_DCGM_EXPORTER,
	NFD_PROCESS_VALIDATOR,
	NFD_PROCESS_NFD_WORKER,
	NFD_PROCESS_KINDS
};

struct nfd_process {
	int pid;          /* 0: none is running */
	int64_t start_s;  /* seconds since 1970; 0 when unknown */
	char config[256]; /* value of -c, --config or --config=; "" for none */
};

struct nfd_processes {
	struct nfd_process process[NFD_PROCESS_KINDS]; /* of several see nfd_processes_read() */
	bool is_read;                                  /* proc could be read and shows processes */
};

/**
 * nfd_processes_read() - look through proc.
 * @boot_s: time of boot, seconds since 1970; 0 when unknown.
 * @ret:    filled. Of several processes of a kind one that was told a configuration, else the one with
 *          the lowest pid; a containerd that serves the system itself does not count (Bottlerocket's
 *          host-containerd, Talos' system one, the one that dockerd starts).
 */
void nfd_processes_read(const struct nfd_root *root, int64_t boot_s, struct nfd_processes *ret);
