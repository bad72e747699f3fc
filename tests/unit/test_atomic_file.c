// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/atomic_file: staged, renamed, swept; each failure leaves the old file and no other.
 */
#include "config.h"

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

/* A file "final" in a tree, staged in ".stage". */
static struct nfd_atomic_file in_tree(const char *tree)
{
	int dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(dirfd >= 0);
	return (struct nfd_atomic_file){
		.dirfd = dirfd, .dir = tree, .staging = ".stage", .name = "final", .mode = 0644
	};
}

static mode_t mode_of(const char *tree, const char *path)
{
	struct stat st;

	assert_int_equal(lstat(tree_path(tree, path), &st), 0);
	return st.st_mode & 07777;
}

static void prepare_makes_the_folder(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	mode_t mask = umask(077);

	(void)state;
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 0);
	umask(mask);
	assert_int_equal(mode_of(tree, ".stage"), 0700);
	close(file.dirfd);
}

static void prepare_sweeps_leftovers(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	int writer;

	(void)state;
	tree_file(tree, ".stage/.final.01234567", "half");
	tree_file(tree, ".stage/other", "half");
	writer = open(tree_path(tree, ".stage"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(writer >= 0);
	assert_int_equal(flock(writer, LOCK_SH), 0);
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 0);
	assert_string_equal(tree_list(tree, ".stage"), ".final.01234567 other ");
	close(writer);
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 0);
	assert_string_equal(tree_list(tree, ".stage"), "");
	close(file.dirfd);
}

static const struct {
	const char *name;
	struct tree_entry entry;
} no_folder_rows[] = {
	{ "file", FILE_AT(".stage", "x") },
	{ "link to a folder", LINK_AT(".stage", "other") },
	{ "dangling link", LINK_AT(".stage", "nowhere") },
	{ "fifo", FIFO_AT(".stage") },
};

static void prepare_refuses(void **state)
{
	const __typeof__(no_folder_rows[0]) *row = *state;
	const struct tree_entry entry[] = { FILE_AT("other/kept", "x"), row->entry, { 0 } };
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_int_equal(nfd_atomic_file_prepare(&file, &err), -ENOTDIR);
	unit_assert_contains(err.text, "/.stage\"");
	assert_string_equal(tree_read(tree, "other/kept"), "x");
	close(file.dirfd);
}

static void writes_whatever_the_umask(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	mode_t mask = umask(077);

	(void)state;
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_write(&file, "old", 3, NULL), 0);
	assert_int_equal(nfd_atomic_file_write(&file, "new text", 8, NULL), 0);
	umask(mask);
	assert_string_equal(tree_read(tree, "final"), "new text");
	assert_int_equal(mode_of(tree, "final"), 0644);
	assert_string_equal(tree_list(tree, ".stage"), "");
	assert_string_equal(tree_list(tree, "."), ".stage final ");
	close(file.dirfd);
}

static void writes_empty_and_large(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	const char *large = unit_repeat('x', 1000000);

	(void)state;
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_write(&file, "", 0, NULL), 0);
	assert_string_equal(tree_read(tree, "final"), "");
	assert_int_equal(nfd_atomic_file_write(&file, large, 1000000, NULL), 0);
	assert_string_equal(tree_read(tree, "final"), large);
	close(file.dirfd);
}

static void a2_write_is_one_event(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event = (const void *)buf;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ssize_t len;

	(void)state;
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_true(inotify_add_watch(fd, tree,
				      IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVE) >=
		    0);
	assert_int_equal(nfd_atomic_file_write(&file, "text", 4, NULL), 0);
	len = read(fd, buf, sizeof(buf));
	assert_int_equal(len, sizeof(*event) + event->len);
	assert_int_equal(event->mask, IN_MOVED_TO);
	assert_string_equal(event->name, "final");
	close(fd);
	close(file.dirfd);
}

static void stages_beside_the_target(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);

	(void)state;
	file.staging = NULL;
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 0);
	assert_int_equal(nfd_atomic_file_write(&file, "text", 4, NULL), 0);
	assert_string_equal(tree_list(tree, "."), "final ");
	assert_int_equal(nfd_atomic_file_remove(&file, NULL), 1);
	assert_string_equal(tree_list(tree, "."), "");
	close(file.dirfd);
}

static void failed_write_leaves_nothing(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	struct nfd_error err = { 0 };

	(void)state;
	tree_file(tree, "final/kept", "x"); /* a folder cannot be replaced by a file */
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_write(&file, "text", 4, &err), -EISDIR);
	unit_assert_contains(err.text, "/final\"");
	assert_string_equal(tree_list(tree, ".stage"), "");
	assert_string_equal(tree_read(tree, "final/kept"), "x");
	close(file.dirfd);
}

static void write_without_the_folder_fails(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);

	(void)state;
	tree_file(tree, "final", "old");
	assert_int_equal(nfd_atomic_file_write(&file, "text", 4, NULL), -ENOENT);
	assert_string_equal(tree_read(tree, "final"), "old");
	assert_string_equal(tree_list(tree, "."), "final ");
	close(file.dirfd);
}

static void write_replaces_a_link_not_its_target(void **state)
{
	const struct tree_entry entry[] = {
		FILE_AT("target", "old"), LINK_AT("final", "target"), DIR_AT(".stage"), { 0 }
	};
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_atomic_file_write(&file, "new", 3, NULL), 0);
	assert_string_equal(tree_read(tree, "target"), "old");
	assert_string_equal(tree_read(tree, "final"), "new");
	close(file.dirfd);
}

static void remove_is_safe_to_repeat(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);

	(void)state;
	tree_file(tree, "neighbour", "kept");
	assert_int_equal(nfd_atomic_file_remove(&file, NULL), 0);
	assert_int_equal(nfd_atomic_file_prepare(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_write(&file, "text", 4, NULL), 0);
	tree_file(tree, ".stage/leftover", "");
	assert_int_equal(nfd_atomic_file_remove(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_remove(&file, NULL), 0);
	assert_string_equal(tree_list(tree, "."), ".stage neighbour ");
	assert_int_equal(nfd_atomic_file_remove_staging(&file, NULL), 1);
	assert_int_equal(nfd_atomic_file_remove_staging(&file, NULL), 0);
	assert_string_equal(tree_list(tree, "."), "neighbour ");
	close(file.dirfd);
}

static void remove_of_a_folder_fails(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	struct nfd_error err = { 0 };

	(void)state;
	tree_file(tree, "final/kept", "x");
	assert_true(nfd_atomic_file_remove(&file, &err) < 0);
	unit_assert_contains(err.text, "/final\"");
	assert_string_equal(tree_read(tree, "final/kept"), "x");
	close(file.dirfd);
}

/* The place of the staging folder is taken by something else, or it holds what is not ours. */
static void remove_staging_refuses(void **state)
{
	const __typeof__(no_folder_rows[0]) *row = *state;
	const struct tree_entry entry[] = { FILE_AT("other/kept", "x"), row->entry, { 0 } };
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_true(nfd_atomic_file_remove_staging(&file, &err) < 0);
	unit_assert_contains(err.text, tree);
	assert_string_equal(tree_read(tree, "other/kept"), "x");
	close(file.dirfd);
}

static void remove_staging_keeps_folders(void **state)
{
	const char *tree = tree_new();
	struct nfd_atomic_file file = in_tree(tree);

	(void)state;
	tree_file(tree, ".stage/folder/kept", "x");
	assert_int_equal(nfd_atomic_file_remove_staging(&file, NULL), -ENOTEMPTY);
	assert_string_equal(tree_read(tree, ".stage/folder/kept"), "x");
	close(file.dirfd);
}

int main(void)
{
	struct unit_suite suite = { .name = "atomic_file" };

	UNIT_CASE(&suite, prepare_makes_the_folder);
	UNIT_CASE(&suite, prepare_sweeps_leftovers);
	UNIT_ROWS(&suite, prepare_refuses, no_folder_rows, name);
	UNIT_CASE(&suite, writes_whatever_the_umask);
	UNIT_CASE(&suite, writes_empty_and_large);
	UNIT_CASE(&suite, a2_write_is_one_event);
	UNIT_CASE(&suite, stages_beside_the_target);
	UNIT_CASE(&suite, failed_write_leaves_nothing);
	UNIT_CASE(&suite, write_without_the_folder_fails);
	UNIT_CASE(&suite, write_replaces_a_link_not_its_target);
	UNIT_CASE(&suite, remove_is_safe_to_repeat);
	UNIT_CASE(&suite, remove_of_a_folder_fails);
	UNIT_ROWS(&suite, remove_staging_refuses, no_folder_rows, name);
	UNIT_CASE(&suite, remove_staging_keeps_folders);
	return unit_run(&suite);
}
