// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The feature file as an output: compares with the disk, keeps renames apart, touches afterwards.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/output.h"
#include "output/spacing.h"

struct state {
	const struct nfd_feature_file_options *options;
	struct nfd_set wanted;
	struct nfd_spacing spacing;
};

static bool is_on(const struct nfd_output_options *options, const char **ret_why)
{
	if (nfd_output_is_barred(options, ret_why))
		return false;
	if (options->feature_file.mode == NFD_MODE_AUTO &&
	    options->node_feature.mode == NFD_OBJECT_WORKER) {
		*ret_why =
			"outputs.featureFile.mode is auto, and we are in the place of nfd-worker, "
			"which would read it";
		return false;
	}
	return nfd_feature_file_is_on(&options->feature_file, ret_why);
}

static void target(const struct nfd_output_options *options, char ret[NFD_OUTPUT_TARGET_SIZE])
{
	snprintf(ret, NFD_OUTPUT_TARGET_SIZE, "%s/%s", options->feature_file.dir,
		 options->feature_file.name);
}

static void close_state(void *data)
{
	struct state *state = data;

	if (state)
		nfd_set_done(&state->wanted);
	free(state);
}

/* The window of a rename that another process of ours did shortly before: its ctime tells. */
static void take_over_window(struct state *state)
{
	struct nfd_feature_file_state file;
	int64_t age_ms;

	if (nfd_feature_file_read(state->options, nfd_clock_real_s(), &file, NULL) < 0)
		return;
	age_ms = nfd_clock_real_ms() - file.changed_ms;
	if (file.exists && age_ms >= 0 && age_ms < NFD_SPACING_MS) {
		state->spacing.renamed = true;
		state->spacing.renamed_ms = nfd_clock_monotonic_ms() - age_ms;
	}
	nfd_feature_file_state_done(&file);
}

static int open_state(const struct nfd_output_options *options, void **ret_state,
		      struct nfd_error *err)
{
	struct nfd_feature_file_report report = { 0 };
	struct state *state;
	int r;

	r = nfd_feature_file_prepare(&options->feature_file, &report, err);
	if (r < 0)
		return r;
	if (report.made_dir)
		nfd_log(NFD_LOG_WARNING,
			"made the directory; an nfd-worker that runs already does not watch it "
			"and notices at its own interval only",
			"path", options->feature_file.dir, NULL);
	state = calloc(1, sizeof(*state));
	if (!state)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	state->options = &options->feature_file;
	take_over_window(state);
	*ret_state = state;
	return 0;
}

/* Compares with the file on the disk, so that a removed or replaced file is put back. */
static int offer(void *data, const struct nfd_offer *offered, struct nfd_error *err)
{
	struct state *state = data;
	struct nfd_feature_file_state file;
	struct nfd_set copy = { 0 };
	int64_t now_s = nfd_clock_real_s();
	int r;

	r = nfd_set_copy(offered->set, &copy);
	if (r < 0)
		return nfd_error_set(err, r, "out of memory");
	nfd_set_done(&state->wanted);
	state->wanted = copy;
	/* A file that cannot be read (too large, no right) is not ours as it stands: replace it. */
	r = nfd_feature_file_read(state->options, now_s, &file, err);
	state->spacing.pending =
		r < 0 || nfd_feature_file_needs_write(state->options, &file, offered->set, now_s);
	if (r == 0)
		nfd_feature_file_state_done(&file);
	return state->spacing.pending;
}

static int rename_now(struct state *state, int64_t now_ms, struct nfd_output_event *ret,
		      struct nfd_error *err)
{
	struct nfd_feature_file_report report = { 0 };
	int r;

	r = nfd_feature_file_write(state->options, &state->wanted, nfd_clock_real_s(), &report,
				   err);
	if (r < 0)
		return r;
	nfd_spacing_done(&state->spacing, NFD_SPACING_RENAME, now_ms);
	ret->published = true;
	ret->labels = report.labels;
	ret->left_out = report.left_out;
	ret->expiry_s = report.expiry_s;
	return 0;
}

static int step(void *data, int64_t now_ms, struct nfd_output_event *ret, struct nfd_error *err)
{
	struct state *state = data;
	enum nfd_spacing_action action;
	int r = 0;

	*ret = (struct nfd_output_event){ .state = "" };
	action = nfd_spacing_next(&state->spacing, now_ms, &ret->due_ms);
	if (action == NFD_SPACING_RENAME)
		r = rename_now(state, now_ms, ret, err);
	if (action == NFD_SPACING_TOUCH) {
		/* A file that somebody removed meanwhile is put back at the next scan. */
		r = nfd_feature_file_touch(state->options, err);
		nfd_spacing_done(&state->spacing, NFD_SPACING_TOUCH, now_ms);
	}
	if (r == 0)
		nfd_spacing_next(&state->spacing, now_ms, &ret->due_ms);
	ret->done = ret->due_ms == INT64_MAX;
	return r;
}

static int read_back(const struct nfd_output_options *options, struct nfd_set *set,
		     struct nfd_error *err)
{
	struct nfd_feature_file_state file;
	int r;

	r = nfd_feature_file_read(&options->feature_file, nfd_clock_real_s(), &file, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < file.labels.count && r == 0; i++)
		r = nfd_set_put(set, &file.labels.label[i]);
	nfd_feature_file_state_done(&file);
	return r;
}

/*
 * The removal keeps its distance to the last rename or touch as every change does; the staging
 * folder goes one window later, so that its event covers a removal that another program hid.
 */
static int withdraw(const struct nfd_output_options *options, struct nfd_error *err)
{
	const struct nfd_feature_file_options *file = &options->feature_file;
	struct nfd_feature_file_state state;
	int64_t age_ms;
	int removed, r;

	if (nfd_feature_file_read(file, nfd_clock_real_s(), &state, NULL) == 0) {
		age_ms = nfd_clock_real_ms() - state.changed_ms;
		if (state.exists && age_ms >= 0 && age_ms < NFD_SPACING_MS)
			poll(NULL, 0, (int)(NFD_SPACING_MS - age_ms));
		nfd_feature_file_state_done(&state);
	}
	removed = nfd_feature_file_remove(file, err);
	if (removed > 0)
		poll(NULL, 0, NFD_SPACING_MS);
	r = nfd_feature_file_remove_staging(file, err);
	return removed < 0 || r < 0 ? (removed < 0 ? removed : r) : removed;
}

const struct nfd_output nfd_feature_output = {
	.name = "featureFile",
	.is_on = is_on,
	.target = target,
	.open = open_state,
	.close = close_state,
	.offer = offer,
	.step = step,
	.read_back = read_back,
	.withdraw = withdraw,
};
