// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines "key=value", the expiry directive before them, and the choice of what to leave out when the
 * whole is too large.
 */
#include "config.h"

#include "output/feature_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

#define EXPIRY_DIRECTIVE "# +expiry-time="
#define NO_LABEL_DIRECTIVE "# +no-label"

static size_t line_size(const struct nfd_label *label)
{
	return strlen(label->key) + 1 + strlen(label->value) + 1;
}

/* Bytes that all labels up to a rank need. */
static size_t size_up_to(const struct nfd_set *set, enum nfd_rank rank)
{
	size_t size = 0;

	for (size_t i = 0; i < set->count; i++)
		if (!set->label[i].stopped_by && set->label[i].rank <= rank)
			size += line_size(&set->label[i]);
	return size;
}

/* What fits: all labels of the ranks before @rank, and @room bytes for labels of this rank. */
struct budget {
	enum nfd_rank rank;
	size_t room;
};

static struct budget make_budget(const struct nfd_set *set, size_t room)
{
	struct budget budget = { NFD_RANK_DETAIL, room };

	for (int rank = NFD_RANK_ESSENTIAL; rank <= NFD_RANK_DETAIL; rank++) {
		budget.rank = (enum nfd_rank)rank;
		if (size_up_to(set, budget.rank) > room)
			break;
	}
	if (budget.rank > NFD_RANK_ESSENTIAL)
		budget.room = room - size_up_to(set, (enum nfd_rank)(budget.rank - 1));
	return budget;
}

static bool takes(struct budget *budget, const struct nfd_label *label)
{
	size_t size = line_size(label);

	if (label->rank != budget->rank)
		return label->rank < budget->rank;
	if (size > budget->room) {
		budget->room = 0; /* no shorter key behind it slips in: the cut is one place */
		return false;
	}
	budget->room -= size;
	return true;
}

int nfd_feature_text_render(const struct nfd_set *set, int64_t expiry_s, struct nfd_strbuf *buf,
			    size_t *ret_left_out)
{
	char expiry[NFD_TIME_TEXT_SIZE];
	struct budget budget;
	int written = 0;

	*ret_left_out = 0;
	if (expiry_s) {
		nfd_format_time(expiry_s, expiry);
		nfd_strbuf_printf(buf, EXPIRY_DIRECTIVE "%s\n", expiry);
	}
	budget = make_budget(set, NFD_FEATURE_FILE_MAX - buf->len);
	for (size_t i = 0; i < set->count; i++) {
		const struct nfd_label *label = &set->label[i];

		if (label->stopped_by)
			continue;
		if (!takes(&budget, label)) {
			(*ret_left_out)++;
			continue;
		}
		nfd_strbuf_puts(buf, label->key);
		nfd_strbuf_puts(buf, "=");
		nfd_strbuf_puts(buf, label->value);
		nfd_strbuf_puts(buf, "\n");
		written++;
	}
	return buf->error ? buf->error : written;
}

/* What the directives before a line have set. */
struct reader {
	int64_t now_s, expiry_s;
	bool expired;  /* the expiry in force is over */
	bool no_label; /* the next feature line is no label */
};

/* "# +name=value"; others than these two mean nothing for labels. */
static void take_directive(struct reader *reader, char *text)
{
	int64_t expiry_s;

	if (strncmp(text, EXPIRY_DIRECTIVE, strlen(EXPIRY_DIRECTIVE)) == 0 &&
	    nfd_parse_time(nfd_trim(text + strlen(EXPIRY_DIRECTIVE)), &expiry_s) == 0) {
		reader->expiry_s = expiry_s;
		reader->expired = expiry_s < reader->now_s;
	}
	if (strncmp(text, NO_LABEL_DIRECTIVE, strlen(NO_LABEL_DIRECTIVE)) == 0 &&
	    strchr("=", text[strlen(NO_LABEL_DIRECTIVE)]))
		reader->no_label = true;
}

static int parse_line(struct reader *reader, char *line, struct nfd_set *set)
{
	struct nfd_label label = { .rank = NFD_RANK_NORMAL };
	char *equals;
	int r = 0;

	line = nfd_trim(line);
	if (*line == '#')
		take_directive(reader, line);
	if (*line == '#' || *line == '\0' || reader->expired)
		return 0;
	equals = strchr(line, '=');
	if (equals)
		*equals = '\0';
	label.key = line;
	label.value = equals ? equals + 1 : (char[]){ "true" };
	if (reader->no_label)
		nfd_set_remove(set, line);
	else
		r = nfd_set_put(set, &label);
	reader->no_label = false;
	return r == -EINVAL ? 0 : r;
}

int nfd_feature_text_parse(char *text, int64_t now_s, struct nfd_set *set, int64_t *ret_expiry_s)
{
	struct reader reader = { .now_s = now_s };
	char *next;
	int r = 0;

	for (; text && r == 0; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		r = parse_line(&reader, text, set);
	}
	*ret_expiry_s = reader.expiry_s;
	return r;
}
