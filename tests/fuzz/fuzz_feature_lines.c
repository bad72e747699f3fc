// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Feature files of other programs, the input as two of them: what is left has one pair a key, and reads
 * as the same when it is written as a file of its own.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "labels/feature_lines.h"
#include "tests/fuzz/fuzz.h"

#define NOW_S INT64_C(1767323045)

static void check_pairs(const struct nfd_feature_pairs *pairs, size_t size)
{
	FUZZ_CHECK(pairs->count <= size);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct nfd_feature_pair *pair = &pairs->pair[i];

		FUZZ_CHECK(!strpbrk(pair->key, "=\n") && pair->key[0] != '#');
		FUZZ_CHECK(pair->value && !strchr(pair->value, '\n'));
		FUZZ_CHECK(pair->file < 2 && pair->line > 0 && pair->line <= size);
		FUZZ_CHECK(i == 0 || strcmp(pairs->pair[i - 1].key, pair->key) < 0);
	}
}

static void check_same(const struct nfd_feature_pairs *a, const struct nfd_feature_pairs *b)
{
	FUZZ_CHECK(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		FUZZ_CHECK(strcmp(a->pair[i].key, b->pair[i].key) == 0);
		FUZZ_CHECK(strcmp(a->pair[i].value, b->pair[i].value) == 0);
	}
}

static void check_again(const struct nfd_feature_pairs *pairs)
{
	cleanup_feature_lines struct nfd_feature_lines again = { 0 };
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	for (size_t i = 0; i < pairs->count; i++)
		nfd_strbuf_printf(&buf, "%s=%s\n", pairs->pair[i].key, pairs->pair[i].value);
	FUZZ_CHECK(!buf.error);
	if (!buf.data)
		return;
	FUZZ_CHECK(nfd_feature_lines_parse(&again, buf.data, buf.len, NOW_S, 0) == 0);
	FUZZ_CHECK(again.remarks == 0);
	nfd_feature_lines_settle(&again);
	check_same(&again.labels, pairs);
	check_same(&again.features, pairs);
}

/* As fuzz_text(), but with the NUL bytes of the input. */
static char *copy(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_feature_lines struct nfd_feature_lines lines = { 0 };
	cleanup_free char *first = copy(data, size / 2);
	cleanup_free char *second = copy(data + size / 2, size - size / 2);

	FUZZ_CHECK(nfd_feature_lines_parse(&lines, first, size / 2, NOW_S, 0) == 0);
	FUZZ_CHECK(nfd_feature_lines_parse(&lines, second, size - size / 2, NOW_S, 1) == 0);
	nfd_feature_lines_settle(&lines);
	check_pairs(&lines.labels, size);
	check_pairs(&lines.features, size);
	check_again(&lines.labels);
	check_again(&lines.features);
	return 0;
}
