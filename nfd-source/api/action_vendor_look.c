// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vendor-look: whether a vendor's own program labels our Node, told by its NodeFeature object and by
 * keys on the Node that are not ours.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "api/action.h"
#include "api/feature_object.h"
#include "api/managed_fields.h"
#include "api/node_plan.h"
#include "base/json.h"
#include "labels/key.h"

/* From the API server's cache: it need not ask its store for each node of a fleet. */
#define OBJECTS                                       \
	"/apis/nfd.k8s-sigs.io/v1alpha1/nodefeatures" \
	"?resourceVersion=0&labelSelector=nfd.node.kubernetes.io%2Fnode-name%3D"
#define OWN_OBJECT "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/"
#define ACCEPT_LIST \
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json"

struct work {
	const cJSON *vendors; /* of the request: array of {"name","objects","keys","nodeObject"} */
	const char *node;
	const cJSON *mine;    /* array of keys that we publish; NULL for none */
	cJSON *own;           /* our NodeFeature object; owned; NULL for none */
	cJSON *seen, *coming; /* of the result: name → words */
	struct nfd_api_error *err;
};

static bool is_mine(const struct work *work, const char *key)
{
	const cJSON *mine;

	cJSON_ArrayForEach(mine, work->mine)
		if (cJSON_IsString(mine) && strcmp(mine->valuestring, key) == 0)
			return true;
	return nfd_json_get(nfd_json_get(nfd_json_get(work->own, "spec"), "labels"), key) != NULL;
}

/* The name of another than us that brought a label; "" for none. NFD brings ours too. */
static int find_stranger(const struct work *work, const cJSON *metadata, const char *key,
			 struct nfd_strbuf *ret_manager)
{
	bool mine = is_mine(work, key);
	cJSON *owners;
	const cJSON *owner;
	int r;

	if (mine && nfd_node_is_listed(metadata, key))
		return 0;
	owners = cJSON_CreateArray();
	r = nfd_managed_owners(nfd_json_get(metadata, "managedFields"), key, owners);
	cJSON_ArrayForEach(owner, owners) {
		const char *manager = nfd_json_text(owner, "manager");

		if (ret_manager->len == 0 && strcmp(manager, NFD_FIELD_MANAGER) != 0)
			nfd_strbuf_printf(ret_manager, "%.60s", manager);
	}
	/* What nobody owns was handed over by us, or is older than owners are kept. */
	if (r == 0 && cJSON_GetArraySize(owners) == 0 && !mine)
		nfd_strbuf_puts(ret_manager, "nobody that the Node knows");
	cJSON_Delete(owners);
	return r < 0 ? r : ret_manager->error;
}

static int note(struct work *work, cJSON *list, const char *name, const struct nfd_strbuf *words)
{
	if (nfd_json_get(list, name) ||
	    (!words->error && nfd_json_add_text(list, name, nfd_strbuf_text(words))))
		return 0;
	return nfd_action_memory(work->err);
}

static bool is_sign(const cJSON *patterns, const char *key)
{
	const cJSON *pattern;

	cJSON_ArrayForEach(pattern, patterns)
		if (nfd_label_key_matches(cJSON_GetStringValue(pattern), key))
			return true;
	return false;
}

static int look_at_keys(struct work *work, const cJSON *vendor, const cJSON *metadata)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, nfd_json_object(metadata, "labels")) {
		cleanup_strbuf struct nfd_strbuf manager = { 0 }, words = { 0 };
		int r;

		if (!is_sign(nfd_json_get(vendor, "keys"), label->string))
			continue;
		r = find_stranger(work, metadata, label->string, &manager);
		if (r < 0)
			return nfd_action_memory(work->err);
		if (manager.len == 0)
			continue;
		nfd_strbuf_printf(&words, "label %s on the Node, set by %s", label->string,
				  nfd_strbuf_text(&manager));
		return note(work, work->seen, nfd_json_text(vendor, "name"), &words);
	}
	return 0;
}

/* Whether a key has the domain of one of the vendor's; NFD's own domain is everybody's. */
static bool is_akin(const cJSON *patterns, const char *key)
{
	const cJSON *pattern;

	cJSON_ArrayForEach(pattern, patterns) {
		const char *text = cJSON_IsString(pattern) ? pattern->valuestring : "";
		const char *slash = strchr(text, '/');

		if (strncmp(text, NFD_FEATURE_PREFIX, strlen(NFD_FEATURE_PREFIX)) == 0) {
			if (nfd_label_key_matches(text, key))
				return true;
		} else if (slash && strncmp(text, key, (size_t)(slash - text) + 1) == 0) {
			return true;
		}
	}
	return false;
}

/*
 * Whether an nfd-master has put the labels of an object on the Node. A key that we do not publish says
 * so for certain. Else they are the same as ours, and it has all that we own.
 */
static bool is_brought(const struct work *work, const cJSON *vendor, const cJSON *metadata)
{
	const cJSON *keys = nfd_json_get(vendor, "keys");
	const cJSON *managed = nfd_json_get(metadata, "managedFields");
	int at = nfd_managed_find(managed, NFD_FIELD_MANAGER);
	const cJSON *ours = at < 0 ? NULL : cJSON_GetArrayItem(managed, at);
	bool listed = false, missing = false;
	const cJSON *label;

	cJSON_ArrayForEach(label, nfd_json_object(metadata, "labels")) {
		if (!nfd_node_is_listed(metadata, label->string)) {
			missing |= is_akin(keys, label->string) &&
				   nfd_managed_owns(ours, label->string);
		} else if (is_sign(keys, label->string)) {
			if (!is_mine(work, label->string))
				return true;
			listed = true;
		}
	}
	return listed && !missing;
}

/* An object of the vendor's program. The one with the Node's name is ours where we wrote it. */
static bool is_of_vendor(const struct work *work, const cJSON *vendor, const cJSON *item)
{
	const char *name = nfd_json_text(nfd_json_get(item, "metadata"), "name");

	if (nfd_has_prefix(nfd_json_get(vendor, "objects"), name))
		return true;
	return nfd_json_is_true(vendor, "nodeObject") && strcmp(name, work->node) == 0 &&
	       !nfd_feature_is_ours(item);
}

/* An object alone brings no label: until an nfd-master has read it, ours must not go. */
static int look_at_objects(struct work *work, const cJSON *vendor, const cJSON *list,
			   const cJSON *node)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, nfd_json_get(list, "items")) {
		const cJSON *metadata = nfd_json_get(item, "metadata");
		const char *name = nfd_json_text(metadata, "name");
		cleanup_strbuf struct nfd_strbuf words = { 0 };

		if (!is_of_vendor(work, vendor, item))
			continue;
		nfd_strbuf_printf(&words, "NodeFeature %s/%s", nfd_json_text(metadata, "namespace"),
				  name);
		return note(work, is_brought(work, vendor, node) ? work->seen : work->coming,
			    nfd_json_text(vendor, "name"), &words);
	}
	return 0;
}

/* Objects are of interest only where a program with objects is looked for. */
static bool wants_objects(const struct work *work)
{
	const cJSON *vendor;

	cJSON_ArrayForEach(vendor, work->vendors)
		if (nfd_json_length(vendor, "objects") > 0 ||
		    nfd_json_is_true(vendor, "nodeObject"))
			return true;
	return false;
}

/* A refusal, and a cluster without NFD, leave the keys on the Node to tell. */
static int list_objects(struct work *work, struct nfd_client *client, cJSON *result, cJSON **ret)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = ACCEPT_LIST };
	int r;

	nfd_strbuf_puts(&path, OBJECTS);
	nfd_http_escape(&path, work->node);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(client, &call, ret, work->err);
	if (r == 0 || (work->err->status != 403 && work->err->status != 404))
		return r;
	if (work->err->status == 403 &&
	    !nfd_json_add_text(result, "objectsWhy", nfd_error_text(&work->err->error)))
		return nfd_action_memory(work->err);
	nfd_api_error_done(work->err);
	return 0;
}

/*
 * Our own object: an nfd-master puts its labels on the Node as it does those of others. Without it, or
 * without the right to read it, nothing of it is on the Node.
 */
static int read_own(struct work *work, struct nfd_client *client, const cJSON *request)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = NFD_ACCEPT_JSON };
	const char *namespace = client->credentials.namespace, *name;
	int r = 0;

	if (nfd_json_get(request, "namespace"))
		r = nfd_action_name(request, "namespace", &namespace, work->err);
	if (r == 0 && (!namespace || !nfd_json_get(request, "object")))
		return 0;
	if (r == 0)
		r = nfd_action_name(request, "object", &name, work->err);
	if (r < 0)
		return r;
	nfd_strbuf_puts(&path, OWN_OBJECT);
	nfd_http_escape(&path, namespace);
	nfd_strbuf_puts(&path, "/nodefeatures/");
	nfd_http_escape(&path, name);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(client, &call, &work->own, work->err);
	if (r == 0 || (work->err->status != 403 && work->err->status != 404))
		return r;
	nfd_api_error_done(work->err);
	return 0;
}

static int look(struct work *work, struct nfd_client *client, cJSON *result)
{
	cJSON *metadata = NULL, *list = NULL;
	const cJSON *vendor;
	int r;

	r = nfd_node_get(client, work->node, &metadata, work->err);
	if (r == 0)
		r = nfd_node_describe(metadata, result, work->err);
	if (r == 0 && wants_objects(work))
		r = list_objects(work, client, result, &list);
	cJSON_ArrayForEach(vendor, work->vendors) {
		if (r == 0)
			r = look_at_objects(work, vendor, list, metadata);
		if (r == 0)
			r = look_at_keys(work, vendor, metadata);
	}
	cJSON_Delete(metadata);
	cJSON_Delete(list);
	return r;
}

static int take_vendors(struct work *work, const cJSON *request)
{
	const cJSON *vendor, *unused;
	const char *name;
	int r = 0;

	work->vendors = nfd_json_get(request, "vendors");
	if (!cJSON_IsArray(work->vendors))
		return nfd_api_error_set(work->err, NFD_API_REQUEST, -EINVAL,
					 "the request needs an array \"vendors\"");
	cJSON_ArrayForEach(vendor, work->vendors) {
		if (r == 0)
			r = nfd_action_text(vendor, "name", NULL, &name, work->err);
		if (r == 0)
			r = nfd_action_keys(vendor, "objects", &unused, work->err);
		if (r == 0)
			r = nfd_action_keys(vendor, "keys", &unused, work->err);
	}
	return r;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	struct work work = { .err = err };
	int r;

	r = nfd_action_name(request, "node", &work.node, err);
	if (r == 0)
		r = nfd_action_keys(request, "mine", &work.mine, err);
	if (r == 0)
		r = take_vendors(&work, request);
	if (r < 0)
		return r;
	work.seen = cJSON_AddObjectToObject(result, "seen");
	work.coming = cJSON_AddObjectToObject(result, "coming");
	if (!work.seen || !work.coming)
		return nfd_action_memory(err);
	r = read_own(&work, client, request);
	if (r == 0)
		r = look(&work, client, result);
	cJSON_Delete(work.own);
	return r;
}

const struct nfd_action nfd_action_vendor_look = { .name = "vendor-look", .run = run };
