// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hands over to cli; holds nothing else, so that tests can link the rest.
 */
#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "cli.h"

int main(int argc, char **argv)
{
	/* A parent that ignores it hands that on, and then no child of ours could be reaped. */
	signal(SIGCHLD, SIG_DFL);
	return nfd_cli_run(argc, argv, environ);
}
