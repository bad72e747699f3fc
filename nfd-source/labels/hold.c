// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each label that the scan lacks, but that is published, is held: while its fact is unknown until
 * its lifetime ends, otherwise until the removal delay is over and a scan still lacks it.
 */
#include "config.h"

#include "labels/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct nfd_hold_entry {
	char *key;        /* owned */
	int64_t since_ms; /* when a scan first lacked it */
	bool unknown;     /* why: unknown, or absent */
};

void nfd_hold_init(struct nfd_hold *hold, const struct nfd_hold_options *options,
		   struct nfd_set *published)
{
	*hold = (struct nfd_hold){ .options = *options, .published = *published };
	*published = (struct nfd_set){ 0 };
}

static void free_entries(struct nfd_hold_entry *entry, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(entry[i].key);
	free(entry);
}

void nfd_hold_done(struct nfd_hold *hold)
{
	nfd_set_done(&hold->published);
	free_entries(hold->entry, hold->count);
	*hold = (struct nfd_hold){ 0 };
}

/* When the scans began to lack @key for this reason; @now_ms when this is the first. */
static int64_t held_since(const struct nfd_hold *hold, const char *key, bool unknown,
			  int64_t now_ms)
{
	for (size_t i = 0; i < hold->count; i++)
		if (hold->entry[i].unknown == unknown && strcmp(hold->entry[i].key, key) == 0)
			return hold->entry[i].since_ms;
	return now_ms;
}

struct step {
	struct nfd_set next;
	struct nfd_hold_entry *entry;
	size_t count;
	struct nfd_hold_result result;
};

static int keep(struct step *step, const struct nfd_label *label, int64_t since_ms, int64_t due_ms,
		bool unknown)
{
	struct nfd_hold_entry *bigger;

	bigger = realloc(step->entry, (step->count + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	step->entry = bigger;
	step->entry[step->count] = (struct nfd_hold_entry){
		.key = strdup(label->key),
		.since_ms = since_ms,
		.unknown = unknown,
	};
	if (!step->entry[step->count++].key)
		return -ENOMEM;
	if (due_ms < step->result.next_ms)
		step->result.next_ms = due_ms;
	step->result.kept_unknown += unknown;
	return nfd_set_put(&step->next, label);
}

/*
 * Seen with whatever value; or stopped by a setting, which is no fact that could be in doubt. A stopgap
 * gives way to a value from before the fact became unknown.
 */
static bool is_decided(const struct nfd_label *seen, const struct nfd_label *published,
		       bool unknown)
{
	if (!seen || seen->stopped_by || !seen->is_stopgap || !unknown)
		return seen != NULL;
	return strcmp(seen->value, published->value) == 0;
}

/* Decides on one published label. */
static int hold_label(const struct nfd_hold *hold, const struct nfd_label *label,
		      const struct nfd_set *scanned, const struct nfd_unknowns *unknowns,
		      int64_t now_ms, struct step *step)
{
	bool unknown = nfd_unknowns_find(unknowns, label->key) != NULL;
	int64_t since_ms, limit_ms;

	if (is_decided(nfd_set_find(scanned, label->key), label, unknown))
		return 0;
	since_ms = held_since(hold, label->key, unknown, now_ms);
	limit_ms = unknown ? hold->options.lifetime_ms : hold->options.removal_delay_ms;
	if (unknown && limit_ms == 0)
		return keep(step, label, since_ms, INT64_MAX, true);
	if (now_ms - since_ms >= limit_ms)
		return 0;
	return keep(step, label, since_ms, since_ms + limit_ms, unknown);
}

int nfd_hold_step(struct nfd_hold *hold, const struct nfd_set *scanned,
		  const struct nfd_unknowns *unknowns, int64_t now_ms, struct nfd_hold_result *ret)
{
	struct step step = { .result = { .next_ms = INT64_MAX } };
	int r;

	r = nfd_set_copy(scanned, &step.next);
	for (size_t i = 0; r == 0 && i < hold->published.count; i++)
		r = hold_label(hold, &hold->published.label[i], scanned, unknowns, now_ms, &step);
	if (r < 0) {
		nfd_set_done(&step.next);
		free_entries(step.entry, step.count);
		return r;
	}
	step.result.changed = !nfd_set_equal(&hold->published, &step.next);
	nfd_set_done(&hold->published);
	free_entries(hold->entry, hold->count);
	hold->published = step.next;
	hold->entry = step.entry;
	hold->count = step.count;
	*ret = step.result;
	return 0;
}
