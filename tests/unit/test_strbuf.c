// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/strbuf: growth, the sticky error, JSON quoting of any bytes.
 */
#include "config.h"

#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct {
	const char *name, *text, *quoted;
} quoted_rows[] = {
	{ "empty", "", "\"\"" },
	{ "plain", "abc", "\"abc\"" },
	{ "quote and backslash", "a\"b\\c", "\"a\\\"b\\\\c\"" },
	{ "newline and tab", "a\nb\t", "\"a\\u000ab\\u0009\"" },
	{ "escape and delete", "\033[31m\177", "\"\\u001b[31m\\u007f\"" },
	{ "two bytes", "\xc2\xae", "\"\xc2\xae\"" },
	{ "three bytes", "\xe2\x84\xa2", "\"\xe2\x84\xa2\"" },
	{ "four bytes", "\xf0\x9f\x92\xbb", "\"\xf0\x9f\x92\xbb\"" },
	{ "greatest code point", "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },
	{ "lone continuation", "a\x80z", "\"a\xef\xbf\xbdz\"" },
	{ "invalid byte", "\xff", "\"\xef\xbf\xbd\"" },
	{ "cut sequence", "\xe2\x84", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "cut before a quote", "\xc2\"", "\"\xef\xbf\xbd\\\"\"" },
	{ "overlong slash", "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "overlong three bytes", "\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "overlong four bytes", "\xf0\x80\x80\x80",
	  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "surrogate", "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "past U+10FFFF", "\xf4\x90\x80\x80",
	  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
};

static void quotes(void **state)
{
	const __typeof__(quoted_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_strbuf_put_quoted(&buf, row->text);
	assert_string_equal(nfd_strbuf_text(&buf), row->quoted);
	/* As name, as value, and as both. */
	nfd_strbuf_put_member(&buf, row->text, "v");
	nfd_strbuf_put_member(&buf, "n", row->text);
	nfd_strbuf_put_member(&buf, row->text, row->text);
	assert_string_equal(nfd_strbuf_text(&buf),
			    unit_text("%s%s:\"v\"\"n\":%s%s:%s", row->quoted, row->quoted,
				      row->quoted, row->quoted, row->quoted));
	assert_int_equal(buf.len, strlen(buf.data));
}

static const struct {
	const char *name, *text, *word;
} word_rows[] = {
	{ "plain", "/etc/a_b-1.conf:2", "/etc/a_b-1.conf:2" },
	{ "empty", "", "''" },
	{ "blank", "a b", "'a b'" },
	{ "commands", "x;$(id)`id`&|", "'x;$(id)`id`&|'" },
	{ "quotes", "it's \"so\"", "'it'\\''s \"so\"'" },
	{ "tilde", "~root", "'~root'" },
	{ "bytes above 127", "\xff", "'\xff'" },
};

static void words(void **state)
{
	const __typeof__(word_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_strbuf_put_word(&buf, row->text);
	assert_string_equal(nfd_strbuf_text(&buf), row->word);
}

static void empty_is_a_text(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	assert_string_equal(nfd_strbuf_text(&buf), "");
	nfd_strbuf_add(&buf, NULL, 0);
	nfd_strbuf_puts(&buf, "");
	assert_string_equal(nfd_strbuf_text(&buf), "");
	assert_int_equal(buf.len, 0);
}

static void grows(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		nfd_strbuf_printf(&buf, "%04x", i & 0xffff);
	assert_int_equal(buf.error, 0);
	assert_int_equal(buf.len, 40000);
	assert_int_equal(strlen(buf.data), 40000);
	assert_memory_equal(buf.data + 39996, "270f", 4);
}

static void keeps_nul_bytes(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_strbuf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
}

static void error_sticks(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_strbuf_puts(&buf, "kept");
	nfd_strbuf_add(&buf, "x", SIZE_MAX - 1);
	assert_int_equal(buf.error, -ENOMEM);
	nfd_strbuf_puts(&buf, "lost");
	nfd_strbuf_printf(&buf, "%d", 1);
	nfd_strbuf_put_quoted(&buf, "lost");
	nfd_strbuf_put_member(&buf, "lost", "lost");
	assert_int_equal(buf.error, -ENOMEM);
	assert_string_equal(nfd_strbuf_text(&buf), "kept");
}

static void done_resets(void **state)
{
	struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_strbuf_puts(&buf, "x");
	nfd_strbuf_done(&buf);
	assert_null(buf.data);
	assert_int_equal(buf.len, 0);
	nfd_strbuf_done(&buf);
}

int main(void)
{
	struct unit_suite suite = { .name = "strbuf" };

	UNIT_ROWS(&suite, quotes, quoted_rows, name);
	UNIT_ROWS(&suite, words, word_rows, name);
	UNIT_CASE(&suite, empty_is_a_text);
	UNIT_CASE(&suite, grows);
	UNIT_CASE(&suite, keeps_nul_bytes);
	UNIT_CASE(&suite, error_sticks);
	UNIT_CASE(&suite, done_resets);
	return unit_run(&suite);
}
