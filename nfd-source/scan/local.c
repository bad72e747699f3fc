// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads all files first and keeps their texts, of which the pairs are parts; then one pass over the pairs
 * gives the features, and one the labels.
 */
#include "config.h"

#include "scan/local.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "labels/feature_lines.h"

/* nfd-worker drops a larger file whole. */
#define FILE_MAX 65536
/* Of a folder, which no program of good will fills so far; a small file counts as a page. */
#define FOLDER_MAX (4 << 20)
#define FILE_COST_MIN 4096

struct folder {
	struct nfd_scan *scan;
	const struct nfd_local_options *options;
	struct nfd_root root; /* "/": links lead anywhere */
	struct nfd_names names;
	char **text; /* by position in @names; owned, and so is each */
	size_t size; /* of what was read */
	struct nfd_feature_lines lines;
	bool in_doubt; /* not all of it could be read */
};

/* Whether the path fits: one that is cut would be another file's. */
static bool path_of(const struct folder *folder, size_t file, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%s/%s", folder->options->dir, folder->names.name[file]) <
	       PATH_MAX;
}

static void judge(struct folder *folder, const char *path, int code)
{
	folder->in_doubt |= !nfd_root_is_absent(code);
	if (code == -ENOMEM)
		folder->scan->error = code;
	nfd_scan_failed(folder->scan, "", path, code);
}

static void read_file(struct folder *folder, size_t file)
{
	char path[PATH_MAX];
	ssize_t len = -ENAMETOOLONG;
	int r;

	if (path_of(folder, file, path))
		len = nfd_root_read_regular(&folder->root, path + strspn(path, "/"), FILE_MAX,
					    &folder->text[file]);
	if (len == -EFBIG) {
		nfd_feature_lines_remark(&folder->lines, file, 0, "it has more than 65536 bytes");
		return;
	}
	/* It is kept from us for good, as it would be from nfd-worker: no reason to doubt all labels. */
	if (len == -EACCES || len == -EPERM) {
		nfd_feature_lines_remark(&folder->lines, file, 0, "we may not read it");
		return;
	}
	if (len < 0) {
		judge(folder, path, (int)len);
		return;
	}
	folder->size += len > FILE_COST_MIN ? (size_t)len : FILE_COST_MIN;
	r = nfd_feature_lines_parse(&folder->lines, folder->text[file], (size_t)len,
				    nfd_clock_real_s(), file);
	if (r < 0)
		folder->scan->error = r;
}

static bool is_passed_over(const struct folder *folder, const char *name)
{
	return name[0] == '.' || (folder->options->own && strcmp(name, folder->options->own) == 0);
}

static void read_files(struct folder *folder)
{
	for (size_t i = 0; i < folder->names.count && folder->scan->error == 0; i++) {
		if (is_passed_over(folder, folder->names.name[i]))
			continue;
		if (folder->size > FOLDER_MAX - FILE_MAX) {
			folder->in_doubt = true;
			nfd_scan_unknown(folder->scan, "",
					 "features.d has more than 4 MiB of feature files");
			return;
		}
		read_file(folder, i);
	}
}

static void read_folder(struct folder *folder)
{
	const char *dir = folder->options->dir;
	int r = nfd_root_open(&folder->root, "/", NULL);

	if (r == 0)
		r = nfd_root_list(&folder->root, dir + strspn(dir, "/"), &folder->names);
	if (r == 0 && folder->names.count > 0) {
		folder->text = calloc(folder->names.count, sizeof(*folder->text));
		r = folder->text ? 0 : -ENOMEM;
	}
	if (r < 0)
		judge(folder, dir, r);
	else
		read_files(folder);
	nfd_feature_lines_settle(&folder->lines);
}

static void folder_done(struct folder *folder)
{
	nfd_feature_lines_done(&folder->lines);
	for (size_t i = 0; folder->text && i < folder->names.count; i++)
		free(folder->text[i]);
	free(folder->text);
	nfd_names_done(&folder->names);
	nfd_root_close(&folder->root);
}

static void put_features(struct nfd_scan *scan, const char *feature,
			 const struct nfd_feature_pairs *pairs)
{
	cleanup_free struct nfd_attribute *attribute = NULL;
	size_t count = 0;

	if (!scan->features)
		return;
	nfd_scan_feature_set(scan, NFD_ATTRIBUTES, feature);
	attribute = calloc(pairs->count + 1, sizeof(*attribute));
	if (!attribute) {
		scan->error = -ENOMEM;
		return;
	}
	/* A name in JSON is UTF-8, and no rule could ask for another. */
	for (size_t i = 0; i < pairs->count; i++)
		if (nfd_utf8_is_valid(pairs->pair[i].key))
			attribute[count++] =
				(struct nfd_attribute){ pairs->pair[i].key, pairs->pair[i].value };
	nfd_scan_attributes(scan, feature, attribute, count);
}

/* Why a pair is no label; NULL: it is one. */
static const char *reason_against(const struct folder *folder, const struct nfd_feature_pair *pair,
				  const char *key, bool is_bare)
{
	if (nfd_label_key_check(key, NULL) < 0)
		return "its key is no label key";
	if (!nfd_label_value_is_valid(pair->value))
		return "its value is no label value";
	if (nfd_label_key_is_reserved(key))
		return "its key is in a namespace of Kubernetes";
	if (is_bare && nfd_set_value(&folder->scan->labels, key))
		return "its key has no prefix, and is stated in full elsewhere";
	return NULL;
}

static void put_label(struct folder *folder, const struct nfd_feature_pair *pair, bool is_bare)
{
	char key[NFD_LABEL_KEY_SIZE + 1], path[PATH_MAX];
	struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL,
		.value = pair->value,
		.path = path,
		.detail = pair->value,
		/*
		 * It must not hide what a device said before it fell silent. Where we are in doubt
		 * ourselves everything is unknown, and a file that was read is to count.
		 */
		.is_stopgap = is_bare && !folder->in_doubt,
	};
	const char *why;

	/* A key that does not fit is cut, and then refused as too long. */
	snprintf(key, sizeof(key), "%s%s", is_bare ? NFD_F : "", pair->key);
	why = reason_against(folder, pair, key, is_bare);
	if (why) {
		nfd_feature_lines_remark(&folder->lines, pair->file, pair->line, why);
		return;
	}
	path_of(folder, pair->file, path);
	nfd_scan_label(folder->scan, &finding, "%s", key);
}

/* Keys in full come first: a bare one gives way to them. */
static void put_labels(struct folder *folder)
{
	const struct nfd_feature_pairs *pairs = &folder->lines.labels;

	for (int is_bare = 0; is_bare <= 1; is_bare++)
		for (size_t i = 0; i < pairs->count; i++)
			if (is_bare == !strchr(pairs->pair[i].key, '/'))
				put_label(folder, &pairs->pair[i], is_bare);
}

static void log_remarks(const struct folder *folder)
{
	const struct nfd_feature_lines *lines = &folder->lines;
	char path[PATH_MAX], number[24];

	for (size_t i = 0; i < lines->remarks && i < NFD_FEATURE_REMARKS_MAX; i++) {
		path_of(folder, lines->remark[i].file, path);
		snprintf(number, sizeof(number), "%u", lines->remark[i].line);
		nfd_log(NFD_LOG_DEBUG, "something in a feature file does not count", "path", path,
			"line", number, "why", lines->remark[i].why, NULL);
	}
	if (lines->remarks <= NFD_FEATURE_REMARKS_MAX)
		return;
	snprintf(number, sizeof(number), "%zu", lines->remarks - NFD_FEATURE_REMARKS_MAX);
	nfd_log(NFD_LOG_DEBUG, "more in feature files does not count", "count", number, NULL);
}

static void run(struct nfd_scan *scan)
{
	struct folder folder = { .scan = scan, .options = &scan->options->local };

	if (!folder.options->dir)
		return;
	read_folder(&folder);
	put_features(scan, "local.label", &folder.lines.labels);
	put_features(scan, "local.feature", &folder.lines.features);
	put_labels(&folder);
	log_remarks(&folder);
	folder_done(&folder);
}

static const char *const subsystems[] = { NULL };
static const char *const prefixes[] = { "", NULL };
static const char *const features[] = { "local.label", "local.feature", NULL };

const struct nfd_scanner nfd_local_scanner = {
	.name = "local",
	.summary = "feature files of other programs",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_LOCAL,
};
