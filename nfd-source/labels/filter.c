// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only file that includes <pcre2.h>.
 */
#include "config.h"

#include "labels/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* RE2 runs in linear time; this bounds what a nested quantifier may cost here. */
#define MATCH_LIMIT 100000

struct nfd_filter {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

int nfd_filter_new(const char *pattern, struct nfd_filter **ret, struct nfd_error *err)
{
	struct nfd_filter *filter;
	PCRE2_SIZE offset;
	char reason[128];
	int code;

	if (!*pattern) {
		*ret = NULL;
		return 0;
	}
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	filter->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
				     PCRE2_DOLLAR_ENDONLY, &code, &offset, NULL);
	if (!filter->code) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
		nfd_filter_free(filter);
		return nfd_error_set(err, -EINVAL,
				     "\"%.200s\" is no regular expression: %s at its byte %zu",
				     pattern, reason, (size_t)offset + 1);
	}
	filter->match = pcre2_match_data_create_from_pattern(filter->code, NULL);
	filter->context = pcre2_match_context_create(NULL);
	if (!filter->match || !filter->context) {
		nfd_filter_free(filter);
		return nfd_error_set(err, -ENOMEM, "out of memory");
	}
	pcre2_set_match_limit(filter->context, MATCH_LIMIT);
	*ret = filter;
	return 0;
}

void nfd_filter_free(struct nfd_filter *filter)
{
	if (!filter)
		return;
	pcre2_match_context_free(filter->context);
	pcre2_match_data_free(filter->match);
	pcre2_code_free(filter->code);
	free(filter);
}

bool nfd_filter_passes(const struct nfd_filter *filter, const char *key)
{
	const char *slash = strchr(key, '/');

	if (!filter)
		return true;
	return pcre2_match(filter->code, (PCRE2_SPTR)(slash ? slash + 1 : key),
			   PCRE2_ZERO_TERMINATED, 0, 0, filter->match, filter->context) >= 0;
}
