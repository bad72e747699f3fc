// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The object named like the Node is nfd-worker's, unless we stand in its place: the annotation with a
 * worker's version tells.
 */
#include "config.h"

#include "api/feature_object.h"

#include <errno.h>
#include <string.h>

#include "api/action.h"
#include "api/node_plan.h"
#include "base/json.h"
#include "labels/key.h"

#define OWN_DOMAIN "nfd-source."
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

/* @value: taken over. */
static int add_step(cJSON *steps, const char *path, cJSON *value)
{
	cJSON *step = cJSON_CreateObject();

	if (!cJSON_AddItemToObject(step, "value", value)) {
		cJSON_Delete(value);
	} else if (cJSON_AddStringToObject(step, "op", "replace") &&
		   cJSON_AddStringToObject(step, "path", path) &&
		   cJSON_AddItemToArray(steps, step)) {
		return 0;
	}
	cJSON_Delete(step);
	return -ENOMEM;
}

/* Steps of a JSON patch that empty the maps which are to be empty and are not; @path: theirs. */
static int add_emptying(const cJSON *now, const cJSON *wanted, const char *path, cJSON *steps)
{
	const cJSON *map;
	int r = 0;

	cJSON_ArrayForEach(map, wanted) {
		const cJSON *old = nfd_json_get(now, map->string);
		cleanup_strbuf struct nfd_strbuf below = { 0 };

		/* No name of ours needs the escapes of a JSON pointer. */
		if (!cJSON_IsObject(map) || !cJSON_IsObject(old) || !old->child ||
		    strpbrk(map->string, "/~"))
			continue;
		nfd_strbuf_printf(&below, "%s/%s", path, map->string);
		if (r == 0 && map->child)
			r = add_emptying(old, map, nfd_strbuf_text(&below), steps);
		else if (r == 0)
			r = add_step(steps, nfd_strbuf_text(&below), cJSON_CreateObject());
	}
	return r;
}

/* What is emptied is a version later; an apply that is bound to one is bound to that. */
static int take_version(const cJSON *reply, cJSON *object)
{
	const char *version = nfd_json_text(nfd_json_get(reply, "metadata"), "resourceVersion");
	cJSON *metadata = nfd_json_get(object, "metadata");

	if (!nfd_json_get(metadata, "resourceVersion"))
		return 0;
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	return cJSON_AddStringToObject(metadata, "resourceVersion", version) ? 0 : -ENOMEM;
}

static int patch(const struct nfd_feature_place *place, const char *type, const char *query,
		 const cJSON *body, cJSON **ret)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = {
		.method = "PATCH", .accept = NFD_ACCEPT_METADATA, .content_type = type, .body = body
	};

	put_path(place, &path);
	nfd_strbuf_puts(&path, query);
	call.path = nfd_strbuf_text(&path);
	return nfd_client_call(place->client, &call, ret, place->err);
}

/*
 * An apply that takes away all that a map has leaves null there, which the resource type refuses (seen with
 * Kubernetes 1.36): such maps are emptied before.
 */
static int empty_maps(const struct nfd_feature_place *place, const cJSON *now, cJSON *object)
{
	const cJSON *metadata = nfd_json_get(now, "metadata");
	cJSON *version = cJSON_CreateString(nfd_json_text(metadata, "resourceVersion"));
	cJSON *steps = cJSON_CreateArray(), *reply = NULL;
	int r = add_step(steps, "/metadata/resourceVersion", version);

	if (r == 0)
		r = add_emptying(nfd_json_get(now, "spec"), nfd_json_get(object, "spec"), "/spec",
				 steps);
	if (r < 0)
		r = nfd_action_memory(place->err);
	else if (cJSON_GetArraySize(steps) > 1)
		r = patch(place, NFD_CONTENT_JSON_PATCH, "?fieldManager=" NFD_FIELD_MANAGER, steps,
			  &reply);
	if (r == 0 && reply && take_version(reply, object) < 0)
		r = nfd_action_memory(place->err);
	cJSON_Delete(steps);
	cJSON_Delete(reply);
	return r;
}

int nfd_feature_apply(const struct nfd_feature_place *place, const cJSON *now, cJSON *object)
{
	int r = now ? empty_maps(place, now, object) : 0;

	return r < 0 ? r :
		       patch(place, NFD_CONTENT_APPLY,
			     "?fieldManager=" NFD_FIELD_MANAGER "&force=true", object, NULL);
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

/* None at all is as good as an empty list. */
static bool has_owners(const cJSON *now, const cJSON *wanted)
{
	return cJSON_Compare(now, wanted, true) ||
	       (cJSON_GetArraySize(now) == 0 && cJSON_GetArraySize(wanted) == 0);
}

bool nfd_feature_is_same(const cJSON *now, const cJSON *wanted)
{
	const cJSON *now_meta = nfd_json_get(now, "metadata");
	const cJSON *wanted_meta = nfd_json_get(wanted, "metadata");
	const cJSON *owners = nfd_json_get(wanted_meta, "ownerReferences");

	return has_texts(nfd_json_get(now_meta, "labels"), nfd_json_get(wanted_meta, "labels")) &&
	       has_texts(nfd_json_get(now_meta, "annotations"),
			 nfd_json_get(wanted_meta, "annotations")) &&
	       (!owners || has_owners(nfd_json_get(now_meta, "ownerReferences"), owners)) &&
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

static cJSON *features_of(cJSON *object)
{
	return nfd_json_object(nfd_json_get(object, "spec"), "features");
}

int nfd_feature_rename(cJSON *object, const cJSON *names)
{
	const cJSON *name;
	cJSON *kind;

	cJSON_ArrayForEach(kind, features_of(object))
		cJSON_ArrayForEach(name, names) {
			cJSON *feature =
				cJSON_DetachItemFromObjectCaseSensitive(kind, name->string);

			if (feature &&
			    !cJSON_AddItemToObject(kind, cJSON_GetStringValue(name), feature)) {
				cJSON_Delete(feature);
				return -ENOMEM;
			}
		}
	return 0;
}

void nfd_feature_keep_own(cJSON *object)
{
	cJSON *kind;

	cJSON_ArrayForEach(kind, features_of(object)) {
		cJSON *feature = kind->child;

		while (feature) {
			cJSON *next = feature->next;

			if (strncmp(feature->string, OWN_DOMAIN, strlen(OWN_DOMAIN)) != 0)
				cJSON_Delete(cJSON_DetachItemViaPointer(kind, feature));
			feature = next;
		}
	}
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
