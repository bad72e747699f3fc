// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One group of waiting events at a time; a group that follows closely on the last action belongs to
 * a storm.
 */
#include "config.h"

#include "watch/debounce.h"

#include "base/macros.h"

void nfd_debounce_event(struct nfd_debounce *debounce, uint32_t concerns, int64_t now_ms)
{
	if (!debounce->waiting) {
		bool storm =
			debounce->longest_ms && now_ms - debounce->fired_ms < NFD_DEBOUNCE_FIRST_MS;

		debounce->first_ms = now_ms;
		debounce->longest_ms =
			storm ? nfd_min64(debounce->longest_ms * 2, NFD_DEBOUNCE_STORM_MS) :
				NFD_DEBOUNCE_FIRST_MS;
	}
	debounce->waiting |= concerns;
	debounce->last_ms = now_ms;
}

int64_t nfd_debounce_due_ms(const struct nfd_debounce *debounce)
{
	if (!debounce->waiting)
		return INT64_MAX;
	return nfd_min64(debounce->last_ms + NFD_DEBOUNCE_SILENCE_MS,
			 debounce->first_ms + debounce->longest_ms);
}

uint32_t nfd_debounce_take(struct nfd_debounce *debounce, int64_t now_ms)
{
	uint32_t concerns = debounce->waiting;

	if (!concerns || now_ms < nfd_debounce_due_ms(debounce))
		return 0;
	debounce->waiting = 0;
	debounce->fired_ms = now_ms;
	return concerns;
}
