// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Durations, times, numbers, versions: what was taken prints as what reads the same.
 */
#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "tests/fuzz/fuzz.h"

/* The years that are printed with four digits. */
#define YEAR_1000_S INT64_C(-30610224000)
#define YEAR_10000_S INT64_C(253402300800)

static void check_duration(const char *text)
{
	char printed[NFD_DURATION_TEXT_SIZE];
	int64_t ms, again;

	if (nfd_parse_duration(text, &ms) < 0)
		return;
	nfd_format_duration(ms, printed);
	FUZZ_CHECK(nfd_parse_duration(printed, &again) == 0);
	FUZZ_CHECK(ms == again);
}

static void check_time(const char *text)
{
	char printed[NFD_TIME_TEXT_SIZE];
	int64_t seconds, again;

	if (nfd_parse_time(text, &seconds) < 0)
		return;
	if (seconds < YEAR_1000_S || seconds >= YEAR_10000_S)
		return;
	nfd_format_time(seconds, printed);
	FUZZ_CHECK(strlen(printed) == 20);
	FUZZ_CHECK(nfd_parse_time(printed, &again) == 0);
	FUZZ_CHECK(seconds == again);
}

static void check_numbers(const char *text)
{
	struct nfd_version version;
	const char *rest;
	uint64_t value;

	if (nfd_parse_uint(text, 1000, &value) == 0)
		FUZZ_CHECK(value <= 1000);
	if (nfd_parse_hex(text, 0xffff, &value) == 0)
		FUZZ_CHECK(value <= 0xffff);
	if (nfd_parse_version(text, &version, &rest) < 0)
		return;
	FUZZ_CHECK(rest > text && rest <= text + strlen(text));
	for (size_t i = 0; i < NFD_ARRAY_SIZE(version.part); i++)
		FUZZ_CHECK(strspn(version.part[i], "0123456789") == strlen(version.part[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);

	check_duration(text);
	check_time(text);
	check_numbers(text);
	return 0;
}
