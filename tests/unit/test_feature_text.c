// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/feature_text: the file's text both ways (spec nfd.md 1.2), and what is left out of a file
 * that would be too large (field case B5).
 */
#include "config.h"

#include "output/feature_text.h"

#include <string.h>

#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

#define NOW_S INT64_C(1767323045)
#define PAST "# +expiry-time=2026-01-02T03:04:04Z\n"
#define NOW "# +expiry-time=2026-01-02T03:04:05Z\n"
#define FUTURE "# +expiry-time=2026-01-02T03:04:06Z\n"

static const struct {
	const char *name, *text, *labels;
	int64_t expiry_s;
} parse_rows[] = {
	{ "empty", "", "", 0 },
	{ "one line", "a/b=1\n", "a/b=1\n", 0 },
	{ "no final newline", "a/b=1", "a/b=1\n", 0 },
	{ "no value is true", "a/b\n", "a/b=true\n", 0 },
	{ "empty value", "a/b=\n", "a/b=\n", 0 },
	{ "value with an equals sign is illegal", "a/b=1=2\n", "", 0 },
	{ "CRLF and indentation", "  a/b=1\r\n\ta/c=2 \r\n", "a/b=1\na/c=2\n", 0 },
	{ "blank lines", "\n\n  \na/b=1\n\n", "a/b=1\n", 0 },
	{ "comment", "#a/b=1\n# a/c=1\n", "", 0 },
	{ "no trimming at the equals sign", "a/b =1\na/c= 1\n", "", 0 },
	{ "bare key is passed over", "b=1\n", "", 0 },
	{ "illegal pair costs only itself", "a/b=x y\na/c=1\n", "a/c=1\n", 0 },
	{ "the last one wins", "a/b=1\na/b=2\n", "a/b=2\n", 0 },
	{ "not UTF-8", "\xff\xfe\na/b=1\n", "a/b=1\n", 0 },
	{ "expired", PAST "a/b=1\n", "", NOW_S - 1 },
	{ "expires this second", NOW "a/b=1\n", "a/b=1\n", NOW_S },
	{ "not yet expired", FUTURE "a/b=1\n", "a/b=1\n", NOW_S + 1 },
	{ "covers the lines behind it only", "a/b=1\n" PAST "a/c=1\n", "a/b=1\n", NOW_S - 1 },
	{ "the next one takes over", PAST "a/b=1\n" FUTURE "a/c=1\n", "a/c=1\n", NOW_S + 1 },
	{ "unparsable: the one in force stays", PAST "# +expiry-time=soon\na/b=1\n", "",
	  NOW_S - 1 },
	{ "without a time", "# +expiry-time=\na/b=1\n", "a/b=1\n", 0 },
	{ "without an equals sign", "# +expiry-time\na/b=1\n", "a/b=1\n", 0 },
	{ "blanks around the time", "# +expiry-time= 2026-01-02T03:04:04Z \r\na/b=1\n", "",
	  NOW_S - 1 },
	{ "no directive without the blank", "#+expiry-time=2026-01-02T03:04:04Z\na/b=1\n",
	  "a/b=1\n", 0 },
	{ "no directive with two blanks", "#  +expiry-time=2026-01-02T03:04:04Z\na/b=1\n",
	  "a/b=1\n", 0 },
	{ "no directive with a blank behind +", "# + expiry-time=2026-01-02T03:04:04Z\na/b=1\n",
	  "a/b=1\n", 0 },
	{ "other directive", "# +other=1\na/b=1\n", "a/b=1\n", 0 },
};

static void parses(void **state)
{
	const __typeof__(parse_rows[0]) *row = *state;
	cleanup_set struct nfd_set set = { 0 };
	int64_t expiry_s = -1;

	assert_int_equal(nfd_feature_text_parse(unit_text("%s", row->text), NOW_S, &set, &expiry_s),
			 0);
	assert_string_equal(labels_text(&set), row->labels);
	assert_int_equal(expiry_s, row->expiry_s);
}

/* 1970 is a time like any other: NFD takes such labels as expired. */
static void expiry_at_the_epoch_counts(void **state)
{
	cleanup_set struct nfd_set set = { 0 };
	int64_t expiry_s;

	(void)state;
	assert_int_equal(
		nfd_feature_text_parse(unit_text("# +expiry-time=1970-01-01T00:00:00Z\na/b=1\n"),
				       NOW_S, &set, &expiry_s),
		0);
	assert_int_equal(set.count, 0);
}

/* "# +no-label" keeps the next feature line out of labels. */
static void no_label_directive_is_known(void **state)
{
	cleanup_set struct nfd_set set = { 0 };
	int64_t expiry_s;

	(void)state;
	assert_int_equal(nfd_feature_text_parse(unit_text("# +no-label\na/b=1\na/c=1\n"), NOW_S,
						&set, &expiry_s),
			 0);
	assert_string_equal(labels_text(&set), "a/c=1\n");
}

static const struct {
	const char *name, *labels, *text;
	int64_t expiry_s;
	int count;
} render_rows[] = {
	{ "nothing", "", "", 0, 0 },
	{ "nothing but an expiry", "", FUTURE, NOW_S + 1, 0 },
	{ "sorted", "z/b=2\na/b=1\n", "a/b=1\nz/b=2\n", 0, 2 },
	{ "with an expiry first", "a/b=1", FUTURE "a/b=1\n", NOW_S + 1, 1 },
	{ "keys in full", "pci-10de.present=true", NFD_FEATURE_PREFIX "pci-10de.present=true\n", 0,
	  1 },
	{ "empty value", "a/b=", "a/b=\n", 0, 1 },
	{ "stopped ones are left out", "a/b=1\n!a/c=1\na/d=1", "a/b=1\na/d=1\n", 0, 2 },
};

static void renders(void **state)
{
	const __typeof__(render_rows[0]) *row = *state;
	cleanup_set struct nfd_set set = labels_set(row->labels);
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	size_t left_out = 42;

	assert_int_equal(nfd_feature_text_render(&set, row->expiry_s, &buf, &left_out), row->count);
	assert_int_equal(left_out, 0);
	assert_string_equal(nfd_strbuf_text(&buf), row->text);
}

/* @count lines of exactly 64 bytes of one rank: "a/<rank><number>=<value>". */
static void add_lines(struct nfd_set *set, enum nfd_rank rank, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct nfd_label label = { .key = unit_text("a/%u%06u", rank, i),
					   .value = unit_repeat('v', 64 - 9 - 2),
					   .rank = rank };

		assert_int_equal(nfd_set_put(set, &label), 0);
	}
}

#define LINES_MAX (NFD_FEATURE_FILE_MAX / 64)

static const struct {
	const char *name;
	unsigned int count[3], written[3]; /* by rank */
	bool expiry;
} size_rows[] = {
	{ "exactly full", { 1, 1, LINES_MAX - 2 }, { 1, 1, LINES_MAX - 2 }, false },
	{ "one over", { 1, 1, LINES_MAX - 1 }, { 1, 1, LINES_MAX - 2 }, false },
	{ "the expiry line takes room", { 1, 1, LINES_MAX - 2 }, { 1, 1, LINES_MAX - 3 }, true },
	{ "details go first", { 10, 10, 2 * LINES_MAX }, { 10, 10, LINES_MAX - 20 }, false },
	{ "then normal ones", { 10, LINES_MAX, 10 }, { 10, LINES_MAX - 10, 0 }, false },
	{ "essential ones last", { LINES_MAX + 5, 10, 10 }, { LINES_MAX, 0, 0 }, false },
	{ "no room for any detail", { 0, LINES_MAX, 10 }, { 0, LINES_MAX, 0 }, false },
};

static void b5_leaves_out_the_lowest_rank(void **state)
{
	const __typeof__(size_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_set struct nfd_set set = { 0 };
	unsigned int total = 0, written = 0;
	size_t left_out;

	for (int rank = 0; rank < 3; rank++) {
		add_lines(&set, (enum nfd_rank)rank, row->count[rank]);
		total += row->count[rank];
		written += row->written[rank];
	}
	assert_int_equal(nfd_feature_text_render(&set, row->expiry ? NOW_S : 0, &buf, &left_out),
			 written);
	assert_int_equal(left_out, total - written);
	assert_true(buf.len <= NFD_FEATURE_FILE_MAX);
	for (unsigned int rank = 0; rank < 3; rank++) {
		unsigned int kept = row->written[rank];

		if (kept)
			unit_assert_contains(buf.data, unit_text("a/%u%06u=", rank, kept - 1));
		if (!buf.data)
			continue;
		assert_null(strstr(buf.data, unit_text("a/%u%06u=", rank, kept)));
	}
}

/* The cut is one place: a short line behind the first that found no room does not slip in. */
static void cut_is_one_place(void **state)
{
	const struct nfd_label label = { .key = unit_text("a/3"),
					 .value = unit_text("v"),
					 .rank = NFD_RANK_DETAIL };
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_set struct nfd_set set = { 0 };
	size_t left_out;

	(void)state;
	add_lines(&set, NFD_RANK_DETAIL, LINES_MAX);
	assert_int_equal(nfd_set_put(&set, &label), 0);
	assert_int_equal(nfd_feature_text_render(&set, NOW_S, &buf, &left_out), LINES_MAX - 1);
	assert_int_equal(left_out, 2);
	assert_true(buf.len + strlen("a/3=v\n") <= NFD_FEATURE_FILE_MAX);
}

static void renders_what_it_parses(void **state)
{
	cleanup_set struct nfd_set set = labels_set("pci-10de.present=true\na/b=\nz.io/x=1");
	cleanup_set struct nfd_set again = { 0 };
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	size_t left_out;
	int64_t expiry_s;

	(void)state;
	assert_int_equal(nfd_feature_text_render(&set, NOW_S + 10, &buf, &left_out), 3);
	assert_int_equal(nfd_feature_text_parse(buf.data, NOW_S, &again, &expiry_s), 0);
	assert_true(nfd_set_equal(&set, &again));
	assert_int_equal(expiry_s, NOW_S + 10);
}

int main(void)
{
	struct unit_suite suite = { .name = "feature_text" };

	UNIT_ROWS(&suite, parses, parse_rows, name);
	UNIT_CASE(&suite, expiry_at_the_epoch_counts);
	UNIT_CASE(&suite, no_label_directive_is_known);
	UNIT_ROWS(&suite, renders, render_rows, name);
	UNIT_ROWS(&suite, b5_leaves_out_the_lowest_rank, size_rows, name);
	UNIT_CASE(&suite, cut_is_one_place);
	UNIT_CASE(&suite, renders_what_it_parses);
	return unit_run(&suite);
}
