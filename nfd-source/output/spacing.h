/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the feature file may be renamed and when it is touched: nfd-worker acts on the first event in
 * a second and drops the rest (design 5.1, field case A2). A pure state machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NFD_SPACING_MS 1100

enum nfd_spacing_action { NFD_SPACING_NOTHING, NFD_SPACING_RENAME, NFD_SPACING_TOUCH };

struct nfd_spacing {
	int64_t renamed_ms; /* time of the last rename */
	bool renamed;       /* there was one */
	bool pending;       /* new content waits */
	bool touch_due;     /* the touch that follows the last rename */
};

/**
 * nfd_spacing_next() - what to do now.
 * @spacing:    state; not changed.
 * @now_ms:     any monotonic clock, the same for all calls.
 * @ret_due_ms: receives the time of the next step when there is nothing to do now, INT64_MAX when
 *              nothing is to come.
 * Return: the step to take.
 */
enum nfd_spacing_action nfd_spacing_next(const struct nfd_spacing *spacing, int64_t now_ms,
					 int64_t *ret_due_ms);

/**
 * nfd_spacing_done() - note that a step was taken.
 * @action: the step; NFD_SPACING_RENAME starts a new window and makes a touch due.
 */
void nfd_spacing_done(struct nfd_spacing *spacing, enum nfd_spacing_action action, int64_t now_ms);
