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
#include "base/json.h"
#include "output/node_feature_request.h"
#include "output/output.h"

/* How long what was found about worker and owner is believed; and how long the type is not there. */
#define ASK_AGAIN_MS 3600000
#define RESYNC_SPREAD_PERCENT 20

struct state {
	const struct nfd_output_options *options;
	struct nfd_api_run run;
	struct nfd_feature_wanted wanted;
	struct nfd_feature_found found; /* by earlier runs */
	size_t labels;                  /* in what is wanted */
	bool fresh;                     /* not yet brought out */
	bool newer;                     /* changed since the run began */
	int64_t due_ms;
	bool is_idle;    /* the cluster lacks the resource type */
	char words[400]; /* how things are */
	struct nfd_output_fault fault[3];
	size_t fault_count;
};

static bool is_on(const struct nfd_output_options *options, const char **ret_why)
{
	struct nfd_api_access access;
	const char *why;

	if (nfd_output_is_barred(options, ret_why))
		return false;
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
	*ret_why = options->node_feature.mode == NFD_OBJECT_WORKER ?
			   "outputs.nodeFeature.mode is worker" :
		   options->node_feature.mode == NFD_MODE_ON ?
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

static void close_state(void *data)
{
	struct state *state = data;

	if (!state)
		return;
	nfd_api_run_done(&state->run);
	nfd_feature_wanted_done(&state->wanted);
	nfd_feature_found_done(&state->found);
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

static int offer(void *data, const struct nfd_offer *offered, struct nfd_error *err)
{
	struct state *state = data;
	int64_t spread = state->wanted.object ? 0 : state->options->api.place->spread_ms;
	struct nfd_feature_wanted wanted;
	int r = nfd_feature_wanted_make(&wanted, state->options, offered, err);

	if (r < 0 || nfd_feature_wanted_equal(&wanted, &state->wanted)) {
		nfd_feature_wanted_done(&wanted);
		return r < 0 ? r : state->fresh;
	}
	nfd_feature_wanted_done(&state->wanted);
	state->wanted = wanted;
	state->labels = nfd_set_published(offered->set);
	state->fresh = true;
	state->newer = true;
	state->due_ms = offered->now_ms + nfd_spread_ms(spread / 2, 100, nfd_random());
	return 1;
}

static cJSON *next_request(struct state *state, int64_t now_ms)
{
	if (now_ms - state->found.found_ms >= ASK_AGAIN_MS)
		nfd_feature_found_done(&state->found);
	return nfd_feature_request(state->options, &state->wanted, &state->found);
}

static void set_fault(struct state *state, enum nfd_log_level level, const char *id,
		      const char *text)
{
	struct nfd_output_fault *fault = &state->fault[state->fault_count++];

	fault->level = level;
	snprintf(fault->id, sizeof(fault->id), "%s", id);
	snprintf(fault->text, sizeof(fault->text), "%s", text);
}

/*
 * With the patcher on, its look at the Node shows what is missing; then ours may be rare. A worker that
 * comes or goes is seen by our look alone.
 */
static int64_t resync_ms(const struct state *state)
{
	return state->wanted.workers || state->options->node_labels.mode == NFD_LABELS_OFF ?
		       state->options->node_labels.resync_ms :
		       ASK_AGAIN_MS;
}

/* How things are in nfd-worker's place. */
static void tell_place(struct state *state, const cJSON *result, const char *namespace)
{
	const char *node = state->options->api.place->node_name;
	char text[600];

	if (!nfd_json_is_true(result, "worker")) {
		snprintf(state->words, sizeof(state->words),
			 "%.120s/%.80s, in nfd-worker's place, and %.80s" NFD_NODE_FEATURE_SUFFIX
			 " are as they should be",
			 namespace, node, node);
		return;
	}
	snprintf(state->words, sizeof(state->words),
		 "an nfd-worker has published %.120s/%.80s: until that object is gone, "
		 "%.80s" NFD_NODE_FEATURE_SUFFIX " has everything",
		 namespace, node, node);
	snprintf(text, sizeof(text),
		 "an nfd-worker has published NodeFeature %.120s/%.80s, so rules see devices "
		 "twice: take nfd-worker away from this node, or set outputs.nodeFeature.mode to "
		 "another than worker; delete the object where no nfd-worker runs",
		 namespace, node);
	set_fault(state, NFD_LOG_WARNING, "place", text);
}

static void tell_state(struct state *state, const cJSON *result, bool served)
{
	const char *namespace = nfd_json_text(result, "namespace");

	if (!served)
		snprintf(state->words, sizeof(state->words),
			 "the cluster has no NodeFeature resource (nfd.k8s-sigs.io): asked again "
			 "within the hour");
	else if (state->wanted.workers)
		tell_place(state, result, namespace);
	else
		snprintf(state->words, sizeof(state->words), "%.120s/%.180s is as it should be",
			 namespace, nfd_json_text(result, "name"));
}

static void take_result(struct state *state, cJSON *result, int64_t now_ms)
{
	const cJSON *notes = nfd_json_get(result, "notes");
	const char *note = cJSON_GetStringValue(cJSON_GetArrayItem(notes, 0));
	bool served = nfd_json_is_true(result, "served");

	tell_state(state, result, served);
	nfd_feature_found_take(&state->found, result, now_ms);
	state->is_idle = !served;
	state->fresh = state->newer;
	state->due_ms = state->newer ?
				now_ms :
				now_ms + nfd_spread_ms(served ? resync_ms(state) : ASK_AGAIN_MS,
						       RESYNC_SPREAD_PERCENT, nfd_random());
	if (!served && (state->options->node_feature.mode == NFD_MODE_ON || state->wanted.workers))
		set_fault(state, NFD_LOG_ERROR, "",
			  "outputs.nodeFeature.mode is on or worker, but the cluster has no "
			  "NodeFeature resource: install NFD 0.16 or later, or set it to auto");
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
		ret->published = nfd_json_is_true(answer.result, "written") ||
				 nfd_json_is_true(answer.result, "workerWritten");
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
	struct nfd_object_wish wish[2];
	size_t count = offered->workers ? 2 : 1;

	for (size_t i = 0; i < count; i++) {
		/* First the one in nfd-worker's place. */
		wish[i] = nfd_feature_wish(options, offered, i + 1 < count);
		wish[i].namespace = options->node_feature.namespace;
	}
	return nfd_node_feature_render(wish, count, buf, err);
}

static int withdraw(const struct nfd_output_options *options, struct nfd_error *err)
{
	cJSON *request, *result = NULL;
	struct nfd_api_access access;
	int r;

	/* Without a namespace there is no object of ours; a pod's own is known to the helper. */
	if (!nfd_api_access_find(&options->api, &access) || !options->api.place->node_name[0] ||
	    (!options->node_feature.namespace[0] && access.kind != NFD_ACCESS_POD))
		return 0;
	request = nfd_feature_delete_request(options);
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
