// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/source: lists of NFD's sources.
 */
#include "config.h"

#include "scan/source.h"

#include <errno.h>

#include "tests/unit/unit.h"

#define WORDS_MAX 5

static const struct {
	const char *name;
	const char *word[WORDS_MAX]; /* ends with NULL */
	const char *text;            /* the list as it is printed */
} rows[] = {
	{ "all", { "all" }, "all" },
	{ "none", { NULL }, "" },
	{ "one", { "cpu" }, "cpu" },
	{ "in the order of names", { "usb", "cpu", "usb" }, "cpu,usb" },
	{ "all but one", { "all", "-cpu" }, "all,-cpu" },
	{ "four of them", { "cpu", "custom", "kernel", "local" }, "cpu,custom,kernel,local" },
	{ "the order counts: taken out before it is there", { "-cpu", "all" }, "all" },
	{ "the order counts: taken out and put in", { "all", "-cpu", "cpu" }, "all" },
	{ "the order counts: put in and taken out", { "cpu", "usb", "-cpu" }, "usb" },
	{ "all does not have fake", { "all", "-fake" }, "all" },
	{ "all and fake", { "all", "fake" }, "all,fake" },
	{ "all and fake but one", { "fake", "all", "-usb" }, "all,-usb,fake" },
	{ "fake alone", { "fake" }, "fake" },
	{ "all taken out one by one", { "pci", "-pci" }, "" },
};

static size_t count_words(const char *const *word)
{
	size_t count = 0;

	while (count < WORDS_MAX && word[count])
		count++;
	return count;
}

static void reads_and_prints(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_error err = { 0 };
	unsigned int off = 0;

	assert_int_equal(nfd_sources_parse(row->word, count_words(row->word), &off, &err), 0);
	nfd_sources_format(off, &buf);
	assert_string_equal(nfd_strbuf_text(&buf), row->text);
}

static const struct {
	const char *word;
} bad_rows[] = { { "gpu" }, { "" }, { "-" }, { "-all" }, { "--cpu" }, { "CPU" }, { " cpu" } };

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	const char *const list[] = { "all", row->word };
	struct nfd_error err = { 0 };
	unsigned int off = 7;

	assert_int_equal(nfd_sources_parse(list, NFD_ARRAY_SIZE(list), &off, &err), -EINVAL);
	unit_assert_contains(nfd_error_text(&err), unit_text("\"%s\" is no source", row->word));
	assert_int_equal(off, 7);
}

/* Each source alone is printed by its name, and read back. */
static void names_all(void **state)
{
	const unsigned int each = (1U << NFD_SOURCE_COUNT) - 1 - (1U << NFD_SOURCE_NONE);

	(void)state;
	for (unsigned int i = NFD_SOURCE_NONE + 1; i < NFD_SOURCE_COUNT; i++) {
		cleanup_strbuf struct nfd_strbuf buf = { 0 };
		struct nfd_error err = { 0 };
		const char *name;
		unsigned int off;

		nfd_sources_format(each & ~(1U << i), &buf);
		name = nfd_strbuf_text(&buf);
		assert_int_equal(nfd_sources_parse(&name, 1, &off, &err), 0);
		assert_int_equal(off, each & ~(1U << i));
	}
}

/* It is added to what stands in the buffer. */
static void prints_behind_others(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_strbuf_puts(&buf, "key: ");
	nfd_sources_format(1U << NFD_SOURCE_CPU | 1U << NFD_SOURCE_FAKE, &buf);
	assert_string_equal(nfd_strbuf_text(&buf), "key: all,-cpu");
}

int main(void)
{
	struct unit_suite suite = { .name = "source" };

	UNIT_ROWS(&suite, reads_and_prints, rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, word);
	UNIT_CASE(&suite, names_all);
	UNIT_CASE(&suite, prints_behind_others);
	return unit_run(&suite);
}
