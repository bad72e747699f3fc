/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of NFD's features.d as nfd-worker sees them (spec nfd.md 1): which it skips and why, and
 * which keys each sets.
 */
#pragma once

#include "labels/set.h"

struct nfd_feature_dir_file {
	const char *name; /* in the folder */
	char path[512];
	char skipped[160];     /* why NFD skips it; "" when it reads it */
	char advice[2300];     /* what to do about that */
	char bad_value[200];   /* a line whose value is no label value; "" for none */
	struct nfd_set labels; /* that it sets, full keys; borrowed during the call */
};

typedef void nfd_feature_dir_visitor(void *cookie, const struct nfd_feature_dir_file *file);

/**
 * nfd_feature_dir_read() - look at every file, in name order.
 * @dir:     features.d.
 * @visitor: called for each file.
 * Return: number of files; negative errno of opendir(3); -ENOMEM.
 */
int nfd_feature_dir_read(const char *dir, nfd_feature_dir_visitor *visitor, void *cookie)
	nfd_must_check;
