/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sorted set of labels that everything passes around: key, value, where it comes from, and
 * whether a setting stopped it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What is left out first when a file has no room for all (field case B5). */
enum nfd_rank {
	NFD_RANK_ESSENTIAL, /* operators select on it */
	NFD_RANK_NORMAL,
	NFD_RANK_DETAIL, /* one label per model, driver or configured field */
};

struct nfd_label {
	char *key;        /* full key, legal; owned */
	char *value;      /* legal; owned */
	char *source;     /* path and content that gave it, for a person; may be NULL; owned */
	char *stopped_by; /* NULL: to be published; else the setting that stopped it; owned */
	enum nfd_rank rank;
	bool is_stopgap;      /* what is published for an unknown fact is better: see labels/hold */
	unsigned char writer; /* who states it, as the scan counts them; 0: not known */
};

struct nfd_set {
	struct nfd_label *label; /* array of @count, sorted by key in byte order; owned */
	size_t count;
};

#define cleanup_set __attribute__((cleanup(nfd_set_done)))

/**
 * nfd_set_done() - free; a zeroed set is fine.
 */
void nfd_set_done(struct nfd_set *set);

/**
 * nfd_set_put() - add a label or replace the one with this key.
 * @set:    changed.
 * @label:  key and value must be legal; @label->source and @label->stopped_by may be NULL. All
 *          texts are copied. A label with @stopped_by never replaces one without.
 * Return: 0; -EINVAL for an illegal key or value (the set stays as it was); -ENOMEM.
 */
int nfd_set_put(struct nfd_set *set, const struct nfd_label *label) nfd_must_check;

/**
 * nfd_set_find() - the label with a key.
 * Return: borrowed, valid until the set changes; NULL when there is none.
 */
struct nfd_label *nfd_set_find(const struct nfd_set *set, const char *key);

/**
 * nfd_set_value() - value of a label that is to be published.
 * Return: borrowed; NULL when there is none or a setting stopped it.
 */
const char *nfd_set_value(const struct nfd_set *set, const char *key);

/**
 * nfd_set_remove() - drop the label with a key.
 * Return: true when there was one.
 */
bool nfd_set_remove(struct nfd_set *set, const char *key);

/**
 * nfd_set_copy() - copy the labels that are to be published.
 * @ret: receives them; untouched on failure. Owner: caller.
 * Return: 0; -ENOMEM.
 */
int nfd_set_copy(const struct nfd_set *set, struct nfd_set *ret) nfd_must_check;

/**
 * nfd_set_published() - number of labels that are to be published.
 */
size_t nfd_set_published(const struct nfd_set *set);

/**
 * struct nfd_set_change - one difference between two sets.
 * @key:    borrowed from one of the sets.
 * @before: NULL when added.
 * @after:  NULL when removed.
 */
struct nfd_set_change {
	const char *key;
	const char *before;
	const char *after;
};

/**
 * nfd_set_next_change() - walk through the differences in key order; stopped labels do not count.
 * @before: older set.
 * @after:  newer set.
 * @cursor: two positions, {0, 0} at the start.
 * @ret:    receives the next difference.
 * Return: true while there was one.
 */
bool nfd_set_next_change(const struct nfd_set *before, const struct nfd_set *after,
			 size_t cursor[2], struct nfd_set_change *ret);

/**
 * nfd_set_equal() - whether two sets would publish the same keys and values.
 */
bool nfd_set_equal(const struct nfd_set *a, const struct nfd_set *b);
