/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts that a scan could not decide: which keys they would have given, and why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum nfd_doubt {
	NFD_DOUBT_FAILED,  /* something could not be read: worth a line */
	NFD_DOUBT_SEEMS,   /* it is only implausible: worth a line when a label is kept */
	NFD_DOUBT_PASSING, /* it is being found out: no line */
};

struct nfd_unknown {
	char *prefix; /* keys that begin with it keep their last value; owned */
	char *reason; /* path and system error, or the doubt in words; owned */
	enum nfd_doubt doubt;
};

struct nfd_unknowns {
	struct nfd_unknown *unknown; /* array of @count; owned */
	size_t count;
};

#define NFD_UNKNOWNS_MAX 64

/**
 * nfd_unknowns_add() - note one.
 * @prefix: full key prefix, copied; a second reason for the same prefix is dropped.
 * @reason: copied.
 * @doubt:  what kind of not knowing it is.
 * Return: 0; -ENOMEM.
 */
int nfd_unknowns_add(struct nfd_unknowns *unknowns, const char *prefix, const char *reason,
		     enum nfd_doubt doubt) nfd_must_check;

/**
 * nfd_unknowns_find() - why the fact behind a key is unknown.
 * @key: full label key.
 * Return: borrowed; NULL when it is known.
 */
const struct nfd_unknown *nfd_unknowns_find(const struct nfd_unknowns *unknowns, const char *key);

/**
 * nfd_unknowns_says_more() - whether an entry has a reason that none before it has: one unreadable
 * folder makes keys of several forms unknown, and needs one line.
 * @at: position of the entry.
 */
bool nfd_unknowns_says_more(const struct nfd_unknowns *unknowns, size_t at);

/**
 * nfd_unknowns_done() - free; a zeroed one is fine.
 */
void nfd_unknowns_done(struct nfd_unknowns *unknowns);
