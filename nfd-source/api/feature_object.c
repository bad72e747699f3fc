// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The object named like the Node is nfd-worker's, unless we stand in its place: the annotation with a
 * worker's version tells.
 */
#include "config.h"

#include "api/feature_object.h"

#include <errno.h>
#include <string.h>

#include "api/node_plan.h"
#include "base/json.h"
#include "labels/key.h"

#define COLLECTION "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/"

static void put_path(const struct nfd_feature_place *place, struct nfd_strbuf *buf)
{
	nfd_strbuf_puts(buf, COLLECTION);
	nfd_http_escape(buf, place->namespace);
	nfd_strbuf_puts(buf, "/nodefeatures/");
	nfd_http_escape(buf, place->name);
}

/* A call whose 404 is an answer. */
static int call_object(const struct nfd_feature_place *place, const struct nfd_call *call,
		       cJSON **ret, bool *ret_served)
{
	int r = nfd_client_call(place->client, call, ret, place->err);

	if (ret_served)
		*ret_served = !(r < 0 && nfd_api_error_is_missing_type(place->err));
	if (r == 0)
		return 1;
	if (place->err->status != 404)
		return r;
	nfd_api_error_done(place->err);
	return 0;
}

int nfd_feature_get(const struct nfd_feature_place *place, const char *accept, cJSON **ret,
		    bool *ret_served)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = accept };

	put_path(place, &path);
	call.path = nfd_strbuf_text(&path);
	return call_object(place, &call, ret, ret_served);
}

int nfd_feature_apply(const struct nfd_feature_place *place, const cJSON *object)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "PATCH",
				 .accept = NFD_ACCEPT_METADATA,
				 .content_type = NFD_CONTENT_APPLY,
				 .body = object };

	put_path(place, &path);
	nfd_strbuf_puts(&path, "?fieldManager=" NFD_FIELD_MANAGER "&force=true");
	call.path = nfd_strbuf_text(&path);
	return nfd_client_call(place->client, &call, NULL, place->err);
}

static cJSON *delete_options(const char *version)
{
	cJSON *options = cJSON_CreateObject();
	cJSON *preconditions;

	cJSON_AddStringToObject(options, "apiVersion", "v1");
	cJSON_AddStringToObject(options, "kind", "DeleteOptions");
	preconditions = cJSON_AddObjectToObject(options, "preconditions");
	cJSON_AddStringToObject(preconditions, "resourceVersion", version);
	return options;
}

int nfd_feature_delete(const struct nfd_feature_place *place, const char *version, bool *ret_served)
{
	cJSON *options = version && *version ? delete_options(version) : NULL;
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "DELETE",
				 .accept = NFD_ACCEPT_JSON,
				 .content_type = options ? "application/json" : NULL,
				 .body = options };
	int r;

	put_path(place, &path);
	call.path = nfd_strbuf_text(&path);
	r = call_object(place, &call, NULL, ret_served);
	cJSON_Delete(options);
	return r;
}

bool nfd_feature_is_ours(const cJSON *object)
{
	const cJSON *annotations = nfd_json_get(nfd_json_get(object, "metadata"), "annotations");
	const char *version = nfd_json_text(annotations, NFD_WORKER_VERSION);

	return strncmp(version, NFD_FIELD_MANAGER, strlen(NFD_FIELD_MANAGER)) == 0;
}

/* Whether every text of one object is in the other. */
static bool has_texts(const cJSON *now, const cJSON *wanted)
{
	const cJSON *text;

	cJSON_ArrayForEach(text, wanted)
		if (!cJSON_IsString(text) ||
		    strcmp(nfd_json_text(now, text->string), text->valuestring) != 0)
			return false;
	return true;
}

bool nfd_feature_is_same(const cJSON *now, const cJSON *wanted)
{
	const cJSON *now_meta = nfd_json_get(now, "metadata");
	const cJSON *wanted_meta = nfd_json_get(wanted, "metadata");
	const cJSON *owners = nfd_json_get(wanted_meta, "ownerReferences");

	return has_texts(nfd_json_get(now_meta, "labels"), nfd_json_get(wanted_meta, "labels")) &&
	       has_texts(nfd_json_get(now_meta, "annotations"),
			 nfd_json_get(wanted_meta, "annotations")) &&
	       (!owners ||
		cJSON_Compare(nfd_json_get(now_meta, "ownerReferences"), owners, true)) &&
	       nfd_json_is_equal(nfd_json_get(now, "spec"), nfd_json_get(wanted, "spec"));
}

int nfd_feature_keep_labels(const cJSON *now, const cJSON *prefixes, cJSON *wanted)
{
	const cJSON *old = nfd_json_object(nfd_json_get(now, "spec"), "labels");
	cJSON *labels = nfd_json_object(nfd_json_get(wanted, "spec"), "labels");
	const cJSON *label;

	if (!labels)
		return 0;
	cJSON_ArrayForEach(label, old)
		if (cJSON_IsString(label) && nfd_has_prefix(prefixes, label->string) &&
		    !nfd_json_get(labels, label->string) &&
		    !cJSON_AddStringToObject(labels, label->string, label->valuestring))
			return -ENOMEM;
	return 0;
}

/* Copies the members that the other object does not have. */
static int merge_members(const cJSON *from, cJSON *to)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, from) {
		cJSON *copy;

		if (nfd_json_get(to, member->string))
			continue;
		copy = cJSON_Duplicate(member, true);
		if (!cJSON_AddItemToObject(to, member->string, copy)) {
			cJSON_Delete(copy);
			return -ENOMEM;
		}
	}
	return 0;
}

int nfd_feature_merge(const cJSON *from, cJSON *to)
{
	const cJSON *from_spec = nfd_json_get(from, "spec");
	cJSON *to_spec = nfd_json_get(to, "spec");
	const cJSON *kind;
	int r = merge_members(nfd_json_object(from_spec, "labels"),
			      nfd_json_object(to_spec, "labels"));

	cJSON_ArrayForEach(kind, nfd_json_object(from_spec, "features"))
		if (r == 0)
			r = merge_members(kind, nfd_json_object(nfd_json_get(to_spec, "features"),
								kind->string));
	return r;
}
