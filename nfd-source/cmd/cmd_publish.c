// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * publish: scan once, publish once by the configured outputs, end. For init containers, hooks, cron
 * and udev rules. Facts that stay unknown keep what is published; there is no removal delay.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/report.h"
#include "scan/scan.h"

static void log_error(const struct nfd_output *output, const char *what,
		      const struct nfd_error *err)
{
	nfd_log(NFD_LOG_ERROR, what, "output", output->name, "error", nfd_error_text(err), NULL);
}

/* Steps of an output until nothing is due; with @no_wait the rename alone, at once. */
static int work_off(const struct nfd_context *context, const struct nfd_output *output, void *state,
		    bool no_wait)
{
	int64_t now_ms = nfd_clock_monotonic_ms();
	struct nfd_output_event event;
	struct nfd_error err = { 0 };

	for (;;) {
		if (output->step(state, now_ms, &event, &err) < 0) {
			log_error(output, "cannot publish", &err);
			return NFD_EXIT_FAILED;
		}
		if (event.published)
			nfd_report_published(&context->settings.outputs, output, &event);
		if (event.due_ms == INT64_MAX || (event.published && no_wait))
			return NFD_EXIT_DONE;
		if (no_wait) {
			/* Does as if the window of an earlier rename were over. */
			now_ms = event.due_ms;
			continue;
		}
		if (event.due_ms > now_ms)
			poll(NULL, 0, (int)(event.due_ms - now_ms));
		now_ms = nfd_clock_monotonic_ms();
	}
}

static int publish_by(const struct nfd_context *context, const struct nfd_output *output,
		      const struct nfd_set *set)
{
	bool no_wait = nfd_context_option(context, "no-wait") != NULL;
	struct nfd_error err = { 0 };
	void *state = NULL;
	int r, exit_code = NFD_EXIT_DONE;

	if (output->open(&context->settings.outputs, &state, &err) < 0) {
		log_error(output, "cannot publish", &err);
		return NFD_EXIT_FAILED;
	}
	r = output->offer(state, set, nfd_clock_monotonic_ms(), &err);
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
static int show(const struct nfd_context *context, const struct nfd_output *output,
		const struct nfd_set *set)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cleanup_set struct nfd_set now = { 0 };
	char target[NFD_OUTPUT_TARGET_SIZE];
	struct nfd_set_change change;
	struct nfd_error err = { 0 };
	size_t cursor[2] = { 0, 0 };
	bool changed = false;

	if (output->read_back(&context->settings.outputs, &now, &err) < 0)
		log_error(output, "cannot read what is published", &err);
	output->target(&context->settings.outputs, target);
	nfd_strbuf_printf(&buf, "# would publish to %s:\n", target);
	while (nfd_set_next_change(&now, set, cursor, &change)) {
		changed = true;
		if (!change.after)
			nfd_strbuf_printf(&buf, "- %s=%s\n", change.key, change.before);
		else
			nfd_strbuf_printf(&buf, "%s %s=%s\n", change.before ? "~" : "+", change.key,
					  change.after);
	}
	if (!changed)
		nfd_strbuf_puts(&buf, "# no label would change\n");
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
	if (output->read_back(&context->settings.outputs, &published, &err) < 0)
		nfd_log(NFD_LOG_WARNING, "cannot read what is published", "error",
			nfd_error_text(&err), NULL);
	nfd_hold_init(&hold, &options, &published);
	r = nfd_hold_step(&hold, &scan->labels, &scan->unknowns, nfd_clock_monotonic_ms(), &result);
	if (r == 0)
		r = nfd_set_copy(&hold.published, ret);
	nfd_hold_done(&hold);
	return r;
}

static int run(struct nfd_context *context)
{
	const struct nfd_output *const *outputs;
	struct nfd_scan scan = { 0 };
	int exit_code = NFD_EXIT_DONE;
	size_t count, used = 0;

	if (nfd_context_scan(context, &scan, false, false) < 0) {
		nfd_scan_done(&scan);
		return NFD_EXIT_FAILED;
	}
	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++) {
		cleanup_set struct nfd_set set = { 0 };
		const char *why;
		int code;

		if (!outputs[i]->is_on(&context->settings.outputs, &why)) {
			nfd_log(NFD_LOG_WARNING, "an output is off", "output", outputs[i]->name,
				"why", why, NULL);
			continue;
		}
		used++;
		if (settle(context, &scan, outputs[i], &set) < 0)
			code = NFD_EXIT_FAILED;
		else if (nfd_context_option(context, "dry-run"))
			code = show(context, outputs[i], &set);
		else
			code = publish_by(context, outputs[i], &set);
		if (code != NFD_EXIT_DONE)
			exit_code = code;
	}
	nfd_scan_done(&scan);
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
