// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the files of struct nfd_scan_options.local.
 */
#include "config.h"

#include "scan/local.h"

static void run(struct nfd_scan *scan)
{
	(void)scan;
}

static const char *const nothing[] = { NULL };
static const char *const features[] = { "local.label", "local.feature", NULL };

const struct nfd_scanner nfd_local_scanner = {
	.name = "local",
	.summary = "feature files of other programs",
	.subsystems = nothing,
	.key_prefixes = nothing,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_LOCAL,
};
