// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch/file_watch: names in folders, folders that come and go. inotify queues an event before the
 * call that causes it returns, so nothing waits.
 */
#include "config.h"

#include "watch/file_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define LIBRARY 1
#define OUTPUT 2

static struct nfd_file_watch make_watch(void)
{
	struct nfd_file_watch watch;

	assert_int_equal(nfd_file_watch_init(&watch, NULL), 0);
	return watch;
}

/* Reads and compares. */
static void expect(struct nfd_file_watch *watch, uint32_t concerns, bool tree_changed)
{
	struct nfd_file_events events;

	nfd_file_watch_read(watch, &events);
	assert_int_equal(events.concerns, concerns);
	assert_int_equal(events.tree_changed, tree_changed);
	assert_false(events.lost);
}

static void tells_of_wanted_names(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(nfd_file_watch_add(&watch, tree, "lib", LIBRARY), 0);
	expect(&watch, 0, false);
	tree_file(tree, "lib.so", "x");
	expect(&watch, LIBRARY, false);
	expect(&watch, 0, false);
	tree_file(tree, "other", "x");
	expect(&watch, 0, false);
	assert_int_equal(rename(tree_path(tree, "other"), tree_path(tree, "lib.so")), 0);
	expect(&watch, LIBRARY, false);
	assert_int_equal(unlink(tree_path(tree, "lib.so")), 0);
	expect(&watch, LIBRARY, false);
	nfd_file_watch_done(&watch);
}

static void tells_of_any_name_but_dot_names(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(nfd_file_watch_add(&watch, tree, "", LIBRARY), 0);
	assert_int_equal(nfd_file_watch_add(&watch, tree, "own", OUTPUT), 0);
	tree_file(tree, ".hidden", "x");
	expect(&watch, 0, false);
	assert_int_equal(rename(tree_path(tree, ".hidden"), tree_path(tree, "a")), 0);
	expect(&watch, LIBRARY, false);
	tree_file(tree, "own", "x");
	expect(&watch, LIBRARY | OUTPUT, false);
	assert_int_equal(unlink(tree_path(tree, "a")), 0);
	expect(&watch, LIBRARY, false);
	nfd_file_watch_done(&watch);
}

static void touch_is_no_change(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	tree_file(tree, "f", "x");
	assert_int_equal(nfd_file_watch_add(&watch, tree, "f", OUTPUT), 0);
	assert_int_equal(utimensat(AT_FDCWD, tree_path(tree, "f"), NULL, 0), 0);
	expect(&watch, 0, false);
	nfd_file_watch_done(&watch);
}

/* The kernel gives one number a folder: both wishes must be asked. */
static void two_wishes_in_one_folder(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(nfd_file_watch_add(&watch, tree, "a", LIBRARY), 0);
	assert_int_equal(nfd_file_watch_add(&watch, tree, "b", OUTPUT), 0);
	tree_file(tree, "a", "");
	expect(&watch, LIBRARY, false);
	tree_file(tree, "b", "");
	expect(&watch, OUTPUT, false);
	tree_file(tree, "a", "");
	tree_file(tree, "b", "");
	expect(&watch, LIBRARY | OUTPUT, false);
	nfd_file_watch_done(&watch);
}

static void missing_folder_is_waited_for(void **state)
{
	const char *tree = tree_new();
	const char *dir = tree_path(tree, "a/b/c");
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(nfd_file_watch_add(&watch, dir, "lib", LIBRARY), 0);
	tree_file(tree, "zzz", "");
	expect(&watch, 0, false);
	assert_int_equal(mkdir(tree_path(tree, "a"), 0755), 0);
	expect(&watch, 0, true);
	nfd_file_watch_clear(&watch);
	assert_int_equal(mkdir(tree_path(tree, "a/b"), 0755), 0);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(nfd_file_watch_add(&watch, dir, "lib", LIBRARY), 0);
	expect(&watch, 0, false); /* what the cleared watches had to say is of no interest */
	tree_file(tree, "a/b/c/lib.so", "");
	expect(&watch, LIBRARY, false);
	nfd_file_watch_done(&watch);
}

static void folder_that_goes_is_told(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(mkdir(tree_path(tree, "d"), 0755), 0);
	assert_int_equal(nfd_file_watch_add(&watch, tree_path(tree, "d"), "f", OUTPUT), 0);
	assert_int_equal(rmdir(tree_path(tree, "d")), 0);
	expect(&watch, OUTPUT, true);
	nfd_file_watch_done(&watch);
}

static void places_are_limited(void **state)
{
	const char *tree = tree_new();
	struct nfd_file_watch watch = make_watch();

	(void)state;
	assert_int_equal(nfd_file_watch_add(&watch, tree, unit_repeat('n', 64), 1), -ENAMETOOLONG);
	for (int i = 0; i < NFD_FILE_WATCHES_MAX; i++)
		assert_int_equal(nfd_file_watch_add(&watch, tree, unit_repeat('n', 63), 1), 0);
	assert_int_equal(nfd_file_watch_add(&watch, tree, "n", 1), -ENOSPC);
	nfd_file_watch_clear(&watch);
	assert_int_equal(nfd_file_watch_add(&watch, tree, "n", 1), 0);
	nfd_file_watch_done(&watch);
	nfd_file_watch_done(&watch);
	assert_int_equal(nfd_file_watch_add(&watch, tree, "n", 1), -EBADF);
}

int main(void)
{
	struct unit_suite suite = { .name = "file_watch" };

	UNIT_CASE(&suite, tells_of_wanted_names);
	UNIT_CASE(&suite, tells_of_any_name_but_dot_names);
	UNIT_CASE(&suite, touch_is_no_change);
	UNIT_CASE(&suite, two_wishes_in_one_folder);
	UNIT_CASE(&suite, missing_folder_is_waited_for);
	UNIT_CASE(&suite, folder_that_goes_is_told);
	UNIT_CASE(&suite, places_are_limited);
	return unit_run(&suite);
}
