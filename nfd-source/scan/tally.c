// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts by text. The order of the entries is that of the devices; labels come out sorted anyway.
 */
#include "config.h"

#include "scan/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nfd_tally_add(struct nfd_tally *tally, const char *key)
{
	struct nfd_tally_entry *bigger;

	for (size_t i = 0; i < tally->count; i++)
		if (strncmp(tally->entry[i].key, key, NFD_TALLY_KEY_SIZE - 1) == 0) {
			tally->entry[i].count++;
			return 0;
		}
	bigger = realloc(tally->entry, (tally->count + 1) * sizeof(*tally->entry));
	if (!bigger)
		return -ENOMEM;
	tally->entry = bigger;
	snprintf(bigger[tally->count].key, sizeof(bigger[0].key), "%s", key);
	bigger[tally->count++].count = 1;
	return 0;
}

const char *nfd_tally_only(const struct nfd_tally *tally, unsigned int total)
{
	if (tally->count != 1 || tally->entry[0].count < total)
		return NULL;
	return tally->entry[0].key;
}

/* ASCII alone: a label has no other letters, and the locale has no say. */
static void to_lower(const char *text, char ret[NFD_TALLY_KEY_SIZE])
{
	size_t len = strlen(text);

	for (size_t i = 0; i <= len; i++)
		ret[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
}

void nfd_tally_labels(struct nfd_scan *scan, const struct nfd_tally *tally, const char *path,
		      const char *stem)
{
	char kind[NFD_TALLY_KEY_SIZE];

	for (size_t i = 0; i < tally->count; i++) {
		to_lower(tally->entry[i].key, kind);
		nfd_scan_count(scan, NFD_RANK_DETAIL, tally->entry[i].count, path, "%s.%s.count",
			       stem, kind);
	}
}

void nfd_tally_done(struct nfd_tally *tally)
{
	free(tally->entry);
	*tally = (struct nfd_tally){ 0 };
}
