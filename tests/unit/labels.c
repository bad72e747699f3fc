// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts labels one by one, so that rows are as real as a scan's result.
 */
#include "config.h"

#include "tests/unit/labels.h"

#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/unit.h"

static void put_line(struct nfd_set *set, char *line)
{
	char setting[] = "a.setting";
	struct nfd_label label = { .rank = NFD_RANK_NORMAL };
	char *equals;

	if (line[0] >= '0' && line[0] <= '2' && line[1] == ' ') {
		label.rank = (enum nfd_rank)(line[0] - '0');
		line += 2;
	}
	if (*line == '!') {
		label.stopped_by = setting;
		line++;
	}
	if (*line == '?') {
		label.is_stopgap = true;
		line++;
	}
	equals = strchr(line, '=');
	assert_non_null(equals);
	*equals = '\0';
	label.key = strchr(line, '/') ? line : unit_text(NFD_FEATURE_PREFIX "%s", line);
	label.value = equals + 1;
	assert_int_equal(nfd_set_put(set, &label), 0);
}

struct nfd_set labels_set(const char *lines)
{
	struct nfd_set set = { 0 };
	char *rest = unit_text("%s", lines);
	char *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			put_line(&set, line);
	return set;
}

const char *labels_text(const struct nfd_set *set)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	size_t len = strlen(NFD_FEATURE_PREFIX);

	for (size_t i = 0; i < set->count; i++) {
		const struct nfd_label *label = &set->label[i];
		bool is_ours = strncmp(label->key, NFD_FEATURE_PREFIX, len) == 0;

		nfd_strbuf_printf(&buf, "%s%s=%s\n", label->stopped_by ? "!" : "",
				  label->key + (is_ours ? len : 0), label->value);
	}
	return unit_text("%s", nfd_strbuf_text(&buf));
}
