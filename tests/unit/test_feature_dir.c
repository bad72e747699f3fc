// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/feature_dir: what nfd-worker skips in features.d and why, and what it takes.
 */
#include "config.h"

#include "doctor/feature_dir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/labels.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define PAST "# +expiry-time=2001-01-01T00:00:00Z\n"
#define FUTURE "# +expiry-time=2901-01-01T00:00:00Z\n"

/* One line a file: "name: skipped | bad value | labels". */
static void visit(void *cookie, const struct nfd_feature_dir_file *file)
{
	const char **text = cookie;

	*text = unit_text("%s%s: %s|%s|%s\n", *text, file->name, file->skipped, file->bad_value,
			  labels_text(&file->labels));
	assert_int_equal(!file->skipped[0], !file->advice[0]);
}

static const struct {
	const char *name, *text;
	const char *skipped, *bad_value, *labels;
} rows[] = {
	{ "empty", "", "", "", "" },
	{ "label", "a=1\n", "", "", "a=1\n" },
	{ "missing newline", "a=1", "", "", "a=1\n" },
	{ "no value", "a\n", "", "", "a=true\n" },
	{ "empty value", "a=\n", "", "", "a=\n" },
	{ "own prefix", "example.com/a=1\n", "", "", "example.com/a=1\n" },
	{ "blanks and comments", "\n  # x=1\n  a=1  \n\t\n#b=2", "", "", "a=1\n" },
	{ "carriage returns", "a=1\r\nb=2\r\n", "", "", "a=1\nb=2\n" },
	{ "a later line counts", "a=1\na=2\n", "", "", "a=2\n" },
	{ "bad value", "a=x y\nb=1\n", "", "a=x y", "b=1\n" },
	{ "value of 63 letters",
	  "a=012345678901234567890123456789012345678901234567890123456789012\n", "", "",
	  "a=012345678901234567890123456789012345678901234567890123456789012\n" },
	{ "value of 64 letters",
	  "a=0123456789012345678901234567890123456789012345678901234567890123\n", "",
	  "a=0123456789012345678901234567890123456789012345678901234567890123", "" },
	{ "value from a feature", "a=@cpu.model.family\n", "", "", NULL },
	{ "two equals", "a=b=c\n", "", "a=b=c", "" },
	{ "key that is none", "-a=1\na b=1\n/=1\n=1\n", "", "", "" },
	{ "expired", PAST "a=1\n", "its labels expired", "", "" },
	{ "not expired", FUTURE "a=1\n", "", "", "a=1\n" },
	{ "before an expired part", "a=1\n" PAST "b=1\n", "its labels expired", "", "a=1\n" },
	{ "behind an expired part", PAST "a=1\n" FUTURE "b=1\n", "its labels expired", "",
	  "b=1\n" },
	{ "no time", "# +expiry-time=soon\na=1\n", "", "", "a=1\n" },
	{ "hostile bytes", "\377=\001\n\033[2J\n", "", NULL, "" },
};

static struct nfd_feature_dir_file kept;
static const char *kept_labels;

static void keep(void *cookie, const struct nfd_feature_dir_file *file)
{
	(void)cookie;
	kept = *file;
	kept_labels = labels_text(&file->labels);
}

static void reads_lines(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *tree = tree_new();

	tree_file(tree, "x", row->text);
	assert_int_equal(chmod(tree_path(tree, "x"), 0644), 0);
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	assert_string_equal(kept.path, tree_path(tree, "x"));
	if (*row->skipped)
		unit_assert_contains(kept.skipped, row->skipped);
	else
		assert_string_equal(kept.skipped, "");
	if (row->bad_value)
		assert_string_equal(kept.bad_value, row->bad_value);
	if (row->labels)
		assert_string_equal(kept_labels, row->labels);
}

static const struct {
	const char *name, *file;
	mode_t mode;
	const char *skipped, *advice;
} mode_rows[] = {
	{ "as it should be", "x", 0644, "", "" },
	{ "others may read", "x", 0604, "", "" },
	{ "others may not read", "x", 0640, "its mode is 0640", "chmod 0644 " },
	{ "owner only", "x", 0600, "its mode is 0600", "chmod 0644 " },
	{ "hidden", ".x", 0644, "begins with a dot", "mv " },
};

static void looks_at_name_and_mode(void **state)
{
	const __typeof__(mode_rows[0]) *row = *state;
	const char *tree = tree_new();

	tree_file(tree, row->file, "a=1\n");
	assert_int_equal(chmod(tree_path(tree, row->file), row->mode), 0);
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	unit_assert_contains(kept.skipped, row->skipped);
	unit_assert_contains(kept.advice, row->advice);
}

/* The command is pasted anywhere: both of its paths are whole. */
static void advice_for_a_hidden_file(void **state)
{
	const char *tree = tree_new();

	(void)state;
	tree_file(tree, ".x", "a=1\n");
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	unit_assert_contains(kept.advice, unit_text("mv %s/.x %s/x ", tree, tree));
}

/* A name is another writer's; a command that is pasted must not run what it holds. */
static void advice_for_a_hostile_name(void **state)
{
	const char *tree = tree_new();

	(void)state;
	tree_file(tree, "x;touch $(id)", "a=1\n");
	assert_int_equal(chmod(tree_path(tree, "x;touch $(id)"), 0600), 0);
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	unit_assert_contains(kept.advice, "chmod 0644 ");
	unit_assert_contains(kept.advice, "'");
}

static void size_is_bounded(void **state)
{
	const char *tree = tree_new();
	const char *text = unit_text("a=1\n#%s", unit_repeat('x', 65536 - 5));

	(void)state;
	tree_file(tree, "x", text);
	assert_int_equal(chmod(tree_path(tree, "x"), 0644), 0);
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	assert_string_equal(kept.skipped, "");
	assert_string_equal(kept_labels, "a=1\n");
	tree_file(tree, "x", unit_text("%sx", text));
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	unit_assert_contains(kept.skipped, "larger than 65,536 bytes");
	assert_string_equal(kept_labels, "");
}

static void names_in_order(void **state)
{
	const struct tree_entry entries[] = {
		FILE_AT("b", "b=1"), FILE_AT("a", "a=1"),   DIR_AT("c"),
		FIFO_AT("d"),        LINK_AT("e", "a"),     LINK_AT("f", "none"),
		LINK_AT("g", "g"),   DIR_AT(".nfd-source"), { 0 },
	};
	const char *tree = tree_new(), *text = "";

	(void)state;
	tree_fill(tree, entries);
	assert_int_equal(chmod(tree_path(tree, "a"), 0644), 0);
	assert_int_equal(chmod(tree_path(tree, "b"), 0644), 0);
	assert_int_equal(nfd_feature_dir_read(tree, visit, &text), 8);
	assert_string_equal(
		text, ".nfd-source: ||\na: ||a=1\n\nb: ||b=1\n\nc: ||\nd: ||\ne: ||a=1\n\nf: ||\n"
		      "g: ||\n");
}

static void missing_folder(void **state)
{
	const char *tree = tree_new(), *text = "";

	(void)state;
	assert_int_equal(nfd_feature_dir_read(tree, visit, &text), 0);
	assert_int_equal(nfd_feature_dir_read(tree_path(tree, "none"), visit, &text), -ENOENT);
	tree_file(tree, "file", "");
	assert_int_equal(nfd_feature_dir_read(tree_path(tree, "file"), visit, &text), -ENOTDIR);
	assert_string_equal(text, "");
}

static void long_lines(void **state)
{
	const char *tree = tree_new();
	const char *name = unit_repeat('n', 255);

	(void)state;
	tree_file(tree, name,
		  unit_text("%s=1\nb=%s\n", unit_repeat('k', 20000), unit_repeat('v', 20000)));
	assert_int_equal(chmod(tree_path(tree, name), 0600), 0);
	assert_int_equal(nfd_feature_dir_read(tree, keep, NULL), 1);
	assert_string_equal(kept_labels, "");
	assert_true(kept.bad_value[0]);
}

int main(void)
{
	struct unit_suite suite = { .name = "feature_dir" };

	UNIT_ROWS(&suite, reads_lines, rows, name);
	UNIT_ROWS(&suite, looks_at_name_and_mode, mode_rows, name);
	UNIT_CASE(&suite, advice_for_a_hidden_file);
	UNIT_CASE(&suite, advice_for_a_hostile_name);
	UNIT_CASE(&suite, size_is_bounded);
	UNIT_CASE(&suite, names_in_order);
	UNIT_CASE(&suite, missing_folder);
	UNIT_CASE(&suite, long_lines);
	return unit_run(&suite);
}
