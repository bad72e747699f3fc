// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/texts: lists of texts.
 */
#include "config.h"

#include "base/texts.h"

#include "tests/unit/unit.h"

static void finds_whole_texts(void **state)
{
	char *text[] = { (char[]){ "AVX" }, (char[]){ "AVX2" }, (char[]){ "" } };
	const struct nfd_texts texts = { text, NFD_ARRAY_SIZE(text) }, two = { text, 2 };

	(void)state;
	assert_true(nfd_texts_contain(&texts, "AVX"));
	assert_true(nfd_texts_contain(&texts, "AVX2"));
	assert_true(nfd_texts_contain(&texts, ""));
	assert_false(nfd_texts_contain(&two, ""));
	assert_false(nfd_texts_contain(&texts, "AV"));
	assert_false(nfd_texts_contain(&texts, "avx"));
	assert_false(nfd_texts_contain(&texts, "AVX512"));
}

static void an_empty_list_has_none(void **state)
{
	const struct nfd_texts none = { 0 };

	(void)state;
	assert_false(nfd_texts_contain(&none, ""));
}

int main(void)
{
	struct unit_suite suite = { .name = "texts" };

	UNIT_CASE(&suite, finds_whole_texts);
	UNIT_CASE(&suite, an_empty_list_has_none);
	return unit_run(&suite);
}
