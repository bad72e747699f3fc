/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log lines about publications and changes, the same from publish and run.
 */
#pragma once

#include "output/output.h"

/**
 * nfd_report_published() - log what an output has just published.
 * @options: names the target.
 * @event:   with @event->published set.
 */
void nfd_report_published(const struct nfd_output_options *options, const struct nfd_output *output,
			  const struct nfd_output_event *event);

/**
 * nfd_report_changes() - log added, changed and removed labels, one line each.
 */
void nfd_report_changes(const struct nfd_set *before, const struct nfd_set *after);
