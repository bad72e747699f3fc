// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/filter: the expression is searched in the part of the key behind the slash.
 */
#include "config.h"

#include "labels/filter.h"

#include <errno.h>

#include "labels/key.h"
#include "tests/unit/unit.h"

static const struct {
	const char *pattern, *key;
	bool passes;
} rows[] = {
	{ "", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "pci", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "10de", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "^10de", NFD_FEATURE_PREFIX "pci-10de.present", false },
	{ "^pci-.*present$", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "kubernetes", NFD_FEATURE_PREFIX "pci-10de.present", false },
	{ "usb|pci", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "(?i)PCI", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "\\d{2}de", NFD_FEATURE_PREFIX "pci-10de.present", true },
	{ "^$", "a/", true },
	{ "bare", "bare", true },
	{ ".", "a/b", true },
	{ "(a+)+$", "a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false },
};

static void passes(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_filter *filter = NULL;

	assert_int_equal(nfd_filter_new(row->pattern, &filter, NULL), 0);
	assert_int_equal(nfd_filter_passes(filter, row->key), row->passes);
	nfd_filter_free(filter);
}

static const struct {
	const char *pattern, *words;
} broken_rows[] = {
	{ "(", "missing closing parenthesis at its byte 2" },
	{ "a[", "missing terminating ]" },
	{ "*a", "quantifier does not follow a repeatable item" },
	{ "a{2,1}", "numbers out of order" },
	{ "\\", "\\ at end of pattern" },
};

static void refuses(void **state)
{
	const __typeof__(broken_rows[0]) *row = *state;
	struct nfd_filter *filter = NULL;
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_filter_new(row->pattern, &filter, &err), -EINVAL);
	assert_null(filter);
	unit_assert_contains(err.text, row->words);
	unit_assert_contains(err.text, unit_text("\"%s\"", row->pattern));
}

static void free_of_null_is_fine(void **state)
{
	(void)state;
	nfd_filter_free(NULL);
}

int main(void)
{
	struct unit_suite suite = { .name = "filter" };

	UNIT_ROWS(&suite, passes, rows, pattern);
	UNIT_ROWS(&suite, refuses, broken_rows, pattern);
	UNIT_CASE(&suite, free_of_null_is_fine);
	return unit_run(&suite);
}
