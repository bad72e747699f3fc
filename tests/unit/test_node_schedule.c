// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/node_schedule (design 5.3): when the Node is looked at and whether we patch. The clock is
 * made: NFD has 60 s, a resync comes after an hour and an hour later the cluster is asked again.
 */
#include "config.h"

#include "output/node_schedule.h"

#include "tests/unit/unit.h"

#define AFTER_MS 60000
#define RESYNC_MS INT64_C(1000000)
#define HOUR_MS INT64_C(3600000)
#define MIDDLE (UINT32_MAX / 2)

/* Short names for the rows. */
#define FALLBACK NFD_LABELS_FALLBACK
#define ALWAYS NFD_LABELS_ALWAYS
#define UNKNOWN NFD_SERVED_UNKNOWN
#define NO NFD_SERVED_NO
#define YES NFD_SERVED_YES
#define WAIT NFD_BRING_WAIT
#define NOW NFD_BRING_NOW
#define UNLESS NFD_BRING_UNLESS_SERVED

#define BASE(mode_, hope_) \
	.mode = (mode_), .after_ms = AFTER_MS, .resync_ms = RESYNC_MS, .hope = (hope_)

/* A change at 1,000,000 ms; then what a look at some time does. */
static const struct {
	const char *name;
	struct nfd_node_schedule schedule;
	int64_t since_ms, spread_ms;
	int64_t due_ms;
	int64_t look_ms;
	enum nfd_bring bring;
	bool ask;
} change_rows[] = {
	{ "fallback, first: ask at once",
	  { BASE(FALLBACK, true) },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  UNLESS,
	  true },
	{ "fallback, first: spread",
	  { BASE(FALLBACK, true) },
	  1000000,
	  5000,
	  1005000,
	  1005000,
	  UNLESS,
	  true },
	{ "fallback, first: NFD had it long before a restart",
	  { BASE(FALLBACK, true) },
	  900000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  true },
	{ "fallback, served: wait for NFD",
	  { BASE(FALLBACK, true), .served = YES },
	  1000000,
	  0,
	  1060000,
	  1060000,
	  NOW,
	  false },
	{ "fallback, served: look before the time",
	  { BASE(FALLBACK, true), .served = YES },
	  1000000,
	  0,
	  1060000,
	  1059999,
	  WAIT,
	  false },
	{ "fallback, served: NFD has it since before",
	  { BASE(FALLBACK, true), .served = YES },
	  970000,
	  0,
	  1030000,
	  1030000,
	  NOW,
	  false },
	{ "fallback, served, labels ours: patch at once",
	  { BASE(FALLBACK, true), .served = YES, .owns = true },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  WAIT,
	  false },
	{ "fallback, not served: patch at once",
	  { BASE(FALLBACK, true), .served = NO },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
	{ "fallback, no hope: patch at once",
	  { BASE(FALLBACK, false), .served = YES },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
	{ "fallback, no hope, first",
	  { BASE(FALLBACK, false) },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  true },
	{ "always, served",
	  { BASE(ALWAYS, true), .served = YES },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
	{ "always, not served",
	  { BASE(ALWAYS, true), .served = NO },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
	{ "always, first: ask all the same",
	  { BASE(ALWAYS, true) },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  true },
	{ "not asked for an hour less a moment",
	  { BASE(FALLBACK, true), .served = NO, .looked_ms = 1000000 - HOUR_MS + 1 },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
	{ "not asked for an hour, not served",
	  { BASE(FALLBACK, true), .served = NO, .looked_ms = 1000000 - HOUR_MS },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  UNLESS,
	  true },
	{ "not asked for an hour, served",
	  { BASE(FALLBACK, true), .served = YES, .looked_ms = 1000000 - HOUR_MS },
	  1000000,
	  0,
	  1060000,
	  1059000,
	  UNLESS,
	  true },
	{ "not asked for an hour, NFD's time is over",
	  { BASE(FALLBACK, true), .served = YES, .looked_ms = 1000000 - HOUR_MS },
	  1000000,
	  0,
	  1060000,
	  1060000,
	  NOW,
	  true },
	{ "no time for NFD at all",
	  { .mode = FALLBACK, .after_ms = 0, .resync_ms = RESYNC_MS, .hope = true, .served = YES },
	  1000000,
	  0,
	  1000000,
	  1000000,
	  NOW,
	  false },
};

static void a_change_is_looked_at(void **state)
{
	const __typeof__(change_rows[0]) *row = *state;
	struct nfd_node_schedule schedule = row->schedule;

	nfd_node_schedule_change(&schedule, row->since_ms, 1000000, row->spread_ms);
	assert_true(schedule.fresh);
	assert_int_equal(schedule.changed_ms, row->since_ms);
	assert_int_equal(schedule.due_ms, row->due_ms);
	assert_int_equal(nfd_node_schedule_bring(&schedule, row->look_ms), row->bring);
	assert_int_equal(nfd_node_schedule_must_ask(&schedule, row->look_ms), row->ask);
}

/* What a look at 2,000,000 ms leaves: the change was at 1,990,000 ms. */
static const struct {
	const char *name;
	struct nfd_node_schedule schedule;
	struct nfd_node_facts facts;
	uint32_t random;
	enum nfd_served served;
	int64_t looked_ms;
	bool annotated, owns;
	int64_t due_ms;
} done_rows[] = {
	{ "nothing new",
	  { .served = YES, .looked_ms = 5 },
	  { 0 },
	  0,
	  YES,
	  5,
	  false,
	  false,
	  2800000 },
	{ "resync, most", { .served = YES }, { 0 }, UINT32_MAX, YES, 0, false, false, 3200000 },
	{ "resync, middle", { .served = YES }, { 0 }, MIDDLE, YES, 0, false, false, 2999999 },
	{ "asked: served",
	  { 0 },
	  { .served = YES, .annotated = true },
	  0,
	  YES,
	  2000000,
	  true,
	  false,
	  2800000 },
	{ "asked: not served", { 0 }, { .served = NO }, 0, NO, 2000000, false, false, 2800000 },
	{ "asked again: gone",
	  { .served = YES, .annotated = true, .looked_ms = 5 },
	  { .served = NO, .annotated = true },
	  0,
	  NO,
	  2000000,
	  true,
	  false,
	  2800000 },
	{ "not asked, still unknown",
	  { 0 },
	  { .annotated = true },
	  0,
	  UNKNOWN,
	  0,
	  false,
	  false,
	  2800000 },
	{ "annotation appears where there was no NFD",
	  { .served = NO, .looked_ms = 5 },
	  { .annotated = true },
	  0,
	  UNKNOWN,
	  5,
	  false,
	  false,
	  2800000 },
	{ "annotation was a leftover then already",
	  { .served = NO, .annotated = true, .looked_ms = 5 },
	  { .annotated = true },
	  0,
	  NO,
	  5,
	  true,
	  false,
	  2800000 },
	{ "annotation appears where NFD is known",
	  { .served = YES, .looked_ms = 5 },
	  { .annotated = true },
	  0,
	  YES,
	  5,
	  false,
	  false,
	  2800000 },
	{ "labels are ours", { .served = YES }, { .owned = 3 }, 0, YES, 0, false, true, 2800000 },
	{ "labels were handed over",
	  { .served = YES, .owns = true },
	  { 0 },
	  0,
	  YES,
	  0,
	  false,
	  false,
	  2800000 },
	{ "missing: at the end of NFD's time",
	  { .served = YES },
	  { .missing = 1 },
	  0,
	  YES,
	  0,
	  false,
	  false,
	  2050000 },
	{ "missing and ours",
	  { .served = YES },
	  { .missing = 1, .owned = 1 },
	  UINT32_MAX,
	  YES,
	  0,
	  false,
	  true,
	  2050000 },
};

static void a_look_sets_the_next(void **state)
{
	const __typeof__(done_rows[0]) *row = *state;
	struct nfd_node_schedule schedule = row->schedule;

	schedule.after_ms = AFTER_MS;
	schedule.resync_ms = RESYNC_MS;
	schedule.changed_ms = 1990000;
	schedule.fresh = true;
	nfd_node_schedule_done(&schedule, &row->facts, 2000000, row->random);
	assert_false(schedule.fresh);
	assert_int_equal(schedule.served, row->served);
	assert_int_equal(schedule.looked_ms, row->looked_ms);
	assert_int_equal(schedule.annotated, row->annotated);
	assert_int_equal(schedule.owns, row->owns);
	assert_int_equal(schedule.due_ms, row->due_ms);
}

static void resync_is_not_sooner_than_missing(void **state)
{
	struct nfd_node_schedule schedule = { BASE(FALLBACK, true), .served = YES };
	const struct nfd_node_facts facts = { .missing = 1 };

	(void)state;
	schedule.after_ms = 10 * RESYNC_MS;
	nfd_node_schedule_done(&schedule, &facts, 0, UINT32_MAX);
	assert_int_equal(schedule.due_ms, RESYNC_MS * 6 / 5);
}

/* A fleet's resyncs: all within 20 %, on both sides of the middle. */
static void resync_is_spread(void **state)
{
	struct nfd_node_schedule schedule = { BASE(FALLBACK, true), .served = YES };
	const struct nfd_node_facts facts = { 0 };
	uint32_t noise = 7;
	int early = 0, late = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		noise = noise * 1103515245U + 12345U;
		nfd_node_schedule_done(&schedule, &facts, 500, noise);
		assert_true(schedule.due_ms >= 500 + RESYNC_MS * 4 / 5 &&
			    schedule.due_ms <= 500 + RESYNC_MS * 6 / 5);
		early += schedule.due_ms < 500 + RESYNC_MS;
		late += schedule.due_ms > 500 + RESYNC_MS;
	}
	assert_true(early > 300 && late > 300);
}

/* The life of a healthy cluster: asked once, then one look after each change. */
static void a_healthy_nfd_costs_one_look(void **state)
{
	struct nfd_node_schedule schedule = { BASE(FALLBACK, true) };
	struct nfd_node_facts facts = { .served = YES, .annotated = true, .missing = 2 };

	(void)state;
	nfd_node_schedule_change(&schedule, 0, 0, 0);
	assert_int_equal(nfd_node_schedule_bring(&schedule, 0), NFD_BRING_UNLESS_SERVED);
	nfd_node_schedule_done(&schedule, &facts, 10, 0);
	assert_int_equal(schedule.due_ms, AFTER_MS);
	/* Without a change nobody asks again, however long it takes. */
	assert_false(nfd_node_schedule_must_ask(&schedule, 10 * HOUR_MS));
	facts = (struct nfd_node_facts){ .annotated = true };
	nfd_node_schedule_done(&schedule, &facts, AFTER_MS, 0);
	assert_int_equal(schedule.due_ms, AFTER_MS + RESYNC_MS * 4 / 5);
	nfd_node_schedule_change(&schedule, 100000, 100000, 0);
	assert_int_equal(schedule.due_ms, 100000 + AFTER_MS);
	assert_false(nfd_node_schedule_must_ask(&schedule, 100000));
}

/* NFD is installed later: its annotation makes us ask, and then wait for it. */
static void nfd_comes_later(void **state)
{
	struct nfd_node_schedule schedule = { BASE(FALLBACK, true), .served = NO };
	struct nfd_node_facts facts = { .owned = 2, .annotated = true };

	(void)state;
	nfd_node_schedule_done(&schedule, &facts, 1000, 0);
	assert_int_equal(schedule.served, UNKNOWN);
	assert_true(nfd_node_schedule_must_ask(&schedule, 2000));
	facts.served = YES;
	nfd_node_schedule_done(&schedule, &facts, 2000, 0);
	assert_int_equal(schedule.served, YES);
	assert_false(nfd_node_schedule_must_ask(&schedule, 3000));
}

int main(void)
{
	struct unit_suite suite = { .name = "node_schedule" };

	UNIT_ROWS(&suite, a_change_is_looked_at, change_rows, name);
	UNIT_ROWS(&suite, a_look_sets_the_next, done_rows, name);
	UNIT_CASE(&suite, resync_is_not_sooner_than_missing);
	UNIT_CASE(&suite, resync_is_spread);
	UNIT_CASE(&suite, a_healthy_nfd_costs_one_look);
	UNIT_CASE(&suite, nfd_comes_later);
	return unit_run(&suite);
}
