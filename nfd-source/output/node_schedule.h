/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When our Node is looked at and whether its labels are patched then (design 5.3): NFD gets its time
 * to bring a change, where there is an NFD. Pure: clock and random number are arguments.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nfd_label_mode { NFD_LABELS_FALLBACK, NFD_LABELS_ALWAYS, NFD_LABELS_OFF };

enum nfd_bring { NFD_BRING_WAIT, NFD_BRING_NOW, NFD_BRING_UNLESS_SERVED };

enum nfd_served { NFD_SERVED_UNKNOWN, NFD_SERVED_NO, NFD_SERVED_YES };

struct nfd_node_schedule {
	int mode;          /* enum nfd_label_mode */
	int64_t after_ms;  /* time that NFD has to bring a change */
	int64_t resync_ms; /* time between looks when nothing changes */
	bool hope;         /* another output of ours is published for NFD to bring */

	enum nfd_served served; /* whether the cluster has NFD, as far as we know */
	int64_t looked_ms;      /* when that was looked up */
	bool annotated;         /* the Node had NFD's annotation then */
	int64_t changed_ms;     /* since when NFD has what we want */
	bool fresh;             /* the Node was not looked at since the last change */
	bool owns;              /* labels on the Node are ours: a change of them is our job */
	int64_t due_ms;         /* next look, INT64_MAX for none */
};

/**
 * nfd_node_schedule_change() - what we want is new.
 * @schedule:  its first four fields are set, the others zero at the start.
 * @since_ms:  when NFD got it: @now_ms, or earlier for what was published before a restart.
 * @now_ms:    monotonic clock.
 * @spread_ms: the look may be put off so long (the first one of a fleet's daemons).
 */
void nfd_node_schedule_change(struct nfd_node_schedule *schedule, int64_t since_ms, int64_t now_ms,
			      int64_t spread_ms);

/**
 * nfd_node_schedule_bring() - what to do about missing labels in a look at @now_ms.
 */
enum nfd_bring nfd_node_schedule_bring(const struct nfd_node_schedule *schedule, int64_t now_ms);

/**
 * nfd_node_schedule_must_ask() - whether to ask the cluster for NFD in that look: it is not known,
 * or was asked over an hour ago and there is a change.
 */
bool nfd_node_schedule_must_ask(const struct nfd_node_schedule *schedule, int64_t now_ms);

/* What a look found. */
struct nfd_node_facts {
	enum nfd_served served; /* NFD_SERVED_UNKNOWN: was not asked */
	bool annotated;         /* the Node has an annotation of NFD */
	size_t owned, missing;  /* labels that are ours; that NFD is to bring yet */
};

/**
 * nfd_node_schedule_done() - a look has succeeded.
 * @random: any number, spreads the resync by 20 %.
 */
void nfd_node_schedule_done(struct nfd_node_schedule *schedule, const struct nfd_node_facts *facts,
			    int64_t now_ms, uint32_t random);
