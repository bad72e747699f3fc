// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor runs as a process of its own (our own program), without NVML and without the API server: it
 * reads package databases and logs, which is no work for the daemon's loop.
 */
#include "config.h"

#include "cmd/daemon_events.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "scan/scanner.h"

/* After a change things settle first: a driver is loaded in steps. */
#define DOCTOR_AFTER_MS 5000
#define DOCTOR_EVERY_MS (15 * 60 * 1000)
#define DOCTOR_DEADLINE_MS 30000
#define DOCTOR_OUTPUT_MAX (1024 * 1024)
#define ARGUMENTS_MAX (2 * NFD_OVERRIDES_MAX + 16)
/* An event that cannot be sent for so long is of no use any more. */
#define TRIES_MAX 8

#define MATCH NFD_F "driver-nvidia.match"

static bool is_on(const struct nfd_daemon_events *events)
{
	const struct nfd_output_options *options = &events->context->settings.outputs;
	const char *why;

	return nfd_node_labels_output.is_on(options, &why) ||
	       nfd_node_feature_output.is_on(options, &why);
}

static int on_ready(void *cookie)
{
	struct nfd_daemon_events *events = cookie;

	nfd_daemon_events_step(events, nfd_clock_monotonic_ms());
	return events->changed(events->cookie);
}

int nfd_daemon_events_init(struct nfd_daemon_events *events, struct nfd_context *context,
			   struct nfd_loop *loop, const char *cause, nfd_loop_callback *changed,
			   void *cookie, struct nfd_error *err)
{
	int r;

	*events = (struct nfd_daemon_events){
		.context = context,
		.changed = changed,
		.cookie = cookie,
		.doctor_due_ms = INT64_MAX,
	};
	snprintf(events->cause, sizeof(events->cause), "%s", cause);
	r = nfd_api_run_init(&events->run, INT64_MAX, err);
	if (r < 0)
		return r;
	r = nfd_child_init(&events->doctor, err);
	if (r < 0) {
		nfd_api_run_done(&events->run);
		return r;
	}
	events->is_open = true;
	r = nfd_loop_add(loop, events->run.child.poll_fd, on_ready, events, err);
	return r < 0 ? r : nfd_loop_add(loop, events->doctor.poll_fd, on_ready, events, err);
}

void nfd_daemon_events_done(struct nfd_daemon_events *events, struct nfd_loop *loop)
{
	if (!events->is_open)
		return;
	nfd_loop_remove(loop, events->run.child.poll_fd);
	nfd_loop_remove(loop, events->doctor.poll_fd);
	nfd_api_run_done(&events->run);
	nfd_child_done(&events->doctor);
	events->is_open = false;
}

/* The oldest goes when there are too many: the newest state matters. */
static void add(struct nfd_daemon_events *events, const char *reason, bool is_warning,
		const char *message)
{
	struct nfd_event *event;

	if (events->count == NFD_EVENTS_MAX) {
		memmove(&events->waiting[0], &events->waiting[1],
			(NFD_EVENTS_MAX - 1) * sizeof(events->waiting[0]));
		events->count--;
	}
	event = &events->waiting[events->count++];
	event->is_warning = is_warning;
	snprintf(event->reason, sizeof(event->reason), "%s", reason);
	snprintf(event->message, sizeof(event->message), "%s", message);
}

static const char *value_or(const struct nfd_set *set, const char *key, const char *otherwise)
{
	const char *value = nfd_set_value(set, key);

	return value ? value : otherwise;
}

static void tell_match(struct nfd_daemon_events *events, const struct nfd_set *after, bool fits)
{
	const char *module = value_or(after, NFD_F "driver-nvidia.version.full", "?");
	const char *library = value_or(after, NFD_F "driver-nvidia.library.version.full", "?");
	char message[600];

	snprintf(message, sizeof(message),
		 fits ? "the loaded nvidia module %s and the library %s fit again" :
			"the loaded nvidia module is %s and the library %s: new containers cannot "
			"use the GPUs until the module is reloaded; see nfd-source doctor",
		 module, library);
	add(events, fits ? "GPUDriverMatch" : "GPUDriverMismatch", !fits, message);
}

void nfd_daemon_events_compare(struct nfd_daemon_events *events, const struct nfd_set *before,
			       const struct nfd_set *after, int64_t now_ms)
{
	const char *was = nfd_set_value(before, MATCH);
	const char *is = nfd_set_value(after, MATCH);

	if (!is_on(events) || !nfd_set_value(after, NFD_F "pci-10de.present"))
		return;
	/* That they fit is news only after they did not. */
	if (is && strcmp(is, "false") == 0 && (!was || strcmp(was, "false") != 0))
		tell_match(events, after, false);
	else if (is && was && strcmp(is, "true") == 0 && strcmp(was, "false") == 0)
		tell_match(events, after, true);
	events->doctor_due_ms = now_ms + DOCTOR_AFTER_MS;
}

/* The cause, in words, of a report. */
static const char *words_of(const cJSON *report, const char *cause)
{
	const cJSON *finding;

	cJSON_ArrayForEach(finding, nfd_json_get(report, "findings"))
		if (strcmp(nfd_json_text(finding, "id"), cause) == 0)
			return nfd_json_text(finding, "cause");
	return "";
}

/* What the labels tell already is not told twice. */
static bool is_told_by_label(const char *cause)
{
	return strcmp(cause, "GPU-DRV-MISMATCH") == 0 || strcmp(cause, "GPU-DRV-KMODLAG") == 0;
}

static void take_report(struct nfd_daemon_events *events)
{
	cJSON *report = cJSON_Parse(nfd_strbuf_text(&events->doctor.output));
	const char *cause = nfd_json_text(report, "cause");
	char message[600];

	/* Exit statuses 0 and 1 are both a verdict. */
	if (events->doctor.end != NFD_CHILD_EXITED || events->doctor.status > 1 || !report ||
	    strcmp(cause, events->cause) == 0 || is_told_by_label(cause)) {
		cJSON_Delete(report);
		return;
	}
	snprintf(message, sizeof(message), "%s%s%.500s", *cause ? cause : events->cause,
		 *cause ? ": " : " is no more", *cause ? words_of(report, cause) : "");
	if (*cause)
		add(events, "GPUStackCritical", true, message);
	else
		add(events, "GPUStackRecovered", false, message);
	snprintf(events->cause, sizeof(events->cause), "%s", cause);
	cJSON_Delete(report);
}

/* Our own program, with the settings that we have. */
static void start_doctor(struct nfd_daemon_events *events)
{
	static const char *const words[] = { "nfd-source", "doctor",   "-o",     "json",
					     "--no-nvml",  "--no-api", "--quiet" };
	const struct nfd_context *context = events->context;
	const struct nfd_settings_sources *sources = &context->sources;
	char set[NFD_OVERRIDES_MAX][400];
	const char *argv[ARGUMENTS_MAX];
	struct nfd_child_command command = {
		.path = "/proc/self/exe",
		.argv = (char *const *)argv,
		.envp = sources->environment,
		.input = "",
		.output_max = DOCTOR_OUTPUT_MAX,
		.deadline_ms = DOCTOR_DEADLINE_MS,
	};
	struct nfd_error err = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(words); i++)
		argv[count++] = words[i];
	argv[count++] = "--root";
	argv[count++] = context->root_path;
	if (sources->file_required) {
		argv[count++] = "--config";
		argv[count++] = sources->file;
	}
	for (size_t i = 0; i < sources->override_count; i++) {
		snprintf(set[i], sizeof(set[i]), "%s=%s", sources->override[i].key,
			 sources->override[i].value);
		argv[count++] = "--set";
		argv[count++] = set[i];
	}
	argv[count] = NULL;
	if (nfd_child_start(&events->doctor, &command, &err) < 0)
		nfd_log(NFD_LOG_DEBUG, "cannot start doctor", "error", nfd_error_text(&err), NULL);
}

static cJSON *make_request(const struct nfd_event *event)
{
	cJSON *request = cJSON_CreateObject();

	if (request && cJSON_AddStringToObject(request, "action", "event") &&
	    cJSON_AddStringToObject(request, "reason", event->reason) &&
	    cJSON_AddStringToObject(request, "message", event->message) &&
	    cJSON_AddBoolToObject(request, "warning", event->is_warning))
		return request;
	cJSON_Delete(request);
	return NULL;
}

static void drop_first(struct nfd_daemon_events *events)
{
	memmove(&events->waiting[0], &events->waiting[1],
		(events->count - 1) * sizeof(events->waiting[0]));
	events->count--;
}

static void take_answer(struct nfd_daemon_events *events, int64_t now_ms)
{
	struct nfd_api_answer answer;

	if (!nfd_api_run_step(&events->run, &events->context->settings.outputs.api, now_ms,
			      &answer))
		return;
	events->is_sending = false;
	snprintf(events->fault, sizeof(events->fault), "%s", answer.failed ? answer.text : "");
	/* A right that is missing does not come back in time. */
	if (!answer.failed || answer.status == 403 || events->run.failures >= TRIES_MAX) {
		nfd_log(answer.failed ? NFD_LOG_WARNING : NFD_LOG_INFO,
			answer.failed ? "an event could not be written on the Node" :
					"event written on the Node",
			"reason", events->waiting[0].reason, answer.failed ? "error" : NULL,
			answer.text, NULL);
		drop_first(events);
		events->run.failures = 0;
	}
	nfd_api_answer_done(&answer);
}

static void send_next(struct nfd_daemon_events *events, int64_t now_ms)
{
	const struct nfd_api_options *options = &events->context->settings.outputs.api;
	struct nfd_error err = { 0 };

	if (events->count == 0 || events->is_sending ||
	    nfd_api_run_not_before_ms(&events->run, options) > now_ms)
		return;
	events->is_sending = true;
	if (nfd_api_run_start(&events->run, options, make_request(&events->waiting[0]), &err) < 0)
		events->is_sending = false;
}

void nfd_daemon_events_step(struct nfd_daemon_events *events, int64_t now_ms)
{
	if (!events->is_open)
		return;
	if (nfd_child_step(&events->doctor, now_ms))
		take_report(events);
	if (events->doctor_due_ms <= now_ms && events->doctor.pid == 0) {
		events->doctor_due_ms = now_ms + DOCTOR_EVERY_MS;
		start_doctor(events);
	}
	take_answer(events, now_ms);
	send_next(events, now_ms);
}

int64_t nfd_daemon_events_due_ms(const struct nfd_daemon_events *events)
{
	int64_t due_ms = events->doctor_due_ms;

	if (!events->is_open)
		return INT64_MAX;
	due_ms = nfd_min64(due_ms, nfd_child_due_ms(&events->doctor));
	due_ms = nfd_min64(due_ms, nfd_child_due_ms(&events->run.child));
	if (events->count > 0 && !events->is_sending)
		due_ms = nfd_min64(due_ms, nfd_api_run_not_before_ms(&events->run,
								     &events->context->settings
									      .outputs.api));
	return due_ms;
}
