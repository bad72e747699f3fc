// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A short list; a scan that fails everywhere has one entry a scanner.
 */
#include "config.h"

#include "labels/unknown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nfd_unknowns_add(struct nfd_unknowns *unknowns, const char *prefix, const char *reason,
		     enum nfd_doubt doubt)
{
	struct nfd_unknown *bigger, entry = { .doubt = doubt };

	for (size_t i = 0; i < unknowns->count; i++)
		if (strcmp(unknowns->unknown[i].prefix, prefix) == 0)
			return 0;
	if (unknowns->count >= NFD_UNKNOWNS_MAX)
		return 0;
	bigger = realloc(unknowns->unknown, (unknowns->count + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	unknowns->unknown = bigger;
	entry.prefix = strdup(prefix);
	entry.reason = strdup(reason);
	if (!entry.prefix || !entry.reason) {
		free(entry.prefix);
		free(entry.reason);
		return -ENOMEM;
	}
	unknowns->unknown[unknowns->count++] = entry;
	return 0;
}

const struct nfd_unknown *nfd_unknowns_find(const struct nfd_unknowns *unknowns, const char *key)
{
	for (size_t i = 0; i < unknowns->count; i++)
		if (strncmp(key, unknowns->unknown[i].prefix,
			    strlen(unknowns->unknown[i].prefix)) == 0)
			return &unknowns->unknown[i];
	return NULL;
}

bool nfd_unknowns_says_more(const struct nfd_unknowns *unknowns, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(unknowns->unknown[i].reason, unknowns->unknown[at].reason) == 0)
			return false;
	return true;
}

void nfd_unknowns_done(struct nfd_unknowns *unknowns)
{
	for (size_t i = 0; i < unknowns->count; i++) {
		free(unknowns->unknown[i].prefix);
		free(unknowns->unknown[i].reason);
	}
	free(unknowns->unknown);
	*unknowns = (struct nfd_unknowns){ 0 };
}
