// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each output on its own: one that fails is tried again at a slow pace and does not hold up others.
 */
#include "config.h"

#include "cmd/daemon_outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/place.h"
#include "cmd/report.h"

#define RETRY_FIRST_MS 10000
#define RETRY_LAST_MS 300000

void nfd_daemon_fault(struct nfd_daemon *daemon, enum nfd_log_level level, const char *kind,
		      const char *name, const char *text)
{
	char id[320];

	snprintf(id, sizeof(id), "%s%s", kind, name);
	nfd_faults_see(&daemon->faults, level, id, text);
}

static int64_t retry_ms(unsigned int failures, int64_t now_ms)
{
	int64_t delay_ms = RETRY_FIRST_MS;

	while (failures-- > 1 && delay_ms < RETRY_LAST_MS)
		delay_ms *= 2;
	return now_ms + nfd_min64(delay_ms, RETRY_LAST_MS);
}

static void output_failed(struct nfd_daemon *daemon, size_t at, const struct nfd_error *err)
{
	nfd_daemon_fault(daemon, NFD_LOG_ERROR, "output ", daemon->output[at].output->name,
			 nfd_error_text(err));
	daemon->output[at].failures++;
	daemon->status.output[at].failures++;
	daemon->output[at].due_ms = retry_ms(daemon->output[at].failures, nfd_clock_monotonic_ms());
}

static void output_published(struct nfd_daemon *daemon, size_t at,
			     const struct nfd_output_event *event)
{
	struct nfd_status_output *status = &daemon->status.output[at];

	nfd_report_published(&daemon->context->settings.outputs, daemon->output[at].output, event);
	daemon->status.publications++;
	status->publications++;
	status->published_s = nfd_clock_real_s();
	status->expiry_s = event->expiry_s;
	status->labels = event->labels;
	status->left_out = event->left_out;
}

/* What an output says is wrong, as faults of this round. Returns how many there are. */
static size_t see_faults(struct nfd_daemon *daemon, size_t at)
{
	const struct nfd_output *output = daemon->output[at].output;
	const struct nfd_output_fault *fault;
	size_t count = output->faults ? output->faults(daemon->output[at].state, &fault) : 0;
	char kind[64];

	for (size_t i = 0; i < count; i++) {
		snprintf(kind, sizeof(kind), "output %s%s", output->name,
			 fault[i].id[0] ? " " : "");
		nfd_daemon_fault(daemon, fault[i].level, kind, fault[i].id, fault[i].text);
	}
	return count;
}

/* Takes over what the step of an output says. Returns whether the status has changed. */
static bool take_event(struct nfd_daemon *daemon, size_t at, const struct nfd_output_event *event)
{
	const struct nfd_output *output = daemon->output[at].output;
	struct nfd_status_output *status = &daemon->status.output[at];
	size_t faults = see_faults(daemon, at);
	bool changed = event->published || faults != status->faults ||
		       strcmp(status->state, event->state) != 0;

	daemon->output[at].failures = 0;
	daemon->output[at].due_ms = event->due_ms;
	if (event->published)
		output_published(daemon, at, event);
	if (event->state[0] && strcmp(status->state, event->state) != 0)
		nfd_log(NFD_LOG_INFO, event->state, "output", output->name, NULL);
	status->faults = faults;
	status->is_idle = event->is_idle;
	if (event->done)
		status->success_s = nfd_clock_real_s();
	snprintf(status->state, sizeof(status->state), "%s", event->state);
	if (output->counts)
		status->api = *output->counts(daemon->output[at].state);
	return changed;
}

/* Runs the steps of one output that are due. Returns whether the status has changed. */
static bool output_step(struct nfd_daemon *daemon, size_t at)
{
	const struct nfd_output *output = daemon->output[at].output;
	struct nfd_output_event event;
	struct nfd_error err = { 0 };

	if (!daemon->output[at].state)
		return false;
	if (output->step(daemon->output[at].state, nfd_clock_monotonic_ms(), &event, &err) < 0) {
		output_failed(daemon, at, &err);
		return true;
	}
	return take_event(daemon, at, &event);
}

bool nfd_daemon_output_serve(struct nfd_daemon *daemon, size_t at)
{
	char prefix[64];
	bool changed;

	snprintf(prefix, sizeof(prefix), "output %s", daemon->output[at].output->name);
	nfd_faults_begin(&daemon->faults);
	changed = output_step(daemon, at);
	nfd_faults_end(&daemon->faults, prefix);
	return changed;
}

void nfd_daemon_output_close(struct nfd_daemon *daemon, size_t at)
{
	struct nfd_daemon_output *output = &daemon->output[at];

	if (output->state && output->output->wait_fd)
		nfd_loop_remove(&daemon->loop, output->output->wait_fd(output->state));
	if (output->state)
		output->output->close(output->state);
	output->state = NULL;
	output->due_ms = INT64_MAX;
}

/* What is decided about an output is said once, and again when it changes. */
static void note_choice(struct nfd_status_output *status, const char *name, bool is_on,
			const char *why)
{
	if (status->why == why && status->is_on == is_on)
		return;
	status->is_on = is_on;
	status->why = why;
	nfd_log(NFD_LOG_INFO, is_on ? "output is on" : "output is off", "output", name, "why", why,
		NULL);
}

static int open_output(struct nfd_daemon *daemon, size_t at, struct nfd_error *err)
{
	struct nfd_daemon_output *output = &daemon->output[at];
	int r;

	r = output->output->open(&daemon->context->settings.outputs, &output->state, err);
	if (r == 0 && output->output->wait_fd)
		r = nfd_loop_add(&daemon->loop, output->output->wait_fd(output->state),
				 daemon->output_ready, output, err);
	if (r < 0)
		nfd_daemon_output_close(daemon, at);
	return r;
}

/* Opens an output that should be on, closes one that should be off, and notes why. */
static void choose_output(struct nfd_daemon *daemon, size_t at)
{
	const struct nfd_output *output = daemon->output[at].output;
	const struct nfd_output_options *options = &daemon->context->settings.outputs;
	struct nfd_status_output *status = &daemon->status.output[at];
	struct nfd_error err = { 0 };
	const char *why;
	bool is_on = output->is_on(options, &why);

	note_choice(status, output->name, is_on, why);
	status->name = output->name;
	output->target(options, status->target);
	if (!is_on) {
		status->state[0] = '\0';
		nfd_daemon_output_close(daemon, at);
	} else if (!daemon->output[at].state && open_output(daemon, at, &err) < 0) {
		output_failed(daemon, at, &err);
	}
}

/*
 * What is published is not always known at the start (no feature file, no status file after a boot):
 * until the lifetime of an unknown fact is over, what is on the Node of it stays.
 */
static bool keeps_unknown(const struct nfd_daemon *daemon)
{
	int64_t lifetime_ms = daemon->hold.options.lifetime_ms;

	return lifetime_ms == 0 ||
	       (nfd_clock_real_s() - daemon->status.started_s) * 1000 < lifetime_ms;
}

void nfd_daemon_output_offer(struct nfd_daemon *daemon, size_t at)
{
	struct nfd_offer offer = {
		.set = &daemon->hold.published,
		.features = daemon->last.features,
		.now_ms = nfd_clock_monotonic_ms(),
		.keep = keeps_unknown(daemon) ? &daemon->last.unknowns : NULL,
	};
	cleanup_place struct nfd_place place = { 0 };
	struct nfd_error err = { 0 };

	choose_output(daemon, at);
	if (!daemon->output[at].state)
		return;
	/* An object without them would take a rule's labels away until the answer is there. */
	if (daemon->output[at].output->wants_features &&
	    nfd_daemon_vendors_is_asking(&daemon->vendors))
		return;
	if (nfd_place_offer(&place, &daemon->context->settings, &offer) < 0) {
		nfd_error_set(&err, -ENOMEM, "out of memory");
		output_failed(daemon, at, &err);
	} else if (daemon->output[at].output->offer(daemon->output[at].state, &offer, &err) < 0)
		output_failed(daemon, at, &err);
	else
		output_step(daemon, at);
}
