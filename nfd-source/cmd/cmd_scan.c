// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan: scan once and print.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/device_table.h"
#include "cmd/place.h"
#include "output/feature_text.h"
#include "output/render.h"
#include "scan/scan.h"

static int render_text(struct nfd_context *context, struct nfd_scan *scan, struct nfd_strbuf *buf)
{
	(void)context;
	nfd_render_text(&scan->labels, buf);
	return NFD_EXIT_DONE;
}

static int render_json(struct nfd_context *context, struct nfd_scan *scan, struct nfd_strbuf *buf)
{
	(void)context;
	nfd_render_json(&scan->labels, &scan->unknowns, scan->features, buf);
	return NFD_EXIT_DONE;
}

static int render_feature_file(struct nfd_context *context, struct nfd_scan *scan,
			       struct nfd_strbuf *buf)
{
	int64_t lifetime_ms = context->settings.outputs.feature_file.lifetime_ms;
	int64_t expiry_s = lifetime_ms ? nfd_clock_real_s() + (lifetime_ms + 999) / 1000 : 0;
	size_t left_out;

	if (nfd_feature_text_render(&scan->labels, expiry_s, buf, &left_out) < 0)
		return NFD_EXIT_FAILED;
	if (left_out)
		nfd_log(NFD_LOG_WARNING, "some labels found no room in a feature file", NULL);
	return NFD_EXIT_DONE;
}

static int render_node_feature(struct nfd_context *context, struct nfd_scan *scan,
			       struct nfd_strbuf *buf)
{
	cleanup_place struct nfd_place place = { 0 };
	struct nfd_offer offer = { .set = &scan->labels, .features = scan->features };
	const struct nfd_output_options *options = &context->settings.outputs;
	struct nfd_error err = { 0 };

	if (nfd_place_offer(&place, &context->settings, &offer) < 0)
		return NFD_EXIT_FAILED;
	if (nfd_node_feature_output.preview(options, &offer, buf, &err) < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot make the object", "error", nfd_error_text(&err),
			NULL);
		return NFD_EXIT_FAILED;
	}
	return NFD_EXIT_DONE;
}

static int render_table(struct nfd_context *context, struct nfd_scan *scan, struct nfd_strbuf *buf)
{
	(void)context;
	nfd_device_table_render(scan, isatty(STDOUT_FILENO) == 1, buf);
	return NFD_EXIT_DONE;
}

static const char *const forms[] = { "text", "json", "feature-file", "nodefeature", "table", NULL };

static const struct {
	int (*render)(struct nfd_context *context, struct nfd_scan *scan, struct nfd_strbuf *buf);
	unsigned int flags; /* enum nfd_scan_flag */
} renderers[] = {
	{ render_text, 0 },         { render_json, NFD_SCAN_FEATURES },
	{ render_feature_file, 0 }, { render_node_feature, NFD_SCAN_FEATURES },
	{ render_table, 0 },
};

static int run(struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const char *form = nfd_context_option(context, "output");
	struct nfd_scan scan = { 0 };
	size_t at = 0;
	int exit_code = NFD_EXIT_FAILED;

	while (form && strcmp(forms[at], form) != 0)
		at++;
	if (nfd_context_scan(context, &scan, renderers[at].flags) == 0)
		exit_code = renderers[at].render(context, &scan, &buf);
	if (exit_code == NFD_EXIT_DONE)
		exit_code = nfd_print(&buf);
	nfd_scan_done(&scan);
	return exit_code;
}

static const struct nfd_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FORM",
	  .choices = forms,
	  .help = "text (default), json, feature-file, nodefeature or table" },
};

const struct nfd_command nfd_cmd_scan = {
	.name = "scan",
	.summary = "scan once and print the labels",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.reads_host = true,
	.run = run,
};
