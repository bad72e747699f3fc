/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running numbers of a few kinds, keyed by text: how many functions have this driver, that firmware.
 */
#pragma once

#include <stddef.h>

#include "labels/key.h"
#include "scan/scanner.h"

#define NFD_TALLY_KEY_SIZE 96

/* Few kinds, so a list. Zeroed it is empty. */
struct nfd_tally {
	struct nfd_tally_entry {
		char key[NFD_TALLY_KEY_SIZE];
		unsigned int count;
	} * entry;    /* array of @count, in order of appearance; owned */
	size_t count; /* of different keys */
};

#define cleanup_tally __attribute__((cleanup(nfd_tally_done)))

/**
 * nfd_tally_add() - one more of a kind.
 * @key: at most NFD_TALLY_KEY_SIZE - 1 bytes, the rest is cut; copied.
 * Return: 0; -ENOMEM.
 */
int nfd_tally_add(struct nfd_tally *tally, const char *key) nfd_must_check;

/**
 * nfd_tally_only() - the text that all agree on.
 * @total: how many must have stated it.
 * Return: borrowed from @tally; NULL when there are several kinds, none, or fewer than @total.
 */
const char *nfd_tally_only(const struct nfd_tally *tally, unsigned int total);

/**
 * nfd_tally_labels() - a label "<stem>.<kind>.count" for each kind; the kind is in lower case there.
 * @scan: changed; the labels are of rank detail.
 * @path: see struct nfd_finding.
 * @stem: full key without the ending.
 */
void nfd_tally_labels(struct nfd_scan *scan, const struct nfd_tally *tally, const char *path,
		      const char *stem);

/**
 * nfd_tally_done() - free; a zeroed one is fine.
 */
void nfd_tally_done(struct nfd_tally *tally);
