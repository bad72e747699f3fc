// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd/tar: ustar headers and padding, read back here field by field.
 */
#include "config.h"

#include "cmd/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define BLOCK 512

/* An archive in memory. */
static int make_archive(void)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The bytes of an archive; closes it. */
static const unsigned char *take_bytes(int fd, size_t *ret_size)
{
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned char *data = unit_bytes((size_t)size + 1);

	assert_int_equal(pread(fd, data, (size_t)size, 0), size);
	close(fd);
	*ret_size = (size_t)size;
	return data;
}

static void check_sum(const unsigned char *header)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : header[i];
	assert_memory_equal(header + 148, unit_text("%06o", sum), 7);
	assert_int_equal(header[155], ' ');
}

static const struct {
	const char *name;
	size_t len;
	size_t size; /* of the archive */
	const char *octal;
} file_rows[] = {
	{ "empty", 0, BLOCK, "00000000000" },
	{ "one byte", 1, 2 * BLOCK, "00000000001" },
	{ "one short of a block", BLOCK - 1, 2 * BLOCK, "00000000777" },
	{ "one block", BLOCK, 2 * BLOCK, "00000001000" },
	{ "a byte more", BLOCK + 1, 3 * BLOCK, "00000001001" },
};

static void writes_file(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	const char *text = unit_repeat('x', row->len);
	const unsigned char *data;
	size_t size;
	int fd = make_archive();

	assert_int_equal(nfd_tar_file(fd, "sys/a", text, row->len), 0);
	data = take_bytes(fd, &size);
	assert_int_equal(size, row->size);
	assert_string_equal((const char *)data, "sys/a");
	assert_memory_equal(data + 100,
			    "0000644\0"
			    "0000000\0"
			    "0000000",
			    24);
	assert_memory_equal(data + 124, row->octal, 12);
	assert_memory_equal(data + 136, "00000000000", 12);
	assert_int_equal(data[156], '0');
	assert_memory_equal(data + 257,
			    "ustar\0"
			    "00",
			    8);
	check_sum(data);
	assert_memory_equal(data + BLOCK, text, row->len);
	for (size_t i = BLOCK + row->len; i < size; i++)
		assert_int_equal(data[i], 0);
}

static void writes_link_and_folder(void **state)
{
	const unsigned char *data;
	size_t size;
	int fd = make_archive();

	(void)state;
	assert_int_equal(nfd_tar_link(fd, "sys/l", "../target"), 0);
	assert_int_equal(nfd_tar_dir(fd, "sys/d"), 0);
	assert_int_equal(nfd_tar_end(fd), 0);
	data = take_bytes(fd, &size);
	assert_int_equal(size, 4 * BLOCK);
	assert_int_equal(data[156], '2');
	assert_string_equal((const char *)data + 157, "../target");
	check_sum(data);
	data += BLOCK;
	assert_int_equal(data[156], '5');
	assert_memory_equal(data + 100, "0000755", 8);
	check_sum(data);
	for (size_t i = BLOCK; i < 3 * BLOCK; i++)
		assert_int_equal(data[i], 0);
}

static const struct {
	const char *what;
	size_t prefix, name; /* lengths before and behind the slash */
	int result;
} path_rows[] = {
	{ "name of 100", 0, 100, 0 },       { "name of 101", 0, 101, -ENAMETOOLONG },
	{ "whole of 100", 49, 50, 0 },      { "whole of 101", 50, 50, 0 },
	{ "last part of 100", 50, 100, 0 }, { "last part of 101", 50, 101, -ENAMETOOLONG },
	{ "prefix of 155", 155, 100, 0 },   { "prefix of 156", 156, 100, -ENAMETOOLONG },
};

static void splits_long_paths(void **state)
{
	const __typeof__(path_rows[0]) *row = *state;
	const char *prefix = unit_repeat('p', row->prefix);
	const char *name = unit_repeat('n', row->name);
	const char *path = row->prefix ? unit_text("%s/%s", prefix, name) : name;
	const unsigned char *data;
	size_t size;
	int fd = make_archive();

	assert_int_equal(nfd_tar_file(fd, path, "", 0), row->result);
	data = take_bytes(fd, &size);
	assert_int_equal(size, row->result == 0 ? BLOCK : 0);
	if (row->result < 0)
		return;
	check_sum(data);
	assert_string_equal(unit_text("%.155s%s%.100s", data + 345, data[345] ? "/" : "", data),
			    path);
}

static void link_target_is_limited(void **state)
{
	int fd = make_archive();

	(void)state;
	assert_int_equal(nfd_tar_link(fd, "l", unit_repeat('t', 100)), 0);
	assert_int_equal(nfd_tar_link(fd, "l", unit_repeat('t', 101)), -ENAMETOOLONG);
	close(fd);
}

static void reports_write_errors(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(nfd_tar_file(fd, "a", "x", 1), -EBADF);
	assert_int_equal(nfd_tar_link(fd, "a", "x"), -EBADF);
	assert_int_equal(nfd_tar_dir(fd, "a"), -EBADF);
	assert_int_equal(nfd_tar_end(fd), -EBADF);
	close(fd);
}

int main(void)
{
	struct unit_suite suite = { .name = "tar" };

	UNIT_ROWS(&suite, writes_file, file_rows, name);
	UNIT_CASE(&suite, writes_link_and_folder);
	UNIT_ROWS(&suite, splits_long_paths, path_rows, what);
	UNIT_CASE(&suite, link_target_is_limited);
	UNIT_CASE(&suite, reports_write_errors);
	return unit_run(&suite);
}
