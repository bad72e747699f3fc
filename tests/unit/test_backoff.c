// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/backoff (field cases F2, F5): doubles up to a bound, honours what was asked, spreads upwards.
 */
#include "config.h"

#include "base/backoff.h"

#include "tests/unit/unit.h"

static const struct nfd_backoff usual = { .first_ms = 1000, .last_ms = 300000 };

static const struct {
	const char *name;
	unsigned int failures;
	int64_t asked_ms;
	uint32_t random;
	int64_t delay_ms;
} rows[] = {
	{ "no failure is as the first", 0, 0, 0, 1000 },
	{ "first", 1, 0, 0, 1000 },
	{ "second", 2, 0, 0, 2000 },
	{ "third", 3, 0, 0, 4000 },
	{ "last before the bound", 9, 0, 0, 256000 },
	{ "at the bound", 10, 0, 0, 300000 },
	{ "far over the bound", UINT32_MAX, 0, 0, 300000 },
	{ "most jitter", 1, 0, UINT32_MAX, 1250 },
	{ "half of the jitter", 1, 0, UINT32_MAX / 2, 1124 },
	{ "most jitter at the bound", 10, 0, UINT32_MAX, 375000 },
	{ "asked for less", 3, 1, 0, 4000 },
	{ "asked for as much", 3, 4000, 0, 4000 },
	{ "asked for more", 3, 4001, 0, 4001 },
	{ "asked for more, jitter on top", 1, 60000, UINT32_MAX, 75000 },
	{ "asked for the bound", 1, 300000, 0, 300000 },
	{ "asked for more than the bound", 1, 300001, 0, 300000 },
	{ "asked for ever", 1, INT64_MAX, 0, 300000 },
	{ "asked for the past", 1, -5, 0, 1000 },
};

static void waits(void **state)
{
	const __typeof__(rows[0]) *row = *state;

	assert_int_equal(nfd_backoff_ms(&usual, row->failures, row->asked_ms, row->random),
			 row->delay_ms);
}

/* Whatever comes: within [asked or first, bound] and at most a quarter more, never falling. */
static void stays_in_bounds(void **state)
{
	uint32_t noise = 1;
	int64_t last_ms = 0;

	(void)state;
	for (unsigned int failures = 1; failures < 200; failures++) {
		int64_t least_ms = nfd_backoff_ms(&usual, failures, 0, 0);

		assert_true(least_ms >= last_ms && least_ms <= usual.last_ms);
		last_ms = least_ms;
		for (int i = 0; i < 50; i++) {
			int64_t ms;

			noise = noise * 1103515245U + 12345U;
			ms = nfd_backoff_ms(&usual, failures, 0, noise);
			assert_true(ms >= least_ms && ms <= least_ms + least_ms / 4);
		}
	}
}

static const struct {
	const char *name;
	int64_t ms;
	int percent;
	uint32_t random;
	int64_t spread_ms;
} spread_rows[] = {
	{ "least", 1000, 20, 0, 800 },
	{ "most", 1000, 20, UINT32_MAX, 1200 },
	{ "middle", 1000, 20, UINT32_MAX / 2, 999 },
	{ "by nothing", 1000, 0, UINT32_MAX, 1000 },
	{ "from nothing", 1000, 100, 0, 0 },
	{ "to double", 1000, 100, UINT32_MAX, 2000 },
	{ "of nothing", 0, 20, UINT32_MAX, 0 },
	{ "small", 5, 20, 0, 4 },
	{ "a day", 86400000, 20, UINT32_MAX, 103680000 },
	{ "of many years", INT64_MAX / 4, 20, 0, INT64_MAX / 4 - INT64_MAX / 20 },
};

static void spreads(void **state)
{
	const __typeof__(spread_rows[0]) *row = *state;
	int64_t ms = nfd_spread_ms(row->ms, row->percent, row->random);

	/* The last row is past what a double holds: near is enough. */
	assert_true(ms >= row->spread_ms - row->ms / 1000000 &&
		    ms <= row->spread_ms + row->ms / 1000000);
}

static void random_differs(void **state)
{
	uint32_t first = nfd_random();
	int same = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		same += nfd_random() == first;
	assert_true(same < 20);
}

int main(void)
{
	struct unit_suite suite = { .name = "backoff" };

	UNIT_ROWS(&suite, waits, rows, name);
	UNIT_CASE(&suite, stays_in_bounds);
	UNIT_ROWS(&suite, spreads, spread_rows, name);
	UNIT_CASE(&suite, random_differs);
	return unit_run(&suite);
}
