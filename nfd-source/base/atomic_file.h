/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that readers see either old or new, never half: staged in a folder of our own, synced,
 * renamed. The rules are those of spec nfd.md 1.5 (writer contract).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct nfd_atomic_file {
	int dirfd;       /* directory of the final file; borrowed */
	const char *dir; /* its path, for messages */
	const char
		*staging; /* name of the hidden folder below it, NULL to stage beside the target */
	const char *name; /* final name, without slash */
	mode_t mode;      /* mode of the final file, whatever the umask */
};

/**
 * nfd_atomic_file_prepare() - make the staging folder (0700) if missing and sweep leftovers of
 * writers that were killed (nothing while another writer is at work).
 * @file: borrowed.
 * @err:  names the folder.
 * Return: 1 when the folder was made, 0 when it was there; negative errno of mkdirat(2).
 */
int nfd_atomic_file_prepare(const struct nfd_atomic_file *file, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_atomic_file_write() - replace the final file by new content.
 * @file: borrowed; nfd_atomic_file_prepare() must have been called once.
 * @data: @len bytes.
 * @err:  names path and step that failed.
 * Return: 0; negative errno: the old file is as it was and no temporary file is left.
 */
int nfd_atomic_file_write(const struct nfd_atomic_file *file, const void *data, size_t len,
			  struct nfd_error *err) nfd_must_check;

/**
 * nfd_atomic_file_put() - replace a file of mode 0644 by new content, staged beside it.
 * @path:     absolute.
 * @make_dir: make its folder (0755) when missing.
 * @data:     @len bytes.
 * @err:      names path and step that failed.
 * Return: 0; -EINVAL when @path is no absolute file name; negative errno: the old file is as it was.
 */
int nfd_atomic_file_put(const char *path, bool make_dir, const void *data, size_t len,
			struct nfd_error *err) nfd_must_check;

/**
 * nfd_atomic_file_remove() - remove the final file.
 * @file: borrowed.
 * @err:  names the path that could not be removed.
 * Return: 1 when there was a file; 0 when there was none; negative errno.
 */
int nfd_atomic_file_remove(const struct nfd_atomic_file *file, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_atomic_file_remove_staging() - remove the staging folder and what is in it.
 * Return: 1 when there was one; 0 when there was none; negative errno.
 */
int nfd_atomic_file_remove_staging(const struct nfd_atomic_file *file, struct nfd_error *err)
	nfd_must_check;
