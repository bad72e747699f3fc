// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/spacing (field case A2): renames 1.1 s apart, one touch behind each. The clock is made.
 */
#include "config.h"

#include "output/spacing.h"

#include "tests/unit/unit.h"

#define NEVER INT64_MAX

static const struct {
	const char *name;
	struct nfd_spacing spacing;
	int64_t now_ms;
	enum nfd_spacing_action action;
	int64_t due_ms;
} rows[] = {
	{ "nothing to do", { 0 }, 5, NFD_SPACING_NOTHING, NEVER },
	{ "first content at once", { .pending = true }, 5, NFD_SPACING_RENAME, NEVER },
	{ "time zero", { .pending = true }, 0, NFD_SPACING_RENAME, NEVER },
	{ "content inside the window waits",
	  { 1000, true, true, true },
	  1300,
	  NFD_SPACING_NOTHING,
	  2100 },
	{ "one short of the window", { 1000, true, true, true }, 2099, NFD_SPACING_NOTHING, 2100 },
	{ "at the end of the window", { 1000, true, true, true }, 2100, NFD_SPACING_RENAME, NEVER },
	{ "long after the window", { 1000, true, true, true }, 999999, NFD_SPACING_RENAME, NEVER },
	{ "touch waits for the window",
	  { 1000, true, false, true },
	  1001,
	  NFD_SPACING_NOTHING,
	  2100 },
	{ "touch at the end of the window",
	  { 1000, true, false, true },
	  2100,
	  NFD_SPACING_TOUCH,
	  NEVER },
	{ "window of another process, content waits",
	  { 1000, true, true, false },
	  1500,
	  NFD_SPACING_NOTHING,
	  2100 },
	{ "window of another process, nothing new",
	  { 1000, true, false, false },
	  1500,
	  NFD_SPACING_NOTHING,
	  NEVER },
	{ "all done", { 1000, true, false, false }, 5000, NFD_SPACING_NOTHING, NEVER },
};

static void decides(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	int64_t due_ms = -1;

	assert_int_equal(nfd_spacing_next(&row->spacing, row->now_ms, &due_ms), row->action);
	assert_int_equal(due_ms, row->due_ms);
}

static enum nfd_spacing_action take(struct nfd_spacing *spacing, int64_t now_ms, int64_t *ret_due)
{
	enum nfd_spacing_action action = nfd_spacing_next(spacing, now_ms, ret_due);

	nfd_spacing_done(spacing, action, now_ms);
	return action;
}

/* A2 (b): two changes 0.3 s apart; then silence. */
static void a2_two_changes(void **state)
{
	struct nfd_spacing spacing = { .pending = true };
	int64_t due_ms;

	(void)state;
	assert_int_equal(take(&spacing, 0, &due_ms), NFD_SPACING_RENAME);
	spacing.pending = true;
	assert_int_equal(take(&spacing, 300, &due_ms), NFD_SPACING_NOTHING);
	assert_int_equal(due_ms, 1100);
	assert_int_equal(take(&spacing, 1100, &due_ms), NFD_SPACING_RENAME);
	assert_int_equal(take(&spacing, 1100, &due_ms), NFD_SPACING_NOTHING);
	assert_int_equal(due_ms, 2200);
	assert_int_equal(take(&spacing, 2200, &due_ms), NFD_SPACING_TOUCH);
	assert_int_equal(take(&spacing, 2200, &due_ms), NFD_SPACING_NOTHING);
	assert_int_equal(due_ms, NEVER);
}

/* Whatever comes when, each millisecond: never two renames closer than the window. */
static void renames_stay_apart(void **state)
{
	struct nfd_spacing spacing = { 0 };
	int64_t due_ms, last_ms = -NFD_SPACING_MS;
	unsigned int noise = 1;
	int renames = 0;

	(void)state;
	for (int64_t now_ms = 0; now_ms < 60000; now_ms++) {
		noise = noise * 1103515245U + 12345U;
		if (noise >> 24 == 0)
			spacing.pending = true;
		if (take(&spacing, now_ms, &due_ms) != NFD_SPACING_RENAME)
			continue;
		assert_true(now_ms - last_ms >= NFD_SPACING_MS);
		last_ms = now_ms;
		renames++;
	}
	assert_true(renames > 10);
}

int main(void)
{
	struct unit_suite suite = { .name = "spacing" };

	UNIT_ROWS(&suite, decides, rows, name);
	UNIT_CASE(&suite, a2_two_changes);
	UNIT_CASE(&suite, renames_stay_apart);
	return unit_run(&suite);
}
