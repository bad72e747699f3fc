// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metadata of a Node, as an API server may send it, against a few wishes. Whatever it holds: the
 * plan touches only what we want or own.
 */
#include "config.h"

#include <string.h>

#include "api/managed_fields.h"
#include "api/node_plan.h"
#include "tests/fuzz/fuzz.h"

#define MANAGER "nfd-source"
#define KEY "feature.node.kubernetes.io/a"

static bool holds(const cJSON *array, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, array)
		if (strcmp(cJSON_GetStringValue(item), text) == 0)
			return true;
	return false;
}

static void check(const struct nfd_node_plan *plan, const struct nfd_node_wish *wish)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, plan->want)
		FUZZ_CHECK(cJSON_IsString(item) &&
			   (cJSON_GetObjectItemCaseSensitive(wish->labels, item->string) ||
			    holds(plan->owned, item->string)));
	cJSON_ArrayForEach(item, plan->changed)
		FUZZ_CHECK(cJSON_GetObjectItemCaseSensitive(plan->want, item->valuestring));
	cJSON_ArrayForEach(item, plan->hand_over)
		FUZZ_CHECK(holds(plan->owned, item->valuestring) && !wish->nfd_gone);
	cJSON_ArrayForEach(item, plan->withdrawn)
		FUZZ_CHECK(holds(plan->owned, item->valuestring));
	cJSON_ArrayForEach(item, plan->missing)
		FUZZ_CHECK(!wish->bring && !holds(plan->owned, item->valuestring));
	cJSON_ArrayForEach(item, plan->left)
		FUZZ_CHECK(!wish->nfd_gone &&
			   !cJSON_GetObjectItemCaseSensitive(plan->want, item->valuestring));
}

static void plan_once(const cJSON *metadata, const struct nfd_node_wish *wish)
{
	struct nfd_node_plan plan;

	FUZZ_CHECK(nfd_node_plan_make(&plan, metadata, wish, MANAGER) == 0);
	check(&plan, wish);
	nfd_node_plan_done(&plan);
}

static void read_owners(const cJSON *metadata)
{
	const cJSON *managed = cJSON_GetObjectItemCaseSensitive(metadata, "managedFields");
	cJSON *list = cJSON_CreateArray();
	int at = nfd_managed_find(managed, MANAGER);
	cJSON *rest = NULL, *keys = cJSON_Parse("[\"" KEY "\"]");

	FUZZ_CHECK(at < cJSON_GetArraySize(managed));
	FUZZ_CHECK(nfd_managed_owners(managed, KEY, list) == 0);
	if (at >= 0 && nfd_managed_owns(cJSON_GetArrayItem(managed, at), KEY))
		FUZZ_CHECK(nfd_managed_without(cJSON_GetArrayItem(managed, at), keys, &rest) == 0);
	cJSON_Delete(rest);
	cJSON_Delete(keys);
	cJSON_Delete(list);
	nfd_node_has_nfd(metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	cJSON *metadata = cJSON_Parse(text);
	cJSON *labels = cJSON_Parse("{\"" KEY "\":\"1\",\"vendor.com/b\":\"2\"}");
	cJSON *none = cJSON_CreateObject();
	cJSON *keep = cJSON_Parse("[\"vendor.com/\"]");
	cJSON *leave = cJSON_Parse("[\"vendor.com/b\"]");

	for (int i = 0; metadata && i < 16; i++) {
		const struct nfd_node_wish wish = { .labels = i & 1 ? labels : none,
						    .keep = i & 2 ? keep : NULL,
						    .leave = i & 2 ? leave : NULL,
						    .bring = i & 4,
						    .nfd_gone = i & 8 };

		plan_once(metadata, &wish);
	}
	if (metadata)
		read_owners(metadata);
	cJSON_Delete(metadata);
	cJSON_Delete(labels);
	cJSON_Delete(none);
	cJSON_Delete(keep);
	cJSON_Delete(leave);
	return 0;
}
