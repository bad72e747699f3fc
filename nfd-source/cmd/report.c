// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A rescan that changes nothing logs nothing at the default level.
 */
#include "config.h"

#include "cmd/report.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

void nfd_report_published(const struct nfd_output_options *options, const struct nfd_output *output,
			  const struct nfd_output_event *event)
{
	char labels[24], left_out[24], expiry[NFD_TIME_TEXT_SIZE];
	char target[NFD_OUTPUT_TARGET_SIZE];

	snprintf(labels, sizeof(labels), "%zu", event->labels);
	snprintf(left_out, sizeof(left_out), "%zu", event->left_out);
	if (event->expiry_s)
		nfd_format_time(event->expiry_s, expiry);
	output->target(options, target);
	nfd_log(NFD_LOG_INFO, "published", "output", output->name, "target", target, "labels",
		labels, event->expiry_s ? "expires" : NULL, expiry, NULL);
	if (event->left_out)
		nfd_log(NFD_LOG_WARNING, "some labels found no room", "output", output->name,
			"left_out", left_out, NULL);
}

void nfd_report_changes(const struct nfd_set *before, const struct nfd_set *after)
{
	struct nfd_set_change change;
	size_t cursor[2] = { 0, 0 };

	while (nfd_set_next_change(before, after, cursor, &change)) {
		if (!change.before)
			nfd_log(NFD_LOG_INFO, "label added", "key", change.key, "value",
				change.after, NULL);
		else if (!change.after)
			nfd_log(NFD_LOG_INFO, "label removed", "key", change.key, "was",
				change.before, NULL);
		else
			nfd_log(NFD_LOG_INFO, "label changed", "key", change.key, "value",
				change.after, "was", change.before, NULL);
	}
}
