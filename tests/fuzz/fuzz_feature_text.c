// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The feature file: what was read and written again reads as the same set.
 */
#include "config.h"

#include <string.h>

#include "labels/key.h"
#include "output/feature_text.h"
#include "tests/fuzz/fuzz.h"

#define NOW_S INT64_C(1767323045)

static void check_labels(const struct nfd_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		FUZZ_CHECK(nfd_label_key_check(set->label[i].key, NULL) == 0);
		FUZZ_CHECK(nfd_label_value_is_valid(set->label[i].value));
		FUZZ_CHECK(i == 0 || strcmp(set->label[i - 1].key, set->label[i].key) < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_set struct nfd_set set = { 0 };
	cleanup_set struct nfd_set again = { 0 };
	int64_t expiry_s;
	size_t left_out;
	int count;

	FUZZ_CHECK(nfd_feature_text_parse(text, NOW_S, &set, &expiry_s) == 0);
	check_labels(&set);
	count = nfd_feature_text_render(&set, 0, &buf, &left_out);
	FUZZ_CHECK(count >= 0 && (size_t)count + left_out == set.count);
	FUZZ_CHECK(buf.len <= NFD_FEATURE_FILE_MAX);
	if (left_out || count == 0)
		return 0;
	FUZZ_CHECK(nfd_feature_text_parse(buf.data, NOW_S, &again, &expiry_s) == 0);
	FUZZ_CHECK(nfd_set_equal(&set, &again));
	FUZZ_CHECK(expiry_s == 0);
	return 0;
}
