// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/clock: RFC 3339 both ways, as NFD's expiry directive takes it (Go's time.RFC3339).
 */
#include "config.h"

#include "base/clock.h"

#include <errno.h>

#include "tests/unit/unit.h"

#define UNTOUCHED 4242

static const struct {
	const char *text;
	int result;
	int64_t seconds;
} time_rows[] = {
	{ "1970-01-01T00:00:00Z", 0, 0 },
	{ "1969-12-31T23:59:59Z", 0, -1 },
	{ "2026-01-02T03:04:05Z", 0, INT64_C(1767323045) },
	{ "2024-02-29T00:00:00Z", 0, INT64_C(1709164800) },
	{ "2026-01-02T03:04:05.9Z", 0, INT64_C(1767323045) },
	{ "2026-01-02T03:04:05.123456789123Z", 0, INT64_C(1767323045) },
	{ "2026-01-02T05:04:05+02:00", 0, INT64_C(1767323045) },
	{ "2026-01-01T21:34:05-05:30", 0, INT64_C(1767323045) },
	{ "2026-01-02T03:04:05+00:00", 0, INT64_C(1767323045) },
	/* What Go takes beyond RFC 3339. */
	{ "2026-01-02T3:04:05Z", 0, INT64_C(1767323045) },
	{ "2026-01-02T03:04:05,9Z", 0, INT64_C(1767323045) },
	{ "2026-01-03T03:04:05+24:00", 0, INT64_C(1767323045) },
	{ "2026-01-02T06:04:05+02:60", 0, INT64_C(1767323045) },
	{ "9999-12-31T23:59:59Z", 0, INT64_C(253402300799) },
	{ "", -EINVAL, 0 },
	{ "2026-01-02T03:04:05", -EINVAL, 0 },
	{ "2026-01-02T03:04:0Z", -EINVAL, 0 },
	{ "2026-01-02 03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:05.Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:05ZZ", -EINVAL, 0 },
	{ "2026-01-02T03:04:05Z ", -EINVAL, 0 },
	{ " 2026-01-02T03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+0200", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+02", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+25:00", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+02:61", -EINVAL, 0 },
	{ "2026-01-02t03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:05z", -EINVAL, 0 },
	{ "2026-01-02T", -EINVAL, 0 },
	{ "2026-01-02T:04:05Z", -EINVAL, 0 },
	{ "2026-1-2T03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+02:000", -EINVAL, 0 },
	{ "2026-01-02T03:04:05+ 1:30", -EINVAL, 0 },
	{ "2026-01-02T03:04:05++1:30", -EINVAL, 0 },
	{ "2026-13-02T03:04:05Z", -EINVAL, 0 },
	{ "2026-00-02T03:04:05Z", -EINVAL, 0 },
	{ "2026-01-32T03:04:05Z", -EINVAL, 0 },
	{ "2026-02-31T03:04:05Z", -EINVAL, 0 },
	{ "2025-02-29T03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T24:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:60:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04:60Z", -EINVAL, 0 },
	{ " 202-01-02T03:04:05Z", -EINVAL, 0 },
	{ "2026- 1-02T03:04:05Z", -EINVAL, 0 },
	{ "2026-01-02T03:04: 5Z", -EINVAL, 0 },
	{ "99999-01-02T03:04:05Z", -EINVAL, 0 },
	{ "abcd-ef-ghTij:kl:mnZ", -EINVAL, 0 },
	{ "\xff\xff\xff\xff-01-02T03:04:05Z", -EINVAL, 0 },
};

static void parses_time(void **state)
{
	const __typeof__(time_rows[0]) *row = *state;
	int64_t seconds = UNTOUCHED;

	assert_int_equal(nfd_parse_time(row->text, &seconds), row->result);
	assert_int_equal(seconds, row->result == 0 ? row->seconds : UNTOUCHED);
}

static const struct {
	const char *text;
	int64_t seconds;
} format_rows[] = {
	{ "1970-01-01T00:00:00Z", 0 },
	{ "1969-12-31T23:59:59Z", -1 },
	{ "2026-01-02T03:04:05Z", INT64_C(1767323045) },
	{ "9999-12-31T23:59:59Z", INT64_C(253402300799) },
};

static void formats_time(void **state)
{
	const __typeof__(format_rows[0]) *row = *state;
	char text[NFD_TIME_TEXT_SIZE];

	nfd_format_time(row->seconds, text);
	assert_string_equal(text, row->text);
}

static void clocks_go_on(void **state)
{
	int64_t monotonic_ms = nfd_clock_monotonic_ms();
	int64_t real_s = nfd_clock_real_s();
	int64_t real_ms = nfd_clock_real_ms();

	(void)state;
	assert_true(monotonic_ms > 0);
	assert_true(nfd_clock_monotonic_ms() >= monotonic_ms);
	assert_true(real_s > INT64_C(1600000000));
	assert_true(real_ms / 1000 >= real_s - 1 && real_ms / 1000 <= real_s + 60);
}

int main(void)
{
	struct unit_suite suite = { .name = "clock" };

	UNIT_ROWS(&suite, parses_time, time_rows, text);
	UNIT_ROWS(&suite, formats_time, format_rows, text);
	UNIT_CASE(&suite, clocks_go_on);
	return unit_run(&suite);
}
