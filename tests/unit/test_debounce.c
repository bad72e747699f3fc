// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch/debounce (design 6; field case H1): many events, few actions. The clock is made.
 */
#include "config.h"

#include "watch/debounce.h"

#include "tests/unit/unit.h"

static void one_event_waits_for_silence(void **state)
{
	struct nfd_debounce debounce = { 0 };

	(void)state;
	assert_int_equal(nfd_debounce_due_ms(&debounce), INT64_MAX);
	assert_int_equal(nfd_debounce_take(&debounce, 5), 0);
	nfd_debounce_event(&debounce, 1, 1000);
	assert_int_equal(nfd_debounce_due_ms(&debounce), 1100);
	assert_int_equal(nfd_debounce_take(&debounce, 1099), 0);
	assert_int_equal(nfd_debounce_take(&debounce, 1100), 1);
	assert_int_equal(nfd_debounce_take(&debounce, 1100), 0);
	assert_int_equal(nfd_debounce_due_ms(&debounce), INT64_MAX);
}

static void concerns_are_joined(void **state)
{
	struct nfd_debounce debounce = { 0 };

	(void)state;
	nfd_debounce_event(&debounce, 1, 0);
	nfd_debounce_event(&debounce, 4, 50);
	assert_int_equal(nfd_debounce_due_ms(&debounce), 150);
	nfd_debounce_event(&debounce, 1, 149);
	assert_int_equal(nfd_debounce_due_ms(&debounce), 249);
	assert_int_equal(nfd_debounce_take(&debounce, 249), 5);
}

static void longest_wait_is_bounded(void **state)
{
	struct nfd_debounce debounce = { 0 };

	(void)state;
	for (int64_t now_ms = 0; now_ms <= 490; now_ms += 10)
		nfd_debounce_event(&debounce, 1, now_ms);
	assert_int_equal(nfd_debounce_due_ms(&debounce), NFD_DEBOUNCE_FIRST_MS);
}

/* An event every millisecond: the number of actions, and the longest time that one waited. */
static void h1_storm_costs_few_actions(void **state)
{
	struct nfd_debounce debounce = { 0 };
	int64_t waiting_since = -1, longest = 0;
	int actions = 0;

	(void)state;
	for (int64_t now_ms = 0; now_ms < 10000; now_ms++) {
		nfd_debounce_event(&debounce, 1, now_ms);
		if (waiting_since < 0)
			waiting_since = now_ms;
		if (!nfd_debounce_take(&debounce, now_ms))
			continue;
		actions++;
		longest = now_ms - waiting_since > longest ? now_ms - waiting_since : longest;
		waiting_since = -1;
	}
	assert_in_range(actions, 4, 8);
	assert_int_equal(longest, NFD_DEBOUNCE_STORM_MS);
}

static void quiet_time_ends_a_storm(void **state)
{
	struct nfd_debounce debounce = { 0 };

	(void)state;
	nfd_debounce_event(&debounce, 1, 0);
	assert_int_equal(nfd_debounce_take(&debounce, 100), 1);
	nfd_debounce_event(&debounce, 1, 599); /* close behind: the wait doubles */
	assert_int_equal(debounce.longest_ms, 2 * NFD_DEBOUNCE_FIRST_MS);
	assert_int_equal(nfd_debounce_take(&debounce, 699), 1);
	nfd_debounce_event(&debounce, 1, 1199); /* quiet since: as at first */
	assert_int_equal(debounce.longest_ms, NFD_DEBOUNCE_FIRST_MS);
}

int main(void)
{
	struct unit_suite suite = { .name = "debounce" };

	UNIT_CASE(&suite, one_event_waits_for_silence);
	UNIT_CASE(&suite, concerns_are_joined);
	UNIT_CASE(&suite, longest_wait_is_bounded);
	UNIT_CASE(&suite, h1_storm_costs_few_actions);
	UNIT_CASE(&suite, quiet_time_ends_a_storm);
	return unit_run(&suite);
}
