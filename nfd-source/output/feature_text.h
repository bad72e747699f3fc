/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of a feature file: from a set of labels and back (grammar: spec nfd.md 1.2). Pure.
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"
#include "labels/set.h"

/* nfd-worker drops a larger file whole. */
#define NFD_FEATURE_FILE_MAX 65536

/**
 * nfd_feature_text_render() - write the file's text.
 * @set:      labels; stopped ones are left out.
 * @expiry_s: seconds since 1970 for the first line; 0 writes no expiry line.
 * @buf:      receives at most NFD_FEATURE_FILE_MAX bytes.
 * @ret_left_out: number of labels that found no room: those of the lowest rank, last key first.
 * Return: number of labels written; -ENOMEM.
 */
int nfd_feature_text_render(const struct nfd_set *set, int64_t expiry_s, struct nfd_strbuf *buf,
			    size_t *ret_left_out) nfd_must_check;

/**
 * nfd_feature_text_parse() - read labels as nfd-worker would.
 * @text:  content, any bytes, NUL-terminated; changed in place.
 * @now_s: labels behind an expiry before this are left out.
 * @set:   receives the labels that are legal; others are passed over.
 * @ret_expiry_s: last valid expiry directive, 0 for none.
 * Return: 0; -ENOMEM.
 */
int nfd_feature_text_parse(char *text, int64_t now_s, struct nfd_set *set, int64_t *ret_expiry_s)
	nfd_must_check;
