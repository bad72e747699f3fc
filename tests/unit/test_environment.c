// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/environment: names match as a whole.
 */
#include "config.h"

#include "base/environment.h"

#include "tests/unit/unit.h"

static char *const variables[] = { (char[]){ "PATH=/bin:/usr/bin" },
				   (char[]){ "EMPTY=" },
				   (char[]){ "NO_SIGN" },
				   (char[]){ "=odd" },
				   (char[]){ "" },
				   (char[]){ "TWICE=first" },
				   (char[]){ "TWICE=second" },
				   (char[]){ "SIGNS=a=b=c" },
				   NULL };

static const struct {
	const char *name, *value;
} rows[] = {
	{ "PATH", "/bin:/usr/bin" }, { "EMPTY", "" }, { "TWICE", "first" }, { "SIGNS", "a=b=c" },
	{ "NO_SIGN", NULL },         { "PAT", NULL }, { "PATHS", NULL },    { "path", NULL },
	{ "MISSING", NULL },         { "", "odd" },
};

static void finds(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *value = nfd_environment_value(variables, row->name);

	if (row->value)
		assert_string_equal(value, row->value);
	else
		assert_null(value);
}

static void none_is_fine(void **state)
{
	char *const none[] = { NULL };

	(void)state;
	assert_null(nfd_environment_value(NULL, "PATH"));
	assert_null(nfd_environment_value(none, "PATH"));
}

int main(void)
{
	struct unit_suite suite = { .name = "environment" };

	UNIT_ROWS(&suite, finds, rows, name);
	UNIT_CASE(&suite, none_is_fine);
	return unit_run(&suite);
}
