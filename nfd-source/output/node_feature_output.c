// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The NodeFeature object as an output: for nodes of a cluster with NFD that have no features.d
 * (design 5.2). Whether the cluster has the resource type shows in the first answer.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/environment.h"
#include "base/json.h"
#include "output/node_object.h"
#include "output/output.h"

/* How long what was found about worker and owner is believed; and how long the type is not there. */
#define ASK_AGAIN_MS 3600000
#define RESYNC_SPREAD_PERCENT 20

/* Our raw features that NFD has a name for, where no nfd-worker says the same (spec nfd.md 4.2). */
static const struct {
	const char *own, *standard;
} standard_features[] = {
	{ "nfd-source.pci", "pci.device" },
	{ "nfd-source.usb", "usb.device" },
};

struct state {
	const struct nfd_output_options *options;
	struct nfd_api_run run;
	cJSON *wanted; /* the object; owned; NULL when it cannot be made */
	cJSON *keep;   /* key prefixes whose facts are unknown; owned; NULL for none */
	size_t labels; /* in it */
	bool fresh;    /* not yet brought out */
	bool newer;    /* changed since the run began */
	int64_t due_ms;
	bool is_idle;          /* the cluster lacks the resource type */
	cJSON *worker, *owner; /* what an earlier run found; owned; NULL: not known */
	int64_t found_ms;
	char words[400]; /* how things are */
	struct nfd_output_fault fault[2];
	size_t fault_count;
};

static bool is_on(const struct nfd_output_options *options, const char **ret_why)
{
	struct nfd_api_access access;
	const char *why;

	if (options->node_feature.mode == NFD_MODE_OFF) {
		*ret_why = "outputs.nodeFeature.mode is off";
		return false;
	}
	if (options->node_feature.mode == NFD_MODE_AUTO &&
	    nfd_feature_file_is_on(&options->feature_file, &why)) {
		*ret_why = "outputs.nodeFeature.mode is auto and the feature file is on";
		return false;
	}
	if (!nfd_api_access_find(&options->api, &access)) {
		*ret_why = access.why;
		return false;
	}
	if (options->node_feature.mode == NFD_MODE_AUTO && !options->node_feature.namespace[0] &&
	    access.kind != NFD_ACCESS_POD) {
		*ret_why = "outputs.nodeFeature.mode is auto and no namespace is known outside a "
			   "pod (outputs.nodeFeature.namespace)";
		return false;
	}
	*ret_why = options->node_feature.mode == NFD_MODE_ON ?
			   "outputs.nodeFeature.mode is on" :
			   "outputs.nodeFeature.mode is auto and there is no feature file; it is "
			   "published where the cluster has the resource type";
	return true;
}

static void target(const struct nfd_output_options *options, char ret[NFD_OUTPUT_TARGET_SIZE])
{
	const char *namespace = options->node_feature.namespace;

	snprintf(ret, NFD_OUTPUT_TARGET_SIZE, "NodeFeature %.253s%s%.253s" NFD_NODE_FEATURE_SUFFIX,
		 namespace ? namespace : "", namespace && namespace[0] ? "/" : "",
		 options->api.place ? options->api.place->node_name : "");
}

static void forget(struct state *state)
{
	cJSON_Delete(state->worker);
	cJSON_Delete(state->owner);
	state->worker = state->owner = NULL;
}

static void close_state(void *data)
{
	struct state *state = data;

	if (!state)
		return;
	nfd_api_run_done(&state->run);
	cJSON_Delete(state->wanted);
	cJSON_Delete(state->keep);
	forget(state);
	free(state);
}

static int open_state(const struct nfd_output_options *options, void **ret_state,
		      struct nfd_error *err)
{
	struct state *state = calloc(1, sizeof(*state));
	int r;

	if (!state)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	state->options = options;
	state->due_ms = INT64_MAX;
	snprintf(state->words, sizeof(state->words), "the API server was not reached yet");
	r = nfd_api_run_init(&state->run, options->node_labels.resync_ms, err);
	if (r < 0) {
		free(state);
		return r;
	}
	*ret_state = state;
	return 0;
}

static int make_object(const struct nfd_output_options *options, const struct nfd_offer *offered,
		       cJSON **ret, struct nfd_error *err)
{
	return nfd_node_feature_object(options->api.place->node_name, "", offered->set,
				       offered->features, ret, err);
}

static bool is_same(const struct state *state, const cJSON *object, const cJSON *keep)
{
	return state->wanted && cJSON_Compare(object, state->wanted, true) &&
	       (keep ? cJSON_Compare(keep, state->keep, true) : !state->keep);
}

static int offer(void *data, const struct nfd_offer *offered, struct nfd_error *err)
{
	struct state *state = data;
	int64_t spread = state->wanted ? 0 : state->options->api.place->spread_ms;
	cJSON *object = NULL, *keep = NULL;
	int r;

	r = make_object(state->options, offered, &object, err);
	if (r == 0 && nfd_api_prefixes(offered->keep, &keep) < 0)
		r = nfd_error_set(err, -ENOMEM, "out of memory");
	if (r < 0 || is_same(state, object, keep)) {
		cJSON_Delete(object);
		cJSON_Delete(keep);
		return r < 0 ? r : state->fresh;
	}
	cJSON_Delete(state->wanted);
	cJSON_Delete(state->keep);
	state->wanted = object;
	state->keep = keep;
	state->labels = nfd_set_published(offered->set);
	state->fresh = true;
	state->newer = true;
	state->due_ms = offered->now_ms + nfd_spread_ms(spread / 2, 100, nfd_random());
	return 1;
}

static bool add_names(cJSON *request)
{
	cJSON *names = cJSON_AddObjectToObject(request, "standardFeatures");

	for (size_t i = 0; i < NFD_ARRAY_SIZE(standard_features); i++)
		if (!cJSON_AddStringToObject(names, standard_features[i].own,
					     standard_features[i].standard))
			return false;
	return true;
}

static bool add_copy(cJSON *request, const char *field, const cJSON *value)
{
	cJSON *copy = value ? cJSON_Duplicate(value, true) : NULL;

	return !value || (copy && cJSON_AddItemToObject(request, field, copy));
}

static cJSON *make_request(const struct nfd_output_options *options, const char *action)
{
	cJSON *request = cJSON_CreateObject();

	if (!request || !cJSON_AddStringToObject(request, "action", action) ||
	    (options->node_feature.namespace && options->node_feature.namespace[0] &&
	     !cJSON_AddStringToObject(request, "namespace", options->node_feature.namespace))) {
		cJSON_Delete(request);
		return NULL;
	}
	return request;
}

static cJSON *next_request(struct state *state, int64_t now_ms)
{
	const char *pod = nfd_environment_value(state->options->api.place->environment, "POD_NAME");
	cJSON *request = make_request(state->options, "node-feature");

	if (now_ms - state->found_ms >= ASK_AGAIN_MS)
		forget(state);
	if (request && add_names(request) && add_copy(request, "object", state->wanted) &&
	    add_copy(request, "worker", state->worker) &&
	    add_copy(request, "owner", state->owner) && add_copy(request, "keep", state->keep) &&
	    (!pod || !*pod || cJSON_AddStringToObject(request, "pod", pod)))
		return request;
	cJSON_Delete(request);
	return NULL;
}

static void set_fault(struct state *state, enum nfd_log_level level, const char *id,
		      const char *text)
{
	struct nfd_output_fault *fault = &state->fault[state->fault_count++];

	fault->level = level;
	snprintf(fault->id, sizeof(fault->id), "%s", id);
	snprintf(fault->text, sizeof(fault->text), "%s", text);
}

/* What was looked up stays known for a while. */
static void take_found(struct state *state, cJSON *result, int64_t now_ms)
{
	cJSON *worker = cJSON_DetachItemFromObjectCaseSensitive(result, "worker");
	cJSON *owner = cJSON_DetachItemFromObjectCaseSensitive(result, "owner");

	if (worker || owner)
		state->found_ms = now_ms;
	if (worker) {
		cJSON_Delete(state->worker);
		state->worker = worker;
	}
	if (owner) {
		cJSON_Delete(state->owner);
		state->owner = owner;
	}
}

/* With the patcher on, its look at the Node shows what is missing; then ours may be rare. */
static int64_t resync_ms(const struct state *state)
{
	return state->options->node_labels.mode == NFD_LABELS_OFF ?
		       state->options->node_labels.resync_ms :
		       ASK_AGAIN_MS;
}

static void take_result(struct state *state, cJSON *result, int64_t now_ms)
{
	const cJSON *notes = nfd_json_get(result, "notes");
	const char *note = cJSON_GetStringValue(cJSON_GetArrayItem(notes, 0));
	bool served = nfd_json_is_true(result, "served");

	take_found(state, result, now_ms);
	state->is_idle = !served;
	state->fresh = state->newer;
	state->due_ms = state->newer ?
				now_ms :
				now_ms + nfd_spread_ms(served ? resync_ms(state) : ASK_AGAIN_MS,
						       RESYNC_SPREAD_PERCENT, nfd_random());
	if (served)
		snprintf(state->words, sizeof(state->words), "%.120s/%.180s is as it should be",
			 nfd_json_text(result, "namespace"), nfd_json_text(result, "name"));
	else
		snprintf(state->words, sizeof(state->words),
			 "the cluster has no NodeFeature resource (nfd.k8s-sigs.io): asked again "
			 "within the hour");
	if (!served && state->options->node_feature.mode == NFD_MODE_ON)
		set_fault(state, NFD_LOG_ERROR, "",
			  "outputs.nodeFeature.mode is on, but the cluster has no NodeFeature "
			  "resource: install NFD 0.16 or later, or set it to auto");
	if (note)
		set_fault(state, NFD_LOG_WARNING, "note", note);
}

static int64_t not_before(const struct state *state)
{
	return nfd_api_run_not_before_ms(&state->run, &state->options->api);
}

static void take_answer(struct state *state, int64_t now_ms, struct nfd_output_event *ret)
{
	struct nfd_api_answer answer;

	if (!nfd_api_run_step(&state->run, &state->options->api, now_ms, &answer))
		return;
	state->fault_count = 0;
	if (answer.failed) {
		state->due_ms = not_before(state);
		set_fault(state, NFD_LOG_ERROR, "", answer.text);
	} else {
		take_result(state, answer.result, now_ms);
		ret->published = nfd_json_is_true(answer.result, "written");
	}
	nfd_api_answer_done(&answer);
}

static void start_run(struct state *state, int64_t now_ms)
{
	struct nfd_error err = { 0 };

	if (not_before(state) > now_ms) {
		state->due_ms = not_before(state);
		return;
	}
	state->newer = false;
	if (nfd_api_run_start(&state->run, &state->options->api, next_request(state, now_ms),
			      &err) < 0) {
		state->due_ms = not_before(state);
		state->fault_count = 0;
		set_fault(state, NFD_LOG_ERROR, "", nfd_error_text(&err));
	}
}

static int step(void *data, int64_t now_ms, struct nfd_output_event *ret, struct nfd_error *err)
{
	struct state *state = data;

	(void)err;
	*ret = (struct nfd_output_event){ .labels = state->labels, .state = state->words };
	take_answer(state, now_ms, ret);
	if (!nfd_api_run_is_busy(&state->run) && state->due_ms <= now_ms)
		start_run(state, now_ms);
	ret->is_idle = state->is_idle;
	ret->done = !nfd_api_run_is_busy(&state->run) && !state->fresh && state->run.failures == 0;
	ret->due_ms = nfd_api_run_is_busy(&state->run) ? nfd_child_due_ms(&state->run.child) :
							 state->due_ms;
	return 0;
}

static int wait_fd(void *data)
{
	struct state *state = data;

	return state->run.child.poll_fd;
}

static size_t faults(void *data, const struct nfd_output_fault **ret)
{
	struct state *state = data;

	*ret = state->fault;
	return state->fault_count;
}

static const struct nfd_api_counts *counts(const void *data)
{
	const struct state *state = data;

	return &state->run.counts;
}

static int preview(const struct nfd_output_options *options, const struct nfd_offer *offered,
		   struct nfd_strbuf *buf, struct nfd_error *err)
{
	return nfd_node_feature_render(options->api.place->node_name,
				       options->node_feature.namespace, offered->set,
				       offered->features, buf, err);
}

static int withdraw(const struct nfd_output_options *options, struct nfd_error *err)
{
	cJSON *request, *result = NULL;
	struct nfd_api_access access;
	char name[320];
	int r;

	/* Without a namespace there is no object of ours; a pod's own is known to the helper. */
	if (!nfd_api_access_find(&options->api, &access) || !options->api.place->node_name[0] ||
	    (!options->node_feature.namespace[0] && access.kind != NFD_ACCESS_POD))
		return 0;
	snprintf(name, sizeof(name), "%s" NFD_NODE_FEATURE_SUFFIX, options->api.place->node_name);
	request = make_request(options, "node-feature-delete");
	if (request && !cJSON_AddStringToObject(request, "name", name)) {
		cJSON_Delete(request);
		request = NULL;
	}
	r = nfd_api_exchange(&options->api, request, &result, err);
	if (r == 0)
		r = nfd_json_is_true(result, "deleted");
	cJSON_Delete(result);
	return r;
}

const struct nfd_output nfd_node_feature_output = {
	.name = "nodeFeature",
	.wants_features = true,
	.is_on = is_on,
	.target = target,
	.open = open_state,
	.close = close_state,
	.offer = offer,
	.step = step,
	.wait_fd = wait_fd,
	.faults = faults,
	.counts = counts,
	.preview = preview,
	.withdraw = withdraw,
};
