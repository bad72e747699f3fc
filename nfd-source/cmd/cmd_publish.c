// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * publish: scan once, publish once by the configured outputs, end. For init containers, hooks, cron
 * and udev rules. Facts that stay unknown keep what is published; there is no removal delay.
 */
#include "config.h"

#include <limits.h>
#include <poll.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "cmd/report.h"
#include "scan/scan.h"

/* The helper ends at api.deadline; this is the rest of an output's time in a one-shot. */
#define PATIENCE_MS 2000

static void log_error(const struct nfd_output *output, const char *what,
		      const struct nfd_error *err)
{
	nfd_log(NFD_LOG_ERROR, what, "output", output->name, "error", nfd_error_text(err), NULL);
}

/* What stayed wrong, and how things are. */
static int log_faults(const struct nfd_output *output, void *state,
		      const struct nfd_output_event *event)
{
	const struct nfd_output_fault *fault;
	size_t count = output->faults ? output->faults(state, &fault) : 0;
	int exit_code = NFD_EXIT_DONE;

	for (size_t i = 0; i < count; i++) {
		nfd_log(fault[i].level, fault[i].text, "output", output->name, NULL);
		if (fault[i].level == NFD_LOG_ERROR)
			exit_code = NFD_EXIT_FAILED;
	}
	if (event->state[0])
		nfd_log(NFD_LOG_INFO, event->state, "output", output->name, NULL);
	return exit_code;
}

static void wait_for(const struct nfd_output *output, void *state, int64_t wait_ms)
{
	struct pollfd pollfd = { .fd = output->wait_fd ? output->wait_fd(state) : -1,
				 .events = POLLIN };

	if (wait_ms > 0)
		poll(&pollfd, 1, (int)nfd_min64(wait_ms, INT_MAX));
}

/* Steps of an output until nothing is due; with @no_wait the rename alone, at once. */
static int work_off(const struct nfd_context *context, const struct nfd_output *output, void *state,
		    bool no_wait)
{
	int64_t now_ms = nfd_clock_monotonic_ms();
	int64_t end_ms = now_ms + context->settings.outputs.api.deadline_ms + PATIENCE_MS;
	struct nfd_output_event event;
	struct nfd_error err = { 0 };

	for (;;) {
		if (output->step(state, now_ms, &event, &err) < 0) {
			log_error(output, "cannot publish", &err);
			return NFD_EXIT_FAILED;
		}
		if (event.published)
			nfd_report_published(&context->settings.outputs, output, &event);
		if (event.done || (event.published && no_wait))
			return log_faults(output, state, &event);
		if (output->wait_fd && event.due_ms > end_ms)
			return log_faults(output, state, &event);
		if (no_wait && !output->wait_fd) {
			/* Does as if the window of an earlier rename were over. */
			now_ms = event.due_ms;
			continue;
		}
		wait_for(output, state, event.due_ms - now_ms);
		now_ms = nfd_clock_monotonic_ms();
	}
}

static int publish_by(const struct nfd_context *context, const struct nfd_output *output,
		      const struct nfd_offer *offer)
{
	bool no_wait = nfd_context_option(context, "no-wait") != NULL;
	struct nfd_error err = { 0 };
	void *state = NULL;
	int r, exit_code = NFD_EXIT_DONE;

	if (output->open(&context->settings.outputs, &state, &err) < 0) {
		log_error(output, "cannot publish", &err);
		return NFD_EXIT_FAILED;
	}
	r = output->offer(state, offer, &err);
	if (r < 0) {
		log_error(output, "cannot publish", &err);
		exit_code = NFD_EXIT_FAILED;
	} else if (r == 0) {
		nfd_log(NFD_LOG_DEBUG, "nothing has changed", "output", output->name, NULL);
	} else {
		exit_code = work_off(context, output, state, no_wait);
	}
	output->close(state);
	return exit_code;
}

/* What would be done, with the text that would be written. */
static void show_changes(const struct nfd_context *context, const struct nfd_output *output,
			 const struct nfd_set *set, struct nfd_strbuf *buf)
{
	cleanup_set struct nfd_set now = { 0 };
	struct nfd_set_change change;
	struct nfd_error err = { 0 };
	size_t cursor[2] = { 0, 0 };
	bool changed = false;

	if (output->read_back(&context->settings.outputs, &now, &err) < 0)
		log_error(output, "cannot read what is published", &err);
	while (nfd_set_next_change(&now, set, cursor, &change)) {
		changed = true;
		if (!change.after)
			nfd_strbuf_printf(buf, "- %s=%s\n", change.key, change.before);
		else
			nfd_strbuf_printf(buf, "%s %s=%s\n", change.before ? "~" : "+", change.key,
					  change.after);
	}
	if (!changed)
		nfd_strbuf_puts(buf, "# no label would change\n");
}

static int show(const struct nfd_context *context, const struct nfd_output *output,
		const struct nfd_offer *offer)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	char target[NFD_OUTPUT_TARGET_SIZE];
	struct nfd_error err = { 0 };

	output->target(&context->settings.outputs, target);
	nfd_strbuf_printf(&buf, "# would publish to %s:\n", target);
	if (!output->preview) {
		show_changes(context, output, offer->set, &buf);
	} else if (output->preview(&context->settings.outputs, offer, &buf, &err) < 0) {
		log_error(output, "cannot tell what would change", &err);
		return NFD_EXIT_FAILED;
	}
	return nfd_print(&buf);
}

/* The labels to publish: those of the scan, and published ones whose fact is unknown. */
static int settle(const struct nfd_context *context, const struct nfd_scan *scan,
		  const struct nfd_output *output, struct nfd_set *ret)
{
	struct nfd_hold_options options = {
		.lifetime_ms = context->settings.outputs.feature_file.lifetime_ms,
	};
	struct nfd_hold_result result;
	struct nfd_set published = { 0 };
	struct nfd_error err = { 0 };
	struct nfd_hold hold;
	int r;

	/* Nothing can be kept of a file that cannot be read. */
	if (output->read_back &&
	    output->read_back(&context->settings.outputs, &published, &err) < 0)
		nfd_log(NFD_LOG_WARNING, "cannot read what is published", "error",
			nfd_error_text(&err), NULL);
	nfd_hold_init(&hold, &options, &published);
	r = nfd_hold_step(&hold, &scan->labels, &scan->unknowns, nfd_clock_monotonic_ms(), &result);
	if (r == 0)
		r = nfd_set_copy(&hold.published, ret);
	nfd_hold_done(&hold);
	return r;
}

/* One output that is on. */
static int publish_scan(const struct nfd_context *context, const struct nfd_output *output,
			const struct nfd_scan *scan)
{
	cleanup_set struct nfd_set set = { 0 };
	cleanup_place struct nfd_place place = { 0 };
	struct nfd_offer offer = {
		.set = &set,
		.features = scan->features,
		.keep = &scan->unknowns,
	};

	if (settle(context, scan, output, &set) < 0 ||
	    nfd_place_offer(&place, &context->settings, &offer) < 0)
		return NFD_EXIT_FAILED;
	offer.now_ms = nfd_clock_monotonic_ms();
	return nfd_context_option(context, "dry-run") ? show(context, output, &offer) :
							publish_by(context, output, &offer);
}

/* With core.noPublish everything is found as it would be to be published, as nfd-worker does. */
static bool wants_features(const struct nfd_output_options *outputs)
{
	return nfd_outputs_want_features(outputs) || outputs->no_publish;
}

static int run(struct nfd_context *context)
{
	unsigned int flags = (wants_features(&context->settings.outputs) ? NFD_SCAN_FEATURES : 0) |
			     /* A hook must not wait for a driver. */
			     (nfd_context_option(context, "no-wait") ? NFD_SCAN_QUICK : 0);
	const struct nfd_output *const *outputs;
	struct nfd_scan scan = { 0 };
	int exit_code = NFD_EXIT_DONE;
	size_t count, used = 0;

	if (nfd_context_scan(context, &scan, flags) < 0 ||
	    (!(flags & NFD_SCAN_QUICK) && nfd_context_ask_vendors(context, &scan, flags) < 0)) {
		nfd_scan_done(&scan);
		return NFD_EXIT_FAILED;
	}
	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++) {
		const char *why;

		if (!outputs[i]->is_on(&context->settings.outputs, &why)) {
			nfd_log(NFD_LOG_DEBUG, "an output is off", "output", outputs[i]->name,
				"why", why, NULL);
			continue;
		}
		used++;
		if (publish_scan(context, outputs[i], &scan) != NFD_EXIT_DONE)
			exit_code = NFD_EXIT_FAILED;
	}
	nfd_scan_done(&scan);
	if (context->settings.outputs.no_publish) {
		nfd_log(NFD_LOG_INFO, "nothing was published: core.noPublish is true", NULL);
		return exit_code;
	}
	if (used == 0) {
		nfd_log(NFD_LOG_ERROR,
			"nothing was published: no output is on; to write a feature file set "
			"outputs.featureFile.mode to on",
			NULL);
		return NFD_EXIT_FAILED;
	}
	return exit_code;
}

static const struct nfd_option options[] = {
	{ .name = "dry-run", .help = "only print what would change" },
	{ .name = "no-wait", .help = "rename at once and end: no spacing, no touch 1.1 s later" },
};

const struct nfd_command nfd_cmd_publish = {
	.name = "publish",
	.summary = "scan once, publish once by the configured outputs",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.reads_host = true,
	.run = run,
};
