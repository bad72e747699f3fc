/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what a scan saw to what is to be published: a label that is missing because its fact is
 * unknown stays until its lifetime ends, and one that would only go waits for a second scan. What a
 * scan did see is taken at once, but a stopgap for an unknown fact only where nothing is there. Pure: the clock is an argument.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "labels/set.h"
#include "labels/unknown.h"

struct nfd_hold_options {
	int64_t removal_delay_ms; /* watch.removalDelay; 0 removes at once */
	int64_t lifetime_ms; /* outputs.featureFile.lifetime; 0: unknown facts are kept without end */
};

struct nfd_hold {
	struct nfd_hold_options options;
	struct nfd_set published;     /* last result; owned */
	struct nfd_hold_entry *entry; /* keys that are being held; owned */
	size_t count;
};

/**
 * nfd_hold_init() - start, with what was published before this process.
 * @hold:           filled; to be given to nfd_hold_done().
 * @options:        copied.
 * @published:      labels read back; moved into @hold and left empty.
 */
void nfd_hold_init(struct nfd_hold *hold, const struct nfd_hold_options *options,
		   struct nfd_set *published);

/**
 * nfd_hold_done() - free; a zeroed one is fine.
 */
void nfd_hold_done(struct nfd_hold *hold);

/**
 * struct nfd_hold_result - what one step gives.
 * @kept_unknown: number of labels that stay because their fact is unknown.
 * @next_ms:      time at which a held label is due (rescan then), INT64_MAX for none.
 * @changed:      whether the published set differs from the one before.
 */
struct nfd_hold_result {
	size_t kept_unknown;
	int64_t next_ms;
	bool changed;
};

/**
 * nfd_hold_step() - take the result of a scan.
 * @hold:     @hold->published becomes the new set.
 * @scanned:  labels of the scan; a label that a setting stops goes at once.
 * @unknowns: facts that the scan could not decide.
 * @now_ms:   any monotonic clock.
 * @ret:      receives the summary.
 * Return: 0; -ENOMEM: @hold is as it was.
 */
int nfd_hold_step(struct nfd_hold *hold, const struct nfd_set *scanned,
		  const struct nfd_unknowns *unknowns, int64_t now_ms, struct nfd_hold_result *ret)
	nfd_must_check;
