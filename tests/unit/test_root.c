// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/root: reads below one directory. Every case runs with openat2 and with the walk that stands
 * in for it.
 */
#include "config.h"

#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

static const struct tree_entry host[] = {
	FILE_AT("secret", "outside"), /* beside the root, which is "root" */
	FILE_AT("root/file", " text\n"),
	FILE_AT("root/empty", ""),
	FILE_AT("root/no-newline", "text"),
	FILE_AT("root/blank", " \n\t\n"),
	FILE_AT("root/seven", "1234567"),
	FILE_AT("root/eight", "12345678"),
	FILE_AT("root/binary", "\xff\xfe"),
	FILE_AT("root/dir/inner", "inner"),
	LINK_AT("root/link", "file"),
	LINK_AT("root/absolute", "/dir/inner"),
	LINK_AT("root/dir/up", "../file"),
	LINK_AT("root/dir/from-the-top", "/dir/inner"),
	LINK_AT("root/dirlink", "dir"),
	LINK_AT("root/chain", "dirlink/up"),
	LINK_AT("root/escape", "../secret"),
	LINK_AT("root/escape-far", "../../../../../../../../../../secret"),
	LINK_AT("root/escape-absolute", "/../secret"),
	LINK_AT("root/secret-inside", "/../../dir/../file"),
	LINK_AT("root/dangling", "nowhere"),
	LINK_AT("root/loop", "loop"),
	LINK_AT("root/loop-a", "loop-b"),
	LINK_AT("root/loop-b", "loop-a"),
	LINK_AT("root/through-file", "file/x"),
	FIFO_AT("root/fifo"),
	{ 0 },
};

static struct nfd_root *make_root(bool no_openat2)
{
	const char *tree = tree_new();

	tree_fill(tree, host);
	return tree_root(tree_path(tree, "root"), no_openat2);
}

struct read_row {
	const char *path;
	ssize_t result;
	const char *text;
};

/* nfd_root_read_line() with room for seven bytes. */
static const struct read_row line_rows[] = {
	{ "file", 4, "text" },
	{ "no-newline", 4, "text" },
	{ "empty", 0, "" },
	{ "blank", 0, "" },
	{ "seven", 7, "1234567" },
	{ "eight", -EFBIG, NULL },
	{ "binary", 2, "\xff\xfe" },
	{ "link", 4, "text" },
	{ "absolute", 5, "inner" },
	{ "dir/up", 4, "text" },
	{ "dirlink/up", 4, "text" },
	{ "dirlink/from-the-top", 5, "inner" },
	{ "chain", 4, "text" },
	{ "dir/../file", 4, "text" },
	{ "./file", 4, "text" },
	{ "dir//inner", 5, "inner" },
	{ "../file", 4, "text" },
	{ "escape", -ENOENT, NULL },
	{ "escape-far", -ENOENT, NULL },
	{ "escape-absolute", -ENOENT, NULL },
	{ "../secret", -ENOENT, NULL },
	{ "secret-inside", 4, "text" },
	{ "dangling", -ENOENT, NULL },
	{ "nowhere", -ENOENT, NULL },
	{ "nowhere/file", -ENOENT, NULL },
	{ "file/x", -ENOTDIR, NULL },
	{ "through-file", -ENOTDIR, NULL },
	{ "loop", -ELOOP, NULL },
	{ "loop-a", -ELOOP, NULL },
	{ "loop/x", -ELOOP, NULL },
	{ "fifo", 0, "" },
	{ "dir", -EISDIR, NULL },
};

static void check_line(const struct read_row *row, bool no_openat2)
{
	char buf[8];

	assert_int_equal(nfd_root_read_line(make_root(no_openat2), row->path, buf, sizeof(buf)),
			 row->result);
	if (row->text)
		assert_string_equal(buf, row->text);
}

static void reads_line(void **state)
{
	check_line(*state, false);
}

static void reads_line_by_walk(void **state)
{
	check_line(*state, true);
}

/* nfd_root_resolve() of the same tree. */
static const struct {
	const char *path;
	int result;
	const char *real;
} resolve_rows[] = {
	{ "", 0, "" },
	{ ".", 0, "" },
	{ "..", 0, "" },
	{ "file", 0, "file" },
	{ "/file", 0, "file" },
	{ "link", 0, "file" },
	{ "absolute", 0, "dir/inner" },
	{ "chain", 0, "file" },
	{ "dirlink/inner", 0, "dir/inner" },
	{ "dirlink/", 0, "dir" },
	{ "secret-inside", 0, "file" },
	{ "escape", -ENOENT, NULL },
	{ "dangling", -ENOENT, NULL },
	{ "loop", -ELOOP, NULL },
	{ "loop-b", -ELOOP, NULL },
	{ "file/x", -ENOTDIR, NULL },
};

static void resolves(void **state)
{
	const __typeof__(resolve_rows[0]) *row = *state;
	char real[PATH_MAX];

	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		assert_int_equal(nfd_root_resolve(make_root(no_openat2), row->path, real,
						  sizeof(real)),
				 row->result);
		if (row->real)
			assert_string_equal(real, row->real);
	}
}

static void resolve_knows_its_buffer(void **state)
{
	struct nfd_root *root = make_root(false);
	char real[6];

	(void)state;
	assert_int_equal(nfd_root_resolve(root, "link", real, 6), 0);
	assert_int_equal(nfd_root_resolve(root, "link", real, 4), -ENAMETOOLONG);
	assert_int_equal(nfd_root_resolve(root, "link", real, 0), -ENAMETOOLONG);
	assert_int_equal(nfd_root_resolve(root, unit_repeat('a', PATH_MAX), real, sizeof(real)),
			 -ENAMETOOLONG);
}

/* Forty links are followed, one more is a loop. */
static void counts_links(void **state)
{
	const char *tree = tree_new();
	struct nfd_root *root = tree_root(tree, true);
	char buf[8];

	(void)state;
	tree_file(tree, "l0", "end");
	for (int i = 1; i <= 41; i++)
		assert_int_equal(symlink(unit_text("l%d", i - 1),
					 tree_path(tree, unit_text("l%d", i))),
				 0);
	assert_int_equal(nfd_root_read(root, "l40", buf, sizeof(buf)), 3);
	assert_int_equal(nfd_root_read(root, "l41", buf, sizeof(buf)), -ELOOP);
	root = tree_root(tree, false);
	assert_int_equal(nfd_root_read(root, "l40", buf, sizeof(buf)), 3);
	assert_int_equal(nfd_root_read(root, "l41", buf, sizeof(buf)), -ELOOP);
}

static void link_to_a_long_rest_is_refused(void **state)
{
	const char *tree = tree_new();
	char buf[8];

	(void)state;
	assert_int_equal(symlink(unit_repeat('/', PATH_MAX - 2), tree_path(tree, "long")), 0);
	assert_int_equal(nfd_root_read(tree_root(tree, true), "long/and/more", buf, sizeof(buf)),
			 -ENAMETOOLONG);
}

static void read_keeps_nul_bytes(void **state)
{
	const char *tree = tree_new();
	char buf[8];

	(void)state;
	tree_bytes(tree, "nul", "a\0b\n", 4);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		struct nfd_root *root = tree_root(tree, no_openat2);

		assert_int_equal(nfd_root_read(root, "nul", buf, sizeof(buf)), 4);
		assert_memory_equal(buf, "a\0b\n", 5);
		assert_int_equal(nfd_root_read_line(root, "nul", buf, sizeof(buf)), 1);
		assert_string_equal(buf, "a");
	}
}

/* A writer that says nothing must not make a FIFO a fault: it reads as empty, as without a writer. */
static void fifo_with_a_silent_writer_is_empty(void **state)
{
	struct nfd_root *root = make_root(false);
	char *data = NULL;
	char buf[8];
	int fd = openat(root->fd, "fifo", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(nfd_root_read_start(root, "fifo", buf, sizeof(buf)), 0);
	assert_int_equal(nfd_root_read_alloc(root, "fifo", 100, &data), 0);
	free(data);
	assert_int_equal(nfd_root_read(root, "fifo", buf, sizeof(buf)), 0);
	close(fd);
}

static void reads_start(void **state)
{
	struct nfd_root *root = make_root(false);
	char buf[4];

	(void)state;
	assert_int_equal(nfd_root_read_start(root, "eight", buf, sizeof(buf)), 4);
	assert_memory_equal(buf, "1234", 4);
	assert_int_equal(nfd_root_read_start(root, "empty", buf, sizeof(buf)), 0);
	assert_int_equal(nfd_root_read_start(root, "nowhere", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(nfd_root_read_start(root, "fifo", buf, sizeof(buf)), 0);
}

static const struct {
	const char *name;
	size_t size, max;
	ssize_t result;
} alloc_rows[] = {
	{ "empty", 0, 0, 0 },
	{ "at the cap", 10, 10, 10 },
	{ "over the cap", 11, 10, -EFBIG },
	{ "one block short", 4095, 100000, 4095 },
	{ "one block", 4096, 100000, 4096 },
	{ "one block and a byte", 4097, 100000, 4097 },
	{ "many blocks at the cap", 100000, 100000, 100000 },
	{ "many blocks over the cap", 100001, 100000, -EFBIG },
};

static void reads_alloc(void **state)
{
	const __typeof__(alloc_rows[0]) *row = *state;
	const char *tree = tree_new();
	const char *text = unit_repeat('z', row->size);
	char *data = NULL;

	tree_file(tree, "file", text);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		assert_int_equal(nfd_root_read_alloc(tree_root(tree, no_openat2), "file", row->max,
						     &data),
				 row->result);
		if (row->result >= 0)
			assert_string_equal(data, text);
		else
			assert_null(data);
		free(data);
		data = NULL;
	}
}

/* Of "12345678": as many bytes as are wanted, from the end. */
static void reads_end(void **state)
{
	struct nfd_root *root = make_root(false);
	char *data = NULL;

	(void)state;
	assert_int_equal(nfd_root_read_end(root, "eight", 3, &data), 3);
	assert_string_equal(data, "678");
	free(data);
	assert_int_equal(nfd_root_read_end(root, "eight", 8, &data), 8);
	assert_string_equal(data, "12345678");
	free(data);
	assert_int_equal(nfd_root_read_end(root, "eight", 1000, &data), 8);
	free(data);
	assert_int_equal(nfd_root_read_end(root, "empty", 3, &data), 0);
	assert_string_equal(data, "");
	free(data);
	assert_int_equal(nfd_root_read_end(root, "nowhere", 3, &data), -ENOENT);
	assert_int_equal(nfd_root_read_end(root, "dir", 3, &data), -EISDIR);
}

static void reads_regular_files_alone(void **state)
{
	(void)state;
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		struct nfd_root *root = make_root(no_openat2);
		char *data = NULL;

		assert_int_equal(nfd_root_read_regular(root, "eight", 8, &data), 8);
		assert_string_equal(data, "12345678");
		free(data);
		data = NULL;
		assert_int_equal(symlinkat("eight", root->fd, "to-eight"), 0);
		assert_int_equal(symlinkat("nothing", root->fd, "to-nothing"), 0);
		assert_int_equal(nfd_root_read_regular(root, "to-eight", 8, &data), 8);
		free(data);
		data = NULL;
		assert_int_equal(nfd_root_read_regular(root, "eight", 7, &data), -EFBIG);
		assert_int_equal(nfd_root_read_regular(root, "nowhere", 8, &data), -ENOENT);
		assert_int_equal(nfd_root_read_regular(root, "to-nothing", 8, &data), -ENOENT);
		assert_int_equal(nfd_root_read_regular(root, "dir", 8, &data), -ENXIO);
		assert_int_equal(nfd_root_read_regular(root, "fifo", 8, &data), -ENXIO);
		assert_null(data);
	}
}

static const struct {
	const char *name, *target;
	ssize_t result;
	const char *base;
} link_rows[] = {
	{ "driver", "../../../bus/pci/drivers/nvidia", 6, "nvidia" },
	{ "plain", "nvidia", 6, "nvidia" },
	{ "absolute", "/a/b", 1, "b" },
	{ "dangling is fine", "nowhere/x", 1, "x" },
	{ "slash at the end", "a/", 0, "" },
	{ "just fits", "a/1234567", 7, "1234567" },
	{ "one too long", "a/12345678", -ENAMETOOLONG, NULL },
};

static void reads_link(void **state)
{
	const __typeof__(link_rows[0]) *row = *state;
	const struct tree_entry entry[] = { LINK_AT("folder/link", row->target),
					    LINK_AT("to-folder", "folder"),
					    { 0 } };
	const char *tree = tree_new();
	char buf[8];

	tree_fill(tree, entry);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		struct nfd_root *root = tree_root(tree, no_openat2);

		assert_int_equal(nfd_root_read_link(root, "to-folder/link", buf, sizeof(buf)),
				 row->result);
		if (row->base)
			assert_string_equal(buf, row->base);
	}
}

static void read_link_wants_a_link(void **state)
{
	char buf[8];

	(void)state;
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		struct nfd_root *root = make_root(no_openat2);

		assert_int_equal(nfd_root_read_link(root, "file", buf, sizeof(buf)), -EINVAL);
		assert_int_equal(nfd_root_read_link(root, "dir", buf, sizeof(buf)), -EINVAL);
		assert_int_equal(nfd_root_read_link(root, "nowhere", buf, sizeof(buf)), -ENOENT);
		assert_int_equal(nfd_root_read_link(root, "loop/x", buf, sizeof(buf)), -ELOOP);
	}
}

static const struct {
	const char *path;
	int result;
} exists_rows[] = {
	{ "file", 1 },     { "dir", 1 },    { "link", 1 },   { "fifo", 1 },      { "nowhere", 0 },
	{ "dangling", 0 }, { "file/x", 0 }, { "escape", 0 }, { "loop", -ELOOP },
};

static void exists(void **state)
{
	const __typeof__(exists_rows[0]) *row = *state;

	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++)
		assert_int_equal(nfd_root_exists(make_root(no_openat2), row->path), row->result);
}

static void list_is_sorted(void **state)
{
	static const char *const expected[] = { ".hidden", "A", "a", "b", "c" };
	const struct tree_entry entry[] = { FILE_AT("d/b", ""),       FILE_AT("d/A", ""),
					    FILE_AT("d/c", ""),       FILE_AT("d/a", ""),
					    FILE_AT("d/.hidden", ""), { 0 } };
	const char *tree = tree_new();

	(void)state;
	tree_fill(tree, entry);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		cleanup_names struct nfd_names names = { 0 };

		assert_int_equal(nfd_root_list(tree_root(tree, no_openat2), "d", &names), 0);
		assert_int_equal(names.count, NFD_ARRAY_SIZE(expected));
		for (size_t i = 0; i < names.count; i++)
			assert_string_equal(names.name[i], expected[i]);
	}
}

static void list_failures_leave_the_result(void **state)
{
	(void)state;
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		struct nfd_root *root = make_root(no_openat2);
		struct nfd_names names = { .count = 42 };

		assert_int_equal(nfd_root_list(root, "nowhere", &names), -ENOENT);
		assert_int_equal(nfd_root_list(root, "file", &names), -ENOTDIR);
		assert_int_equal(nfd_root_list(root, "loop", &names), -ELOOP);
		assert_int_equal(nfd_root_list(root, "escape", &names), -ENOENT);
		assert_int_equal(names.count, 42);
	}
}

static void list_of_empty_folder(void **state)
{
	const struct tree_entry entry[] = { DIR_AT("d"), { 0 } };
	const char *tree = tree_new();
	struct nfd_names names = { 0 };

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_root_list(tree_root(tree, false), "d", &names), 0);
	assert_int_equal(names.count, 0);
	nfd_names_done(&names);
	nfd_names_done(&names);
}

static void open_and_close(void **state)
{
	const char *tree = tree_new();
	struct nfd_error err = { 0 };
	struct nfd_root root = { 0 };

	(void)state;
	nfd_root_close(&root); /* a zeroed one owns no descriptor, not even 0 */
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
	tree_file(tree, "file", "");
	assert_int_equal(nfd_root_open(&root, tree_path(tree, "nowhere"), &err), -ENOENT);
	unit_assert_contains(err.text, "nowhere\"");
	nfd_root_close(&root);
	assert_int_equal(nfd_root_open(&root, tree_path(tree, "file"), &err), -ENOTDIR);
	nfd_root_close(&root);
	assert_int_equal(nfd_root_open(&root, tree, &err), 0);
	nfd_root_close(&root);
	nfd_root_close(&root);
	assert_int_equal(root.fd, -1);
}

static const struct {
	const char *name;
	int code;
	bool absent;
} absent_rows[] = {
	{ "ENOENT", -ENOENT, true }, { "ENOTDIR", -ENOTDIR, true }, { "ENODEV", -ENODEV, true },
	{ "ENXIO", -ENXIO, true },   { "EIO", -EIO, false },        { "EACCES", -EACCES, false },
	{ "ELOOP", -ELOOP, false },  { "EPERM", -EPERM, false },    { "EFBIG", -EFBIG, false },
	{ "success", 0, false },     { "positive", ENOENT, false },
};

static void absent(void **state)
{
	const __typeof__(absent_rows[0]) *row = *state;

	assert_int_equal(nfd_root_is_absent(row->code), row->absent);
}

/* What the observer was told, as one text. */
static void note(void *cookie, enum nfd_read_kind kind, const char *path, const char *data,
		 size_t len)
{
	const char **text = cookie;

	*text = unit_text("%s%c %s %.*s\n", *text, "FLD"[kind], path,
			  kind == NFD_READ_DIR ? 0 : (int)len, data ? data : "");
}

static void observer_is_told(void **state)
{
	struct nfd_root *root = make_root(false);
	cleanup_names struct nfd_names names = { 0 };
	const char *told = "";
	char buf[16];

	(void)state;
	root->observer = note;
	root->observer_cookie = &told;
	assert_int_equal(nfd_root_read(root, "seven", buf, sizeof(buf)), 7);
	assert_int_equal(nfd_root_read_link(root, "link", buf, sizeof(buf)), 4);
	assert_int_equal(nfd_root_list(root, "dir", &names), 0);
	assert_int_equal(nfd_root_read(root, "nowhere", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(nfd_root_exists(root, "dir"), 1);
	assert_int_equal(nfd_root_exists(root, "file"), 1);
	assert_int_equal(nfd_root_resolve(root, "dirlink/up", buf, sizeof(buf)), 0);
	assert_string_equal(told, "F seven 1234567\nL link file\nD dir \nD dir \nF file \n"
				  "L dirlink dir\nL dir/up ../file\n");
}

/* A pod's mounts are tried by tests/integration/test_doctor_report. */
static void whole_roots_are_not_partial(void **state)
{
	const char *tree = tree_new();
	struct nfd_root own, made;

	(void)state;
	tree_file(tree, "proc/version", "x");
	tree_file(tree, "sys/kernel/x", "x");
	assert_int_equal(nfd_root_open(&own, "/", NULL), 0);
	assert_int_equal(nfd_root_open(&made, tree, NULL), 0);
	assert_false(nfd_root_is_partial(&own));
	assert_false(nfd_root_is_partial(&made));
	nfd_root_close(&own);
	nfd_root_close(&made);
}

int main(void)
{
	struct unit_suite suite = { .name = "root" };

	UNIT_ROWS(&suite, reads_line, line_rows, path);
	UNIT_ROWS(&suite, reads_line_by_walk, line_rows, path);
	UNIT_ROWS(&suite, resolves, resolve_rows, path);
	UNIT_CASE(&suite, resolve_knows_its_buffer);
	UNIT_CASE(&suite, counts_links);
	UNIT_CASE(&suite, link_to_a_long_rest_is_refused);
	UNIT_CASE(&suite, read_keeps_nul_bytes);
	UNIT_CASE(&suite, fifo_with_a_silent_writer_is_empty);
	UNIT_CASE(&suite, reads_start);
	UNIT_ROWS(&suite, reads_alloc, alloc_rows, name);
	UNIT_CASE(&suite, reads_end);
	UNIT_CASE(&suite, reads_regular_files_alone);
	UNIT_ROWS(&suite, reads_link, link_rows, name);
	UNIT_CASE(&suite, read_link_wants_a_link);
	UNIT_ROWS(&suite, exists, exists_rows, path);
	UNIT_CASE(&suite, list_is_sorted);
	UNIT_CASE(&suite, list_failures_leave_the_result);
	UNIT_CASE(&suite, list_of_empty_folder);
	UNIT_CASE(&suite, open_and_close);
	UNIT_ROWS(&suite, absent, absent_rows, name);
	UNIT_CASE(&suite, observer_is_told);
	UNIT_CASE(&suite, whole_roots_are_not_partial);
	return unit_run(&suite);
}
