// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd/status_file: written, read back, hostile content, removal.
 */
#include "config.h"

#include "cmd/status_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/daemon_watch.h"
#include "tests/unit/labels.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define MIB (1024 * 1024)

static const struct nfd_daemon_watch no_watch = { .files = { .fd = -1 },
						  .options = { .group = "kernel" },
						  .reason = "refused" };
static const struct nfd_faults no_faults;
static const struct nfd_set no_labels;

static struct nfd_status make_status(void)
{
	return (struct nfd_status){ .node_name = "",
				    .root = "/",
				    .labels = &no_labels,
				    .faults = &no_faults,
				    .watch = &no_watch };
}

static void writes_and_reads(void **state)
{
	const char *path = tree_path(tree_new(), "run/status.json");
	cleanup_set struct nfd_set labels = labels_set("a/b=1\na/c=");
	cleanup_set struct nfd_set again = { 0 };
	struct nfd_faults faults = { 0 };
	struct nfd_status status = {
		.started_s = 1,
		.scanned_s = 2,
		.scan_ms = 7,
		.scans = 3,
		.node_name = "node \"x\"",
		.root = "/host",
		.labels = &labels,
		.faults = &faults,
		.watch = &no_watch,
		.output = { { .name = "featureFile",
			      .is_on = true,
			      .why = "because",
			      .target = "/d/f",
			      .published_s = 5,
			      .labels = 2 } },
		.output_count = 1,
	};
	cJSON *document = NULL;
	struct stat st;
	const char *text;

	(void)state;
	unit_capture(2);
	nfd_faults_begin(&faults);
	nfd_faults_see(&faults, NFD_LOG_WARNING, "id", "words");
	unit_captured(2);
	assert_int_equal(nfd_status_write(path, &status, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(nfd_status_read(path, &document, NULL), 0);
	assert_int_equal(nfd_status_labels(document, &again), 0);
	assert_true(nfd_set_equal(&labels, &again));
	text = cJSON_PrintUnformatted(document);
	unit_assert_contains(text, "\"node\":\"node \\\"x\\\"\",\"root\":\"/host\","
				   "\"started\":\"1970-01-01T00:00:01Z\","
				   "\"scanned\":\"1970-01-01T00:00:02Z\",\"scanMilliseconds\":7,"
				   "\"scans\":3,\"publications\":0,\"watch\":{\"uevents\":false,"
				   "\"group\":\"kernel\",\"reason\":\"refused\",\"files\":false,"
				   "\"events\":0,\"lost\":0},\"outputs\":[{"
				   "\"name\":\"featureFile\",\"on\":true,\"why\":\"because\","
				   "\"target\":\"/d/f\",\"published\":\"1970-01-01T00:00:05Z\","
				   "\"labels\":2,\"leftOut\":0}],\"faults\":[{\"id\":\"id\","
				   "\"text\":\"words\",");
	cJSON_free((char *)text);
	cJSON_Delete(document);
	nfd_faults_done(&faults);
}

static void write_leaves_no_other_file(void **state)
{
	const char *tree = tree_new();
	struct nfd_status status = make_status();

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(nfd_status_write(tree_path(tree, "status.json"), &status, NULL),
				 0);
	assert_string_equal(tree_list(tree, "."), "status.json ");
}

static const struct {
	const char *path; /* below a tree that has a file "file" and a folder "folder" */
	int result;
} write_rows[] = {
	{ "a/b/status.json", -ENOENT }, /* one folder is made, not two */
	{ "file/status.json", -ENOTDIR },
	{ "folder", -EISDIR },
	{ "folder/", -EINVAL },
};

static void write_fails(void **state)
{
	const __typeof__(write_rows[0]) *row = *state;
	const struct tree_entry entry[] = { FILE_AT("file", ""), DIR_AT("folder"), { 0 } };
	const char *tree = tree_new();
	struct nfd_status status = make_status();
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_int_equal(nfd_status_write(tree_path(tree, row->path), &status, &err), row->result);
	unit_assert_contains(err.text, tree);
	assert_string_equal(tree_list(tree, "folder"), "");
}

static void relative_path_is_refused(void **state)
{
	struct nfd_status status = make_status();

	(void)state;
	assert_int_equal(nfd_status_write("status.json", &status, NULL), -EINVAL);
	assert_int_equal(nfd_status_write("", &status, NULL), -EINVAL);
}

static const struct {
	const char *name;
	struct tree_entry entry;
	int result;
} read_rows[] = {
	{ "missing", DIR_AT("x"), -ENOENT },
	{ "empty", FILE_AT("s", ""), -EBADMSG },
	{ "no JSON", FILE_AT("s", "labels"), -EBADMSG },
	{ "cut", FILE_AT("s", "{\"schema\":1,"), -EBADMSG },
	{ "not UTF-8", FILE_AT("s", "\xff\xfe"), -EBADMSG },
	{ "fifo", FIFO_AT("s"), -EBADMSG },
	{ "folder", DIR_AT("s"), -EISDIR },
	{ "loop", LINK_AT("s", "s"), -ELOOP },
	{ "smallest", FILE_AT("s", "{}"), 0 },
};

static void reads(void **state)
{
	const __typeof__(read_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	struct nfd_error err = { 0 };
	cJSON *document = NULL;

	tree_fill(tree, entry);
	assert_int_equal(nfd_status_read(tree_path(tree, "s"), &document, &err), row->result);
	if (row->result < 0) {
		assert_null(document);
		unit_assert_contains(err.text, tree);
	}
	cJSON_Delete(document);
}

static void read_knows_the_cap(void **state)
{
	const char *tree = tree_new();
	cJSON *document = NULL;

	(void)state;
	tree_file(tree, "s", unit_text("{}%s", unit_repeat(' ', MIB - 2)));
	assert_int_equal(nfd_status_read(tree_path(tree, "s"), &document, NULL), 0);
	cJSON_Delete(document);
	document = NULL;
	tree_file(tree, "s", unit_text("{}%s", unit_repeat(' ', MIB - 1)));
	assert_int_equal(nfd_status_read(tree_path(tree, "s"), &document, NULL), -EFBIG);
	assert_null(document);
}

static const struct {
	const char *name, *json, *labels;
} label_rows[] = {
	{ "none", "{}", "" },
	{ "no object", "[1]", "" },
	{ "labels are no object", "{\"labels\":[\"a\"]}", "" },
	{ "labels are null", "{\"labels\":null}", "" },
	{ "legal", "{\"labels\":{\"a/b\":\"1\",\"a/a\":\"2\"}}", "a/a=2\na/b=1\n" },
	{ "number", "{\"labels\":{\"a/b\":1,\"a/c\":\"1\"}}", "a/c=1\n" },
	{ "nested", "{\"labels\":{\"a/b\":{\"x\":\"1\"},\"a/c\":\"1\"}}", "a/c=1\n" },
	{ "illegal key", "{\"labels\":{\"b\":\"1\",\"a/c\":\"1\"}}", "a/c=1\n" },
	{ "illegal value", "{\"labels\":{\"a/b\":\"x y\",\"a/c\":\"1\"}}", "a/c=1\n" },
};

static void takes_labels(void **state)
{
	const __typeof__(label_rows[0]) *row = *state;
	cleanup_set struct nfd_set set = { 0 };
	cJSON *document = cJSON_Parse(row->json);

	assert_non_null(document);
	assert_int_equal(nfd_status_labels(document, &set), 0);
	assert_string_equal(labels_text(&set), row->labels);
	cJSON_Delete(document);
}

static void removes(void **state)
{
	const char *tree = tree_new();
	struct nfd_error err = { 0 };

	(void)state;
	tree_file(tree, "s", "{}");
	assert_int_equal(nfd_status_remove(tree_path(tree, "s"), &err), 1);
	assert_int_equal(nfd_status_remove(tree_path(tree, "s"), &err), 0);
	assert_int_equal(nfd_status_remove(tree_path(tree, "nowhere/s"), &err), 0);
	assert_int_equal(err.code, 0);
	tree_file(tree, "d/s", "");
	assert_true(nfd_status_remove(tree_path(tree, "d"), &err) < 0);
	unit_assert_contains(err.text, tree);
}

int main(void)
{
	struct unit_suite suite = { .name = "status_file" };

	UNIT_CASE(&suite, writes_and_reads);
	UNIT_CASE(&suite, write_leaves_no_other_file);
	UNIT_ROWS(&suite, write_fails, write_rows, path);
	UNIT_CASE(&suite, relative_path_is_refused);
	UNIT_ROWS(&suite, reads, read_rows, name);
	UNIT_CASE(&suite, read_knows_the_cap);
	UNIT_ROWS(&suite, takes_labels, label_rows, name);
	UNIT_CASE(&suite, removes);
	return unit_run(&suite);
}
