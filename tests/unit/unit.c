// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a suite under cmocka and cleans up after each test, also after one that failed half way.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/json_row.h"
#include "tests/unit/tree.h"

#define NAME_MAX_BYTES 100
#define FDS 3

/* Memory that lives until the end of the test. */
struct block {
	struct block *next;
	max_align_t data[];
};

static struct block *blocks;

/* Descriptors under capture: where they led before, and where they lead now. */
static struct {
	bool active;
	int saved, file;
} captures[FDS];

void *unit_bytes(size_t size)
{
	struct block *block = calloc(1, sizeof(*block) + size);

	assert_non_null(block);
	block->next = blocks;
	blocks = block;
	return block->data;
}

char *unit_text(const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	assert_true(len >= 0);
	text = unit_bytes((size_t)len + 1);
	va_start(args, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, args);
	va_end(args);
	return text;
}

char *unit_repeat(char c, size_t count)
{
	char *text = unit_bytes(count + 1);

	memset(text, c, count);
	return text;
}

void unit_capture(int fd)
{
	assert_false(captures[fd].active);
	fflush(stdout);
	captures[fd].saved = dup(fd);
	captures[fd].file = memfd_create("capture", MFD_CLOEXEC);
	assert_true(captures[fd].saved >= 0 && captures[fd].file >= 0);
	assert_int_equal(dup2(captures[fd].file, fd), fd);
	captures[fd].active = true;
}

/* Puts the descriptor back; the file with what was written stays open. */
static void release(int fd)
{
	fflush(stdout);
	dup2(captures[fd].saved, fd);
	close(captures[fd].saved);
	captures[fd].active = false;
}

const char *unit_captured(int fd)
{
	off_t size;
	char *text;

	assert_true(captures[fd].active);
	release(fd);
	size = lseek(captures[fd].file, 0, SEEK_END);
	assert_true(size >= 0);
	text = unit_bytes((size_t)size + 1);
	assert_int_equal(pread(captures[fd].file, text, (size_t)size, 0), size);
	close(captures[fd].file);
	return text;
}

void unit_check_contains(const char *text, const char *part, const char *file, int line)
{
	if (strstr(text, part))
		return;
	print_error("\"%s\"\nhas no\n\"%s\"\n", text, part);
	_fail(file, line);
}

static int clean_up(void **state)
{
	(void)state;
	for (int fd = 0; fd < FDS; fd++)
		if (captures[fd].active) {
			release(fd);
			close(captures[fd].file);
		}
	tree_remove_all();
	json_remove_all();
	while (blocks) {
		struct block *block = blocks;

		blocks = block->next;
		free(block);
	}
	return 0;
}

/* TAP gives meaning to '#' and to newlines; a name has neither. */
static char *make_name(const char *function_name, const char *row_name)
{
	char *name = malloc(NAME_MAX_BYTES);

	if (!name)
		abort();
	snprintf(name, NAME_MAX_BYTES, "%s%s%s", function_name, row_name ? ": " : "",
		 row_name ? row_name : "");
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '#')
			*c = '?';
	return name;
}

void unit_add(struct unit_suite *suite, CMUnitTestFunction function, const char *function_name,
	      const char *row_name, const void *row)
{
	if (suite->count == UNIT_TESTS_MAX)
		abort();
	suite->test[suite->count++] = (struct CMUnitTest){
		.name = make_name(function_name, row_name),
		.test_func = function,
		.teardown_func = clean_up,
		.initial_state = (void *)row,
	};
}

int unit_run(struct unit_suite *suite)
{
	int failed = _cmocka_run_group_tests(suite->name, suite->test, suite->count, NULL, NULL);

	for (size_t i = 0; i < suite->count; i++)
		free((char *)suite->test[i].name);
	return failed ? 1 : 0;
}
