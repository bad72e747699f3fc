// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nfd-source-api: one request on standard input, one result on standard output, within a deadline
 * (docs/api-protocol.md). Started by nfd-source; needs nothing of the host but the credentials.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "api/action.h"
#include "base/call_filter.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/landlock.h"
#include "base/write.h"

#define SCHEMA 1
#define REQUEST_MAX (1024 * 1024)
#define DEADLINE_DEFAULT_MS 30000
#define DEADLINE_MAX_MS 3600000
/* Our own end comes a little before the parent's patience, so that a result still gets through. */
#define DEADLINE_SHARE 95

static const struct nfd_action *const actions[] = {
	&nfd_action_node_labels, &nfd_action_node_look,    &nfd_action_node_read,
	&nfd_action_vendor_look, &nfd_action_node_feature, &nfd_action_node_feature_delete,
	&nfd_action_event,       &nfd_action_dcgm,
};

/*
 * Credentials are in our memory: no core dump, no tracing by others of our user. And we go when our
 * parent goes.
 */
static void protect(void)
{
	struct rlimit none = { 0 };

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPIPE, SIG_IGN);
}

/* Whatever hangs where no time-out reaches: the default action of the signal is our end. */
static void set_alarm(int64_t deadline_ms)
{
	struct itimerval timer = { .it_value = { .tv_sec = deadline_ms / 1000 + 1 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static int read_request(cJSON **ret, struct nfd_api_error *err)
{
	cleanup_strbuf struct nfd_strbuf text = { 0 };
	char part[4096];
	ssize_t n;

	while (text.len <= REQUEST_MAX && (n = read(STDIN_FILENO, part, sizeof(part))) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		nfd_strbuf_add(&text, part, n > 0 ? (size_t)n : 0);
	}
	*ret = text.len > REQUEST_MAX || strlen(nfd_strbuf_text(&text)) < text.len ?
		       NULL :
		       cJSON_ParseWithOpts(nfd_strbuf_text(&text), NULL, true);
	if (!cJSON_IsObject(*ret))
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "standard input holds no JSON object of at most 1 MiB");
	return 0;
}

static int take_deadline(const cJSON *request, int64_t *ret_ms, struct nfd_api_error *err)
{
	const cJSON *deadline = nfd_json_get(request, "deadlineMilliseconds");

	*ret_ms = DEADLINE_DEFAULT_MS;
	if (!deadline)
		return 0;
	if (!cJSON_IsNumber(deadline) || !(deadline->valuedouble >= 1) ||
	    deadline->valuedouble > DEADLINE_MAX_MS)
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "\"deadlineMilliseconds\" is no number from 1 to %d",
					 DEADLINE_MAX_MS);
	*ret_ms = (int64_t)deadline->valuedouble;
	return 0;
}

static int take_source(const cJSON *request, struct nfd_credential_source *source,
		       struct nfd_api_error *err)
{
	const cJSON *credentials = nfd_json_get(request, "credentials");
	int r;

	if (nfd_json_is_true(credentials, "inCluster")) {
		source->root = "/";
		return nfd_action_text(credentials, "serviceAccountDir", NFD_SERVICE_ACCOUNT_DIR,
				       &source->service_account_dir, err);
	}
	r = nfd_action_text(credentials, "kubeconfig", NULL, &source->kubeconfig, err);
	return r < 0 ? r : nfd_action_text(credentials, "root", "/", &source->root, err);
}

static const struct nfd_action *find_action(const cJSON *request)
{
	const char *name = cJSON_GetStringValue(nfd_json_get(request, "action"));

	for (size_t i = 0; name && i < NFD_ARRAY_SIZE(actions); i++)
		if (strcmp(actions[i]->name, name) == 0)
			return actions[i];
	return NULL;
}

static void put_requests(const struct nfd_client *client, cJSON *result)
{
	const struct {
		const char *verb;
		unsigned int count;
	} counts[] = { { "get", client->get },
		       { "patch", client->patch },
		       { "post", client->post },
		       { "delete", client->delete } };
	cJSON *requests = cJSON_AddObjectToObject(result, "requests");

	for (size_t i = 0; i < NFD_ARRAY_SIZE(counts); i++)
		if (counts[i].count)
			cJSON_AddNumberToObject(requests, counts[i].verb, counts[i].count);
}

/*
 * Between the credentials and the network, as far as this system can. A plugin that gave them runs
 * again when the server refuses them, and may keep files of its own.
 */
static void confine(const cJSON *request, const struct nfd_client *client)
{
	unsigned int groups = NFD_CALLS_NETWORK;

	if (cJSON_IsFalse(nfd_json_get(request, "confined")))
		return;
	if (client->credentials.from_plugin)
		groups |= NFD_CALLS_START | NFD_CALLS_ANY_PROGRAM;
	else
		nfd_landlock_restrict(NULL, 0, NULL);
	nfd_call_filter_apply(groups, NULL);
}

static int perform(const cJSON *request, char *const *environment, cJSON *result,
		   struct nfd_api_error *err)
{
	const cJSON *schema = nfd_json_get(request, "schema");
	const struct nfd_action *action = find_action(request);
	struct nfd_client client = { .source.environment = environment };
	const char *proxy = "";
	int64_t deadline_ms = 0;
	int r;

	if (!cJSON_IsNumber(schema) || schema->valueint != SCHEMA)
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL,
					 "\"schema\" is not %d: program and helper are of "
					 "different versions",
					 SCHEMA);
	if (!action)
		return nfd_api_error_set(err, NFD_API_REQUEST, -EINVAL, "unknown \"action\"");
	r = take_deadline(request, &deadline_ms, err);
	if (r == 0 && !action->no_credentials)
		r = take_source(request, &client.source, err);
	if (r == 0)
		r = nfd_action_text(request, "proxy", "", &proxy, err);
	if (r < 0)
		return r;
	set_alarm(deadline_ms);
	client.http.proxy = *proxy ? proxy : NULL;
	client.http.end_ms = nfd_clock_monotonic_ms() + deadline_ms * DEADLINE_SHARE / 100;
	client.source.end_ms = client.http.end_ms;
	r = action->no_credentials ? nfd_http_open(&client.http, err) :
				     nfd_client_open(&client, err);
	if (r == 0) {
		confine(request, &client);
		r = action->run(&client, request, result, err);
	}
	put_requests(&client, result);
	nfd_client_close(&client);
	return r;
}

/* Whether the result got out. */
static bool print(const cJSON *result)
{
	char *text = cJSON_PrintUnformatted(result);
	bool ok = text && nfd_write_all(STDOUT_FILENO, text, strlen(text)) == 0 &&
		  nfd_write_all(STDOUT_FILENO, "\n", 1) == 0;

	cJSON_free(text);
	return ok;
}

int main(int argc, char **argv, char **environment)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	cJSON *result = cJSON_CreateObject();
	cJSON *request = NULL;
	bool printed;
	int r;

	(void)argv;
	protect();
	cJSON_AddNumberToObject(result, "schema", SCHEMA);
	r = argc > 1 ? nfd_api_error_set(&err, NFD_API_REQUEST, -EINVAL,
					 "takes no arguments: started by nfd-source, with a "
					 "request on standard input") :
		       read_request(&request, &err);
	if (r == 0)
		r = perform(request, environment, result, &err);
	if (r < 0 && !cJSON_AddItemToObject(result, "error", nfd_api_error_object(&err)))
		return 1;
	if (argc > 1)
		fprintf(stderr, "nfd-source-api: %s\n", nfd_error_text(&err.error));
	printed = print(result);
	cJSON_Delete(request);
	cJSON_Delete(result);
	if (!printed)
		return 1;
	return r < 0 && err.kind == NFD_API_REQUEST ? 2 : 0;
}
