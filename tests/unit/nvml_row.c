// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares what a row is about, whatever the order of unknown keys.
 */
#include "config.h"

#include "tests/unit/nvml_row.h"

#include <stdio.h>
#include <string.h>

#include "scan/nvidia_labels.h"
#include "tests/unit/unit.h"

static bool is_about(const char *line, size_t len, const char *about)
{
	char word[64];
	size_t size;

	for (; *about; about += size + (about[size] == ' ')) {
		const char *hit;

		size = strcspn(about, " ");
		snprintf(word, sizeof(word), "%.*s", (int)size, about);
		hit = strstr(line, word);
		if (hit && hit < line + len)
			return true;
	}
	return false;
}

static const char *filter(const char *text, const char *about)
{
	const char *ret = "";

	for (size_t len; *text; text += len) {
		len = strcspn(text, "\n") + 1;
		/* What the bus says of itself is tested elsewhere. */
		if (strstr(text, "nvidia.com/") >= text + len || !strstr(text, "nvidia.com/"))
			continue;
		if (!about || is_about(text, len, about))
			ret = unit_text("%s%.*s", ret, (int)len, text);
	}
	return ret;
}

/* Unknown keys come in the order in which they were lost, which is no matter. */
static const char *sorted(const char *text)
{
	const char *line[64], *ret = "";
	size_t count = 0;

	for (; *text; text += strcspn(text, "\n") + 1) {
		size_t at = count++;

		for (; at > 0 && strcmp(line[at - 1], text) > 0; at--)
			line[at] = line[at - 1];
		line[at] = text;
	}
	for (size_t i = 0; i < count; i++)
		ret = unit_text("%s%.*s", ret, (int)strcspn(line[i], "\n") + 1, line[i]);
	return ret;
}

void nvml_check_row(const struct nvml_row *row)
{
	struct nfd_nvml nvml = { .end = NFD_NVML_DONE };
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new(), *files = tree_new(), *text;

	tree_fill(tree, row->tree);
	options.vendor.mig_strategy = row->strategy;
	if (row->config) {
		tree_file(files, "config.yaml", row->config);
		options.vendor.nvidia_config = unit_text("%s", tree_path(files, "config.yaml"));
	}
	if (row->report) {
		nvml.report = cJSON_Parse(row->report);
		assert_non_null(nvml.report);
	}
	text = scan_text_nvml(&nfd_nvidia_labels_scanner, tree_root(tree, false), &options,
			      row->report ? &nvml : NULL);
	nfd_nvml_done(&nvml);
	assert_string_equal(sorted(filter(text, row->about)), sorted(row->text));
}
