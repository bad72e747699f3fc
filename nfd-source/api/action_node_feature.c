// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-feature, node-feature-delete: our NodeFeature object, and the one in nfd-worker's place (design 5.2,
 * spec nfd.md 4).
 *
 * In nfd-worker's place there are two objects: "<node>" with what a worker would publish, and our own with
 * the rest, so that a worker that takes its place back overwrites nothing of ours. While a worker's object
 * is there, ours carries everything: when that object goes with its worker, no label goes.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "api/action.h"
#include "api/feature_object.h"
#include "api/node_plan.h"
#include "api/owners.h"
#include "base/json.h"

struct work {
	struct nfd_client *client;
	const char *node, *namespace, *name;
	const cJSON *request, *keep;
	cJSON *object;         /* as it is to be; owned */
	cJSON *worker_object;  /* the one in nfd-worker's place, likewise; NULL: we are not there */
	cJSON *left;           /* the one there now, of ours and to go; NULL for none; owned */
	cJSON *result, *notes; /* borrowed */
	struct nfd_api_error *err;
};

static int memory(const struct work *work)
{
	return nfd_action_memory(work->err);
}

static struct nfd_feature_place place_of(const struct work *work, const char *name)
{
	return (struct nfd_feature_place){ work->client, work->namespace, name, work->err };
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
 * We stood in nfd-worker's place and do so no more. Only once our own object has its raw features: rules go
 * by them. Returns 0; negative errno with @work->err.
 */
static int leave_place(struct work *work)
{
	const struct nfd_feature_place place = place_of(work, work->node);
	const cJSON *metadata = nfd_json_get(work->left, "metadata");
	int r = nfd_feature_delete(&place, nfd_json_text(metadata, "resourceVersion"), NULL);

	return r < 0 ? r : 0;
}

/*
 * Whether an nfd-worker publishes for our Node: its object has the Node's name. Where that cannot be
 * told, there may be one, and features under our own names are the ones that cannot clash.
 */
static int look_for_worker(struct work *work, bool *ret)
{
	const struct nfd_feature_place place = place_of(work, work->node);
	const cJSON *known = nfd_json_get(work->request, "worker");
	cJSON *object = NULL;
	int r;

	if (cJSON_IsBool(known)) {
		*ret = cJSON_IsTrue(known);
		return 0;
	}
	r = nfd_feature_get(&place, NFD_ACCEPT_METADATA, &object, NULL);
	if (r > 0 && nfd_feature_is_ours(object)) {
		work->left = object;
		object = NULL;
		r = 0;
	}
	cJSON_Delete(object);
	*ret = r != 0;
	if (r < 0 && add_note(work, "raw features keep our own names") < 0)
		return -ENOMEM;
	return cJSON_AddBoolToObject(work->result, "worker", *ret) ? 0 : memory(work);
}

static const cJSON *owners_of(const cJSON *object)
{
	const cJSON *owners = nfd_json_get(nfd_json_get(object, "metadata"), "ownerReferences");

	return cJSON_GetArraySize(owners) > 0 ? owners : NULL;
}

/*
 * An owner reference or a list of them, as the request knows it or as it is found now; those that the object
 * has where they cannot be found.
 */
static int find_owners(struct work *work, const char *field, const cJSON *kinds, const cJSON *now,
		       cJSON **ret)
{
	const cJSON *known = nfd_json_get(work->request, field);
	struct nfd_owners_wish wish = {
		.kinds = kinds,
		.node = work->node,
		.namespace = work->namespace,
		.pod = nfd_json_text(work->request, "pod"),
		.pod_uid = nfd_json_text(work->request, "podUid"),
	};

	*ret = NULL;
	if (known) {
		*ret = cJSON_Duplicate(known, true);
		return *ret ? 0 : memory(work);
	}
	if (nfd_owners_find(work->client, &wish, ret, work->err) >= 0)
		return 0;
	if (*ret && owners_of(now)) {
		cJSON_Delete(*ret);
		*ret = cJSON_Duplicate(owners_of(now), true);
	}
	return *ret ? add_note(work, "the object may lack an owner and outlive an uninstall") :
		      -ENOMEM;
}

static int add_result(struct work *work, const char *field, const cJSON *value)
{
	cJSON *copy = value ? cJSON_Duplicate(value, true) : cJSON_CreateNull();

	if (copy && cJSON_AddItemToObject(work->result, field, copy))
		return 0;
	cJSON_Delete(copy);
	return memory(work);
}

/* The DaemonSet of our pod owns our own object. */
static int look_for_owner(struct work *work, const cJSON *now)
{
	cJSON *metadata = nfd_json_get(work->object, "metadata");
	bool known = nfd_json_get(work->request, "owner") != NULL;
	cJSON *kinds, *list = NULL, *owner;
	int r;

	if (!known && !*nfd_json_text(work->request, "pod"))
		return 0;
	kinds = cJSON_CreateArray();
	cJSON_AddItemToArray(kinds, cJSON_CreateString("ds"));
	r = find_owners(work, "owner", kinds, now, &list);
	cJSON_Delete(kinds);
	owner = cJSON_IsArray(list) ? list->child : list;
	if (r == 0 && !known)
		r = add_result(work, "owner", owner);
	if (r == 0 && cJSON_IsObject(owner)) {
		cJSON *owners = cJSON_AddArrayToObject(metadata, "ownerReferences");

		r = owners && cJSON_AddItemToArray(owners, cJSON_Duplicate(owner, true)) ?
			    0 :
			    memory(work);
	}
	cJSON_Delete(list);
	return r;
}

/* Those that the settings want own the object in nfd-worker's place; none also takes away what was there. */
static int look_for_owners(struct work *work, const cJSON *now)
{
	cJSON *metadata = nfd_json_get(work->worker_object, "metadata");
	const cJSON *kinds = nfd_json_get(work->request, "owners");
	bool known = nfd_json_get(work->request, "workerOwners") != NULL;
	cJSON *list = NULL;
	int r = find_owners(work, "workerOwners", kinds, now, &list);

	if (r == 0 && !known)
		r = add_result(work, "workerOwners", list);
	if (r == 0 && cJSON_AddItemToObject(metadata, "ownerReferences", list))
		return 0;
	cJSON_Delete(list);
	return r < 0 ? r : memory(work);
}

/* Applies an object unless it is there as it is to be; @now: what is there, NULL for none. */
static int bring(struct work *work, cJSON *object, const char *name, const cJSON *now,
		 const char *result_field)
{
	const struct nfd_feature_place place = place_of(work, name);
	cJSON *metadata = nfd_json_get(object, "metadata");
	bool same;
	int r = 0;

	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
	if (!cJSON_AddStringToObject(metadata, "namespace", work->namespace) ||
	    nfd_feature_keep_labels(now, work->keep, object) < 0)
		return memory(work);
	same = now && nfd_feature_is_same(now, object);
	if (!same)
		r = nfd_feature_apply(&place, now, object);
	if (r == 0 && !cJSON_AddBoolToObject(work->result, result_field, !same))
		r = memory(work);
	return r;
}

/* What is there must be what we have read: a worker may come in between. */
static int pin_version(const struct work *work, const cJSON *now)
{
	const char *version = nfd_json_text(nfd_json_get(now, "metadata"), "resourceVersion");
	cJSON *metadata = nfd_json_get(work->worker_object, "metadata");

	return !*version || cJSON_AddStringToObject(metadata, "resourceVersion", version) ?
		       0 :
		       memory(work);
}

/* The object in nfd-worker's place; while a worker has it, our own gets what would be in it. */
static int take_place(struct work *work)
{
	const struct nfd_feature_place place = place_of(work, work->node);
	cJSON *now = NULL;
	bool theirs;
	int r = nfd_feature_get(&place, NFD_ACCEPT_JSON, &now, NULL);

	theirs = r > 0 && !nfd_feature_is_ours(now);
	if (r >= 0 && !cJSON_AddBoolToObject(work->result, "worker", theirs))
		r = memory(work);
	if (r >= 0 && theirs)
		r = nfd_feature_merge(work->worker_object, work->object) < 0 ? memory(work) : 0;
	else if (r >= 0 && (r = look_for_owners(work, now)) == 0 &&
		 (r = pin_version(work, now)) == 0)
		r = bring(work, work->worker_object, work->node, now, "workerWritten");
	cJSON_Delete(now);
	return r;
}

/* Our own features as they are to be called beside a worker, or without one. */
static int settle_names(struct work *work)
{
	const cJSON *names = nfd_json_get(work->request, "standardFeatures");
	bool worker = true;
	int r = look_for_worker(work, &worker);

	if (r == 0 && worker)
		nfd_feature_keep_own(work->object);
	else if (r == 0 && nfd_feature_rename(work->object, names) < 0)
		r = memory(work);
	return r;
}

/* With worker and owner told by the request, an object that is right costs one GET. */
static int publish(struct work *work)
{
	const struct nfd_feature_place place = place_of(work, work->name);
	cJSON *now = NULL;
	bool served;
	int r;

	r = nfd_feature_get(&place, NFD_ACCEPT_JSON, &now, &served);
	if (r >= 0 && !cJSON_AddBoolToObject(work->result, "served", served))
		r = memory(work);
	if (r >= 0 && !served)
		r = cJSON_AddBoolToObject(work->result, "written", false) ? 0 : memory(work);
	else if (r >= 0)
		r = work->worker_object ? take_place(work) : settle_names(work);
	if (r == 0 && served)
		r = look_for_owner(work, now);
	if (r == 0 && served)
		r = bring(work, work->object, work->name, now, "written");
	if (r == 0 && work->left)
		r = leave_place(work);
	cJSON_Delete(now);
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

/* A copy of an object of the request, which must be one with that name. */
static int take_object(struct work *work, const char *field, const char *name, cJSON **ret)
{
	const cJSON *object = nfd_json_get(work->request, field);

	if (!*name || is_dots(name) || !cJSON_IsObject(nfd_json_get(object, "spec")))
		return nfd_api_error_set(work->err, NFD_API_REQUEST, -EINVAL,
					 "the request needs an \"%s\" with name and spec", field);
	*ret = cJSON_Duplicate(object, true);
	return *ret ? 0 : memory(work);
}

static int take_request(struct work *work)
{
	const cJSON *request = work->request, *unused;
	int r;

	work->name =
		nfd_json_text(nfd_json_get(nfd_json_get(request, "object"), "metadata"), "name");
	r = nfd_action_name(request, "node", &work->node, work->err);
	if (r == 0)
		r = take_object(work, "object", work->name, &work->object);
	if (r == 0 && nfd_json_get(request, "workerObject"))
		r = take_object(work, "workerObject", work->node, &work->worker_object);
	if (r == 0)
		r = nfd_action_keys(request, "keep", &work->keep, work->err);
	if (r == 0)
		r = nfd_action_keys(request, "owners", &unused, work->err);
	return r == 0 ? find_namespace(work, request) : r;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	struct work work = { .client = client, .request = request, .result = result, .err = err };
	int r = take_request(&work);

	if (r == 0) {
		work.notes = cJSON_AddArrayToObject(result, "notes");
		r = work.notes && cJSON_AddStringToObject(result, "name", work.name) ?
			    publish(&work) :
			    memory(&work);
	}
	cJSON_Delete(work.object);
	cJSON_Delete(work.worker_object);
	cJSON_Delete(work.left);
	return r;
}

/* The object with the Node's name only where it is ours. */
static int delete_place(struct work *work, const cJSON *request)
{
	const char *node = nfd_json_text(request, "node");
	const struct nfd_feature_place place = place_of(work, node);
	cJSON *object = NULL;
	int r;

	if (!nfd_json_is_true(request, "place") || !*node)
		return 0;
	r = nfd_feature_get(&place, NFD_ACCEPT_METADATA, &object, NULL);
	if (r > 0)
		r = nfd_feature_is_ours(object) ?
			    nfd_feature_delete(&place,
					       nfd_json_text(nfd_json_get(object, "metadata"),
							     "resourceVersion"),
					       NULL) :
			    0;
	cJSON_Delete(object);
	return r;
}

static int run_delete(struct nfd_client *client, const cJSON *request, cJSON *result,
		      struct nfd_api_error *err)
{
	struct work work = { .client = client, .result = result, .err = err };
	struct nfd_feature_place place;
	bool served = true;
	int r, deleted = 0;

	r = nfd_action_name(request, "name", &work.name, err);
	if (r == 0)
		r = find_namespace(&work, request);
	if (r == 0)
		r = deleted = delete_place(&work, request);
	if (r < 0)
		return r;
	place = place_of(&work, work.name);
	r = nfd_feature_delete(&place, NULL, &served);
	if (r < 0)
		return r;
	deleted += r;
	return cJSON_AddStringToObject(result, "name", work.name) &&
			       cJSON_AddBoolToObject(result, "served", served) &&
			       cJSON_AddBoolToObject(result, "deleted", deleted > 0) ?
		       0 :
		       memory(&work);
}

const struct nfd_action nfd_action_node_feature = { .name = "node-feature", .run = run };
const struct nfd_action nfd_action_node_feature_delete = { .name = "node-feature-delete",
							   .run = run_delete };
