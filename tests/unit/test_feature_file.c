// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/feature_file: when it is on, reading back, when it must be written, write, touch, remove
 * (design 5.1; field cases A3, A4, A5).
 */
#include "config.h"

#include "output/feature_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "output/feature_text.h"
#include "tests/unit/labels.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define NOW_S INT64_C(1767323045) /* 2026-01-02T03:04:05Z */
#define HOUR_S 3600
#define EXPIRY "# +expiry-time=2026-01-02T04:04:05Z\n"

/* Options for the file "f" in "d" of a tree, lifetime one hour. */
static struct nfd_feature_file_options in_tree(const char *tree)
{
	return (struct nfd_feature_file_options){
		.mode = NFD_MODE_AUTO,
		.dir = unit_text("%s/d", tree),
		.name = unit_text("f"),
		.lifetime_ms = HOUR_S * 1000,
	};
}

static const struct {
	const char *name;
	int mode;
	struct tree_entry entry;
	bool is_on;
	const char *why;
} on_rows[] = {
	{ "on without directory", NFD_MODE_ON, DIR_AT("x"), true, "mode is on" },
	{ "off with directory", NFD_MODE_OFF, DIR_AT("d"), false, "mode is off" },
	{ "auto with directory", NFD_MODE_AUTO, DIR_AT("d"), true, "directory exists" },
	{ "auto without", NFD_MODE_AUTO, DIR_AT("x"), false, "does not exist" },
	{ "auto with a file", NFD_MODE_AUTO, FILE_AT("d", ""), false, "does not exist" },
	{ "auto with a link to a directory", NFD_MODE_AUTO, LINK_AT("d", "."), true,
	  "directory exists" },
	{ "auto with a loop", NFD_MODE_AUTO, LINK_AT("d", "d"), false, "does not exist" },
};

static void is_on(void **state)
{
	const __typeof__(on_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	const char *why = NULL;

	tree_fill(tree, entry);
	options.mode = row->mode;
	assert_int_equal(nfd_feature_file_is_on(&options, &why), row->is_on);
	unit_assert_contains(why, row->why);
}

static const struct {
	const char *name;
	struct tree_entry entry;
	int result;
	bool exists;
	const char *labels;
	int64_t expiry_s;
} read_rows[] = {
	{ "no directory", DIR_AT("x"), 0, false, "", 0 },
	{ "no file", DIR_AT("d"), 0, false, "", 0 },
	{ "plain", FILE_AT("d/f", "a/b=1\n"), 0, true, "a/b=1\n", 0 },
	{ "empty", FILE_AT("d/f", ""), 0, true, "", 0 },
	{ "with expiry", FILE_AT("d/f", EXPIRY "a/b=1\n"), 0, true, "a/b=1\n", NOW_S + HOUR_S },
	{ "expired", FILE_AT("d/f", "# +expiry-time=2020-01-01T00:00:00Z\na/b=1\n"), 0, true, "",
	  INT64_C(1577836800) },
	{ "not ours", FILE_AT("d/f", "\xff\xfe nonsense\n"), 0, true, "", 0 },
	{ "fifo", FIFO_AT("d/f"), 0, true, "", 0 },
	{ "directory in its place", DIR_AT("d/f"), -EISDIR, false, "", 0 },
	{ "dangling link", LINK_AT("d/f", "nowhere"), 0, false, "", 0 },
	{ "loop", LINK_AT("d/f", "f"), -ELOOP, false, "", 0 },
	{ "directory is a file", FILE_AT("d", ""), -ENOTDIR, false, "", 0 },
};

static void reads(void **state)
{
	const __typeof__(read_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_feature_file_state file;
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_int_equal(nfd_feature_file_read(&options, NOW_S, &file, &err), row->result);
	assert_int_equal(file.exists, row->exists);
	assert_string_equal(labels_text(&file.labels), row->labels);
	assert_int_equal(file.expiry_s, row->expiry_s);
	assert_int_equal(file.text != NULL, row->exists);
	if (row->result < 0)
		unit_assert_contains(err.text, tree);
	nfd_feature_file_state_done(&file);
}

static void read_knows_the_cap(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_feature_file_state file;

	(void)state;
	tree_file(tree, "d/f", unit_repeat('#', NFD_FEATURE_FILE_MAX));
	assert_int_equal(nfd_feature_file_read(&options, NOW_S, &file, NULL), 0);
	nfd_feature_file_state_done(&file);
	tree_file(tree, "d/f", unit_repeat('#', NFD_FEATURE_FILE_MAX + 1));
	assert_int_equal(nfd_feature_file_read(&options, NOW_S, &file, NULL), -EFBIG);
	assert_false(file.exists);
}

static const struct {
	const char *name, *text; /* on the disk, NULL for no file */
	const char *labels;
	int64_t lifetime_ms, now_s;
	bool needs_write;
} write_rows[] = {
	{ "no file", NULL, "a/b=1", 0, NOW_S, true },
	{ "no file, no labels", NULL, "", 0, NOW_S, true },
	{ "same", "a/b=1\n", "a/b=1", 0, NOW_S, false },
	{ "same, fresh", EXPIRY "a/b=1\n", "a/b=1", 3600000, NOW_S, false },
	{ "A4 one second before half of the lifetime", EXPIRY "a/b=1\n", "a/b=1", 3600000,
	  NOW_S + HOUR_S / 2 - 1, false },
	{ "A4 at half of the lifetime", EXPIRY "a/b=1\n", "a/b=1", 3600000, NOW_S + HOUR_S / 2,
	  true },
	{ "expired", EXPIRY "a/b=1\n", "a/b=1", 3600000, NOW_S + 2 * HOUR_S, true },
	{ "value differs", "a/b=1\n", "a/b=2", 0, NOW_S, true },
	{ "label more", "a/b=1\n", "a/b=1\na/c=1", 0, NOW_S, true },
	{ "label less", "a/b=1\na/c=1\n", "a/b=1", 0, NOW_S, true },
	{ "stopped labels do not count", "a/b=1\n", "a/b=1\n!a/c=1", 0, NOW_S, false },
	{ "other order", "a/c=1\na/b=1\n", "a/b=1\na/c=1", 0, NOW_S, true },
	{ "foreign comment", "# x\na/b=1\n", "a/b=1", 0, NOW_S, true },
	{ "expiry wanted, none there", "a/b=1\n", "a/b=1", 3600000, NOW_S, true },
	{ "expiry there, none wanted", EXPIRY "a/b=1\n", "a/b=1", 0, NOW_S, true },
};

static void needs_write(void **state)
{
	const __typeof__(write_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_feature_file_state file;
	cleanup_set struct nfd_set set = labels_set(row->labels);

	if (row->text)
		tree_file(tree, "d/f", row->text);
	options.lifetime_ms = row->lifetime_ms;
	assert_int_equal(nfd_feature_file_read(&options, row->now_s, &file, NULL), 0);
	assert_int_equal(nfd_feature_file_needs_write(&options, &file, &set, row->now_s),
			 row->needs_write);
	nfd_feature_file_state_done(&file);
}

static void writes(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	cleanup_set struct nfd_set set = labels_set("a/b=1\n!a/c=2");
	struct nfd_feature_file_report report = { 0 };
	struct nfd_feature_file_state file;

	(void)state;
	assert_int_equal(nfd_feature_file_prepare(&options, &report, NULL), 0);
	assert_true(report.made_dir);
	assert_int_equal(nfd_feature_file_prepare(&options, &report, NULL), 0);
	assert_false(report.made_dir);
	assert_int_equal(nfd_feature_file_write(&options, &set, NOW_S, &report, NULL), 0);
	assert_string_equal(tree_read(tree, "d/f"), EXPIRY "a/b=1\n");
	assert_int_equal(report.labels, 1);
	assert_int_equal(report.left_out, 0);
	assert_int_equal(report.expiry_s, NOW_S + HOUR_S);
	assert_int_equal(nfd_feature_file_read(&options, NOW_S, &file, NULL), 0);
	assert_false(nfd_feature_file_needs_write(&options, &file, &set, NOW_S));
	nfd_feature_file_state_done(&file);
}

static void writes_without_lifetime(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_set set = { 0 };
	struct nfd_feature_file_report report = { 0 };

	(void)state;
	options.lifetime_ms = 0;
	assert_int_equal(nfd_feature_file_prepare(&options, &report, NULL), 0);
	assert_int_equal(nfd_feature_file_write(&options, &set, NOW_S, &report, NULL), 0);
	assert_string_equal(tree_read(tree, "d/f"), "");
	assert_int_equal(report.expiry_s, 0);
}

static void prepare_makes_all_folders(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_feature_file_report report = { 0 };
	mode_t mask = umask(077);
	struct stat st;

	(void)state;
	options.dir = unit_text("%s/a/b/c", tree);
	assert_int_equal(nfd_feature_file_prepare(&options, &report, NULL), 0);
	umask(mask);
	assert_int_equal(stat(options.dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(stat(tree_path(tree, "a/b/c/" NFD_STAGING_DIR), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void follows_a_linked_directory(void **state)
{
	const struct tree_entry entry[] = { DIR_AT("real"), LINK_AT("d", "real"), { 0 } };
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_set set = { 0 };
	struct nfd_feature_file_report report = { 0 };
	struct stat st;

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_feature_file_prepare(&options, &report, NULL), 0);
	assert_int_equal(nfd_feature_file_write(&options, &set, NOW_S, &report, NULL), 0);
	assert_non_null(tree_read(tree, "real/f"));
	assert_int_equal(lstat(tree_path(tree, "d"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void a5_errors_name_the_path(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_set set = { 0 };
	struct nfd_feature_file_report report = { 0 };
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_feature_file_write(&options, &set, NOW_S, &report, &err), -ENOENT);
	unit_assert_contains(err.text, options.dir);
	assert_int_equal(nfd_feature_file_touch(&options, &err), -ENOENT);
	tree_file(tree, "file", "");
	options.dir = unit_text("%s/file/d", tree);
	assert_int_equal(nfd_feature_file_prepare(&options, &report, &err), -ENOTDIR);
	unit_assert_contains(err.text, options.dir);
	options.dir = unit_repeat('a', 5000);
	assert_int_equal(nfd_feature_file_prepare(&options, &report, &err), -ENAMETOOLONG);
}

static void write_makes_the_staging_folder_again(void **state)
{
	const struct tree_entry entry[] = { DIR_AT("d"), { 0 } };
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct nfd_set set = { 0 };
	struct nfd_feature_file_report report = { 0 };

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_feature_file_write(&options, &set, NOW_S, &report, NULL), 0);
	assert_non_null(tree_read(tree, "d/f"));
}

static void touch_changes_the_time_alone(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct stat st;

	(void)state;
	tree_file(tree, "d/f", "a/b=1\n");
	assert_int_equal(utimensat(-1, tree_path(tree, "d/f"), old, 0), 0);
	assert_int_equal(nfd_feature_file_touch(&options, NULL), 0);
	assert_int_equal(stat(tree_path(tree, "d/f"), &st), 0);
	assert_true(st.st_mtim.tv_sec > 1);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
}

static void remove_takes_only_ours(void **state)
{
	const char *tree = tree_new();
	struct nfd_feature_file_options options = in_tree(tree);

	(void)state;
	assert_int_equal(nfd_feature_file_remove(&options, NULL), 0);
	assert_int_equal(nfd_feature_file_remove_staging(&options, NULL), 0);
	tree_file(tree, "d/f", "a/b=1\n");
	tree_file(tree, "d/gfd", "kept");
	tree_file(tree, "d/" NFD_STAGING_DIR "/x", "");
	assert_int_equal(nfd_feature_file_remove(&options, NULL), 1);
	assert_int_equal(nfd_feature_file_remove(&options, NULL), 0);
	assert_string_equal(tree_list(tree, "d"), NFD_STAGING_DIR " gfd ");
	assert_int_equal(nfd_feature_file_remove_staging(&options, NULL), 1);
	assert_int_equal(nfd_feature_file_remove_staging(&options, NULL), 0);
	assert_string_equal(tree_list(tree, "d"), "gfd ");
}

int main(void)
{
	struct unit_suite suite = { .name = "feature_file" };

	UNIT_ROWS(&suite, is_on, on_rows, name);
	UNIT_ROWS(&suite, reads, read_rows, name);
	UNIT_CASE(&suite, read_knows_the_cap);
	UNIT_ROWS(&suite, needs_write, write_rows, name);
	UNIT_CASE(&suite, writes);
	UNIT_CASE(&suite, writes_without_lifetime);
	UNIT_CASE(&suite, prepare_makes_all_folders);
	UNIT_CASE(&suite, follows_a_linked_directory);
	UNIT_CASE(&suite, a5_errors_name_the_path);
	UNIT_CASE(&suite, write_makes_the_staging_folder_again);
	UNIT_CASE(&suite, touch_changes_the_time_alone);
	UNIT_CASE(&suite, remove_takes_only_ours);
	return unit_run(&suite);
}
