// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * help [COMMAND]: made from the tables of commands and options.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

#define COLUMN 28

static void put_option(const struct nfd_option *option)
{
	char text[64];
	int len;

	len = snprintf(text, sizeof(text), "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
		       option->letter ? option->letter : ' ', option->letter ? "," : " ",
		       option->name, option->argument ? " " : "",
		       option->argument ? option->argument : "");
	printf("  %s%*s%s\n", text, len < COLUMN ? COLUMN - len : 1, "", option->help);
}

static void put_options(const struct nfd_option *option, size_t count, const char *title)
{
	if (count == 0)
		return;
	printf("\n%s:\n", title);
	for (size_t i = 0; i < count; i++)
		put_option(&option[i]);
}

static void put_commands(void)
{
	const struct nfd_command *const *commands;
	size_t count;

	commands = nfd_commands(&count);
	puts("\nCommands:");
	for (size_t i = 0; i < count; i++) {
		char text[64];
		int len = snprintf(text, sizeof(text), "%s%s%s", commands[i]->name,
				   commands[i]->operand ? " " : "",
				   commands[i]->operand ? commands[i]->operand : "");

		printf("  %s%*s%s\n", text, COLUMN - len, "", commands[i]->summary);
	}
}

static void put_usage(const struct nfd_command *command)
{
	const struct nfd_option *global;
	size_t count;

	global = nfd_global_options(&count);
	if (command) {
		printf("Usage: nfd-source [OPTION]... %s%s%s\n\n%s\n", command->name,
		       command->operand ? " " : "", command->operand ? command->operand : "",
		       command->summary);
		put_options(command->option, command->option_count, "Options of this command");
	} else {
		puts("Usage: nfd-source [OPTION]... COMMAND [OPTION]...\n\n"
		     "Finds the hardware of a Kubernetes node and makes it visible as node labels.");
		put_commands();
	}
	put_options(global, count, "Options of every command");
	if (!command)
		puts("\nExit status: 0 done, 1 failed, 2 wrong usage or settings.\n"
		     "Settings: nfd-source settings; nfd-source(1), nfd-source.yaml(5).");
}

static int run(struct nfd_context *context)
{
	const struct nfd_command *const *commands;
	size_t count;

	if (!context->operand) {
		put_usage(NULL);
		return NFD_EXIT_DONE;
	}
	commands = nfd_commands(&count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(commands[i]->name, context->operand) == 0) {
			put_usage(commands[i]);
			return NFD_EXIT_DONE;
		}
	fprintf(stderr, "nfd-source: unknown command \"%s\"; see nfd-source help\n",
		context->operand);
	return NFD_EXIT_USAGE;
}

const struct nfd_command nfd_cmd_help = {
	.name = "help",
	.summary = "print this help, or that of a command",
	.operand = "[COMMAND]",
	.run = run,
};
