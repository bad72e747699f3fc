// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/feature_output: offers and steps of the feature file as an output. The monotonic clock is
 * made; the file's own time is the system's.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output/output.h"
#include "output/spacing.h"
#include "tests/unit/labels.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define START_MS 1000000

static const struct nfd_output *const output = &nfd_feature_output;

static struct nfd_output_options in_tree(const char *tree)
{
	return (struct nfd_output_options){
		.feature_file = { .mode = NFD_MODE_AUTO,
				  .dir = unit_text("%s/d", tree),
				  .name = unit_text("f"),
				  .lifetime_ms = 0 },
	};
}

/* Offers labels; 1 when they have to be published. */
static int offer(void *state, const char *lines)
{
	cleanup_set struct nfd_set set = labels_set(lines);

	struct nfd_offer offered = { .set = &set, .now_ms = START_MS };

	return output->offer(state, &offered, NULL);
}

/* Takes a step; the time of the next one. */
static int64_t step(void *state, int64_t now_ms, bool published)
{
	struct nfd_output_event event = { 0 };

	assert_int_equal(output->step(state, now_ms, &event, NULL), 0);
	assert_int_equal(event.published, published);
	return event.due_ms;
}

static void publishes_and_touches(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	void *state = NULL;

	(void)test_state;
	tree_file(tree, "d/other", "");
	assert_int_equal(output->open(&options, &state, NULL), 0);
	assert_int_equal(step(state, START_MS, false), INT64_MAX);
	assert_int_equal(offer(state, "a/b=1"), 1);
	assert_int_equal(step(state, START_MS, true), START_MS + NFD_SPACING_MS);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
	assert_int_equal(offer(state, "a/b=1"), 0);
	assert_int_equal(step(state, START_MS + 1, false), START_MS + NFD_SPACING_MS);
	assert_int_equal(step(state, START_MS + NFD_SPACING_MS, false), INT64_MAX);
	output->close(state);
}

static void a2_second_change_waits(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	void *state = NULL;

	(void)test_state;
	assert_int_equal(output->open(&options, &state, NULL), 0);
	assert_int_equal(offer(state, "a/b=1"), 1);
	step(state, START_MS, true);
	assert_int_equal(offer(state, "a/b=2"), 1);
	assert_int_equal(offer(state, "a/b=3"), 1);
	assert_int_equal(step(state, START_MS + 300, false), START_MS + NFD_SPACING_MS);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
	step(state, START_MS + NFD_SPACING_MS, true);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=3\n");
	output->close(state);
}

static void change_back_needs_no_rename(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	void *state = NULL;

	(void)test_state;
	assert_int_equal(output->open(&options, &state, NULL), 0);
	assert_int_equal(offer(state, "a/b=1"), 1);
	step(state, START_MS, true);
	assert_int_equal(offer(state, "a/b=2"), 1);
	assert_int_equal(offer(state, "a/b=1"), 0);
	assert_int_equal(step(state, START_MS + NFD_SPACING_MS, false), INT64_MAX);
	output->close(state);
}

static void removed_file_is_put_back(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	struct nfd_output_event event;
	void *state = NULL;

	(void)test_state;
	assert_int_equal(output->open(&options, &state, NULL), 0);
	assert_int_equal(offer(state, "a/b=1"), 1);
	step(state, START_MS, true);
	assert_int_equal(unlink(tree_path(tree, "d/f")), 0);
	assert_int_equal(output->step(state, START_MS + NFD_SPACING_MS, &event, NULL), -ENOENT);
	assert_int_equal(offer(state, "a/b=1"), 1);
	step(state, START_MS + 2 * NFD_SPACING_MS, true);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
	output->close(state);
}

static void unreadable_file_is_replaced_or_told(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	struct nfd_output_event event;
	struct nfd_error err = { 0 };
	void *state = NULL;

	(void)test_state;
	assert_int_equal(output->open(&options, &state, NULL), 0);
	tree_file(tree, "d/f", unit_repeat('x', 70000));
	assert_int_equal(offer(state, "a/b=1"), 1);
	step(state, START_MS, true);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
	assert_int_equal(unlink(tree_path(tree, "d/f")), 0);
	tree_file(tree, "d/f/kept", "");
	assert_int_equal(offer(state, "a/b=1"), 1);
	assert_int_equal(output->step(state, START_MS + NFD_SPACING_MS, &event, &err), -EISDIR);
	unit_assert_contains(err.text, "/d/f\"");
	output->close(state);
}

/*
 * Another process renamed the file a moment ago: our rename waits for the rest of its window. On a
 * machine so slow that the window is over when we look, try again.
 */
static void takes_over_the_window_of_another_process(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	int64_t begin_ms, opened_ms, due_ms;
	void *state = NULL;

	(void)test_state;
	for (;;) {
		begin_ms = nfd_clock_monotonic_ms();
		tree_file(tree, "d/f", "a/b=0\n");
		assert_int_equal(output->open(&options, &state, NULL), 0);
		opened_ms = nfd_clock_monotonic_ms();
		if (opened_ms - begin_ms < NFD_SPACING_MS / 2)
			break;
		output->close(state);
	}
	assert_int_equal(offer(state, "a/b=1"), 1);
	due_ms = step(state, opened_ms, false);
	/* The file system's clock may lag behind by a tick. */
	assert_in_range(due_ms, begin_ms + NFD_SPACING_MS - 50, opened_ms + NFD_SPACING_MS + 50);
	step(state, due_ms, true);
	assert_string_equal(tree_read(tree, "d/f"), "a/b=1\n");
	output->close(state);
}

static void open_warns_of_a_made_directory(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	void *state = NULL;

	(void)test_state;
	unit_capture(2);
	assert_int_equal(output->open(&options, &state, NULL), 0);
	unit_assert_contains(unit_captured(2), "level=warning msg=\"made the directory;");
	output->close(state);
	unit_capture(2);
	assert_int_equal(output->open(&options, &state, NULL), 0);
	assert_string_equal(unit_captured(2), "");
	output->close(state);
	output->close(NULL);
}

static void reads_back_and_withdraws(void **test_state)
{
	const char *tree = tree_new();
	struct nfd_output_options options = in_tree(tree);
	cleanup_set struct nfd_set set = { 0 };
	char target[NFD_OUTPUT_TARGET_SIZE];
	const char *why;

	(void)test_state;
	assert_false(output->is_on(&options, &why));
	assert_int_equal(output->read_back(&options, &set, NULL), 0);
	assert_int_equal(set.count, 0);
	tree_file(tree, "d/f", "a/b=1\nnonsense here\n");
	assert_true(output->is_on(&options, &why));
	assert_int_equal(output->read_back(&options, &set, NULL), 0);
	assert_string_equal(labels_text(&set), "a/b=1\n");
	output->target(&options, target);
	assert_string_equal(target, tree_path(tree, "d/f"));
	assert_int_equal(output->withdraw(&options, NULL), 1);
	assert_int_equal(output->withdraw(&options, NULL), 0);
	assert_string_equal(tree_list(tree, "d"), "");
}

static void table_is_sound(void **test_state)
{
	size_t count;
	const struct nfd_output *const *outputs = nfd_outputs(&count);

	(void)test_state;
	assert_true(count >= 1);
	assert_ptr_equal(outputs[0], output);
	assert_string_equal(output->name, "featureFile");
}

int main(void)
{
	struct unit_suite suite = { .name = "feature_output" };

	UNIT_CASE(&suite, publishes_and_touches);
	UNIT_CASE(&suite, a2_second_change_waits);
	UNIT_CASE(&suite, change_back_needs_no_rename);
	UNIT_CASE(&suite, removed_file_is_put_back);
	UNIT_CASE(&suite, unreadable_file_is_replaced_or_told);
	UNIT_CASE(&suite, takes_over_the_window_of_another_process);
	UNIT_CASE(&suite, open_warns_of_a_made_directory);
	UNIT_CASE(&suite, reads_back_and_withdraws);
	UNIT_CASE(&suite, table_is_sound);
	return unit_run(&suite);
}
