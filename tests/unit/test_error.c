// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/error: set, wrap, cut, text.
 */
#include "config.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void set_keeps_code_and_text(void **state)
{
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_error_set(&err, -ENOENT, "no \"%s\"", "x"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "no \"x\"");
	assert_int_equal(nfd_error_set(&err, -EIO, "other"), -EIO);
	assert_string_equal(err.text, "other");
}

static void null_is_fine(void **state)
{
	(void)state;
	assert_int_equal(nfd_error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(nfd_error_wrap(NULL, "context"), 0);
}

static void long_text_is_cut(void **state)
{
	struct nfd_error err = { 0 };

	(void)state;
	nfd_error_set(&err, -EIO, "%s", unit_repeat('a', 2000));
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void wrap_puts_context_before(void **state)
{
	struct nfd_error err = { 0 };

	(void)state;
	nfd_error_set(&err, -EACCES, "refused");
	assert_int_equal(nfd_error_wrap(&err, "file %d", 7), -EACCES);
	assert_string_equal(err.text, "file 7: refused");
}

static void wrap_of_full_text_keeps_context(void **state)
{
	struct nfd_error err = { 0 };

	(void)state;
	nfd_error_set(&err, -EIO, "%s", unit_repeat('a', 2000));
	nfd_error_wrap(&err, "%s", unit_repeat('c', 2000));
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, unit_repeat('c', 255), 255);
	assert_memory_equal(err.text + 255, ": a", 3);
}

static void text_falls_back_to_errno(void **state)
{
	struct nfd_error err = { .code = -ENOSPC };

	(void)state;
	assert_string_equal(nfd_error_text(&err), strerror(ENOSPC));
	nfd_error_set(&err, -EIO, "own words");
	assert_string_equal(nfd_error_text(&err), "own words");
	assert_string_equal(nfd_errno_text(-ENOENT), strerror(ENOENT));
	assert_string_equal(nfd_errno_text(ENOENT), strerror(ENOENT));
}

int main(void)
{
	struct unit_suite suite = { .name = "error" };

	UNIT_CASE(&suite, set_keeps_code_and_text);
	UNIT_CASE(&suite, null_is_fine);
	UNIT_CASE(&suite, long_text_is_cut);
	UNIT_CASE(&suite, wrap_puts_context_before);
	UNIT_CASE(&suite, wrap_of_full_text_keeps_context);
	UNIT_CASE(&suite, text_falls_back_to_errno);
	return unit_run(&suite);
}
