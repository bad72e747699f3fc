// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The label sanitisers and the grammar of keys: whatever comes in, what comes out is empty or legal
 * and at most 63 bytes, and a second pass changes nothing.
 */
#include "config.h"

#include <string.h>

#include "labels/key.h"
#include "labels/set.h"
#include "tests/fuzz/fuzz.h"

static void check_value(const char *value, size_t len)
{
	FUZZ_CHECK(len == strlen(value));
	FUZZ_CHECK(len <= NFD_LABEL_VALUE_MAX);
	FUZZ_CHECK(nfd_label_value_is_valid(value));
}

static void check_sanitisers(const char *text)
{
	char value[NFD_LABEL_VALUE_SIZE], again[NFD_LABEL_VALUE_SIZE];

	check_value(value, nfd_label_value_from_name(text, value));
	nfd_label_value_from_name(value, again);
	FUZZ_CHECK(strcmp(value, again) == 0);
	check_value(value, nfd_label_value_from_version(text, value));
	nfd_label_value_from_version(value, again);
	FUZZ_CHECK(strcmp(value, again) == 0);
}

/* The input's first line is the suffix, made legal text; the rest is the name. */
static void check_suffix(const char *text)
{
	const char *name = strchr(text, '\n');
	char suffix[NFD_LABEL_VALUE_MAX + 10] = "-", value[NFD_LABEL_VALUE_SIZE];
	size_t len = 1;

	for (const char *c = text; name && c < name && len + 1 < sizeof(suffix); c++)
		if ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))
			suffix[len++] = *c;
	suffix[len] = '\0';
	len = nfd_label_value_with_suffix(name ? name : text, suffix, value);
	check_value(value, len);
	/* Kept whole where it is meant to be. */
	if (len > 0 && suffix[1] && strlen(suffix) < NFD_LABEL_VALUE_MAX)
		FUZZ_CHECK(len > strlen(suffix) &&
			   strcmp(value + len - strlen(suffix), suffix) == 0);
}

static void check_key(char *text)
{
	struct nfd_label label = { .key = text, .value = (char[]){ "1" } };
	cleanup_set struct nfd_set set = { 0 };
	struct nfd_error err = { 0 };
	int r = nfd_label_key_check(text, &err);

	FUZZ_CHECK((r == 0) == (err.code == 0));
	if (r == 0) {
		const char *slash = strchr(text, '/');

		FUZZ_CHECK(slash && slash - text <= NFD_LABEL_PREFIX_MAX);
		FUZZ_CHECK(strlen(slash + 1) <= NFD_LABEL_NAME_MAX && slash[1]);
		FUZZ_CHECK(nfd_label_value_is_valid(slash + 1));
	}
	FUZZ_CHECK(nfd_set_put(&set, &label) == r);
	FUZZ_CHECK(set.count == (r == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);

	check_sanitisers(text);
	check_suffix(text);
	check_key(text);
	return 0;
}
