// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * version: name and version of the program.
 */
#include "config.h"

#include <stdio.h>

#include "cmd/cmd.h"

static int run(struct nfd_context *context)
{
	(void)context;
	puts(PACKAGE_NAME " " PACKAGE_VERSION);
	return NFD_EXIT_DONE;
}

const struct nfd_command nfd_cmd_version = {
	.name = "version",
	.summary = "print the version",
	.run = run,
};
