// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TOML of others as a tree: bounded in size, or an error that names the file and a line.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "doctor/toml.h"
#include "tests/fuzz/fuzz.h"

#define VALUES_MAX 20000
#define KEY_PARTS_MAX 16
/* A header, and a dotted key at each level of inline tables. */
#define DEPTH_MAX (KEY_PARTS_MAX * 34)

static size_t count(const cJSON *node, int depth)
{
	const cJSON *child;
	size_t nodes = 1;

	FUZZ_CHECK(depth <= DEPTH_MAX);
	FUZZ_CHECK(!cJSON_IsInvalid(node) && !cJSON_IsNull(node));
	FUZZ_CHECK(!cJSON_IsString(node) || cJSON_GetStringValue(node));
	cJSON_ArrayForEach(child, node) {
		FUZZ_CHECK(cJSON_IsObject(node) == (child->string != NULL));
		/* Of one key there is one value. */
		FUZZ_CHECK(!child->string ||
			   cJSON_GetObjectItemCaseSensitive(node, child->string) == child);
		nodes += count(child, depth + 1);
	}
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;
	int r = nfd_toml_parse(text, "file", &tree, &err);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -E2BIG);
	FUZZ_CHECK((r == 0) == (tree != NULL) && r == err.code);
	FUZZ_CHECK(r == 0 || strncmp(err.text, "file:", 5) == 0);
	FUZZ_CHECK(r == 0 || strtoul(err.text + 5, NULL, 10) > 0);
	if (tree)
		FUZZ_CHECK(count(tree, 0) <= (VALUES_MAX + 1) * (KEY_PARTS_MAX + 1));
	cJSON_Delete(tree);
	return 0;
}
