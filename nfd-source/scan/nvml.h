/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking NVML, NVIDIA's management library, in a process of its own: nfd-source-nvml loads the library
 * that was found below the root and prints a report (docs/doctor.md has its fields). A hung driver or a
 * library that crashes costs that process.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/child.h"
#include "base/error.h"
#include "base/root.h"

enum nfd_nvml_end {
	NFD_NVML_NOT_STARTED, /* no driver, or not wanted */
	NFD_NVML_MISSING,     /* a driver is loaded, and there is no library */
	NFD_NVML_PENDING,     /* it runs */
	NFD_NVML_DONE,
	NFD_NVML_HUNG, /* killed at its deadline */
	NFD_NVML_CRASHED,
	NFD_NVML_RUBBISH, /* printed no report */
};

/**
 * nfd_nvml_words() - how a run ended, for people: "answered", "is being asked", "does not answer".
 */
const char *nfd_nvml_words(enum nfd_nvml_end end);

struct nfd_nvml {
	enum nfd_nvml_end end;
	char why[400]; /* unless it is done: why there is no report */
	cJSON *report; /* with NFD_NVML_DONE an object; else NULL; owned */
};

/* How the helper is run; all borrowed. */
struct nfd_nvml_place {
	const char *helper;       /* path of nfd-source-nvml; NULL: a copy of this process asks */
	char *const *environment; /* "NAME=value", NULL-terminated */
	bool unconfined;          /* it keeps rights that it does not need (confinement.mode) */
	int64_t deadline_ms;
};

/**
 * nfd_nvml_library_path() - where this process finds a file of the host.
 * @path: below the root.
 * @ret:  receives the path with the root's before it.
 */
void nfd_nvml_library_path(const struct nfd_root *root, const char *path, char ret[PATH_MAX]);

/**
 * nfd_nvml_find() - the library to load, where a driver is there for it: the nvidia module is loaded, or
 * the host is a WSL2 guest. In a pod, where the host's library folders may not be mounted, also the one
 * that the container runtime has put into the container itself.
 * @library_dir: as nfd_nvidia_libraries_find() takes it.
 * @ret:         receives its path for this process.
 * @why:         receives in words why there is nothing to ask; else "".
 * Return: NFD_NVML_PENDING with a library, NFD_NVML_MISSING, NFD_NVML_NOT_STARTED.
 */
enum nfd_nvml_end nfd_nvml_find(const struct nfd_root *root, const char *library_dir,
				char ret[PATH_MAX], char why[100]);

/**
 * nfd_nvml_start() - start the process that asks a library.
 * @child:   from nfd_child_init(); nfd_child_step() or nfd_child_wait() serve it.
 * @library: from nfd_nvml_find().
 * Return: 0; negative errno of nfd_child_start().
 */
int nfd_nvml_start(struct nfd_child *child, const struct nfd_nvml_place *place, const char *library,
		   struct nfd_error *err) nfd_must_check;

/**
 * nfd_nvml_is_running() - whether a helper may still answer; false for one that was killed and hangs.
 */
bool nfd_nvml_is_running(const struct nfd_child *child);

/**
 * nfd_nvml_take() - judge a helper that has ended, or has closed its output.
 * @ret: filled; owner: caller, nfd_nvml_done().
 */
void nfd_nvml_take(const struct nfd_child *child, struct nfd_nvml *ret);

/**
 * nfd_nvml_ask() - start, wait, judge; at most until the deadline.
 * Arguments as above. @ret is filled in any case.
 */
void nfd_nvml_ask(const struct nfd_nvml_place *place, const char *library, struct nfd_nvml *ret);

/**
 * nfd_nvml_done() - free; a zeroed one is fine.
 */
void nfd_nvml_done(struct nfd_nvml *nvml);
