// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines "key=value" and the directives before them. Each line is noted, also what takes a key back; which
 * of them count is decided once, by sorting.
 */
#include "config.h"

#include "labels/feature_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

#define DIRECTIVE "# +"

/* What the directives before a line have set. */
struct reader {
	struct nfd_feature_lines *lines;
	int64_t now_s;
	size_t file;
	unsigned int line;
	bool expired;              /* the expiry in force is over */
	bool no_label, no_feature; /* of the next line that has not expired */
};

void nfd_feature_lines_remark(struct nfd_feature_lines *lines, size_t file, unsigned int line,
			      const char *why)
{
	if (lines->remarks < NFD_FEATURE_REMARKS_MAX)
		lines->remark[lines->remarks] = (struct nfd_feature_remark){ file, line, why };
	lines->remarks++;
}

static void remark(struct reader *reader, const char *why)
{
	nfd_feature_lines_remark(reader->lines, reader->file, reader->line, why);
}

/* A time that cannot be read leaves the expiry in force as it is. */
static void take_expiry(struct reader *reader, char *value)
{
	int64_t expiry_s;

	if (!value || nfd_parse_time(nfd_trim(value), &expiry_s) < 0)
		remark(reader, "its expiry is no RFC 3339 time");
	else
		reader->expired = expiry_s < reader->now_s;
}

/* "name=value"; the value of a name without one is NULL. */
static void take_directive(struct reader *reader, char *text)
{
	char *value = strchr(text, '=');

	if (value)
		*value++ = '\0';
	if (strcmp(text, "expiry-time") == 0)
		take_expiry(reader, value);
	else if (strcmp(text, "no-label") == 0)
		reader->no_label = true;
	else if (strcmp(text, "no-feature") == 0)
		reader->no_feature = true;
	else
		remark(reader, "it is no directive that NFD knows");
}

static int add_pair(struct nfd_feature_pairs *pairs, const struct nfd_feature_pair *pair)
{
	/* The array doubles whenever the count reaches a power of two. */
	if ((pairs->count & (pairs->count - 1)) == 0) {
		size_t size = pairs->count ? pairs->count * 2 : 1;
		struct nfd_feature_pair *bigger = realloc(pairs->pair, size * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		pairs->pair = bigger;
	}
	pairs->pair[pairs->count++] = *pair;
	return 0;
}

/* A line that is kept out of one list takes back what the file has put there under its key. */
static int take_feature(struct reader *reader, char *text)
{
	char *equals = strchr(text, '=');
	struct nfd_feature_pair pair = { text, "true", reader->file, reader->line };
	struct nfd_feature_pair none = { text, NULL, reader->file, reader->line };
	int r;

	if (equals) {
		*equals = '\0';
		pair.value = equals + 1;
	}
	r = add_pair(&reader->lines->labels, reader->no_label ? &none : &pair);
	if (r == 0)
		r = add_pair(&reader->lines->features, reader->no_feature ? &none : &pair);
	return r;
}

static int take_line(struct reader *reader, char *line, size_t len)
{
	bool is_whole = strlen(line) == len;
	int r = 0;

	line = nfd_trim(line);
	if (!is_whole)
		remark(reader, "it holds a NUL byte");
	else if (strncmp(line, DIRECTIVE, strlen(DIRECTIVE)) == 0)
		take_directive(reader, line + strlen(DIRECTIVE));
	/* An expired line leaves the directives to the next one. */
	if (*line == '#' || (is_whole && *line == '\0') || reader->expired)
		return 0;
	if (is_whole)
		r = take_feature(reader, line);
	reader->no_label = false;
	reader->no_feature = false;
	return r;
}

int nfd_feature_lines_parse(struct nfd_feature_lines *lines, char *text, size_t len, int64_t now_s,
			    size_t file)
{
	struct reader reader = { .lines = lines, .now_s = now_s, .file = file };
	const char *end = text + len;
	int r = 0;

	while (r == 0 && text < end) {
		char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line_len = (size_t)((newline ? newline : end) - text);

		if (newline)
			*newline = '\0';
		reader.line++;
		r = take_line(&reader, text, line_len);
		text += line_len + 1;
	}
	return r;
}

/* By key, then in the order in which they were read. */
static int compare(const void *a, const void *b)
{
	const struct nfd_feature_pair *one = a, *other = b;
	int order = strcmp(one->key, other->key);

	if (order != 0)
		return order;
	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->line < other->line ? -1 : one->line > other->line;
}

static bool is_same(const struct nfd_feature_pair *a, const struct nfd_feature_pair *b)
{
	return strcmp(a->key, b->key) == 0;
}

static void settle(struct nfd_feature_pairs *pairs)
{
	struct nfd_feature_pair *pair = pairs->pair;
	size_t count = 0;

	if (pairs->count > 0)
		qsort(pair, pairs->count, sizeof(*pair), compare);
	for (size_t i = 0; i < pairs->count; i++) {
		/* Of a file its last line counts, which may take the key back; not so of an earlier file. */
		if (i + 1 < pairs->count && pair[i + 1].file == pair[i].file &&
		    is_same(&pair[i], &pair[i + 1]))
			continue;
		if (!pair[i].value)
			continue;
		if (count > 0 && is_same(&pair[count - 1], &pair[i]))
			count--;
		pair[count++] = pair[i];
	}
	pairs->count = count;
}

void nfd_feature_lines_settle(struct nfd_feature_lines *lines)
{
	settle(&lines->labels);
	settle(&lines->features);
}

void nfd_feature_lines_done(struct nfd_feature_lines *lines)
{
	free(lines->labels.pair);
	free(lines->features.pair);
	*lines = (struct nfd_feature_lines){ 0 };
}
