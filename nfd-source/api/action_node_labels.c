// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-labels: brings our labels onto our Node and hands them over to NFD (design 5.3).
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "api/action.h"
#include "api/managed_fields.h"
#include "api/node_plan.h"
#include "base/json.h"
#include "labels/key.h"

#define UNLESS_SERVED "unless-served"
/* Each try sends at most one write; a key that is refused or in conflict costs one. */
#define TRIES_MAX 12
/* Conflicts that are about no field: somebody else wrote at the same time. */
#define CLASHES_MAX 3
#define CLASH_WAIT_MS 100

struct work {
	struct nfd_client *client;
	const char *node;
	struct nfd_node_wish wish;
	bool look_up, dry_run;
	cJSON *metadata;                          /* the Node as we know it; owned */
	cJSON *leave;                             /* array of keys that are not sent; owned */
	cJSON *result;                            /* borrowed */
	cJSON *conflicts, *refused, *handed_over; /* in the result */
	unsigned int clashes;
	struct nfd_api_error *err;
};

static int memory(struct work *work)
{
	return nfd_action_memory(work->err);
}

/* Whether the cluster serves NFD: a 404 is the answer no, not a failure. */
static int look_up_nfd(struct work *work)
{
	struct nfd_call call = { .method = "GET",
				 .path = "/apis/nfd.k8s-sigs.io",
				 .accept = NFD_ACCEPT_JSON };
	int r = nfd_client_call(work->client, &call, NULL, work->err);

	if (r < 0 && work->err->status != 404)
		return r;
	nfd_api_error_done(work->err);
	work->wish.nfd_gone = r < 0;
	return cJSON_AddBoolToObject(work->result, "nfdServed", r == 0) ? 0 : memory(work);
}

static int read_node(struct work *work)
{
	cJSON *metadata = NULL;
	int r = nfd_node_get(work->client, work->node, &metadata, work->err);

	if (r < 0)
		return r;
	cJSON_Delete(work->metadata);
	work->metadata = metadata;
	return nfd_node_describe(metadata, work->result, work->err);
}

/* Sends a patch of the Node; its reply becomes what we know of it. */
static int patch_node(struct work *work, const char *query, const char *content_type,
		      const cJSON *body)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "PATCH",
				 .accept = NFD_ACCEPT_METADATA,
				 .content_type = content_type,
				 .body = body };
	cJSON *object = NULL, *metadata;
	int r;

	nfd_node_path(work->node, &path);
	nfd_strbuf_puts(&path, query);
	call.path = nfd_strbuf_text(&path);
	r = nfd_client_call(work->client, &call, &object, work->err);
	if (r < 0)
		return r;
	metadata = cJSON_DetachItemFromObjectCaseSensitive(object, "metadata");
	cJSON_Delete(object);
	if (!cJSON_IsObject(metadata)) {
		cJSON_Delete(metadata);
		return nfd_api_error_set(work->err, NFD_API_REPLY, -EBADMSG,
					 "PATCH %.200s: the reply has no metadata", call.path);
	}
	cJSON_Delete(work->metadata);
	work->metadata = metadata;
	return 0;
}

/*
 * Somebody wrote the Node between our read and our write: read it again. Returns 0 to go on; the
 * failure itself when that happened too often.
 */
static int after_clash(struct work *work, int failure)
{
	if (++work->clashes > CLASHES_MAX)
		return failure;
	poll(NULL, 0, (int)(CLASH_WAIT_MS * work->clashes));
	nfd_api_error_done(work->err);
	return read_node(work);
}

static bool add_operation(cJSON *patch, const char *op, const char *path, const cJSON *value)
{
	cJSON *operation = cJSON_CreateObject();
	cJSON *copy = value ? cJSON_Duplicate(value, true) : NULL;

	if (!operation || !cJSON_AddStringToObject(operation, "op", op) ||
	    !cJSON_AddStringToObject(operation, "path", path) ||
	    (value && !cJSON_AddItemToObject(operation, "value", copy))) {
		cJSON_Delete(copy);
		cJSON_Delete(operation);
		return false;
	}
	return cJSON_AddItemToArray(patch, operation);
}

/* The JSON patch that takes keys out of our entry, and does nothing if the Node has changed. */
static cJSON *hand_over_patch(const struct work *work, const cJSON *keys)
{
	const cJSON *managed = nfd_json_get(work->metadata, "managedFields");
	const cJSON *version = nfd_json_get(work->metadata, "resourceVersion");
	int at = nfd_managed_find(managed, NFD_FIELD_MANAGER);
	const cJSON *entry = cJSON_GetArrayItem(managed, at);
	const cJSON *manager = nfd_json_get(entry, "manager");
	cJSON *patch = cJSON_CreateArray();
	cJSON *fields = NULL;
	char path[64], fields_path[80], manager_path[80];
	bool ok;

	snprintf(path, sizeof(path), "/metadata/managedFields/%d", at);
	snprintf(manager_path, sizeof(manager_path), "%s/manager", path);
	snprintf(fields_path, sizeof(fields_path), "%s/fieldsV1", path);
	ok = patch && version && nfd_managed_without(entry, keys, &fields) == 0 &&
	     add_operation(patch, "test", "/metadata/resourceVersion", version) &&
	     add_operation(patch, "test", manager_path, manager) &&
	     (fields ? add_operation(patch, "replace", fields_path, fields) :
		       add_operation(patch, "remove", path, NULL));
	if (!ok) {
		cJSON_Delete(patch);
		patch = NULL;
	}
	cJSON_Delete(fields);
	return patch;
}

static int append(cJSON *list, const cJSON *texts)
{
	const cJSON *text;

	cJSON_ArrayForEach(text, texts) {
		cJSON *copy = cJSON_Duplicate(text, true);

		if (!copy || !cJSON_AddItemToArray(list, copy)) {
			cJSON_Delete(copy);
			return -ENOMEM;
		}
	}
	return 0;
}

static int hand_over(struct work *work, const cJSON *keys)
{
	cJSON *patch = hand_over_patch(work, keys);
	int r;

	if (!patch)
		return memory(work);
	r = patch_node(work, "?fieldManager=" NFD_FIELD_MANAGER, NFD_CONTENT_JSON_PATCH, patch);
	cJSON_Delete(patch);
	/* A test that fails is told as 422. */
	if (r < 0 && (work->err->status == 409 || work->err->status == 422))
		return after_clash(work, r);
	return r < 0 ? r : append(work->handed_over, keys) < 0 ? memory(work) : 0;
}

static cJSON *apply_body(const struct work *work, const cJSON *want)
{
	const cJSON *uid = nfd_json_get(work->metadata, "uid");
	cJSON *object = cJSON_CreateObject();
	cJSON *metadata = NULL, *labels;

	/* With the uid an apply to a Node that has gone is refused instead of creating one. */
	if (object && cJSON_AddStringToObject(object, "apiVersion", "v1") &&
	    cJSON_AddStringToObject(object, "kind", "Node") &&
	    (metadata = cJSON_AddObjectToObject(object, "metadata")) != NULL &&
	    cJSON_AddStringToObject(metadata, "name", work->node) && cJSON_IsString(uid) &&
	    cJSON_AddStringToObject(metadata, "uid", uid->valuestring)) {
		labels = cJSON_GetArraySize(want) > 0 ? cJSON_Duplicate(want, true) : NULL;
		if (cJSON_GetArraySize(want) == 0 ||
		    (labels && cJSON_AddItemToObject(metadata, "labels", labels)))
			return object;
		cJSON_Delete(labels);
	}
	cJSON_Delete(object);
	return NULL;
}

/* Keys of {"key",…} entries that are not sent any more, from @from on. */
static int leave_out(struct work *work, const cJSON *entries, int from)
{
	for (int i = from; i < cJSON_GetArraySize(entries); i++) {
		const char *key =
			cJSON_GetStringValue(nfd_json_get(cJSON_GetArrayItem(entries, i), "key"));
		cJSON *copy = cJSON_CreateString(key);

		if (!copy || !cJSON_AddItemToArray(work->leave, copy)) {
			cJSON_Delete(copy);
			return memory(work);
		}
	}
	return 0;
}

/* Leaves out what the API server does not take, or gives up. Returns 0 to try again. */
static int after_refusal(struct work *work, const cJSON *want, int failure)
{
	int status = work->err->status;
	bool conflict = status == 409;
	cJSON *list = conflict ? work->conflicts : work->refused;
	int before = cJSON_GetArraySize(list);
	int named = 0;

	if (conflict)
		named = nfd_api_error_conflicts(work->err, list);
	else if (status == 403 || status == 422)
		named = nfd_api_error_named_keys(work->err, want, list);
	if (named < 0)
		return memory(work);
	if (named == 0)
		return conflict ? after_clash(work, failure) : failure;
	nfd_api_error_done(work->err);
	return leave_out(work, list, before);
}

static int apply(struct work *work, const struct nfd_node_plan *plan)
{
	cJSON *body = apply_body(work, plan->want);
	int r;

	if (!body)
		return memory(work);
	r = patch_node(work, "?fieldManager=" NFD_FIELD_MANAGER, NFD_CONTENT_APPLY, body);
	cJSON_Delete(body);
	return r < 0 ? after_refusal(work, plan->want, r) : 1;
}

static int put(struct work *work, const char *field, cJSON **list)
{
	cJSON_DeleteItemFromObjectCaseSensitive(work->result, field);
	if (!cJSON_AddItemToObject(work->result, field, *list))
		return memory(work);
	*list = NULL;
	return 0;
}

/* The lists of the last plan go into the result. */
static int put_plan(struct work *work, struct nfd_node_plan *plan)
{
	if (put(work, "missing", &plan->missing) < 0 || put(work, "left", &plan->left) < 0 ||
	    put(work, "owned", &plan->owned) < 0)
		return -ENOMEM;
	return append(work->conflicts, plan->conflicts) < 0 ? memory(work) : 0;
}

/* After an apply: what it did, and what we own now. */
static int put_applied(struct work *work, struct nfd_node_plan *plan)
{
	cleanup_plan struct nfd_node_plan after = { 0 };

	if (nfd_node_plan_make(&after, work->metadata, &work->wish, NFD_FIELD_MANAGER) < 0)
		return memory(work);
	if (put(work, "applied", &plan->changed) < 0 ||
	    put(work, "withdrawn", &plan->withdrawn) < 0)
		return -ENOMEM;
	return put_plan(work, &after);
}

/* What a run without "dryRun" would do. */
static int put_dry_run(struct work *work, struct nfd_node_plan *plan)
{
	if (put(work, "applied", &plan->changed) < 0 ||
	    put(work, "withdrawn", &plan->withdrawn) < 0 || put_plan(work, plan) < 0)
		return -ENOMEM;
	return append(work->handed_over, plan->hand_over) < 0 ? memory(work) : 1;
}

/* One look at the Node and at most one write. 1: all is done; 0: look again. */
static int once(struct work *work)
{
	cleanup_plan struct nfd_node_plan plan = { 0 };
	int r;

	if (nfd_node_plan_make(&plan, work->metadata, &work->wish, NFD_FIELD_MANAGER) < 0)
		return memory(work);
	if (work->dry_run)
		return put_dry_run(work, &plan);
	if (cJSON_GetArraySize(plan.hand_over) > 0)
		return hand_over(work, plan.hand_over);
	if (!nfd_node_plan_is_apply(&plan)) {
		r = put_plan(work, &plan);
		return r < 0 ? r : 1;
	}
	r = apply(work, &plan);
	if (r <= 0)
		return r;
	r = put_applied(work, &plan);
	return r < 0 ? r : 1;
}

static int check_labels(const cJSON *labels, struct nfd_api_error *err)
{
	const cJSON *label;

	if (!cJSON_IsObject(labels))
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "the request needs an object \"labels\"");
	cJSON_ArrayForEach(label, labels) {
		struct nfd_error why = { 0 };

		if (nfd_label_key_check(label->string, &why) < 0)
			return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL, "%s",
						 nfd_error_text(&why));
		if (!cJSON_IsString(label) || !nfd_label_value_is_valid(label->valuestring))
			return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
						 "the value of \"%s\" is no label value",
						 label->string);
	}
	return 0;
}

static int take_fields(struct work *work, const cJSON *request, const char **ret_bring)
{
	const cJSON *leave = NULL;
	bool served;
	int r;

	work->wish.labels = nfd_json_get(request, "labels");
	r = check_labels(work->wish.labels, work->err);
	if (r == 0)
		r = nfd_action_name(request, "node", &work->node, work->err);
	if (r == 0)
		r = nfd_action_text(request, "bring", NULL, ret_bring, work->err);
	if (r == 0 && strcmp(*ret_bring, "now") != 0 && strcmp(*ret_bring, "wait") != 0 &&
	    strcmp(*ret_bring, UNLESS_SERVED) != 0)
		r = nfd_api_error_set(work->err, NFD_API_REQUEST, -EINVAL,
				      "\"bring\" is none of now, wait, " UNLESS_SERVED);
	if (r == 0)
		r = nfd_action_flag(request, "nfdServed", &served, work->err);
	if (r == 0)
		r = nfd_action_flag(request, "dryRun", &work->dry_run, work->err);
	if (r == 0)
		r = nfd_action_flag(request, "lookUp", &work->look_up, work->err);
	if (r == 0)
		r = nfd_action_keys(request, "keep", &work->wish.keep, work->err);
	if (r == 0)
		r = nfd_action_keys(request, "leave", &leave, work->err);
	if (r < 0)
		return r;
	work->wish.nfd_gone = nfd_json_get(request, "nfdServed") && !served;
	work->leave = leave ? cJSON_Duplicate(leave, true) : cJSON_CreateArray();
	return work->leave ? 0 : memory(work);
}

static int take_request(struct work *work, const cJSON *request, const char **ret_bring)
{
	int r = take_fields(work, request, ret_bring);

	if (r < 0)
		return r;
	work->wish.leave = work->leave;
	work->wish.bring = strcmp(*ret_bring, "now") == 0;
	work->look_up |= strcmp(*ret_bring, UNLESS_SERVED) == 0;
	work->conflicts = cJSON_AddArrayToObject(work->result, "conflicts");
	work->refused = cJSON_AddArrayToObject(work->result, "refused");
	work->handed_over = cJSON_AddArrayToObject(work->result, "handedOver");
	if (!work->conflicts || !work->refused || !work->handed_over ||
	    !cJSON_AddArrayToObject(work->result, "applied") ||
	    !cJSON_AddArrayToObject(work->result, "withdrawn"))
		return memory(work);
	return 0;
}

static int work_off(struct work *work, const char *bring)
{
	int r = work->look_up ? look_up_nfd(work) : 0;

	if (strcmp(bring, UNLESS_SERVED) == 0)
		work->wish.bring = work->wish.nfd_gone;
	if (r == 0 && !cJSON_AddBoolToObject(work->result, "brought", work->wish.bring))
		r = memory(work);
	if (r == 0)
		r = read_node(work);
	for (int i = 0; i < TRIES_MAX && r == 0; i++)
		r = once(work);
	if (r == 0)
		return nfd_api_error_set(work->err, NFD_API_CONNECT, -EAGAIN,
					 "Node %.253s changes faster than it can be written",
					 work->node);
	return r < 0 ? r : 0;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	struct work work = { .client = client, .result = result, .err = err };
	const char *bring;
	int r = take_request(&work, request, &bring);

	if (r == 0)
		r = work_off(&work, bring);
	cJSON_Delete(work.leave);
	cJSON_Delete(work.metadata);
	return r;
}

const struct nfd_action nfd_action_node_labels = { .name = "node-labels", .run = run };
