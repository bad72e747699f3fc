/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The labelWhiteList expression. NFD takes RE2 syntax; PCRE2 reads the same expressions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct nfd_filter;

/**
 * nfd_filter_new() - compile an expression.
 * @pattern: regular expression; "" lets everything through.
 * @ret:     receives the filter (NULL for ""); owner: caller, nfd_filter_free().
 * @err:     names the expression, the column of the fault and the reason.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int nfd_filter_new(const char *pattern, struct nfd_filter **ret, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_filter_free() - free; NULL is fine.
 */
void nfd_filter_free(struct nfd_filter *filter);

/**
 * nfd_filter_passes() - whether a label may be published.
 * @filter: NULL lets everything through.
 * @key:    full key; the part after '/' is searched (unanchored), as NFD does.
 * Return: true when it matches. An expression that runs past its step limit matches nothing.
 */
bool nfd_filter_passes(const struct nfd_filter *filter, const char *key);
