// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd/metrics_file: the text is valid exposition format (checked line by line, not compared), and the
 * file is written whole.
 */
#include "config.h"

#include "cmd/metrics_file.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/daemon_watch.h"
#include "tests/unit/labels.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define METRICS_MAX 64

static const struct nfd_daemon_watch watch = { .files = { .fd = -1 }, .events = 12, .lost = 1 };
static const struct nfd_faults no_faults;
static const struct nfd_set no_labels;

static struct nfd_status make_status(const struct nfd_set *labels)
{
	return (struct nfd_status){
		.started_s = 1700000000,
		.scanned_s = 1700000100,
		.changed_s = 1700000050,
		.scan_ms = 1234,
		.scans = 17,
		.node_name = "n",
		.root = "/",
		.labels = labels,
		.kept_unknown = 1,
		.leaving = 1,
		.faults = &no_faults,
		.watch = &watch,
		.output = { { .name = "featureFile",
			      .is_on = true,
			      .published_s = 1700000060,
			      .success_s = 1700000070,
			      .publications = 3,
			      .failures = 2 },
			    { .name = "nodeLabels",
			      .is_on = true,
			      .publications = 4,
			      .api = { .runs = 9,
				       .failures = 5,
				       .deadlines = 1,
				       .get = UINT64_C(123456789012),
				       .patch = 7 } } },
		.output_count = 2,
	};
}

static const char *render(const struct nfd_status *status)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_metrics_render(status, &buf);
	assert_int_equal(buf.error, 0);
	return unit_text("%s", nfd_strbuf_text(&buf));
}

/* What is known of a metric while the lines pass by. */
struct metric {
	char name[100], type[20];
	bool has_help, ended;
	size_t samples;
};

struct reader {
	struct metric metric[METRICS_MAX];
	size_t count;
};

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalpha((unsigned char)text[i]) && text[i] != '_' &&
		    (i == 0 || !isdigit((unsigned char)text[i])))
			return false;
	return len > 0;
}

static struct metric *find(struct reader *reader, const char *name, size_t len)
{
	for (size_t i = 0; i < reader->count; i++)
		if (strlen(reader->metric[i].name) == len &&
		    memcmp(reader->metric[i].name, name, len) == 0)
			return &reader->metric[i];
	return NULL;
}

/* "# HELP name words": once, and before all else of that metric. */
static void read_help(struct reader *reader, const char *rest)
{
	size_t len = strcspn(rest, " ");
	struct metric *metric = &reader->metric[reader->count];

	assert_true(reader->count < METRICS_MAX);
	assert_true(is_name(rest, len));
	assert_true(strncmp(rest, "nfd_source_", 11) == 0);
	assert_null(find(reader, rest, len));
	assert_true(rest[len] == ' ' && rest[len + 1]);
	for (size_t i = 0; i < reader->count; i++)
		reader->metric[i].ended = true;
	snprintf(metric->name, sizeof(metric->name), "%.*s", (int)len, rest);
	metric->has_help = true;
	reader->count++;
}

/* "# TYPE name type": once, after its HELP. */
static void read_type(struct reader *reader, const char *rest)
{
	size_t len = strcspn(rest, " ");
	struct metric *metric = find(reader, rest, len);
	bool is_counter = strcmp(rest + len, " counter") == 0;

	assert_non_null(metric);
	assert_true(metric->has_help && !metric->type[0] && !metric->samples);
	assert_true(is_counter || strcmp(rest + len, " gauge") == 0);
	snprintf(metric->type, sizeof(metric->type), "%s", rest + len + 1);
	/* Counters end in _total, and nothing else does. */
	assert_int_equal(is_counter, len > 6 && strncmp(rest + len - 6, "_total", 6) == 0);
}

/* "{name="value",…}"; returns what is behind it. */
static const char *read_labels(const char *at)
{
	do {
		size_t len = strcspn(++at, "=");

		assert_true(is_name(at, len));
		at += len + 1;
		assert_int_equal(*at, '"');
		len = strcspn(++at, "\"\\\n");
		at += len;
		assert_int_equal(*at, '"');
		at++;
	} while (*at == ',');
	assert_int_equal(*at, '}');
	return at + 1;
}

static void read_sample(struct reader *reader, const char *line)
{
	size_t len = strcspn(line, "{ ");
	struct metric *metric = find(reader, line, len);
	const char *at = line + len;
	char *end;
	double value;

	assert_non_null(metric);
	assert_true(metric->type[0] && !metric->ended);
	if (*at == '{')
		at = read_labels(at);
	assert_int_equal(*at, ' ');
	assert_true(isdigit((unsigned char)at[1]));
	value = strtod(at + 1, &end);
	assert_true(*end == '\0' && value >= 0);
	metric->samples++;
}

/* Reads all lines; each sample of one name and labels must stand there once. */
static void check(const char *text, bool each_has_a_sample)
{
	struct reader reader = { 0 };
	char *copy = unit_text("\n%s", text);

	assert_int_equal(copy[strlen(copy) - 1], '\n');
	copy[strlen(copy) - 1] = '\0';
	for (char *line = copy; line;) {
		char *next = strchr(++line, '\n');

		if (next)
			*next = '\0';
		if (strncmp(line, "# HELP ", 7) == 0) {
			read_help(&reader, line + 7);
		} else if (strncmp(line, "# TYPE ", 7) == 0) {
			read_type(&reader, line + 7);
		} else {
			const char *series =
				unit_text("\n%.*s ", (int)(strrchr(line, ' ') - line), line);
			const char *first = strstr(unit_text("\n%s", text), series);

			read_sample(&reader, line);
			assert_non_null(first);
			assert_null(strstr(first + 1, series));
		}
		line = next;
	}
	for (size_t i = 0; i < reader.count; i++) {
		assert_true(reader.metric[i].type[0]);
		assert_true(reader.metric[i].samples || !each_has_a_sample);
	}
	assert_true(reader.count > 5);
}

static void text_is_valid(void **state)
{
	cleanup_set struct nfd_set labels = labels_set("a/a=1\na/b=2\na/c=3");
	struct nfd_status status = make_status(&labels);

	(void)state;
	check(render(&status), true);
}

static void empty_status_is_valid(void **state)
{
	struct nfd_status status = { .labels = &no_labels, .faults = &no_faults };

	(void)state;
	check(render(&status), false);
}

static const char *const lines[] = {
	"nfd_source_build_info{version=\"" PACKAGE_VERSION "\"} 1\n",
	"nfd_source_scans_total 17\n",
	"nfd_source_start_time_seconds 1700000000\n",
	"nfd_source_last_scan_timestamp_seconds 1700000100\n",
	"nfd_source_last_scan_duration_seconds 1.234\n",
	"nfd_source_labels{state=\"present\"} 1\n",
	"nfd_source_labels{state=\"unknown\"} 1\n",
	"nfd_source_labels{state=\"leaving\"} 1\n",
	"nfd_source_publications_total{output=\"featureFile\",result=\"success\"} 3\n",
	"nfd_source_publications_total{output=\"featureFile\",result=\"failure\"} 2\n",
	"nfd_source_publications_total{output=\"nodeLabels\",result=\"failure\"} 5\n",
	"nfd_source_helper_runs_total{output=\"nodeLabels\"} 9\n",
	"nfd_source_helper_deadlines_total{output=\"nodeLabels\"} 1\n",
	"nfd_source_api_requests_total{output=\"nodeLabels\",verb=\"get\"} 123456789012\n",
	"nfd_source_api_requests_total{output=\"nodeLabels\",verb=\"patch\"} 7\n",
	"nfd_source_output_on{output=\"featureFile\"} 1\n",
};

static void has_line(void **state)
{
	cleanup_set struct nfd_set labels = labels_set("a/a=1\na/b=2\na/c=3");
	struct nfd_status status = make_status(&labels);

	unit_assert_contains(render(&status), *(const char *const *)*state);
}

static void write_is_whole(void **state)
{
	const char *tree = tree_new();
	const char *path = tree_path(tree, "nfd.prom");
	struct nfd_status status = make_status(&no_labels);
	struct stat st;

	(void)state;
	status.kept_unknown = status.leaving = 0;
	tree_file(tree, "nfd.prom", "old, and longer than nothing");
	for (int i = 0; i < 3; i++)
		assert_int_equal(nfd_metrics_write(path, &status, NULL), 0);
	assert_string_equal(tree_list(tree, "."), "nfd.prom ");
	assert_string_equal(tree_read(tree, "nfd.prom"), render(&status));
	assert_int_equal(stat(path, &st), 0);
	/* node-exporter runs as another user. */
	assert_int_equal(st.st_mode & 0777, 0644);
}

static const struct {
	const char *path; /* below a tree with a file "file" and a folder "folder" */
	int code;
} write_rows[] = {
	{ "missing/nfd.prom", -ENOENT },
	{ "file/nfd.prom", -ENOTDIR },
	{ "folder", -EISDIR },
	{ "folder/", -EINVAL },
};

static void write_fails(void **state)
{
	const __typeof__(write_rows[0]) *row = *state;
	const struct tree_entry entry[] = { FILE_AT("file", ""), DIR_AT("folder"), { 0 } };
	const char *tree = tree_new();
	struct nfd_status status = { .labels = &no_labels, .faults = &no_faults };
	struct nfd_error err = { 0 };

	tree_fill(tree, entry);
	assert_int_equal(nfd_metrics_write(tree_path(tree, row->path), &status, &err), row->code);
	unit_assert_contains(err.text, tree);
	assert_string_equal(tree_list(tree, "."), "file folder ");
	assert_string_equal(tree_list(tree, "folder"), "");
}

static void relative_path_is_refused(void **state)
{
	struct nfd_status status = { .labels = &no_labels, .faults = &no_faults };

	(void)state;
	assert_int_equal(nfd_metrics_write("nfd.prom", &status, NULL), -EINVAL);
}

int main(void)
{
	struct unit_suite suite = { .name = "metrics_file" };

	UNIT_CASE(&suite, text_is_valid);
	UNIT_CASE(&suite, empty_status_is_valid);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(lines); i++)
		unit_add(&suite, has_line, "has_line", lines[i], &lines[i]);
	UNIT_CASE(&suite, write_is_whole);
	UNIT_ROWS(&suite, write_fails, write_rows, path);
	UNIT_CASE(&suite, relative_path_is_refused);
	return unit_run(&suite);
}
