// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/feature_lines: what the texts of feature files say (spec nfd.md 1.2).
 */
#include "config.h"

#include "labels/feature_lines.h"

#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/unit.h"

#define NOW_S INT64_C(1767323045)
#define PAST "# +expiry-time=2026-01-02T03:04:04Z\n"
#define NOW "# +expiry-time=2026-01-02T03:04:05Z\n"
#define FUTURE "# +expiry-time=2026-01-02T03:04:06Z\n"
#define NO_LABEL "# +no-label\n"
#define NO_FEATURE "# +no-feature\n"

#define FILES_MAX 3

/* Pairs as "[key=value]"; a NULL of features stands for the same as labels. */
static const struct {
	const char *name, *text[FILES_MAX], *labels, *features;
	size_t remarks;
} rows[] = {
	{ "no file", { NULL }, "", NULL },
	{ "empty", { "" }, "", NULL },
	{ "one line", { "a/b=1\n" }, "[a/b=1]", NULL },
	{ "no final newline", { "a/b=1" }, "[a/b=1]", NULL },
	{ "no value is true", { "a\nb\r\n" }, "[a=true][b=true]", NULL },
	{ "empty value", { "a=\n" }, "[a=]", NULL },
	{ "empty key", { "=a\n=\n" }, "[=]", NULL },
	{ "split at the first equals sign", { "a=1=2\n" }, "[a=1=2]", NULL },
	{ "CRLF and indentation", { " \t a=1\r\n\tb=2 \v\f\r\n" }, "[a=1][b=2]", NULL },
	{ "blank lines", { "\n\n \t\na=1\n\n" }, "[a=1]", NULL },
	{ "comments", { "#a=1\n  # b=1\n#\n##\n# c=1\n" }, "", NULL },
	{ "no comment behind a value", { "a=1 # one\n" }, "[a=1 # one]", NULL },
	{ "no quotes and no escapes",
	  { "a=\"1\"\nb=\\n\n'c'=1\n" },
	  "['c'=1][a=\"1\"][b=\\n]",
	  NULL },
	{ "no trimming at the equals sign", { "a = b\nc  =\td\n" }, "[a = b][c  =\td]", NULL },
	{ "free text", { "a b\n\xff\xfe=\xfd\n" }, "[a b=true][\xff\xfe=\xfd]", NULL },
	{ "in byte order", { "b=1\nB=1\na/b=1\na=1\n" }, "[B=1][a=1][a/b=1][b=1]", NULL },

	{ "the last line wins", { "a=1\na=3\nb=1\na=2\n" }, "[a=2][b=1]", NULL },
	{ "the last file wins", { "a=3\nb=1\n", "a=2\nc=1\n", "a=1\n" }, "[a=1][b=1][c=1]", NULL },
	{ "the last line of the last file", { "a=1\n\n\na=4\n", "a=2\na=3\n" }, "[a=3]", NULL },

	{ "no label", { NO_LABEL "a=1\nb=1\n" }, "[b=1]", "[a=1][b=1]" },
	{ "no feature", { NO_FEATURE "a=1\nb=1\n" }, "[a=1][b=1]", "[b=1]" },
	{ "neither", { NO_LABEL NO_FEATURE "a=1\nb=1\n" }, "[b=1]", NULL },
	{ "neither, the other way round", { NO_FEATURE NO_LABEL "a=1\n" }, "", NULL },
	{ "what stands behind them",
	  { "# +no-label=false\na=1\n# +no-feature=\nb=2\n" },
	  "[b=2]",
	  "[a=1]" },
	{ "for the next feature line, not the next line",
	  { NO_LABEL "\n# x\n\n" FUTURE "a=1\nb=1\n" },
	  "[b=1]",
	  "[a=1][b=1]" },
	{ "twice is once", { NO_LABEL NO_LABEL "a=1\nb=1\n" }, "[b=1]", "[a=1][b=1]" },
	{ "takes a label back", { "a=1\n" NO_LABEL "a=2\n" }, "", "[a=2]" },
	{ "takes a feature back", { "a=1\n" NO_FEATURE "a=2\n" }, "[a=2]", "" },
	{ "and a third line gives it again", { "a=1\n" NO_LABEL "a=2\na=3\n" }, "[a=3]", NULL },
	{ "not of an earlier file", { "a=1\n", NO_LABEL "a=2\n" }, "[a=1]", "[a=2]" },
	{ "also with one of its own before",
	  { "a=1\n", "a=2\n" NO_LABEL "a=3\n" },
	  "[a=1]",
	  "[a=3]" },
	{ "a later file is none of its business",
	  { "a=1\n" NO_LABEL "a=2\n", "a=3\n" },
	  "[a=3]",
	  NULL },
	{ "nothing goes over to the next file", { NO_LABEL, "a=1\n" }, "[a=1]", NULL },

	{ "expired", { PAST "a=1\n" }, "", NULL },
	{ "expires this second", { NOW "a=1\n" }, "[a=1]", NULL },
	{ "not yet expired", { FUTURE "a=1\n" }, "[a=1]", NULL },
	{ "expired in 1970", { "# +expiry-time=1970-01-01T00:00:00Z\na=1\n" }, "", NULL },
	{ "fractions and an offset",
	  { "# +expiry-time=2026-01-02T05:04:05.25+02:00\na=1\n"
	    "# +expiry-time=2026-01-01T22:04:04.99-05:00\nb=1\n" },
	  "[a=1]",
	  NULL },
	{ "covers what is behind it", { "a=1\n" PAST "b=1\n\n# x\nc=1\n" }, "[a=1]", NULL },
	{ "until the next one", { PAST "a=1\n" FUTURE "b=1\n" }, "[b=1]", NULL },
	{ "is over with the file", { PAST "a=1\n", "b=1\n" }, "[b=1]", NULL },
	{ "an expired line takes nothing back", { "a=1\n" PAST NO_LABEL "a=2\n" }, "[a=1]", NULL },
	{ "nor does it win", { "a=1\n" PAST "a=2\n" }, "[a=1]", NULL },
	{ "directives wait for a line that counts",
	  { PAST NO_LABEL NO_FEATURE "a=1\n" FUTURE "b=1\nc=1\n" },
	  "[c=1]",
	  NULL },
	{ "blanks around the time",
	  { "# +expiry-time= 2026-01-02T03:04:04Z \r\na=1\n" },
	  "",
	  NULL },
	{ "no time: the one in force stays",
	  { PAST "# +expiry-time=soon\na=1\n# +expiry-time\nb=1\n"
		 "# +expiry-time=\nc=1\n" },
	  "",
	  NULL,
	  3 },
	{ "no time, and none in force", { "# +expiry-time=soon\na=1\n" }, "[a=1]", NULL, 1 },

	{ "no directives",
	  { "#+no-label\na=1\n#  +no-label\nb=1\n#\t+no-label\nc=1\n" },
	  "[a=1][b=1][c=1]",
	  NULL },
	{ "unknown directives",
	  { "# + no-label\na=1\n# +no-label x\nb=1\n# +no-label =\nc=1\n# +No-Label\nd=1\n# +\ne=1\n"
	    "# +=\nf=1\n# +expiry-time =2026-01-02T03:04:04Z\ng=1\n" },
	  "[a=1][b=1][c=1][d=1][e=1][f=1][g=1]",
	  NULL,
	  7 },
	{ "an indented directive", { "   # +no-label  \t\na=1\n" }, "", "[a=1]" },
};

static const char *pairs_text(const struct nfd_feature_pairs *pairs)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	for (size_t i = 0; i < pairs->count; i++)
		nfd_strbuf_printf(&buf, "[%s=%s]", pairs->pair[i].key, pairs->pair[i].value);
	return unit_text("%s", nfd_strbuf_text(&buf));
}

static void parse(struct nfd_feature_lines *lines, const char *text, size_t file)
{
	assert_int_equal(nfd_feature_lines_parse(lines, unit_text("%s", text), strlen(text), NOW_S,
						 file),
			 0);
}

static void parses(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	cleanup_feature_lines struct nfd_feature_lines lines = { 0 };

	for (size_t i = 0; i < FILES_MAX && row->text[i]; i++)
		parse(&lines, row->text[i], i);
	nfd_feature_lines_settle(&lines);
	assert_string_equal(pairs_text(&lines.labels), row->labels);
	assert_string_equal(pairs_text(&lines.features),
			    row->features ? row->features : row->labels);
	assert_int_equal(lines.remarks, row->remarks);
}

/* A pair and a remark say where they are from. */
static void counts_files_and_lines(void **state)
{
	cleanup_feature_lines struct nfd_feature_lines lines = { 0 };

	(void)state;
	parse(&lines, "\n# x\na=1\nb=1\n", 3);
	parse(&lines, "b=2\n# +x\n", 7);
	nfd_feature_lines_settle(&lines);
	assert_int_equal(lines.labels.count, 2);
	assert_int_equal(lines.labels.pair[0].file, 3);
	assert_int_equal(lines.labels.pair[0].line, 3);
	assert_int_equal(lines.labels.pair[1].file, 7);
	assert_int_equal(lines.labels.pair[1].line, 1);
	assert_int_equal(lines.remark[0].file, 7);
	assert_int_equal(lines.remark[0].line, 2);
}

/* Like any other line it uses up the directives, and it is no line by its first half. */
static void drops_a_line_with_a_nul(void **state)
{
	static const char text[] =
		NO_LABEL "a=1\0002\nb=1\n\0\nc=1\n" NO_FEATURE "# \0\n# +no-label\0\nd=1\n\0# x";
	cleanup_feature_lines struct nfd_feature_lines lines = { 0 };
	char *copy = unit_bytes(sizeof(text));

	(void)state;
	memcpy(copy, text, sizeof(text));
	assert_int_equal(nfd_feature_lines_parse(&lines, copy, sizeof(text) - 1, NOW_S, 0), 0);
	nfd_feature_lines_settle(&lines);
	assert_string_equal(pairs_text(&lines.labels), "[b=1][c=1][d=1]");
	assert_string_equal(pairs_text(&lines.features), "[b=1][c=1]");
	assert_int_equal(lines.remarks, 5);
}

static void remarks_are_bounded(void **state)
{
	cleanup_feature_lines struct nfd_feature_lines lines = { 0 };

	(void)state;
	for (size_t i = 0; i < NFD_FEATURE_REMARKS_MAX + 5; i++)
		parse(&lines, "# +x\n", i);
	assert_int_equal(lines.remarks, NFD_FEATURE_REMARKS_MAX + 5);
	assert_int_equal(lines.remark[NFD_FEATURE_REMARKS_MAX - 1].file,
			 NFD_FEATURE_REMARKS_MAX - 1);
}

int main(void)
{
	struct unit_suite suite = { .name = "feature_lines" };

	UNIT_ROWS(&suite, parses, rows, name);
	UNIT_CASE(&suite, counts_files_and_lines);
	UNIT_CASE(&suite, drops_a_line_with_a_nul);
	UNIT_CASE(&suite, remarks_are_bounded);
	return unit_run(&suite);
}
