// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/gunzip: whole, damaged, cut and oversized data.
 */
#include "config.h"

#include "base/gunzip.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/gzip.h"
#include "tests/unit/unit.h"

/* Unpacks and compares; the result is as long as it says. */
static void check(const void *data, size_t len, const char *expected)
{
	cleanup_free char *text = NULL;

	assert_int_equal(nfd_gunzip(data, len, 1 << 20, &text), strlen(expected));
	assert_string_equal(text, expected);
}

static void unpacks(void **state)
{
	const char *texts[] = { "", "CONFIG_A=y\n", unit_repeat('x', 65535),
				unit_repeat('x', 65536), unit_repeat('x', 200000) };

	(void)state;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(texts); i++) {
		struct gzip_data data = gzip(texts[i], strlen(texts[i]));

		check(data.data, data.len, texts[i]);
	}
}

static void members_are_joined(void **state)
{
	struct gzip_data one = gzip("a\n", 2), two = gzip("b\n", 2);
	char *both = unit_bytes(one.len + two.len);

	(void)state;
	memcpy(both, one.data, one.len);
	memcpy(both + one.len, two.data, two.len);
	check(both, one.len + two.len, "a\nb\n");
}

static void size_is_capped(void **state)
{
	struct gzip_data data = gzip(unit_repeat('x', 70000), 70000);
	cleanup_free char *text = NULL;

	(void)state;
	assert_int_equal(nfd_gunzip(data.data, data.len, 69999, &text), -EFBIG);
	assert_null(text);
	assert_int_equal(nfd_gunzip(data.data, data.len, 70000, &text), 70000);
}

static void damage_is_told(void **state)
{
	struct gzip_data data = gzip("CONFIG_A=y\n", 11);
	char *longer = unit_bytes(data.len + 1);
	char *text = NULL;

	(void)state;
	for (size_t len = 0; len < data.len; len++)
		assert_int_equal(nfd_gunzip(data.data, len, 1000, &text), -EBADMSG);
	memcpy(longer, data.data, data.len);
	longer[data.len] = 'x';
	assert_int_equal(nfd_gunzip(longer, data.len + 1, 1000, &text), -EBADMSG);
	longer[data.len - 8] ^= 1; /* the checksum */
	assert_int_equal(nfd_gunzip(longer, data.len, 1000, &text), -EBADMSG);
	assert_int_equal(nfd_gunzip("CONFIG_A=y\n", 11, 1000, &text), -EBADMSG);
	assert_null(text);
}

int main(void)
{
	struct unit_suite suite = { .name = "gunzip" };

	UNIT_CASE(&suite, unpacks);
	UNIT_CASE(&suite, members_are_joined);
	UNIT_CASE(&suite, size_is_capped);
	UNIT_CASE(&suite, damage_is_told);
	return unit_run(&suite);
}
