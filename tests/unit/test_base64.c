// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/base64: vectors of RFC 4648, white space, what is refused.
 */
#include "config.h"

#include "base/base64.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct {
	const char *name, *text, *bytes;
	size_t len;
} good_rows[] = {
	{ "empty", "", "", 0 },
	{ "one byte", "Zg==", "f", 1 },
	{ "two bytes", "Zm8=", "fo", 2 },
	{ "three bytes", "Zm9v", "foo", 3 },
	{ "six bytes", "Zm9vYmFy", "foobar", 6 },
	{ "no padding, one byte", "Zg", "f", 1 },
	{ "no padding, two bytes", "Zm8", "fo", 2 },
	{ "all bits", "////", "\xff\xff\xff", 3 },
	{ "plus and slash", "+/+/", "\xfb\xff\xbf", 3 },
	{ "NUL bytes", "AAAA", "\0\0\0", 3 },
	{ "line breaks", "Zm9v\nYmFy\r\n", "foobar", 6 },
	{ "blanks and tabs", " Z m\t9 v ", "foo", 3 },
	{ "blank before padding", "Zg ==", "f", 1 },
	{ "blank in the padding", "Zg= =\n", "f", 1 },
	{ "white space only", " \t\r\n", "", 0 },
};

static void decodes(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	size_t len = 99;
	char *bytes = NULL;

	assert_int_equal(nfd_base64_decode(row->text, &bytes, &len), 0);
	assert_int_equal(len, row->len);
	assert_memory_equal(bytes, row->bytes, row->len);
	assert_int_equal(bytes[len], 0);
	free(bytes);
}

static const struct {
	const char *name, *text;
} bad_rows[] = {
	{ "one digit", "Z" },
	{ "five digits", "Zm9vY" },
	{ "left-over bits of one byte", "Zh==" },
	{ "left-over bits of two bytes", "Zm9=" },
	{ "left-over bits, no padding", "Zh" },
	{ "URL alphabet, minus", "-_-_" },
	{ "comma", "Zm9v,Zm9v" },
	{ "data after padding", "Zg==Zg==" },
	{ "three signs of padding", "Zg===" },
	{ "byte 0xff", "Zm9\xff" },
	{ "control byte", "Zm9v\001" },
	{ "vertical tab", "Zm9v\v" },
	{ "PEM", "-----BEGIN CERTIFICATE-----" },
	{ "UTF-8", "Zm9v\xc3\xa4" },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	char mark, *bytes = &mark;
	size_t len = 99;

	assert_int_equal(nfd_base64_decode(row->text, &bytes, &len), -EINVAL);
	assert_ptr_equal(bytes, &mark);
	assert_int_equal(len, 99);
}

/* Each length from its own encoder, also in memory of exactly its size. */
static void takes_every_length(void **state)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)state;
	for (size_t len = 0; len < 200; len++) {
		char *text = unit_bytes(len * 2 + 1), *bytes = NULL;
		unsigned int held = 0, bits = 0;
		size_t at = 0, got = 0;

		for (size_t i = 0; i < len; i++) {
			held = held << 8 | (i * 37 & 0xff);
			for (bits += 8; bits >= 6; bits -= 6)
				text[at++] = digits[held >> (bits - 6) & 63];
		}
		if (bits)
			text[at++] = digits[held << (6 - bits) & 63];
		assert_int_equal(nfd_base64_decode(text, &bytes, &got), 0);
		assert_int_equal(got, len);
		for (size_t i = 0; i < len; i++)
			assert_int_equal((unsigned char)bytes[i], i * 37 & 0xff);
		free(bytes);
	}
}

static void takes_much(void **state)
{
	char *text = unit_repeat('A', 1024 * 1024), *bytes = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(nfd_base64_decode(text, &bytes, &len), 0);
	assert_int_equal(len, 1024 * 768);
	free(bytes);
}

int main(void)
{
	struct unit_suite suite = { .name = "base64" };

	UNIT_ROWS(&suite, decodes, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_CASE(&suite, takes_every_length);
	UNIT_CASE(&suite, takes_much);
	return unit_run(&suite);
}
