// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-feature, node-feature-delete: our NodeFeature object (design 5.2, spec nfd.md 4).
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "api/action.h"
#include "api/node_plan.h"
#include "base/json.h"

#define COLLECTION "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/"

struct work {
	struct nfd_client *client;
	const char *node, *namespace, *name;
	cJSON *object;         /* as it is to be; owned */
	cJSON *owner;          /* owner reference; NULL for none; owned */
	cJSON *result, *notes; /* borrowed */
	struct nfd_api_error *err;
};

static int memory(const struct work *work)
{
	return nfd_action_memory(work->err);
}

static void object_path(const struct work *work, const char *name, struct nfd_strbuf *buf)
{
	nfd_strbuf_puts(buf, COLLECTION);
	nfd_http_escape(buf, work->namespace);
	nfd_strbuf_puts(buf, "/nodefeatures/");
	nfd_http_escape(buf, name);
}

/* GET of a NodeFeature. 1 with @ret; 0 when there is none; @ret_served false without the type. */
static int get_object(struct work *work, const char *name, const char *accept, cJSON **ret,
		      bool *ret_served)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = accept };
	int r;

	object_path(work, name, &path);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(work->client, &call, ret, work->err);
	*ret_served = !(r < 0 && nfd_api_error_is_missing_type(work->err));
	if (r == 0)
		return 1;
	if (work->err->status != 404)
		return r;
	nfd_api_error_done(work->err);
	return 0;
}

static int add_note(struct work *work, const char *what)
{
	cleanup_strbuf struct nfd_strbuf text = { 0 };
	cJSON *note;

	nfd_strbuf_printf(&text, "%s: %s", what, nfd_error_text(&work->err->error));
	nfd_api_error_done(work->err);
	note = cJSON_CreateString(nfd_strbuf_text(&text));
	if (note && cJSON_AddItemToArray(work->notes, note))
		return 0;
	cJSON_Delete(note);
	return memory(work);
}

/*
 * Whether an nfd-worker publishes for our Node: its object has the Node's name. Where that cannot be
 * told, there may be one, and features under our own names are the ones that cannot clash.
 */
static int look_for_worker(struct work *work, const cJSON *request, bool *ret)
{
	const cJSON *known = nfd_json_get(request, "worker");
	cJSON *object = NULL;
	bool served;
	int r;

	if (cJSON_IsBool(known)) {
		*ret = cJSON_IsTrue(known);
		return 0;
	}
	r = get_object(work, work->node, NFD_ACCEPT_METADATA, &object, &served);
	cJSON_Delete(object);
	*ret = r != 0;
	if (r < 0 && add_note(work, "raw features keep our own names") < 0)
		return -ENOMEM;
	return cJSON_AddBoolToObject(work->result, "worker", *ret) ? 0 : memory(work);
}

/* Renames the raw features that NFD has a name for. */
static int use_standard_names(struct work *work, const cJSON *names)
{
	static const char *const kinds[] = { "flags", "attributes", "instances" };
	const cJSON *spec = nfd_json_get(work->object, "spec");
	const cJSON *features = nfd_json_get(spec, "features");
	const cJSON *name;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(kinds); i++) {
		cJSON *group = nfd_json_get(features, kinds[i]);

		cJSON_ArrayForEach(name, names) {
			cJSON *feature =
				cJSON_DetachItemFromObjectCaseSensitive(group, name->string);

			if (feature &&
			    !cJSON_AddItemToObject(group, cJSON_GetStringValue(name), feature)) {
				cJSON_Delete(feature);
				return memory(work);
			}
		}
	}
	return 0;
}

/* A reference to the DaemonSet that owns our pod (field case G3); NULL when there is none. */
static cJSON *owner_of(const cJSON *pod)
{
	static const char *const fields[] = { "apiVersion", "kind", "name", "uid" };
	const cJSON *metadata = nfd_json_get(pod, "metadata");
	const cJSON *owners = nfd_json_get(metadata, "ownerReferences");
	const cJSON *owner;

	cJSON_ArrayForEach(owner, owners) {
		cJSON *copy;

		if (strcmp(nfd_json_text(owner, "kind"), "DaemonSet") != 0)
			continue;
		copy = cJSON_CreateObject();
		for (size_t i = 0; i < NFD_ARRAY_SIZE(fields); i++)
			cJSON_AddStringToObject(copy, fields[i], nfd_json_text(owner, fields[i]));
		/* True would need rights on the owner where a plug-in checks that. */
		cJSON_AddBoolToObject(copy, "blockOwnerDeletion", false);
		return copy;
	}
	return NULL;
}

static int look_for_owner(struct work *work, const cJSON *request)
{
	const cJSON *known = nfd_json_get(request, "owner");
	const char *pod_name = nfd_json_text(request, "pod");
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = NFD_ACCEPT_METADATA };
	cJSON *pod = NULL, *copy;
	int r;

	if (cJSON_IsObject(known)) {
		work->owner = cJSON_Duplicate(known, true);
		return work->owner ? 0 : memory(work);
	}
	if (known || !*pod_name)
		return 0;
	nfd_strbuf_puts(&path, "/api/v1/namespaces/");
	nfd_http_escape(&path, work->namespace);
	nfd_strbuf_puts(&path, "/pods/");
	nfd_http_escape(&path, pod_name);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(work->client, &call, &pod, work->err);
	if (r < 0)
		return add_note(work, "the object has no owner and outlives an uninstall");
	work->owner = owner_of(pod);
	cJSON_Delete(pod);
	copy = work->owner ? cJSON_Duplicate(work->owner, true) : cJSON_CreateNull();
	return copy && cJSON_AddItemToObject(work->result, "owner", copy) ? 0 : memory(work);
}

static int complete_object(struct work *work)
{
	cJSON *metadata = nfd_json_get(work->object, "metadata");
	cJSON *owners, *copy;

	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
	if (!cJSON_AddStringToObject(metadata, "namespace", work->namespace))
		return memory(work);
	if (!work->owner)
		return 0;
	owners = cJSON_AddArrayToObject(metadata, "ownerReferences");
	copy = owners ? cJSON_Duplicate(work->owner, true) : NULL;
	return copy && cJSON_AddItemToArray(owners, copy) ? 0 : memory(work);
}

/* Whether everything that we would apply is there already, and nothing of ours beside it. */
static bool is_same(const cJSON *now, const cJSON *wanted)
{
	const cJSON *now_meta = nfd_json_get(now, "metadata");
	const cJSON *wanted_meta = nfd_json_get(wanted, "metadata");
	const cJSON *wanted_labels = nfd_json_get(wanted_meta, "labels");
	const cJSON *now_labels = nfd_json_get(now_meta, "labels");
	const cJSON *owners = nfd_json_get(wanted_meta, "ownerReferences");
	const cJSON *label;

	cJSON_ArrayForEach(label, wanted_labels)
		if (strcmp(nfd_json_text(now_labels, label->string), cJSON_GetStringValue(label)) !=
		    0)
			return false;
	if (owners && !cJSON_Compare(nfd_json_get(now_meta, "ownerReferences"), owners, true))
		return false;
	return cJSON_Compare(nfd_json_get(now, "spec"), nfd_json_get(wanted, "spec"), true);
}

static int apply(struct work *work)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "PATCH",
				 .accept = NFD_ACCEPT_METADATA,
				 .content_type = NFD_CONTENT_APPLY,
				 .body = work->object };

	object_path(work, work->name, &path);
	/* By force: the object has our own name, and nobody else's fields are in it. */
	nfd_strbuf_puts(&path, "?fieldManager=" NFD_FIELD_MANAGER "&force=true");
	call.path = nfd_strbuf_text(&path);
	return nfd_client_call(work->client, &call, NULL, work->err);
}

/* Labels of the object whose facts are unknown stay as they are. */
static int keep_labels(struct work *work, const cJSON *request, const cJSON *now)
{
	const cJSON *old = nfd_json_object(nfd_json_get(now, "spec"), "labels");
	cJSON *wanted = nfd_json_object(nfd_json_get(work->object, "spec"), "labels");
	const cJSON *prefixes, *label;
	int r = nfd_action_keys(request, "keep", &prefixes, work->err);

	if (r < 0 || !wanted)
		return r;
	cJSON_ArrayForEach(label, old)
		if (cJSON_IsString(label) && nfd_has_prefix(prefixes, label->string) &&
		    !nfd_json_get(wanted, label->string) &&
		    !cJSON_AddStringToObject(wanted, label->string, label->valuestring))
			return memory(work);
	return 0;
}

/* With worker and owner told by the request, an object that is right costs one GET. */
static int publish(struct work *work, const cJSON *request)
{
	const cJSON *names = nfd_json_get(request, "standardFeatures");
	bool served, worker = true, same = false;
	cJSON *now = NULL;
	int r;

	r = get_object(work, work->name, NFD_ACCEPT_JSON, &now, &served);
	if (r >= 0 && !cJSON_AddBoolToObject(work->result, "served", served))
		r = memory(work);
	if (r >= 0 && !served && !cJSON_AddBoolToObject(work->result, "written", false))
		r = memory(work);
	if (r < 0 || !served) {
		cJSON_Delete(now);
		return r < 0 ? r : 0;
	}
	r = look_for_worker(work, request, &worker);
	if (r == 0)
		r = look_for_owner(work, request);
	if (r == 0 && !worker)
		r = use_standard_names(work, names);
	if (r == 0)
		r = keep_labels(work, request, now);
	if (r == 0)
		r = complete_object(work);
	same = r == 0 && now && is_same(now, work->object);
	cJSON_Delete(now);
	if (r == 0 && !same)
		r = apply(work);
	if (r == 0 && !cJSON_AddBoolToObject(work->result, "written", !same))
		r = memory(work);
	return r;
}

/* In a path these two are no names. */
static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int find_namespace(struct work *work, const cJSON *request)
{
	work->namespace = nfd_json_text(request, "namespace");
	if (!*work->namespace && work->client->credentials.namespace)
		work->namespace = work->client->credentials.namespace;
	if (!*work->namespace || is_dots(work->namespace))
		return nfd_api_error_set(work->err, NFD_API_REQUEST, -EINVAL,
					 "no namespace for the NodeFeature object: set "
					 "outputs.nodeFeature.namespace");
	return cJSON_AddStringToObject(work->result, "namespace", work->namespace) ? 0 :
										     memory(work);
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	const cJSON *object = nfd_json_get(request, "object");
	struct work work = { .client = client, .result = result, .err = err };
	int r;

	work.name = nfd_json_text(nfd_json_get(object, "metadata"), "name");
	r = nfd_action_name(request, "node", &work.node, err);
	if (r == 0 &&
	    (!*work.name || is_dots(work.name) || !cJSON_IsObject(nfd_json_get(object, "spec"))))
		r = nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
				      "the request needs an \"object\" with name and spec");
	if (r == 0)
		r = find_namespace(&work, request);
	if (r == 0) {
		work.notes = cJSON_AddArrayToObject(result, "notes");
		work.object = cJSON_Duplicate(object, true);
		r = work.notes && work.object &&
				    cJSON_AddStringToObject(result, "name", work.name) ?
			    publish(&work, request) :
			    memory(&work);
	}
	cJSON_Delete(work.object);
	cJSON_Delete(work.owner);
	return r;
}

static int run_delete(struct nfd_client *client, const cJSON *request, cJSON *result,
		      struct nfd_api_error *err)
{
	struct work work = { .client = client, .result = result, .err = err };
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "DELETE", .accept = NFD_ACCEPT_JSON };
	bool deleted, served = true;
	int r;

	r = nfd_action_name(request, "name", &work.name, err);
	if (r == 0)
		r = find_namespace(&work, request);
	if (r < 0)
		return r;
	object_path(&work, work.name, &path);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(client, &call, NULL, err);
	deleted = r == 0;
	if (r < 0 && err->status == 404) {
		served = !nfd_api_error_is_missing_type(err);
		nfd_api_error_done(err);
		r = 0;
	}
	if (r == 0 && (!cJSON_AddStringToObject(result, "name", work.name) ||
		       !cJSON_AddBoolToObject(result, "served", served) ||
		       !cJSON_AddBoolToObject(result, "deleted", deleted)))
		r = memory(&work);
	return r;
}

const struct nfd_action nfd_action_node_feature = { .name = "node-feature", .run = run };
const struct nfd_action nfd_action_node_feature_delete = { .name = "node-feature-delete",
							   .run = run_delete };
