/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effective configuration of the container runtime, as far as GPUs need it: containerd in its
 * three forms with imports, CRI-O, Docker (spec gpu-stack.md 4.3).
 */
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/root.h"
#include "doctor/processes.h"

#define NFD_RUNTIME_DROPINS_MAX 16

enum nfd_runtime_kind {
	NFD_RUNTIME_NONE,
	NFD_RUNTIME_CONTAINERD,
	NFD_RUNTIME_CRIO,
	NFD_RUNTIME_DOCKER
};

/* One runtime of the effective map. */
struct nfd_runtime_entry {
	bool is_there;
	char type[64];    /* runtime_type; "" when missing */
	char binary[256]; /* BinaryName, runtime_path or path; "" when missing */
	char path[256];   /* file that has it */
};

struct nfd_runtime_config {
	enum nfd_runtime_kind kind;
	char path[256]; /* main file, below the root; "" when it has none (built-in defaults) */
	int version;    /* of containerd's main file; 0 for others */
	struct nfd_runtime_entry nvidia;
	char default_runtime[64];   /* "" when not set */
	bool is_cdi_on, is_cdi_set; /* whether CDI is on; whether a file says so */
	char misplaced[256]; /* file with an nvidia runtime under a name of another version; "" */
	char drop_in_newer[256]; /* drop-in whose version is above the main file's; "" */
	int drop_in_version;
	char replaced_by[256]; /* drop-in whose section took the nvidia runtime away; "" */
	char imported[NFD_RUNTIME_DROPINS_MAX][256]; /* files that imports brought in */
	size_t imported_count;
	char error[400];      /* what could not be read or parsed; "" for nothing */
	const char *template; /* file a person edits instead of @path, static; NULL: @path itself */
};

#define NFD_CONTAINERD_STOCK "etc/containerd/config.toml"

/**
 * nfd_runtime_find() - the configuration of the runtime that serves this node's kubelet: the file
 * that the running process was told, else the one of the Kubernetes distribution that is here.
 * @ret: filled; its kind is NFD_RUNTIME_NONE when no runtime is found.
 */
void nfd_runtime_find(const struct nfd_root *root, const struct nfd_processes *processes,
		      struct nfd_runtime_config *ret);

/**
 * nfd_containerd_read() - the effective configuration of containerd.
 * @path: main file, below the root without leading slash; a missing one is the built-in default.
 * @ret:  filled; @ret->error tells of a broken file.
 */
void nfd_containerd_read(const struct nfd_root *root, const char *path,
			 struct nfd_runtime_config *ret);

/**
 * nfd_crio_read() - that of CRI-O: etc/crio/crio.conf and its drop-ins.
 */
void nfd_crio_read(const struct nfd_root *root, struct nfd_runtime_config *ret);

/**
 * nfd_docker_read() - that of Docker: etc/docker/daemon.json.
 */
void nfd_docker_read(const struct nfd_root *root, struct nfd_runtime_config *ret);
