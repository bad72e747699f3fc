// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-read: what doctor wants to know of our Node, in one GET.
 */
#include "config.h"

#include "api/action.h"
#include "base/json.h"

/* A copy of an object under a name of the result; an empty one when there is none. */
static int put(cJSON *result, const char *name, const cJSON *object, struct nfd_api_error *err)
{
	cJSON *copy = object ? cJSON_Duplicate(object, true) : cJSON_CreateObject();

	if (copy && cJSON_AddItemToObject(result, name, copy))
		return 0;
	cJSON_Delete(copy);
	return nfd_action_memory(err);
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = NFD_ACCEPT_JSON };
	const cJSON *metadata, *status;
	cJSON *object = NULL;
	const char *node;
	int r;

	r = nfd_action_name(request, "node", &node, err);
	if (r < 0)
		return r;
	nfd_node_path(node, &path);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(client, &call, &object, err);
	if (r < 0)
		return r;
	metadata = nfd_json_get(object, "metadata");
	status = nfd_json_get(object, "status");
	r = nfd_node_describe(metadata, result, err);
	if (r == 0)
		r = put(result, "labels", nfd_json_object(metadata, "labels"), err);
	if (r == 0)
		r = put(result, "capacity", nfd_json_object(status, "capacity"), err);
	if (r == 0)
		r = put(result, "allocatable", nfd_json_object(status, "allocatable"), err);
	cJSON_Delete(object);
	return r;
}

const struct nfd_action nfd_action_node_read = { .name = "node-read", .run = run };
