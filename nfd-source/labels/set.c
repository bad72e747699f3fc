// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sorted array: sets have tens of labels, rarely thousands, and are read far more than changed.
 */
#include "config.h"

#include "labels/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "labels/key.h"

static void free_label(struct nfd_label *label)
{
	free(label->key);
	free(label->value);
	free(label->source);
	free(label->stopped_by);
}

void nfd_set_done(struct nfd_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free_label(&set->label[i]);
	free(set->label);
	*set = (struct nfd_set){ 0 };
}

/* Position of @key, or where it belongs. Returns whether it is there. */
static bool search(const struct nfd_set *set, const char *key, size_t *ret_at)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(set->label[middle].key, key);

		if (order == 0) {
			*ret_at = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_at = low;
	return false;
}

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int copy_label(const struct nfd_label *label, struct nfd_label *ret)
{
	struct nfd_label copy = { .rank = label->rank,
				  .is_stopgap = label->is_stopgap,
				  .writer = label->writer };

	if (copy_text(label->key, &copy.key) < 0 || copy_text(label->value, &copy.value) < 0 ||
	    copy_text(label->source, &copy.source) < 0 ||
	    copy_text(label->stopped_by, &copy.stopped_by) < 0) {
		free_label(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

/* Opens a gap at @at; the array doubles whenever the count reaches a power of two. */
static int open_gap(struct nfd_set *set, size_t at)
{
	if ((set->count & (set->count - 1)) == 0) {
		size_t size = set->count ? set->count * 2 : 1;
		struct nfd_label *bigger = realloc(set->label, size * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		set->label = bigger;
	}
	memmove(&set->label[at + 1], &set->label[at], (set->count - at) * sizeof(*set->label));
	set->count++;
	return 0;
}

int nfd_set_put(struct nfd_set *set, const struct nfd_label *label)
{
	struct nfd_label copy;
	size_t at;
	bool found;
	int r;

	found = search(set, label->key, &at);
	if (found && label->stopped_by && !set->label[at].stopped_by)
		return 0;
	/* Thousands of devices of one model give the same label again and again. */
	if (found && !set->label[at].stopped_by == !label->stopped_by &&
	    strcmp(set->label[at].value, label->value) == 0) {
		set->label[at].writer = label->writer;
		return 0;
	}
	if (nfd_label_key_check(label->key, NULL) < 0 || !nfd_label_value_is_valid(label->value))
		return -EINVAL;
	r = copy_label(label, &copy);
	if (r < 0)
		return r;
	if (found) {
		free_label(&set->label[at]);
	} else {
		r = open_gap(set, at);
		if (r < 0) {
			free_label(&copy);
			return r;
		}
	}
	set->label[at] = copy;
	return 0;
}

struct nfd_label *nfd_set_find(const struct nfd_set *set, const char *key)
{
	size_t at;

	return search(set, key, &at) ? &set->label[at] : NULL;
}

const char *nfd_set_value(const struct nfd_set *set, const char *key)
{
	const struct nfd_label *label = nfd_set_find(set, key);

	return label && !label->stopped_by ? label->value : NULL;
}

bool nfd_set_remove(struct nfd_set *set, const char *key)
{
	size_t at;

	if (!search(set, key, &at))
		return false;
	free_label(&set->label[at]);
	set->count--;
	memmove(&set->label[at], &set->label[at + 1], (set->count - at) * sizeof(*set->label));
	/* The doubling in open_gap() relies on room up to the next power of two: still true. */
	return true;
}

int nfd_set_copy(const struct nfd_set *set, struct nfd_set *ret)
{
	cleanup_set struct nfd_set copy = { 0 };
	int r;

	for (size_t i = 0; i < set->count; i++) {
		if (set->label[i].stopped_by)
			continue;
		r = nfd_set_put(&copy, &set->label[i]);
		if (r < 0)
			return r;
	}
	*ret = copy;
	copy = (struct nfd_set){ 0 };
	return 0;
}

size_t nfd_set_published(const struct nfd_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++)
		if (!set->label[i].stopped_by)
			count++;
	return count;
}

/* The next label to be published at or behind *@at, NULL at the end. */
static const struct nfd_label *next_published(const struct nfd_set *set, size_t *at)
{
	while (*at < set->count && set->label[*at].stopped_by)
		(*at)++;
	return *at < set->count ? &set->label[*at] : NULL;
}

bool nfd_set_next_change(const struct nfd_set *before, const struct nfd_set *after,
			 size_t cursor[2], struct nfd_set_change *ret)
{
	for (;;) {
		const struct nfd_label *old = next_published(before, &cursor[0]);
		const struct nfd_label *new = next_published(after, &cursor[1]);
		int order;

		if (!old && !new)
			return false;
		order = !old ? 1 : !new ? -1 : strcmp(old->key, new->key);
		if (order <= 0)
			cursor[0]++;
		if (order >= 0)
			cursor[1]++;
		if (order == 0 && strcmp(old->value, new->value) == 0)
			continue;
		*ret = (struct nfd_set_change){
			.key = order <= 0 ? old->key : new->key,
			.before = order <= 0 ? old->value : NULL,
			.after = order >= 0 ? new->value : NULL,
		};
		return true;
	}
}

bool nfd_set_equal(const struct nfd_set *a, const struct nfd_set *b)
{
	struct nfd_set_change change;
	size_t cursor[2] = { 0, 0 };

	return !nfd_set_next_change(a, b, cursor, &change);
}
