// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/parse: numbers, durations, versions, trimming.
 */
#include "config.h"

#include "base/parse.h"

#include <errno.h>

#include "tests/unit/unit.h"

#define UNTOUCHED 4242

struct number_row {
	const char *text;
	uint64_t max;
	int result;
	uint64_t value;
};

static const struct number_row uint_rows[] = {
	{ "0", 10, 0, 0 },
	{ "10", 10, 0, 10 },
	{ "11", 10, -ERANGE, 0 },
	{ "007", 10, 0, 7 },
	{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
	{ "99999999999999999999999999", UINT64_MAX, -ERANGE, 0 },
	{ "", UINT64_MAX, -EINVAL, 0 },
	{ "-1", UINT64_MAX, -EINVAL, 0 },
	{ "+1", UINT64_MAX, -EINVAL, 0 },
	{ " 1", UINT64_MAX, -EINVAL, 0 },
	{ "1 ", UINT64_MAX, -EINVAL, 0 },
	{ "1\n", UINT64_MAX, -EINVAL, 0 },
	{ "1a", UINT64_MAX, -EINVAL, 0 },
	{ "0x1", UINT64_MAX, -EINVAL, 0 },
	{ "1.5", UINT64_MAX, -EINVAL, 0 },
	{ "\xd9\xa3", UINT64_MAX, -EINVAL, 0 },
};

static const struct {
	const char *text;
	int result;
	int64_t value;
} int_rows[] = {
	{ "0", 0, 0 },
	{ "-0", 0, 0 },
	{ "+7", 0, 7 },
	{ "-7", 0, -7 },
	{ "9223372036854775807", 0, INT64_MAX },
	{ "-9223372036854775808", 0, INT64_MIN },
	{ "9223372036854775808", -ERANGE, UNTOUCHED },
	{ "-9223372036854775809", -ERANGE, UNTOUCHED },
	{ "99999999999999999999999999", -ERANGE, UNTOUCHED },
	{ "", -EINVAL, UNTOUCHED },
	{ "-", -EINVAL, UNTOUCHED },
	{ "--1", -EINVAL, UNTOUCHED },
	{ "- 1", -EINVAL, UNTOUCHED },
	{ "1_000", -EINVAL, UNTOUCHED },
	{ "0x1", -EINVAL, UNTOUCHED },
};

static void parses_int(void **state)
{
	const __typeof__(int_rows[0]) *row = *state;
	int64_t value = UNTOUCHED;

	assert_int_equal(nfd_parse_int(row->text, &value), row->result);
	assert_true(value == row->value);
}

static const struct number_row hex_rows[] = {
	{ "0", 0xff, 0, 0 },
	{ "0x10de", 0xffff, 0, 0x10de },
	{ "0X10DE", 0xffff, 0, 0x10de },
	{ "AbC", 0xffff, 0, 0xabc },
	{ "ffffffffffffffff", UINT64_MAX, 0, UINT64_MAX },
	{ "10000000000000000", UINT64_MAX, -ERANGE, 0 },
	{ "10000", 0xffff, -ERANGE, 0 },
	{ "", UINT64_MAX, -EINVAL, 0 },
	{ "0x", UINT64_MAX, -EINVAL, 0 },
	{ "0x0x1", UINT64_MAX, -EINVAL, 0 },
	{ "-1", UINT64_MAX, -EINVAL, 0 },
	{ "10g", UINT64_MAX, -EINVAL, 0 },
	{ "10de ", UINT64_MAX, -EINVAL, 0 },
};

static void check_number(const struct number_row *row,
			 int (*parse)(const char *text, uint64_t max, uint64_t *ret))
{
	uint64_t value = UNTOUCHED;

	assert_int_equal(parse(row->text, row->max, &value), row->result);
	assert_int_equal(value, row->result == 0 ? row->value : UNTOUCHED);
}

static void parses_uint(void **state)
{
	check_number(*state, nfd_parse_uint);
}

static void parses_hex(void **state)
{
	check_number(*state, nfd_parse_hex);
}

static const struct {
	const char *text;
	int result;
	int64_t ms;
} duration_rows[] = {
	{ "0", 0, 0 },
	{ "-0", 0, 0 },
	{ "0s", 0, 0 },
	{ "90s", 0, 90000 },
	{ "5m", 0, 300000 },
	{ "1h30m", 0, 5400000 },
	{ "30m1h", 0, 5400000 },
	{ "1.5s", 0, 1500 },
	{ ".5s", 0, 500 },
	{ "1.s", 0, 1000 },
	{ "250ms", 0, 250 },
	{ "1m500ms", 0, 60500 },
	{ "999us", 0, 0 },
	{ "1999us", 0, 1 },
	{ "1500000ns", 0, 1 },
	{ "0.000000001h", 0, 0 },
	{ "1.0000000000000000000000000000001s", 0, 1000 },
	{ "+3s", 0, 3000 },
	{ "-3s", 0, -3000 },
	{ "2562047h", 0, INT64_C(9223369200000) },
	{ "2562048h", -ERANGE, 0 },
	{ "9223372036854775807ns", 0, INT64_C(9223372036854) },
	{ "9223372036854775808ns", -ERANGE, 0 },
	{ "99999999999999999999999h", -ERANGE, 0 },
	{ "9223372036854775807ns1ns", -ERANGE, 0 },
	{ "9223372036854775807ns0.9h", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "-", -EINVAL, 0 },
	{ "60", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ ".s", -EINVAL, 0 },
	{ "1", -EINVAL, 0 },
	{ "1d", -EINVAL, 0 },
	{ "1S", -EINVAL, 0 },
	{ "1 s", -EINVAL, 0 },
	{ "1s ", -EINVAL, 0 },
	{ "--1s", -EINVAL, 0 },
	{ "1h-30m", -EINVAL, 0 },
	{ "1.2.3s", -EINVAL, 0 },
	{ "1e3s", -EINVAL, 0 },
	{ "0x1s", -EINVAL, 0 },
};

static void parses_duration(void **state)
{
	const __typeof__(duration_rows[0]) *row = *state;
	int64_t ms = UNTOUCHED;

	assert_int_equal(nfd_parse_duration(row->text, &ms), row->result);
	assert_int_equal(ms, row->result == 0 ? row->ms : UNTOUCHED);
}

static const struct {
	const char *text;
	int64_t ms;
} format_rows[] = {
	{ "0s", 0 },        { "1ms", 1 },       { "999ms", 999 },     { "1s", 1000 },
	{ "90s", 90000 },   { "1m", 60000 },    { "5m", 300000 },     { "1h", 3600000 },
	{ "90m", 5400000 }, { "1500ms", 1500 }, { "48h", 172800000 }, { "-3s", -3000 },
};

static void formats_duration(void **state)
{
	const __typeof__(format_rows[0]) *row = *state;
	char text[NFD_DURATION_TEXT_SIZE];
	int64_t ms;

	nfd_format_duration(row->ms, text);
	assert_string_equal(text, row->text);
	assert_int_equal(nfd_parse_duration(text, &ms), 0);
	assert_int_equal(ms, row->ms);
}

static const struct {
	const char *text;
	int result;
	const char *major, *minor, *revision, *rest;
} version_rows[] = {
	{ "580.126.09", 0, "580", "126", "09", "" },
	{ "580.126.09-x", 0, "580", "126", "09", "-x" },
	{ "390.157", 0, "390", "157", "", "" },
	{ "7", 0, "7", "", "", "" },
	{ "5.15.167.4-x", 0, "5", "15", "167", ".4-x" },
	{ "6.8-rc1", 0, "6", "8", "", "-rc1" },
	{ "6.", 0, "6", "", "", "." },
	{ "6..1", 0, "6", "", "", "..1" },
	{ "6.1.x", 0, "6", "1", "", ".x" },
	{ "999999999999999", 0, "999999999999999", "", "", "" },
	{ "1000000000000000", -EINVAL, "", "", "", "" },
	{ "1.1000000000000000", -EINVAL, "", "", "", "" },
	{ "", -EINVAL, "", "", "", "" },
	{ "v1", -EINVAL, "", "", "", "" },
	{ ".1", -EINVAL, "", "", "", "" },
	{ " 1", -EINVAL, "", "", "", "" },
	{ "-1", -EINVAL, "", "", "", "" },
};

static void parses_version(void **state)
{
	const __typeof__(version_rows[0]) *row = *state;
	struct nfd_version version = { { "", "", "" } };
	const char *rest = "";

	assert_int_equal(nfd_parse_version(row->text, &version, &rest), row->result);
	assert_string_equal(version.part[0], row->major);
	assert_string_equal(version.part[1], row->minor);
	assert_string_equal(version.part[2], row->revision);
	assert_string_equal(rest, row->rest);
	assert_int_equal(nfd_parse_version(row->text, &version, NULL), row->result);
}

static const struct {
	const char *text, *trimmed;
} trim_rows[] = {
	{ "", "" },     { " \t\r\n\v\f", "" },      { "a", "a" }, { "\n a b \r\n", "a b" },
	{ "a\n", "a" }, { "\xc2\xa0", "\xc2\xa0" },
};

static void trims(void **state)
{
	const __typeof__(trim_rows[0]) *row = *state;

	assert_string_equal(nfd_trim(unit_text("%s", row->text)), row->trimmed);
}

int main(void)
{
	struct unit_suite suite = { .name = "parse" };

	UNIT_ROWS(&suite, parses_uint, uint_rows, text);
	UNIT_ROWS(&suite, parses_int, int_rows, text);
	UNIT_ROWS(&suite, parses_hex, hex_rows, text);
	UNIT_ROWS(&suite, parses_duration, duration_rows, text);
	UNIT_ROWS(&suite, formats_duration, format_rows, text);
	UNIT_ROWS(&suite, parses_version, version_rows, text);
	UNIT_ROWS(&suite, trims, trim_rows, text);
	return unit_run(&suite);
}
