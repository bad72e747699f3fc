/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line: from argv to a command with its context.
 */
#pragma once

/**
 * nfd_cli_run() - run the command that the arguments name.
 * @argc, @argv: as given to main().
 * @environment: "NAME=value", NULL-terminated.
 * Return: exit code: 0 done, 1 failed, 2 wrong usage or settings.
 */
int nfd_cli_run(int argc, char *const *argv, char *const *environment);
