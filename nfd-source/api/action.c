// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the actions share.
 */
#include "config.h"

#include "api/action.h"

#include <errno.h>
#include <string.h>

#include "api/node_plan.h"
#include "base/json.h"

int nfd_action_text(const cJSON *request, const char *field, const char *fallback, const char **ret,
		    struct nfd_api_error *err)
{
	const cJSON *item = nfd_json_get(request, field);
	const char *text = item ? cJSON_GetStringValue(item) : fallback;

	if (!text || (!fallback && !*text))
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "the request needs a text \"%s\"", field);
	*ret = text;
	return 0;
}

int nfd_action_name(const cJSON *request, const char *field, const char **ret,
		    struct nfd_api_error *err)
{
	int r = nfd_action_text(request, field, NULL, ret, err);

	if (r == 0 && (strcmp(*ret, ".") == 0 || strcmp(*ret, "..") == 0))
		r = nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
				      "\"%s\" of the request is no name", field);
	return r;
}

int nfd_action_flag(const cJSON *request, const char *field, bool *ret, struct nfd_api_error *err)
{
	const cJSON *item = nfd_json_get(request, field);

	if (item && !cJSON_IsBool(item))
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "\"%s\" of the request is neither true nor false", field);
	*ret = cJSON_IsTrue(item);
	return 0;
}

int nfd_action_keys(const cJSON *request, const char *field, const cJSON **ret,
		    struct nfd_api_error *err)
{
	const cJSON *list = nfd_json_get(request, field), *item;
	bool ok = !list || cJSON_IsArray(list);

	cJSON_ArrayForEach(item, list)
		ok = ok && cJSON_IsString(item);
	if (!ok)
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "\"%s\" of the request is no array of texts", field);
	*ret = list;
	return 0;
}

int nfd_action_memory(struct nfd_api_error *err)
{
	return nfd_api_error_set(err, NFD_API_REQUEST, -ENOMEM, "out of memory");
}

void nfd_node_path(const char *node, struct nfd_strbuf *buf)
{
	nfd_strbuf_puts(buf, "/api/v1/nodes/");
	nfd_http_escape(buf, node);
}

int nfd_node_get(struct nfd_client *client, const char *node, cJSON **ret,
		 struct nfd_api_error *err)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = NFD_ACCEPT_METADATA };
	cJSON *object = NULL;
	int r;

	nfd_node_path(node, &path);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(client, &call, &object, err);
	if (r < 0)
		return r;
	*ret = cJSON_DetachItemFromObjectCaseSensitive(object, "metadata");
	cJSON_Delete(object);
	if (!*nfd_json_text(*ret, "uid")) {
		cJSON_Delete(*ret);
		*ret = NULL;
		return nfd_api_error_set(err, NFD_API_REPLY, -EBADMSG,
					 "GET %.200s: the reply has no metadata with a uid",
					 call.path);
	}
	return 0;
}

int nfd_node_describe(const cJSON *metadata, cJSON *result, struct nfd_api_error *err)
{
	const char *uid = cJSON_GetStringValue(nfd_json_get(metadata, "uid"));
	cJSON *node;

	cJSON_DeleteItemFromObjectCaseSensitive(result, "node");
	node = cJSON_AddObjectToObject(result, "node");
	if (!node || !cJSON_AddStringToObject(node, "uid", uid ? uid : "") ||
	    !cJSON_AddBoolToObject(node, "nfd", nfd_node_has_nfd(metadata)))
		return nfd_action_memory(err);
	return 0;
}
