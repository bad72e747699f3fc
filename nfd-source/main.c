// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hands over to cli; holds nothing else, so that tests can link the rest.
 */
#include "config.h"

#include <unistd.h>

#include "cli.h"

int main(int argc, char **argv)
{
	return nfd_cli_run(argc, argv, environ);
}
