// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each output on its own: one that fails is tried again at a slow pace and does not hold up others.
 */
#include "config.h"

#include "cmd/daemon_outputs.h"

#include <stdio.h>

#include "base/clock.h"
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
	daemon->output[at].due_ms = retry_ms(daemon->output[at].failures, nfd_clock_monotonic_ms());
}

static void output_published(struct nfd_daemon *daemon, size_t at,
			     const struct nfd_output_event *event)
{
	struct nfd_status_output *status = &daemon->status.output[at];

	nfd_report_published(&daemon->context->settings.outputs, daemon->output[at].output, event);
	daemon->status.publications++;
	status->published_s = nfd_clock_real_s();
	status->expiry_s = event->expiry_s;
	status->labels = event->labels;
	status->left_out = event->left_out;
}

/* Runs the steps of one output that are due. Returns whether something was published. */
bool nfd_daemon_output_step(struct nfd_daemon *daemon, size_t at)
{
	const struct nfd_output *output = daemon->output[at].output;
	struct nfd_output_event event;
	struct nfd_error err = { 0 };

	if (!daemon->output[at].state)
		return false;
	if (output->step(daemon->output[at].state, nfd_clock_monotonic_ms(), &event, &err) < 0) {
		output_failed(daemon, at, &err);
		return false;
	}
	daemon->output[at].failures = 0;
	daemon->output[at].due_ms = event.due_ms;
	if (event.published)
		output_published(daemon, at, &event);
	return event.published;
}

void nfd_daemon_output_close(struct nfd_daemon *daemon, size_t at)
{
	if (daemon->output[at].state)
		daemon->output[at].output->close(daemon->output[at].state);
	daemon->output[at].state = NULL;
	daemon->output[at].due_ms = INT64_MAX;
}

/* Opens an output that should be on, closes one that should be off, and notes why. */
static void choose_output(struct nfd_daemon *daemon, size_t at)
{
	const struct nfd_output *output = daemon->output[at].output;
	const struct nfd_output_options *options = &daemon->context->settings.outputs;
	struct nfd_status_output *status = &daemon->status.output[at];
	struct nfd_error err = { 0 };

	status->name = output->name;
	output->target(options, status->target);
	status->is_on = output->is_on(options, &status->why);
	if (!status->is_on) {
		nfd_daemon_fault(daemon, NFD_LOG_WARNING, "output off ", output->name, status->why);
		nfd_daemon_output_close(daemon, at);
		return;
	}
	if (!daemon->output[at].state &&
	    output->open(options, &daemon->output[at].state, &err) < 0) {
		daemon->output[at].state = NULL;
		output_failed(daemon, at, &err);
	}
}

void nfd_daemon_output_offer(struct nfd_daemon *daemon, size_t at)
{
	struct nfd_error err = { 0 };

	choose_output(daemon, at);
	if (!daemon->output[at].state)
		return;
	if (daemon->output[at].output->offer(daemon->output[at].state, &daemon->hold.published,
					     nfd_clock_monotonic_ms(), &err) < 0)
		output_failed(daemon, at, &err);
	else
		nfd_daemon_output_step(daemon, at);
}
