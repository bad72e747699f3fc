// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/unknown: prefixes, reasons, doubts.
 */
#include "config.h"

#include "labels/unknown.h"

#include "tests/unit/unit.h"

static void finds_by_prefix(void **state)
{
	struct nfd_unknowns unknowns = { 0 };

	(void)state;
	assert_null(nfd_unknowns_find(&unknowns, "f/pci-10de.present"));
	assert_int_equal(nfd_unknowns_add(&unknowns, "f/pci-", "bad", false), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "f/usb-", "doubtful", true), 0);
	assert_string_equal(nfd_unknowns_find(&unknowns, "f/pci-10de.present")->reason, "bad");
	assert_false(nfd_unknowns_find(&unknowns, "f/pci-10de.present")->doubt);
	assert_true(nfd_unknowns_find(&unknowns, "f/usb-x")->doubt);
	assert_non_null(nfd_unknowns_find(&unknowns, "f/pci-"));
	assert_null(nfd_unknowns_find(&unknowns, "f/pci"));
	assert_null(nfd_unknowns_find(&unknowns, "f/gpu-1"));
	assert_null(nfd_unknowns_find(&unknowns, ""));
	nfd_unknowns_done(&unknowns);
	nfd_unknowns_done(&unknowns);
}

static void first_reason_stays(void **state)
{
	struct nfd_unknowns unknowns = { 0 };

	(void)state;
	assert_int_equal(nfd_unknowns_add(&unknowns, "f/pci-", "first", false), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "f/pci-", "second", true), 0);
	assert_int_equal(unknowns.count, 1);
	assert_string_equal(unknowns.unknown[0].reason, "first");
	nfd_unknowns_done(&unknowns);
}

static void says_more(void **state)
{
	struct nfd_unknowns unknowns = { 0 };

	(void)state;
	assert_int_equal(nfd_unknowns_add(&unknowns, "a", "same", false), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "b", "same", false), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "c", "other", false), 0);
	assert_true(nfd_unknowns_says_more(&unknowns, 0));
	assert_false(nfd_unknowns_says_more(&unknowns, 1));
	assert_true(nfd_unknowns_says_more(&unknowns, 2));
	nfd_unknowns_done(&unknowns);
}

static void is_bounded(void **state)
{
	struct nfd_unknowns unknowns = { 0 };

	(void)state;
	for (int i = 0; i < NFD_UNKNOWNS_MAX + 10; i++)
		assert_int_equal(nfd_unknowns_add(&unknowns, unit_text("p%d-", i), "r", false), 0);
	assert_int_equal(unknowns.count, NFD_UNKNOWNS_MAX);
	nfd_unknowns_done(&unknowns);
}

int main(void)
{
	struct unit_suite suite = { .name = "unknown" };

	UNIT_CASE(&suite, finds_by_prefix);
	UNIT_CASE(&suite, first_reason_stays);
	UNIT_CASE(&suite, says_more);
	UNIT_CASE(&suite, is_bounded);
	return unit_run(&suite);
}
