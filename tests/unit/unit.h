/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every unit test has: cmocka, table rows that are test cases of their own, texts that live as
 * long as the test, and capture of stdout and stderr. After each test all of it is cleaned up.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"

/* Rows leave out the fields that are zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define UNIT_TESTS_MAX 256

struct unit_suite {
	const char *name;
	struct CMUnitTest test[UNIT_TESTS_MAX];
	size_t count;
};

/* A case without a table. */
#define UNIT_CASE(suite, function) unit_add((suite), (function), #function, NULL, NULL)

/* One case a row; @field is a text of the row that names it. The test gets the row as *state. */
#define UNIT_ROWS(suite, function, rows, field)                                         \
	do {                                                                            \
		for (size_t unit_i_ = 0; unit_i_ < NFD_ARRAY_SIZE(rows); unit_i_++)     \
			unit_add((suite), (function), #function, (rows)[unit_i_].field, \
				 &(rows)[unit_i_]);                                     \
	} while (0)

/**
 * unit_add() - add a test; used through UNIT_CASE() and UNIT_ROWS().
 * @function_name: first half of the name of the case.
 * @row_name:      second half, any text; NULL for a case without a row.
 * @row:           borrowed until unit_run(); the test finds it in *state.
 */
void unit_add(struct unit_suite *suite, CMUnitTestFunction function, const char *function_name,
	      const char *row_name, const void *row);

/**
 * unit_run() - run all cases.
 * Return: exit code for main(): 0 when all passed, else 1.
 */
int unit_run(struct unit_suite *suite);

/**
 * unit_text() - formatted text that lives until the end of the test.
 */
char *unit_text(const char *fmt, ...) nfd_printf_like(1, 2);

/**
 * unit_bytes() - zeroed memory that lives until the end of the test.
 */
void *unit_bytes(size_t size);

/**
 * unit_repeat() - a text of @count times @c that lives until the end of the test.
 */
char *unit_repeat(char c, size_t count);

/**
 * unit_capture() - take what is written to a descriptor from now on.
 * @fd: 1 or 2.
 */
void unit_capture(int fd);

/**
 * unit_captured() - end the capture.
 * Return: what was written; lives until the end of the test.
 */
const char *unit_captured(int fd);

/**
 * unit_assert_contains() - fail unless @text holds @part.
 */
#define unit_assert_contains(text, part) unit_check_contains((text), (part), __FILE__, __LINE__)
void unit_check_contains(const char *text, const char *part, const char *file, int line);
