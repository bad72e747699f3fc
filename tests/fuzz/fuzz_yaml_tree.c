// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * YAML of others as a tree: bounded in size and depth, or an error that names the file.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/yaml_tree.h"
#include "tests/fuzz/fuzz.h"

#define NODES_MAX 20000
#define DEPTH_MAX 32

static size_t count(const cJSON *node, int depth)
{
	const cJSON *child;
	size_t nodes = 1;

	FUZZ_CHECK(depth <= DEPTH_MAX);
	FUZZ_CHECK(!cJSON_IsNumber(node) && !cJSON_IsInvalid(node));
	FUZZ_CHECK(!cJSON_IsString(node) || cJSON_GetStringValue(node));
	cJSON_ArrayForEach(child, node) {
		FUZZ_CHECK(cJSON_IsObject(node) == (child->string != NULL));
		nodes += count(child, depth + 1);
	}
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;
	int r = nfd_yaml_tree_parse((const char *)data, size, "file", &tree, &err);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -E2BIG);
	FUZZ_CHECK((r == 0) == (tree != NULL) && r == err.code);
	FUZZ_CHECK(r == 0 || strncmp(err.text, "file:", 5) == 0);
	if (tree)
		FUZZ_CHECK(count(tree, 0) <= NODES_MAX);
	cJSON_Delete(tree);
	return 0;
}
