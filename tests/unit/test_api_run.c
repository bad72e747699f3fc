// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/api_run: runs of a stand-in for nfd-source-api, a script that notes its request and prints
 * what the row says.
 */
#include "config.h"

#include "output/api_run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "tests/unit/json_row.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define SOON_MS 1000
#define SLOW_MS 60000
#define LAST_MS 300000

static char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };

/* Where the stand-in runs; all of it lives until the end of the test. */
struct stage {
	const char *tree;
	struct nfd_api_place place;
	struct nfd_api_options options;
};

static struct stage *stage_new(const char *script)
{
	struct stage *stage = unit_bytes(sizeof(*stage));

	stage->tree = tree_new();
	stage->place = (struct nfd_api_place){
		.helper = tree_program(stage->tree, "helper",
				       unit_text("cat >'%s/request'\n%s", stage->tree, script)),
		.root_path = tree_path(stage->tree, "root"),
		.environment = environment,
		.node_name = "node-1",
		.node_origin = "a test",
	};
	stage->options = (struct nfd_api_options){ .kubeconfig = unit_text("/kube/config"),
						   .deadline_ms = 60000,
						   .proxy = unit_text("%s", ""),
						   .place = &stage->place };
	return stage;
}

static cJSON *make_request(void)
{
	cJSON *request = cJSON_CreateObject();

	cJSON_AddStringToObject(request, "action", "node-look");
	return request;
}

/* One run to its end. Returns the time of the step that saw the end. */
static int64_t run_once(struct nfd_api_run *run, const struct nfd_api_options *options,
			struct nfd_api_answer *ret)
{
	struct pollfd pollfd = { .fd = run->child.poll_fd, .events = POLLIN };
	int64_t now_ms;

	assert_int_equal(nfd_api_run_start(run, options, make_request(), NULL), 0);
	assert_true(nfd_api_run_is_busy(run));
	do {
		int64_t wait_ms = nfd_child_due_ms(&run->child) - nfd_clock_monotonic_ms();

		poll(&pollfd, 1, wait_ms > 0 ? (int)wait_ms : 0);
		now_ms = nfd_clock_monotonic_ms();
	} while (!nfd_api_run_step(run, options, now_ms, ret));
	assert_false(nfd_api_run_is_busy(run));
	return now_ms;
}

static const struct {
	const char *name, *script;
	bool failed;
	int status;
	const char *text;   /* part of the failure's text */
	const char *result; /* NULL: none */
	int64_t delay_ms;   /* least one before the next run; a quarter may come on top */
} rows[] = {
	{ "result", "echo '{\"schema\":1,\"requests\":{}}'", false, 0, "",
	  "{'schema':1,'requests':{}}", 0 },
	{ "result without end of line", "printf '{\"schema\":1}'", false, 0, "", "{'schema':1}",
	  0 },
	{ "error that heals",
	  "echo '{\"schema\":1,\"error\":{\"message\":\"words\",\"retry\":\"soon\"}}'", true, 0,
	  "words", "{'schema':1,'error':{'message':'words','retry':'soon'}}", SOON_MS },
	{ "error that needs a person",
	  "echo '{\"error\":{\"status\":403,\"message\":\"words\",\"retry\":\"slow\"}}'", true, 403,
	  "words", "{'error':{'status':403,'message':'words','retry':'slow'}}", SLOW_MS },
	{ "request refused, status 2",
	  "echo '{\"error\":{\"kind\":\"request\",\"message\":\"no\",\"retry\":\"slow\"}}'; exit 2",
	  true, 0, "no", "{'error':{'kind':'request','message':'no','retry':'slow'}}", SLOW_MS },
	{ "what the server asked for",
	  "echo '{\"error\":{\"retry\":\"soon\",\"retryAfterMilliseconds\":7000}}'", true, 0, "",
	  "{'error':{'retry':'soon','retryAfterMilliseconds':7000}}", 7000 },
	{ "less than the least was asked for",
	  "echo '{\"error\":{\"retry\":\"slow\",\"retryAfterMilliseconds\":7000}}'", true, 0, "",
	  "{'error':{'retry':'slow','retryAfterMilliseconds':7000}}", SLOW_MS },
	{ "too much was asked for",
	  "echo '{\"error\":{\"retry\":\"soon\",\"retryAfterMilliseconds\":999999999}}'", true, 0,
	  "", "{'error':{'retry':'soon','retryAfterMilliseconds':999999999}}", LAST_MS },
	{ "absurd numbers", "echo '{\"error\":{\"status\":-5,\"retryAfterMilliseconds\":1e300}}'",
	  true, 0, "", "{'error':{'status':-5,'retryAfterMilliseconds':1e+300}}", SOON_MS },
	{ "numbers that are none",
	  "echo '{\"error\":{\"status\":\"403\",\"retryAfterMilliseconds\":true}}'", true, 0, "",
	  "{'error':{'status':'403','retryAfterMilliseconds':true}}", SOON_MS },
	{ "error is a text", "echo '{\"error\":\"x\"}'", true, 0, "", "{'error':'x'}", SOON_MS },
	{ "nothing", ":", true, 0, "nfd-source-api printed no result", NULL, SOON_MS },
	{ "garbage", "echo garbage", true, 0, "nfd-source-api printed no result", NULL, SOON_MS },
	{ "of another version", "echo '{\"schema\":2}'", true, 0,
	  "printed no result of our version", "{'schema':2}", SOON_MS },
	{ "array", "echo '[1]'", true, 0, "nfd-source-api printed no result", "[1]", SOON_MS },
	{ "cut", "printf '{\"schema\":1,'", true, 0, "nfd-source-api printed no result", NULL,
	  SOON_MS },
	{ "not UTF-8", "printf '\\377\\376'", true, 0, "nfd-source-api printed no result", NULL,
	  SOON_MS },
	{ "status 1, no words", "exit 1", true, 0, "nfd-source-api ended with status 1", NULL,
	  SOON_MS },
	{ "command not found by a wrapper", "exec /nowhere 2>&-", true, 0,
	  "nfd-source-api ended with status 127", NULL, SOON_MS },
	{ "crash", "kill -SEGV $$", true, 0, "nfd-source-api was ended by signal 11", NULL,
	  SOON_MS },
	{ "crash after a result", "echo '{\"schema\":1}'; kill -SEGV $$", true, 0,
	  "nfd-source-api was ended by signal 11", NULL, SOON_MS },
	{ "more than 1 MiB", "exec head -c 1048577 /dev/zero", true, 0,
	  "nfd-source-api wrote more than 1048576 bytes", NULL, SOON_MS },
};

static void answers(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct stage *stage = stage_new(row->script);
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;
	int64_t now_ms;

	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	now_ms = run_once(&run, &stage->options, &answer);
	assert_int_equal(answer.failed, row->failed);
	assert_int_equal(answer.status, row->status);
	unit_assert_contains(answer.text, row->text);
	assert_string_equal(json_text(answer.result), row->result ? row->result : "nothing");
	assert_int_equal(run.counts.runs, 1);
	assert_int_equal(run.counts.failures, row->failed);
	assert_int_equal(run.counts.deadlines, 0);
	assert_int_equal(run.failures, row->failed);
	assert_true(run.not_before_ms >= now_ms + row->delay_ms &&
		    run.not_before_ms <= now_ms + row->delay_ms + row->delay_ms / 4);
	nfd_api_answer_done(&answer);
	nfd_api_run_done(&run);
}

static void deadline_is_a_failure(void **state)
{
	struct stage *stage = stage_new("exec sleep 1000");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;
	int64_t start_ms = nfd_clock_monotonic_ms(), now_ms;

	(void)state;
	stage->options.deadline_ms = 1;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	now_ms = run_once(&run, &stage->options, &answer);
	/* A second is for the helper to end itself. */
	assert_true(now_ms - start_ms >= 1001);
	assert_true(answer.failed);
	assert_string_equal(answer.text, "nfd-source-api did not end in time and was killed");
	assert_int_equal(run.counts.deadlines, 1);
	assert_int_equal(run.counts.failures, 1);
	nfd_api_run_done(&run);
}

static void counts_requests(void **state)
{
	struct stage *stage = stage_new(
		"echo '{\"requests\":{\"get\":2,\"patch\":3,\"delete\":1,\"post\":9,\"head\":-1}}'");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	for (int i = 0; i < 2; i++) {
		run_once(&run, &stage->options, &answer);
		nfd_api_answer_done(&answer);
	}
	assert_int_equal(run.counts.runs, 2);
	assert_int_equal(run.counts.get, 4);
	assert_int_equal(run.counts.patch, 6);
	assert_int_equal(run.counts.delete, 2);
	nfd_api_run_done(&run);
}

/* Also those of a run that failed half way; hostile numbers count nothing. */
static void counts_requests_of_failures(void **state)
{
	struct stage *stage = stage_new(
		"echo '{\"error\":{},\"requests\":{\"get\":2,\"patch\":1e300,\"delete\":\"7\"}}'");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	run_once(&run, &stage->options, &answer);
	nfd_api_answer_done(&answer);
	assert_int_equal(run.counts.get, 2);
	assert_int_equal(run.counts.patch, 0);
	assert_int_equal(run.counts.delete, 0);
	nfd_api_run_done(&run);
}

/* Failures in a row double the delay; a success ends the row. */
static void delay_grows_and_is_reset(void **state)
{
	struct stage *bad = stage_new("echo '{\"error\":{\"retry\":\"soon\"}}'");
	struct stage *good = stage_new("echo '{\"schema\":1}'");
	struct nfd_api_answer answer = { 0 };
	int64_t now_ms, delay_ms = SOON_MS;
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	for (unsigned int i = 1; i <= 4; i++, delay_ms *= 2) {
		now_ms = run_once(&run, &bad->options, &answer);
		nfd_api_answer_done(&answer);
		assert_int_equal(run.failures, i);
		assert_true(run.not_before_ms >= now_ms + delay_ms &&
			    run.not_before_ms <= now_ms + delay_ms + delay_ms / 4);
	}
	now_ms = run_once(&run, &good->options, &answer);
	nfd_api_answer_done(&answer);
	assert_int_equal(run.failures, 0);
	assert_int_equal(run.not_before_ms, now_ms);
	nfd_api_run_done(&run);
}

/* Retry-After is meant for all outputs: a shorter one of another does not lift it. */
static void quiet_is_for_all(void **state)
{
	struct stage *stage = stage_new(
		"echo '{\"error\":{\"retry\":\"soon\",\"retryAfterMilliseconds\":200000}}'");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run, other;
	int64_t now_ms;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	assert_int_equal(nfd_api_run_init(&other, LAST_MS, NULL), 0);
	assert_int_equal(nfd_api_run_not_before_ms(&run, &stage->options), 0);
	now_ms = run_once(&run, &stage->options, &answer);
	nfd_api_answer_done(&answer);
	assert_true(nfd_api_run_not_before_ms(&run, &stage->options) >= now_ms + 200000);
	assert_int_equal(nfd_api_run_not_before_ms(&other, &stage->options),
			 nfd_api_run_not_before_ms(&run, &stage->options));
	stage->place.helper = tree_program(
		stage->tree, "helper",
		"echo '{\"error\":{\"retry\":\"soon\",\"retryAfterMilliseconds\":2000}}'");
	run_once(&other, &stage->options, &answer);
	nfd_api_answer_done(&answer);
	assert_true(nfd_api_run_not_before_ms(&other, &stage->options) >= now_ms + 200000);
	nfd_api_run_done(&run);
	nfd_api_run_done(&other);
}

/* An own failure is nobody else's. */
static void backoff_is_ones_own(void **state)
{
	struct stage *stage = stage_new("exit 1");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run, other;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	assert_int_equal(nfd_api_run_init(&other, LAST_MS, NULL), 0);
	run_once(&run, &stage->options, &answer);
	nfd_api_answer_done(&answer);
	assert_int_equal(nfd_api_run_not_before_ms(&run, &stage->options), run.not_before_ms);
	assert_int_equal(nfd_api_run_not_before_ms(&other, &stage->options), 0);
	nfd_api_run_done(&run);
	nfd_api_run_done(&other);
}

/* F6: who looks more often than once a minute tries again as often. */
static void slow_is_within_a_resync(void **state)
{
	struct stage *stage = stage_new("echo '{\"error\":{\"retry\":\"slow\"}}'");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, 5000, NULL), 0);
	for (int i = 0; i < 3; i++) {
		int64_t now_ms = run_once(&run, &stage->options, &answer);

		nfd_api_answer_done(&answer);
		assert_true(run.not_before_ms >= now_ms + 5000 &&
			    run.not_before_ms <= now_ms + 6250);
	}
	nfd_api_run_done(&run);
}

static const struct {
	const char *name, *kubeconfig, *proxy;
	struct tree_entry entry[2]; /* in the root */
	const char *request;        /* %s: the root */
} request_rows[] = {
	{ "kubeconfig",
	  "/kube/config",
	  "",
	  { DIR_AT("root") },
	  "{'action':'node-look','schema':1,'deadlineMilliseconds':60000,'node':'node-1',"
	  "'credentials':{'kubeconfig':'/kube/config'}}" },
	{ "proxy",
	  "/kube/config",
	  "http://proxy:3128",
	  { DIR_AT("root") },
	  "{'action':'node-look','schema':1,'deadlineMilliseconds':60000,'node':'node-1',"
	  "'credentials':{'kubeconfig':'/kube/config'},'proxy':'http://proxy:3128'}" },
	{ "a kubelet's",
	  "",
	  "",
	  { FILE_AT("root/var/lib/kubelet/kubeconfig", "x") },
	  "{'action':'node-look','schema':1,'deadlineMilliseconds':60000,'node':'node-1',"
	  "'credentials':{'kubeconfig':'/var/lib/kubelet/kubeconfig','root':'%s'}}" },
	{ "no credentials: the helper says so",
	  "",
	  "",
	  { DIR_AT("root") },
	  "{'action':'node-look','schema':1,'deadlineMilliseconds':60000,'node':'node-1',"
	  "'credentials':{'kubeconfig':''}}" },
	{ "quotes and backslashes",
	  "/a \"b\"\\c",
	  "",
	  { DIR_AT("root") },
	  "{'action':'node-look','schema':1,'deadlineMilliseconds':60000,'node':'node-1',"
	  "'credentials':{'kubeconfig':'/a \\'b\\'\\\\c'}}" },
};

static void sends_a_request(void **state)
{
	const __typeof__(request_rows[0]) *row = *state;
	struct stage *stage = stage_new("echo '{\"schema\":1}'");
	const char *expected =
		strstr(row->request, "%s") ?
			unit_text("%.*s%s%s", (int)(strstr(row->request, "%s") - row->request),
				  row->request, stage->place.root_path,
				  strstr(row->request, "%s") + 2) :
			row->request;
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;
	cJSON *request;

	tree_fill(stage->tree, row->entry);
	stage->options.kubeconfig = unit_text("%s", row->kubeconfig);
	stage->options.proxy = unit_text("%s", row->proxy);
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	run_once(&run, &stage->options, &answer);
	assert_false(answer.failed);
	request = json_keep(cJSON_Parse(tree_read(stage->tree, "request")));
	assert_string_equal(json_text(request), expected);
	nfd_api_answer_done(&answer);
	nfd_api_run_done(&run);
}

static const struct {
	const char *name, *helper;
	int code;
	int64_t delay_ms;
} start_rows[] = {
	{ "no helper", "missing", -ENOENT, SLOW_MS },
	{ "helper cannot be run", "file", -EACCES, SLOW_MS },
	{ "helper is below a file", "file/x", -ENOTDIR, SOON_MS },
};

static void start_fails(void **state)
{
	const __typeof__(start_rows[0]) *row = *state;
	struct stage *stage = stage_new(":");
	struct nfd_error err = { 0 };
	struct nfd_api_run run;
	int64_t before_ms = nfd_clock_monotonic_ms();

	tree_file(stage->tree, "file", "");
	stage->place.helper = tree_path(stage->tree, row->helper);
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	assert_int_equal(nfd_api_run_start(&run, &stage->options, make_request(), &err), row->code);
	unit_assert_contains(err.text, stage->place.helper);
	assert_false(nfd_api_run_is_busy(&run));
	assert_int_equal(run.counts.runs, 1);
	assert_int_equal(run.counts.failures, 1);
	assert_true(run.not_before_ms >= before_ms + row->delay_ms);
	nfd_api_run_done(&run);
}

static void no_request_is_no_memory(void **state)
{
	struct stage *stage = stage_new(":");
	struct nfd_error err = { 0 };
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	assert_int_equal(nfd_api_run_start(&run, &stage->options, NULL, &err), -ENOMEM);
	assert_int_equal(run.counts.failures, 1);
	nfd_api_run_done(&run);
	assert_null(tree_read(stage->tree, "request"));
}

static void done_ends_a_run(void **state)
{
	struct stage *stage = stage_new("exec sleep 1000");
	struct nfd_api_answer answer = { 0 };
	struct nfd_api_run run;

	(void)state;
	assert_int_equal(nfd_api_run_init(&run, LAST_MS, NULL), 0);
	assert_false(nfd_api_run_is_busy(&run));
	assert_false(nfd_api_run_step(&run, &stage->options, INT64_MAX, &answer));
	assert_int_equal(nfd_api_run_start(&run, &stage->options, make_request(), NULL), 0);
	assert_true(nfd_api_run_is_busy(&run));
	nfd_api_run_done(&run);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static const struct {
	const char *name, *script;
	int code;
	const char *text;
} exchange_rows[] = {
	{ "done", "echo '{\"schema\":1,\"label\":null}'", 0, "" },
	{ "refused", "echo '{\"error\":{\"status\":403,\"message\":\"words\"}}'", -EACCES,
	  "words" },
	{ "not let in", "echo '{\"error\":{\"status\":401,\"message\":\"words\"}}'", -EACCES,
	  "words" },
	{ "no such Node", "echo '{\"error\":{\"status\":404,\"message\":\"words\"}}'", -ENOENT,
	  "words" },
	{ "server is ill", "echo '{\"error\":{\"status\":500,\"message\":\"words\"}}'", -EREMOTEIO,
	  "words" },
	{ "no connection", "echo '{\"error\":{\"message\":\"words\"}}'", -EIO, "words" },
	{ "crash", "kill -ABRT $$", -EIO, "nfd-source-api was ended by signal 6" },
};

static void exchanges(void **state)
{
	const __typeof__(exchange_rows[0]) *row = *state;
	struct stage *stage = stage_new(row->script);
	struct nfd_error err = { 0 };
	cJSON *result = NULL;

	assert_int_equal(nfd_api_exchange(&stage->options, make_request(), &result, &err),
			 row->code);
	assert_string_equal(err.text, row->text);
	assert_string_equal(json_text(json_keep(result)),
			    row->code ? "nothing" : "{'schema':1,'label':null}");
	assert_int_equal(nfd_api_exchange(&stage->options, make_request(), NULL, NULL), row->code);
}

static void exchange_without_helper(void **state)
{
	struct stage *stage = stage_new(":");
	struct nfd_error err = { 0 };

	(void)state;
	stage->place.helper = "/nowhere/nfd-source-api";
	assert_int_equal(nfd_api_exchange(&stage->options, make_request(), NULL, &err), -ENOENT);
	unit_assert_contains(err.text, "/nowhere/nfd-source-api");
}

int main(void)
{
	struct unit_suite suite = { .name = "api_run" };

	UNIT_ROWS(&suite, answers, rows, name);
	UNIT_CASE(&suite, deadline_is_a_failure);
	UNIT_CASE(&suite, counts_requests);
	UNIT_CASE(&suite, counts_requests_of_failures);
	UNIT_CASE(&suite, delay_grows_and_is_reset);
	UNIT_CASE(&suite, quiet_is_for_all);
	UNIT_CASE(&suite, backoff_is_ones_own);
	UNIT_CASE(&suite, slow_is_within_a_resync);
	UNIT_ROWS(&suite, sends_a_request, request_rows, name);
	UNIT_ROWS(&suite, start_fails, start_rows, name);
	UNIT_CASE(&suite, no_request_is_no_memory);
	UNIT_CASE(&suite, done_ends_a_run);
	UNIT_ROWS(&suite, exchanges, exchange_rows, name);
	UNIT_CASE(&suite, exchange_without_helper);
	return unit_run(&suite);
}
