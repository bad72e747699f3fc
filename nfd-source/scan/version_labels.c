// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version text to labels. The numeric parts are those at the start of the text; a part that it
 * lacks gives no label.
 */
#include "config.h"

#include "scan/version_labels.h"

#include "base/parse.h"

static const char *const part_names[] = { "major", "minor", "revision" };

void nfd_scan_version(struct nfd_scan *scan, const char *stem, const char *path, const char *text)
{
	char full[NFD_LABEL_VALUE_SIZE];
	struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = full, .path = path, .detail = text
	};
	struct nfd_version version;

	if (nfd_label_value_from_version(text, full) == 0)
		return;
	nfd_scan_label(scan, &finding, "%s.full", stem);
	if (nfd_parse_version(full, &version, NULL) < 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(part_names); i++) {
		finding.value = version.part[i];
		if (version.part[i][0])
			nfd_scan_label(scan, &finding, "%s.%s", stem, part_names[i]);
	}
}
