// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The helper keeps nothing between runs, so what must be remembered (failures in a row) is here.
 */
#include "config.h"

#include "output/api_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/json.h"

#define HELPER "nfd-source-api"
#define SCHEMA 1
#define RESULT_MAX (1024 * 1024)
/* The helper ends itself before; this is for one that cannot. */
#define DEADLINE_EXTRA_MS 1000

/* What can heal by itself waits a second, what needs a person a minute (field cases F2, F5). */
#define SOON_MS 1000
#define SLOW_MS 60000
#define LAST_MS 300000

int nfd_api_run_init(struct nfd_api_run *run, int64_t resync_ms, struct nfd_error *err)
{
	*run = (struct nfd_api_run){ .slow_ms = nfd_min64(SLOW_MS, resync_ms) };
	return nfd_child_init(&run->child, err);
}

void nfd_api_run_done(struct nfd_api_run *run)
{
	nfd_child_done(&run->child);
}

int64_t nfd_api_run_not_before_ms(const struct nfd_api_run *run,
				  const struct nfd_api_options *options)
{
	int64_t quiet_ms = options->place->quiet_until_ms;

	return run->not_before_ms > quiet_ms ? run->not_before_ms : quiet_ms;
}

bool nfd_api_run_is_busy(const struct nfd_api_run *run)
{
	return run->child.pid != 0 && run->child.end == NFD_CHILD_RUNNING;
}

static bool add_credentials(cJSON *request, const struct nfd_api_options *options)
{
	cJSON *credentials = cJSON_AddObjectToObject(request, "credentials");
	struct nfd_api_access access;

	nfd_api_access_find(options, &access);
	if (access.kind == NFD_ACCESS_POD)
		return cJSON_AddBoolToObject(credentials, "inCluster", true);
	/* Without credentials the helper says what is missing. */
	return cJSON_AddStringToObject(credentials, "kubeconfig", access.path) &&
	       (access.kind != NFD_ACCESS_KUBELET ||
		cJSON_AddStringToObject(credentials, "root", options->place->root_path));
}

/* The request as text; NULL when memory ran out. */
static char *complete(cJSON *request, const struct nfd_api_options *options)
{
	if (!request || !cJSON_AddNumberToObject(request, "schema", SCHEMA) ||
	    !cJSON_AddNumberToObject(request, "deadlineMilliseconds",
				     (double)options->deadline_ms) ||
	    !cJSON_AddStringToObject(request, "node", options->place->node_name) ||
	    !add_credentials(request, options) ||
	    (options->place->unconfined && !cJSON_AddBoolToObject(request, "confined", false)) ||
	    (options->proxy && options->proxy[0] &&
	     !cJSON_AddStringToObject(request, "proxy", options->proxy)))
		return NULL;
	return cJSON_PrintUnformatted(request);
}

static void note_failure(struct nfd_api_run *run, bool is_slow, int64_t asked_ms, int64_t now_ms)
{
	struct nfd_backoff backoff = {
		.first_ms = is_slow ? run->slow_ms : SOON_MS,
		/* A missing Node is back within a resync (field case F6). */
		.last_ms = is_slow && run->slow_ms < SLOW_MS ? run->slow_ms : LAST_MS,
	};

	run->counts.failures++;
	run->failures++;
	run->not_before_ms =
		now_ms + nfd_backoff_ms(&backoff, run->failures, asked_ms, nfd_random());
}

int nfd_api_run_start(struct nfd_api_run *run, const struct nfd_api_options *options,
		      cJSON *request, struct nfd_error *err)
{
	char name[] = HELPER;
	char *argv[] = { name, NULL };
	char *text = complete(request, options);
	struct nfd_child_command command = {
		.path = options->place->helper,
		.argv = argv,
		.envp = options->place->environment,
		.input = text,
		.input_len = text ? strlen(text) : 0,
		.output_max = RESULT_MAX,
		.deadline_ms = options->deadline_ms + DEADLINE_EXTRA_MS,
	};
	int r;

	r = text ? nfd_child_start(&run->child, &command, err) :
		   nfd_error_set(err, -ENOMEM, "out of memory");
	cJSON_Delete(request);
	cJSON_free(text);
	run->counts.runs++;
	if (r < 0)
		note_failure(run, r == -ENOENT || r == -EACCES, 0, nfd_clock_monotonic_ms());
	return r;
}

static uint64_t number_of(const cJSON *object, const char *key)
{
	double number = cJSON_GetNumberValue(nfd_json_get(object, key));

	return number > 0 && number < 1e15 ? (uint64_t)number : 0;
}

static void count_requests(struct nfd_api_run *run, const cJSON *result)
{
	const cJSON *requests = nfd_json_get(result, "requests");

	run->counts.get += number_of(requests, "get");
	run->counts.patch += number_of(requests, "patch");
	run->counts.delete += number_of(requests, "delete");
}

static int schema_of(const cJSON *result)
{
	const cJSON *schema = nfd_json_get(result, "schema");

	return cJSON_IsNumber(schema) ? schema->valueint : 0;
}

static void take_answer(struct nfd_api_run *run, const struct nfd_api_options *options,
			int64_t now_ms, struct nfd_api_answer *ret)
{
	const cJSON *error;
	int64_t asked_ms;

	ret->result = cJSON_Parse(nfd_strbuf_text(&run->child.output));
	count_requests(run, ret->result);
	error = nfd_json_get(ret->result, "error");
	if (!error && schema_of(ret->result) == SCHEMA) {
		run->failures = 0;
		run->not_before_ms = now_ms;
		return;
	}
	ret->failed = true;
	ret->status = (int)number_of(error, "status");
	snprintf(ret->text, sizeof(ret->text), "%s",
		 *nfd_json_text(error, "message") ? nfd_json_text(error, "message") :
						    HELPER " printed no result of our version");
	asked_ms = (int64_t)number_of(error, "retryAfterMilliseconds");
	note_failure(run, strcmp(nfd_json_text(error, "retry"), "slow") == 0, asked_ms, now_ms);
	/* It is meant for all of us, and a reload does not lift it. */
	if (asked_ms && options->place->quiet_until_ms < run->not_before_ms)
		options->place->quiet_until_ms = run->not_before_ms;
}

/* The child has ended, in whatever way. */
static void finish(struct nfd_api_run *run, const struct nfd_api_options *options, int64_t now_ms,
		   struct nfd_api_answer *ret)
{
	struct nfd_error err = { 0 };

	*ret = (struct nfd_api_answer){ 0 };
	/* A request that it refuses ends with status 2, and with words in its result. */
	if (run->child.end == NFD_CHILD_EXITED && run->child.output.len > 0) {
		take_answer(run, options, now_ms, ret);
		return;
	}
	ret->failed = true;
	if (nfd_child_check(&run->child, HELPER, &err) == 0)
		nfd_error_set(&err, -EIO, HELPER " printed no result");
	snprintf(ret->text, sizeof(ret->text), "%s", nfd_error_text(&err));
	run->counts.deadlines += run->child.end == NFD_CHILD_DEADLINE;
	note_failure(run, false, 0, now_ms);
}

bool nfd_api_run_step(struct nfd_api_run *run, const struct nfd_api_options *options,
		      int64_t now_ms, struct nfd_api_answer *ret)
{
	if (!nfd_child_step(&run->child, now_ms))
		return false;
	finish(run, options, now_ms, ret);
	return true;
}

int nfd_api_prefixes(const struct nfd_unknowns *unknowns, cJSON **ret)
{
	cJSON *prefixes;

	*ret = NULL;
	if (!unknowns || unknowns->count == 0)
		return 0;
	prefixes = cJSON_CreateArray();
	for (size_t i = 0; prefixes && i < unknowns->count; i++) {
		cJSON *prefix = cJSON_CreateString(unknowns->unknown[i].prefix);

		if (!prefix || !cJSON_AddItemToArray(prefixes, prefix)) {
			cJSON_Delete(prefix);
			cJSON_Delete(prefixes);
			return -ENOMEM;
		}
	}
	*ret = prefixes;
	return prefixes ? 0 : -ENOMEM;
}

void nfd_api_answer_done(struct nfd_api_answer *answer)
{
	cJSON_Delete(answer->result);
	answer->result = NULL;
}

int nfd_api_exchange(const struct nfd_api_options *options, cJSON *request, cJSON **ret,
		     struct nfd_error *err)
{
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;
	int r;

	r = nfd_api_run_init(&run, SLOW_MS, err);
	if (r < 0) {
		cJSON_Delete(request);
		return r;
	}
	r = nfd_api_run_start(&run, options, request, err);
	if (r == 0) {
		nfd_child_wait(&run.child);
		finish(&run, options, 0, &answer);
		if (answer.failed)
			r = nfd_error_set(err,
					  answer.status == 404                         ? -ENOENT :
					  answer.status == 401 || answer.status == 403 ? -EACCES :
					  answer.status >= 400 ? -EREMOTEIO :
								 -EIO,
					  "%s", answer.text);
	}
	nfd_api_run_done(&run);
	if (r == 0 && ret)
		*ret = TAKE_PTR(answer.result);
	nfd_api_answer_done(&answer);
	return r;
}
