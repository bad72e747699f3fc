// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A healthy NFD costs one look after each change and one each resync; where there is none, or where
 * the labels are ours already, a change is patched at once.
 */
#include "config.h"

#include "output/node_schedule.h"

#include "base/backoff.h"
#include "base/macros.h"

#define ASK_AGAIN_MS 3600000
#define RESYNC_SPREAD_PERCENT 20

static bool is_over(const struct nfd_node_schedule *schedule, int64_t now_ms)
{
	return now_ms - schedule->changed_ms >= schedule->after_ms;
}

bool nfd_node_schedule_must_ask(const struct nfd_node_schedule *schedule, int64_t now_ms)
{
	return schedule->served == NFD_SERVED_UNKNOWN ||
	       (schedule->fresh && now_ms - schedule->looked_ms >= ASK_AGAIN_MS);
}

void nfd_node_schedule_change(struct nfd_node_schedule *schedule, int64_t since_ms, int64_t now_ms,
			      int64_t spread_ms)
{
	bool first = schedule->served == NFD_SERVED_UNKNOWN;

	schedule->changed_ms = since_ms;
	schedule->fresh = true;
	if (!first && schedule->mode == NFD_LABELS_FALLBACK && schedule->hope && !schedule->owns &&
	    schedule->served == NFD_SERVED_YES)
		schedule->due_ms = since_ms + schedule->after_ms;
	else
		schedule->due_ms = now_ms + spread_ms;
}

enum nfd_bring nfd_node_schedule_bring(const struct nfd_node_schedule *schedule, int64_t now_ms)
{
	if (schedule->mode == NFD_LABELS_ALWAYS || !schedule->hope || is_over(schedule, now_ms))
		return NFD_BRING_NOW;
	if (nfd_node_schedule_must_ask(schedule, now_ms))
		return NFD_BRING_UNLESS_SERVED;
	return schedule->served == NFD_SERVED_NO ? NFD_BRING_NOW : NFD_BRING_WAIT;
}

void nfd_node_schedule_done(struct nfd_node_schedule *schedule, const struct nfd_node_facts *facts,
			    int64_t now_ms, uint32_t random)
{
	if (facts->served != NFD_SERVED_UNKNOWN) {
		schedule->served = facts->served;
		schedule->looked_ms = now_ms;
		schedule->annotated = facts->annotated;
	} else if (facts->annotated && !schedule->annotated && schedule->served == NFD_SERVED_NO) {
		/* An NFD that came since tells by its annotation: ask at the next look. */
		schedule->served = NFD_SERVED_UNKNOWN;
	}
	schedule->fresh = false;
	schedule->owns = facts->owned > 0;
	schedule->due_ms =
		now_ms + nfd_spread_ms(schedule->resync_ms, RESYNC_SPREAD_PERCENT, random);
	if (facts->missing > 0)
		schedule->due_ms =
			nfd_min64(schedule->due_ms, schedule->changed_ms + schedule->after_ms);
}
