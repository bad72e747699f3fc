// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/hold: what stays after a scan that lacks it. The clock is made.
 */
#include "config.h"

#include "labels/hold.h"

#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

#define STEPS_MAX 6
#define DELAY_MS 3000
#define LIFETIME_MS 60000
#define NEVER INT64_MAX

struct step {
	int64_t now_ms;
	const char *scanned;   /* labels of the scan */
	const char *unknown;   /* one prefix, or NULL */
	const char *published; /* what is to be published */
	int64_t next_ms;
	bool unchanged;
};

static const struct {
	const char *name, *start; /* labels read back */
	struct nfd_hold_options options;
	struct step step[STEPS_MAX]; /* ends with one without @published */
} rows[] = {
	{ "seen is taken at once",
	  "",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "a=1", NULL, "a=1\n", NEVER, false },
	    { 1, "a=2\nb=1", NULL, "a=2\nb=1\n", NEVER, false },
	    { 2, "a=2\nb=1", NULL, "a=2\nb=1\n", NEVER, true } } },
	{ "gone waits for the delay",
	  "a=1\nb=1",
	  { DELAY_MS, LIFETIME_MS },
	  { { 1000, "a=1", NULL, "a=1\nb=1\n", 4000, true },
	    { 3999, "a=1", NULL, "a=1\nb=1\n", 4000, true },
	    { 4000, "a=1", NULL, "a=1\n", NEVER, false } } },
	{ "back within the delay does not blink",
	  "a=1",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "", NULL, "a=1\n", 3000, true },
	    { 2999, "a=1", NULL, "a=1\n", NEVER, true },
	    { 4000, "", NULL, "a=1\n", 7000, true },
	    { 7000, "", NULL, "", NEVER, false } } },
	{ "no delay removes at once",
	  "a=1",
	  { 0, LIFETIME_MS },
	  { { 0, "", NULL, "", NEVER, false } } },
	{ "delays run apart",
	  "a=1\nb=1",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "b=1", NULL, "a=1\nb=1\n", 3000, true },
	    { 1000, "", NULL, "a=1\nb=1\n", 3000, true },
	    { 3000, "", NULL, "b=1\n", 4000, false },
	    { 4000, "", NULL, "", NEVER, false } } },
	{ "unknown stays for the lifetime",
	  "pci-1=true\nusb-1=true",
	  { 0, LIFETIME_MS },
	  { { 0, "usb-1=true", "pci-", "pci-1=true\nusb-1=true\n", 60000, true },
	    { 59999, "usb-1=true", "pci-", "pci-1=true\nusb-1=true\n", 60000, true },
	    { 60000, "usb-1=true", "pci-", "usb-1=true\n", NEVER, false } } },
	{ "unknown without lifetime stays",
	  "pci-1=true",
	  { 0, 0 },
	  { { 0, "", "pci-", "pci-1=true\n", NEVER, true },
	    { INT64_C(1) << 50, "", "pci-", "pci-1=true\n", NEVER, true } } },
	{ "unknown covers its prefix only",
	  "pci-1=true\nusb-1=true",
	  { 0, LIFETIME_MS },
	  { { 0, "", "pci-", "pci-1=true\n", 60000, false } } },
	{ "unknown but seen is taken",
	  "pci-1=true",
	  { 0, LIFETIME_MS },
	  { { 0, "pci-1=false", "pci-", "pci-1=false\n", NEVER, false } } },
	{ "a stopgap gives way to what is there",
	  "pci-1=good",
	  { 0, LIFETIME_MS },
	  { { 0, "?pci-1=poor", "pci-", "pci-1=good\n", 60000, true },
	    { 59999, "?pci-1=poor", "pci-", "pci-1=good\n", 60000, true },
	    { 60000, "?pci-1=poor", "pci-", "pci-1=poor\n", NEVER, false },
	    { 60001, "pci-1=good", NULL, "pci-1=good\n", NEVER, false } } },
	{ "a stopgap fills what is not there",
	  "",
	  { 0, LIFETIME_MS },
	  { { 0, "?pci-1=poor", "pci-", "pci-1=poor\n", NEVER, false },
	    { 1, "?pci-1=poor", "pci-", "pci-1=poor\n", NEVER, true },
	    { 2, "?pci-1=other", NULL, "pci-1=other\n", NEVER, false } } },
	{ "known absence after unknown starts a delay",
	  "pci-1=true",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "", "pci-", "pci-1=true\n", 60000, true },
	    { 10000, "", NULL, "pci-1=true\n", 13000, true },
	    { 13000, "", NULL, "", NEVER, false } } },
	{ "unknown after absence starts a lifetime",
	  "pci-1=true",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "", NULL, "pci-1=true\n", 3000, true },
	    { 1000, "", "pci-", "pci-1=true\n", 61000, true } } },
	{ "stopped by a setting goes at once",
	  "a=1",
	  { DELAY_MS, LIFETIME_MS },
	  { { 0, "!a=1", NULL, "", NEVER, false } } },
	{ "nothing at all", "", { DELAY_MS, LIFETIME_MS }, { { 0, "", "pci-", "", NEVER, true } } },
};

static void take_step(struct nfd_hold *hold, const struct step *step)
{
	cleanup_set struct nfd_set scanned = labels_set(step->scanned);
	struct nfd_unknowns unknowns = { 0 };
	struct nfd_hold_result result = { 0 };

	if (step->unknown)
		assert_int_equal(nfd_unknowns_add(&unknowns,
						  unit_text(NFD_FEATURE_PREFIX "%s", step->unknown),
						  "reason", false),
				 0);
	assert_int_equal(nfd_hold_step(hold, &scanned, &unknowns, step->now_ms, &result), 0);
	nfd_unknowns_done(&unknowns);
	assert_string_equal(labels_text(&hold->published), step->published);
	assert_int_equal(result.next_ms, step->next_ms);
	assert_int_equal(result.changed, !step->unchanged);
}

static void holds(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_set start = labels_set(row->start);
	struct nfd_hold hold;

	nfd_hold_init(&hold, &row->options, &start);
	assert_int_equal(start.count, 0);
	for (size_t i = 0; i < STEPS_MAX && row->step[i].published; i++)
		take_step(&hold, &row->step[i]);
	nfd_hold_done(&hold);
	nfd_hold_done(&hold);
}

static void counts_unknown(void **state)
{
	const struct nfd_hold_options options = { DELAY_MS, LIFETIME_MS };
	struct nfd_set start = labels_set("pci-1=true\npci-2=true\nusb-1=true");
	struct nfd_set scanned = { 0 };
	struct nfd_unknowns unknowns = { 0 };
	struct nfd_hold_result result = { 0 };
	struct nfd_hold hold;

	(void)state;
	assert_int_equal(nfd_unknowns_add(&unknowns, NFD_FEATURE_PREFIX "pci-", "r", false), 0);
	nfd_hold_init(&hold, &options, &start);
	assert_int_equal(nfd_hold_step(&hold, &scanned, &unknowns, 0, &result), 0);
	assert_int_equal(result.kept_unknown, 2);
	assert_int_equal(hold.published.count, 3);
	nfd_hold_done(&hold);
	nfd_unknowns_done(&unknowns);
}

int main(void)
{
	struct unit_suite suite = { .name = "hold" };

	UNIT_ROWS(&suite, holds, rows, name);
	UNIT_CASE(&suite, counts_unknown);
	return unit_run(&suite);
}
