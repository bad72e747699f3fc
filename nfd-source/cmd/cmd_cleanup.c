// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cleanup: remove what we wrote and nothing else; safe to repeat.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/status_file.h"

static int show(const struct nfd_context *context)
{
	const struct nfd_feature_file_options *file = &context->settings.outputs.feature_file;

	const struct nfd_output_options *options = &context->settings.outputs;
	char target[NFD_OUTPUT_TARGET_SIZE];
	struct nfd_api_access access;

	printf("would remove %s/%s\nwould remove %s/%s\nwould remove %s\n", file->dir, file->name,
	       file->dir, NFD_STAGING_DIR, context->settings.status_path);
	if (context->settings.metrics_path[0])
		printf("would remove %s\n", context->settings.metrics_path);
	if (nfd_api_access_find(&options->api, &access)) {
		nfd_node_feature_output.target(options, target);
		printf("would remove %s\n", target);
		nfd_node_labels_output.target(options, target);
		printf("would remove the labels that nfd-source owns from %s\n", target);
	}
	return NFD_EXIT_DONE;
}

static int report(int r, const char *what, const char *target, const struct nfd_error *err)
{
	if (r < 0) {
		nfd_log(NFD_LOG_ERROR, "cannot clean up", "what", what, "error",
			nfd_error_text(err), NULL);
		return NFD_EXIT_FAILED;
	}
	nfd_log(NFD_LOG_INFO, r ? "removed" : "there was nothing to remove", "what", what, "target",
		target, NULL);
	return NFD_EXIT_DONE;
}

static int remove_file(const char *what, const char *path)
{
	struct nfd_error err = { 0 };

	return path[0] ? report(nfd_status_remove(path, &err), what, path, &err) : NFD_EXIT_DONE;
}

static int run(struct nfd_context *context)
{
	const struct nfd_output_options *options = &context->settings.outputs;
	const struct nfd_output *const *outputs;
	char target[NFD_OUTPUT_TARGET_SIZE];
	struct nfd_error err = { 0 };
	int exit_code = NFD_EXIT_DONE;
	const char *why;
	size_t count;
	int r;

	if (nfd_context_option(context, "dry-run"))
		return show(context);
	/* Also of outputs that are off now: they may have been on before. */
	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++) {
		outputs[i]->target(options, target);
		r = outputs[i]->withdraw(options, &err);
		/* Rights that an output needs are not there where it was never meant to be on. */
		if (r == -EACCES && !outputs[i]->is_on(options, &why)) {
			nfd_log(NFD_LOG_INFO, "passed over: no right, and the output is off",
				"what", outputs[i]->name, "target", target, NULL);
			continue;
		}
		if (report(r, outputs[i]->name, target, &err) != NFD_EXIT_DONE)
			exit_code = NFD_EXIT_FAILED;
	}
	if (remove_file("metrics file", context->settings.metrics_path) != NFD_EXIT_DONE ||
	    remove_file("status file", context->settings.status_path) != NFD_EXIT_DONE)
		exit_code = NFD_EXIT_FAILED;
	return exit_code;
}

static const struct nfd_option options[] = {
	{ .name = "dry-run", .help = "only print what would be removed" },
};

const struct nfd_command nfd_cmd_cleanup = {
	.name = "cleanup",
	.summary = "remove what we wrote: feature file, NodeFeature, our labels, status",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.run = run,
};
