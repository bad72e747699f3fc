// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels on our Node as an output: what the schedule says is asked of the helper, and what it found
 * becomes words. One run at a time; what is offered meanwhile waits, and only the newest of it.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/json.h"
#include "output/node_view.h"
#include "output/output.h"

/* A key that the API server refused is left out so long, then tried again. */
#define REFUSED_MS 3600000

static const char *const bring_words[] = { "wait", "now", "unless-served" };

struct state {
	const struct nfd_output_options *options;
	struct nfd_api_run run;
	struct nfd_set wanted;
	cJSON *keep;         /* array of key prefixes whose facts are unknown; owned; or NULL */
	bool started;        /* a first run */
	bool offered, newer; /* anything yet; something since the run began */
	bool late;           /* NFD had its time before the run that is under way */
	int64_t refused_until_ms;
	struct nfd_node_view view; /* what is known and said of the Node */
};

static bool is_on(const struct nfd_output_options *options, const char **ret_why)
{
	struct nfd_api_access access;

	if (nfd_output_is_barred(options, ret_why))
		return false;
	if (options->node_labels.mode == NFD_LABELS_OFF) {
		*ret_why = "outputs.nodeLabels.mode is off";
		return false;
	}
	if (!nfd_api_access_find(&options->api, &access)) {
		*ret_why = access.why;
		return false;
	}
	if (!options->api.place->node_name[0]) {
		*ret_why = "the Node's name is not known: set core.nodeName";
		return false;
	}
	*ret_why = access.why;
	return true;
}

static void target(const struct nfd_output_options *options, char ret[NFD_OUTPUT_TARGET_SIZE])
{
	struct nfd_api_access access;

	nfd_api_access_find(&options->api, &access);
	snprintf(ret, NFD_OUTPUT_TARGET_SIZE, "Node %s%s%s",
		 options->api.place ? options->api.place->node_name : "",
		 access.path[0] ? " by " : "", access.path);
}

static void close_state(void *data)
{
	struct state *state = data;

	if (!state)
		return;
	nfd_api_run_done(&state->run);
	nfd_set_done(&state->wanted);
	cJSON_Delete(state->keep);
	nfd_node_view_done(&state->view);
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
	state->view.schedule = (struct nfd_node_schedule){
		.mode = options->node_labels.mode,
		.after_ms = options->node_labels.after_ms,
		.resync_ms = options->node_labels.resync_ms,
		.due_ms = INT64_MAX,
	};
	r = nfd_api_run_init(&state->run, options->node_labels.resync_ms, err);
	if (r < 0) {
		free(state);
		return r;
	}
	nfd_node_view_report(&state->view);
	*ret_state = state;
	return 0;
}

/*
 * Since when NFD has had these labels: for a feature file that another process of ours wrote with
 * the same labels since that file's last change, else since now.
 */
static int64_t since_ms(const struct nfd_output_options *options, const struct nfd_set *set,
			int64_t now_ms)
{
	struct nfd_feature_file_state file;
	int64_t age_ms = 0;
	const char *why;

	if (!nfd_feature_output.is_on(options, &why) ||
	    nfd_feature_file_read(&options->feature_file, nfd_clock_real_s(), &file, NULL) < 0)
		return now_ms;
	if (file.exists && nfd_set_equal(&file.labels, set))
		age_ms = nfd_clock_real_ms() - file.changed_ms;
	nfd_feature_file_state_done(&file);
	return age_ms > 0 ? now_ms - age_ms : now_ms;
}

/* A fleet that starts together asks over a while; a change in that while is no reason to hurry. */
static int64_t spread_ms(const struct state *state, int64_t now_ms)
{
	int64_t spread = state->options->api.place->spread_ms;
	int64_t due_ms = state->view.schedule.due_ms;

	if (state->started || spread == 0)
		return 0;
	if (state->offered)
		return due_ms > now_ms ? due_ms - now_ms : 0;
	return nfd_spread_ms(spread / 2, 100, nfd_random());
}

static bool is_same(const struct state *state, const struct nfd_set *set, const cJSON *keep)
{
	return state->offered && nfd_set_equal(&state->wanted, set) &&
	       (keep ? cJSON_Compare(keep, state->keep, true) : !state->keep);
}

static int offer(void *data, const struct nfd_offer *offered, struct nfd_error *err)
{
	struct state *state = data;
	int64_t since = offered->now_ms;
	struct nfd_set copy = { 0 };
	cJSON *keep = NULL;
	int r;

	r = nfd_api_prefixes(offered->keep, &keep);
	if (r == 0)
		r = nfd_set_copy(offered->set, &copy);
	/* A features.d may have come meanwhile. */
	state->view.schedule.hope = nfd_outputs_hope(state->options);
	if (r < 0 || is_same(state, offered->set, keep)) {
		cJSON_Delete(keep);
		nfd_set_done(&copy);
		return r < 0 ? nfd_error_set(err, r, "out of memory") : state->view.schedule.fresh;
	}
	if (!state->offered)
		since = since_ms(state->options, offered->set, offered->now_ms);
	nfd_node_schedule_change(&state->view.schedule, since, offered->now_ms,
				 spread_ms(state, offered->now_ms));
	nfd_set_done(&state->wanted);
	state->wanted = copy;
	cJSON_Delete(state->keep);
	state->keep = keep;
	state->offered = true;
	state->newer = true;
	return 1;
}

static cJSON *labels_object(const struct nfd_set *set)
{
	cJSON *labels = cJSON_CreateObject();

	for (size_t i = 0; labels && i < set->count; i++)
		if (!set->label[i].stopped_by &&
		    !cJSON_AddStringToObject(labels, set->label[i].key, set->label[i].value)) {
			cJSON_Delete(labels);
			return NULL;
		}
	return labels;
}

/* A request to bring these labels; NULL when memory ran out. */
static cJSON *make_request(const struct nfd_set *set, const char *bring)
{
	cJSON *request = cJSON_CreateObject();
	cJSON *labels = labels_object(set);

	if (request && labels && cJSON_AddItemToObject(request, "labels", labels)) {
		if (cJSON_AddStringToObject(request, "action", "node-labels") &&
		    cJSON_AddStringToObject(request, "bring", bring))
			return request;
		labels = NULL;
	}
	cJSON_Delete(labels);
	cJSON_Delete(request);
	return NULL;
}

static bool add_exceptions(const struct state *state, cJSON *request)
{
	cJSON *leave = cJSON_AddArrayToObject(request, "leave");
	cJSON *keep = state->keep ? cJSON_Duplicate(state->keep, true) : NULL;
	const cJSON *key;

	cJSON_ArrayForEach(key, state->view.refused)
		if (!cJSON_AddItemToArray(leave, cJSON_CreateString(key->string)))
			return false;
	return leave && (!state->keep || (keep && cJSON_AddItemToObject(request, "keep", keep)));
}

static cJSON *next_request(struct state *state, int64_t now_ms)
{
	const struct nfd_node_schedule *schedule = &state->view.schedule;
	enum nfd_bring bring = nfd_node_schedule_bring(schedule, now_ms);
	cJSON *request = make_request(&state->wanted, bring_words[bring]);
	bool asked, ok;

	if (now_ms >= state->refused_until_ms) {
		cJSON_Delete(state->view.refused);
		state->view.refused = NULL;
	}
	asked = nfd_node_schedule_must_ask(schedule, now_ms);
	state->late =
		bring == NFD_BRING_NOW && schedule->hope && schedule->mode == NFD_LABELS_FALLBACK;
	ok = request && add_exceptions(state, request) &&
	     cJSON_AddBoolToObject(request, "lookUp", asked);
	if (ok && schedule->served != NFD_SERVED_UNKNOWN)
		ok = cJSON_AddBoolToObject(request, "nfdServed",
					   schedule->served == NFD_SERVED_YES) != NULL;
	if (!ok) {
		cJSON_Delete(request);
		return NULL;
	}
	return request;
}

static void keep_refused(struct state *state, int64_t now_ms)
{
	const cJSON *list = nfd_json_get(state->view.result, "refused");
	const cJSON *entry;

	if (cJSON_GetArraySize(list) == 0)
		return;
	if (!state->view.refused) {
		state->view.refused = cJSON_CreateObject();
		state->refused_until_ms = now_ms + REFUSED_MS;
	}
	cJSON_ArrayForEach(entry, list)
		cJSON_AddStringToObject(state->view.refused, nfd_json_text(entry, "key"),
					nfd_json_text(entry, "message"));
}

static void take_result(struct state *state, struct nfd_api_answer *answer, int64_t now_ms)
{
	const cJSON *served, *node;
	struct nfd_node_facts facts = { 0 };

	cJSON_Delete(state->view.result);
	state->view.result = answer->result;
	answer->result = NULL;
	state->view.failure[0] = '\0';
	state->view.late = state->late;
	served = nfd_json_get(state->view.result, "nfdServed");
	node = nfd_json_get(state->view.result, "node");
	if (served)
		facts.served = cJSON_IsTrue(served) ? NFD_SERVED_YES : NFD_SERVED_NO;
	facts.annotated = nfd_json_is_true(node, "nfd");
	facts.owned = nfd_json_length(state->view.result, "owned");
	facts.missing = nfd_json_length(state->view.result, "missing");
	keep_refused(state, now_ms);
	nfd_node_schedule_done(&state->view.schedule, &facts, now_ms, nfd_random());
	/* What came meanwhile is looked at now. */
	if (state->newer)
		nfd_node_schedule_change(&state->view.schedule, state->view.schedule.changed_ms,
					 now_ms, 0);
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
	if (answer.failed) {
		nfd_node_view_fail(&state->view, state->options->api.place, &answer);
		state->view.schedule.due_ms = not_before(state);
	} else {
		take_result(state, &answer, now_ms);
		ret->published = nfd_json_length(state->view.result, "applied") > 0 ||
				 nfd_json_length(state->view.result, "withdrawn") > 0 ||
				 nfd_json_length(state->view.result, "handedOver") > 0;
	}
	nfd_api_answer_done(&answer);
	nfd_node_view_report(&state->view);
}

static void start_run(struct state *state, int64_t now_ms)
{
	struct nfd_error err = { 0 };

	if (not_before(state) > now_ms) {
		state->view.schedule.due_ms = not_before(state);
		return;
	}
	state->newer = false;
	state->started = true;
	if (nfd_api_run_start(&state->run, &state->options->api, next_request(state, now_ms),
			      &err) < 0) {
		snprintf(state->view.failure, sizeof(state->view.failure), "%s",
			 nfd_error_text(&err));
		state->view.schedule.due_ms = not_before(state);
		nfd_node_view_report(&state->view);
	}
}

static int step(void *data, int64_t now_ms, struct nfd_output_event *ret, struct nfd_error *err)
{
	struct state *state = data;

	(void)err;
	*ret = (struct nfd_output_event){ .labels = state->wanted.count };
	take_answer(state, now_ms, ret);
	if (!nfd_api_run_is_busy(&state->run) && state->view.schedule.due_ms <= now_ms)
		start_run(state, now_ms);
	ret->state = state->view.words;
	ret->done = !nfd_api_run_is_busy(&state->run) && !state->view.failure[0] &&
		    !state->view.schedule.fresh;
	ret->due_ms = nfd_api_run_is_busy(&state->run) ? nfd_child_due_ms(&state->run.child) :
							 state->view.schedule.due_ms;
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

	*ret = state->view.fault;
	return state->view.fault_count;
}

static const struct nfd_api_counts *counts(const void *data)
{
	const struct state *state = data;

	return &state->run.counts;
}

static void put_keys(const cJSON *result, const char *field, const char *mark,
		     struct nfd_strbuf *buf)
{
	const cJSON *list = nfd_json_get(result, field);
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		nfd_strbuf_printf(buf, "%s %s\n", mark,
				  cJSON_IsString(item) ? cJSON_GetStringValue(item) :
							 nfd_json_text(item, "key"));
}

static int preview(const struct nfd_output_options *options, const struct nfd_offer *offered,
		   struct nfd_strbuf *buf, struct nfd_error *err)
{
	cJSON *request = make_request(offered->set, "now");
	cJSON *result = NULL;
	int r;

	if (!request || !cJSON_AddBoolToObject(request, "dryRun", true)) {
		cJSON_Delete(request);
		return nfd_error_set(err, -ENOMEM, "out of memory");
	}
	r = nfd_api_exchange(&options->api, request, &result, err);
	if (r < 0)
		return r;
	put_keys(result, "applied", "+", buf);
	put_keys(result, "withdrawn", "-", buf);
	put_keys(result, "handedOver", "# handed over to NFD:", buf);
	put_keys(result, "conflicts", "# left to its owner:", buf);
	put_keys(result, "left", "# left to NFD:", buf);
	cJSON_Delete(result);
	return 0;
}

static int withdraw(const struct nfd_output_options *options, struct nfd_error *err)
{
	struct nfd_set none = { 0 };
	struct nfd_api_access access;
	cJSON *result = NULL;
	size_t removed;
	int r;

	if (!nfd_api_access_find(&options->api, &access) || !options->api.place->node_name[0])
		return 0;
	r = nfd_api_exchange(&options->api, make_request(&none, "now"), &result, err);
	/* A Node that is gone has none of our labels. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	removed = nfd_json_length(result, "withdrawn") + nfd_json_length(result, "handedOver");
	cJSON_Delete(result);
	return removed > 0;
}

const struct nfd_output nfd_node_labels_output = {
	.name = "nodeLabels",
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
