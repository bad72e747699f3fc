// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-look: what is on our Node for one label, and who owns it.
 */
#include "config.h"

#include "api/action.h"
#include "api/managed_fields.h"
#include "api/node_plan.h"
#include "base/json.h"

static int describe(const cJSON *metadata, const char *key, cJSON *result,
		    struct nfd_api_error *err)
{
	const cJSON *labels = nfd_json_get(metadata, "labels");
	const char *value = cJSON_GetStringValue(nfd_json_get(labels, key));
	cJSON *label, *managers;

	if (!value)
		return cJSON_AddNullToObject(result, "label") ? 0 : nfd_action_memory(err);
	label = cJSON_AddObjectToObject(result, "label");
	managers = cJSON_AddArrayToObject(label, "managers");
	if (!managers || !cJSON_AddStringToObject(label, "value", value) ||
	    !cJSON_AddBoolToObject(label, "listedByNfd", nfd_node_is_listed(metadata, key)) ||
	    nfd_managed_owners(nfd_json_get(metadata, "managedFields"), key, managers) < 0)
		return nfd_action_memory(err);
	return 0;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	const char *node, *key;
	cJSON *metadata = NULL;
	int r;

	r = nfd_action_name(request, "node", &node, err);
	if (r == 0)
		r = nfd_action_text(request, "key", NULL, &key, err);
	if (r == 0)
		r = nfd_node_get(client, node, &metadata, err);
	if (r == 0)
		r = nfd_node_describe(metadata, result, err);
	if (r == 0)
		r = describe(metadata, key, result, err);
	cJSON_Delete(metadata);
	return r;
}

const struct nfd_action nfd_action_node_look = { .name = "node-look", .run = run };
