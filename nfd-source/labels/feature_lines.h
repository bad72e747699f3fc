/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the texts of a folder of feature files say as a whole (grammar: spec nfd.md 1.2): pairs that are
 * wanted as labels, and pairs that are wanted as raw features. Nothing here judges a key. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct nfd_feature_pair {
	const char *key;   /* as written; points into the text */
	const char *value; /* likewise, or "true"; NULL only before nfd_feature_lines_settle() */
	size_t file;       /* as the caller counts them */
	unsigned int line; /* from 1 on */
};

struct nfd_feature_pairs {
	struct nfd_feature_pair *pair; /* array of @count; owned */
	size_t count;
};

/* A line that does not do what its author meant. */
struct nfd_feature_remark {
	size_t file;
	unsigned int line; /* 0: the file as a whole */
	const char *why;   /* constant text */
};

#define NFD_FEATURE_REMARKS_MAX 20

struct nfd_feature_lines {
	struct nfd_feature_pairs labels, features;
	struct nfd_feature_remark remark[NFD_FEATURE_REMARKS_MAX]; /* the first ones */
	size_t remarks;                                            /* all that there were */
};

#define cleanup_feature_lines __attribute__((cleanup(nfd_feature_lines_done)))

/**
 * nfd_feature_lines_parse() - add the lines of one file.
 * @lines: added to; zeroed before the first file.
 * @text:  @len bytes of any kind and a NUL behind them; changed in place, and must outlive @lines. A
 *         line with a NUL in it is dropped, as no JSON of ours can hold it.
 * @now_s: lines behind an expiry before this are left out, seconds since 1970.
 * @file:  number of the file: of files that have the same key the one with the greatest wins.
 * Return: 0; -ENOMEM.
 */
int nfd_feature_lines_parse(struct nfd_feature_lines *lines, char *text, size_t len, int64_t now_s,
			    size_t file) nfd_must_check;

/**
 * nfd_feature_lines_settle() - after the last file: one pair for each key is left, in byte order of
 * the keys.
 */
void nfd_feature_lines_settle(struct nfd_feature_lines *lines);

/**
 * nfd_feature_lines_remark() - note a line that is of no use.
 * @file, @line, @why: see struct nfd_feature_remark.
 */
void nfd_feature_lines_remark(struct nfd_feature_lines *lines, size_t file, unsigned int line,
			      const char *why);

/**
 * nfd_feature_lines_done() - free; a zeroed one is fine.
 */
void nfd_feature_lines_done(struct nfd_feature_lines *lines);
