// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/set: order, replacement, stopped labels, differences.
 */
#include "config.h"

#include "labels/set.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name, *lines, *text;
} put_rows[] = {
	{ "empty", "", "" },
	{ "byte order", "b=1\na=2\nB=3\na.b=4\na-b=5", "B=3\na=2\na-b=5\na.b=4\nb=1\n" },
	{ "last value wins", "a=1\na=2", "a=2\n" },
	{ "empty value", "a=", "a=\n" },
	{ "stopped does not replace", "a=1\n!a=2", "a=1\n" },
	{ "stopped is replaced", "!a=1\na=2", "a=2\n" },
	{ "stopped by stopped", "!a=1\n!a=2", "!a=2\n" },
	{ "stopped of the same value is replaced", "!a=1\na=1", "a=1\n" },
	{ "same again", "a=1\na=1\na=1", "a=1\n" },
	{ "other prefix", "z.io/a=1\na=2", "a=2\nz.io/a=1\n" },
};

static void puts_labels(void **state)
{
	const __typeof__(put_rows[0]) *row = *state;
	cleanup_set struct nfd_set set = labels_set(row->lines);

	assert_string_equal(labels_text(&set), row->text);
}

static const struct {
	const char *name, *key, *value;
} illegal_rows[] = {
	{ "key without prefix", "a", "1" },
	{ "empty key", "", "1" },
	{ "key with a blank", "a/b c", "1" },
	{ "value with a blank", "a/b", "1 2" },
	{ "value with a newline", "a/b", "1\nz/evil=1" },
	{ "value too long", "a/b",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
	{ "value not ASCII", "a/b", "\xc3\xa9" },
};

static void put_refuses(void **state)
{
	const __typeof__(illegal_rows[0]) *row = *state;
	cleanup_set struct nfd_set set = labels_set("a/b=old");
	const struct nfd_label label = { .key = (char *)row->key, .value = (char *)row->value };

	assert_int_equal(nfd_set_put(&set, &label), -EINVAL);
	assert_string_equal(labels_text(&set), "a/b=old\n");
}

static void put_copies_texts(void **state)
{
	cleanup_set struct nfd_set set = { 0 };
	char key[] = "a/b", value[] = "v", source[] = "path: text", stopped_by[] = "some.setting";
	const struct nfd_label label = { .key = key,
					 .value = value,
					 .source = source,
					 .stopped_by = stopped_by,
					 .rank = NFD_RANK_DETAIL };
	const struct nfd_label *found;

	(void)state;
	assert_int_equal(nfd_set_put(&set, &label), 0);
	key[0] = value[0] = source[0] = stopped_by[0] = 'X';
	found = nfd_set_find(&set, "a/b");
	assert_non_null(found);
	assert_string_equal(found->value, "v");
	assert_string_equal(found->source, "path: text");
	assert_string_equal(found->stopped_by, "some.setting");
	assert_int_equal(found->rank, NFD_RANK_DETAIL);
}

static void finds(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/a=1\n!a/b=2\na/c=3");

	(void)state;
	assert_string_equal(nfd_set_value(&set, "a/a"), "1");
	assert_null(nfd_set_value(&set, "a/b"));
	assert_non_null(nfd_set_find(&set, "a/b"));
	assert_null(nfd_set_find(&set, "a/bb"));
	assert_null(nfd_set_find(&set, ""));
	assert_int_equal(nfd_set_published(&set), 2);
}

/* Puts and removes around the powers of two at which the array grows. */
static void grows_and_shrinks(void **state)
{
	cleanup_set struct nfd_set set = { 0 };

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 70; i++) {
			struct nfd_label label = { .key = unit_text("a/k%02d", i * 37 % 70),
						   .value = unit_text("%d", i) };

			assert_int_equal(nfd_set_put(&set, &label), 0);
		}
		assert_int_equal(set.count, 70);
		for (size_t i = 1; i < set.count; i++)
			assert_true(strcmp(set.label[i - 1].key, set.label[i].key) < 0);
		for (int i = 0; i < 70 - round; i++)
			assert_true(nfd_set_remove(&set, unit_text("a/k%02d", i)));
		assert_false(nfd_set_remove(&set, "a/k00"));
		assert_int_equal(set.count, round);
	}
}

static void copy_leaves_stopped_out(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/a=1\n!a/b=2\n2 a/c=3");
	cleanup_set struct nfd_set copy = { 0 };

	(void)state;
	assert_int_equal(nfd_set_copy(&set, &copy), 0);
	assert_string_equal(labels_text(&copy), "a/a=1\na/c=3\n");
	assert_int_equal(nfd_set_find(&copy, "a/c")->rank, NFD_RANK_DETAIL);
}

static const struct {
	const char *name, *before, *after, *changes;
} change_rows[] = {
	{ "both empty", "", "", "" },
	{ "equal", "a/a=1\na/b=2", "a/a=1\na/b=2", "" },
	{ "added", "", "a/a=1", "+a/a=1 " },
	{ "removed", "a/a=1", "", "-a/a=1 " },
	{ "changed", "a/a=1", "a/a=2", "a/a=1>2 " },
	{ "mixed", "a/a=1\na/c=1\na/e=1", "a/b=1\na/c=2\na/e=1\na/f=1",
	  "-a/a=1 +a/b=1 a/c=1>2 +a/f=1 " },
	{ "stopped before", "!a/a=1", "a/a=1", "+a/a=1 " },
	{ "stopped after", "a/a=1", "!a/a=1", "-a/a=1 " },
	{ "stopped in both", "!a/a=1\na/b=1", "!a/a=2\na/b=1", "" },
	{ "empty value is not absent", "a/a=", "", "-a/a= " },
};

static void walks_changes(void **state)
{
	const __typeof__(change_rows[0]) *row = *state;
	cleanup_set struct nfd_set before = labels_set(row->before);
	cleanup_set struct nfd_set after = labels_set(row->after);
	struct nfd_set_change change;
	size_t cursor[2] = { 0, 0 };
	const char *text = "";

	while (nfd_set_next_change(&before, &after, cursor, &change)) {
		if (!change.before)
			text = unit_text("%s+%s=%s ", text, change.key, change.after);
		else if (!change.after)
			text = unit_text("%s-%s=%s ", text, change.key, change.before);
		else
			text = unit_text("%s%s=%s>%s ", text, change.key, change.before,
					 change.after);
	}
	assert_string_equal(text, row->changes);
	assert_int_equal(nfd_set_equal(&before, &after), !row->changes[0]);
}

int main(void)
{
	struct unit_suite suite = { .name = "set" };

	UNIT_ROWS(&suite, puts_labels, put_rows, name);
	UNIT_ROWS(&suite, put_refuses, illegal_rows, name);
	UNIT_CASE(&suite, put_copies_texts);
	UNIT_CASE(&suite, finds);
	UNIT_CASE(&suite, grows_and_shrinks);
	UNIT_CASE(&suite, copy_leaves_stopped_out);
	UNIT_ROWS(&suite, walks_changes, change_rows, name);
	return unit_run(&suite);
}
