// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of commands and global options, and the one parser over them. Global options stand before
 * or after the command.
 */
#include "config.h"

#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "cmd/cmd.h"

static const struct nfd_command *const commands[] = {
	&nfd_cmd_scan,    &nfd_cmd_publish, &nfd_cmd_run,     &nfd_cmd_settings,
	&nfd_cmd_explain, &nfd_cmd_doctor,  &nfd_cmd_status,  &nfd_cmd_record,
	&nfd_cmd_prepare, &nfd_cmd_cleanup, &nfd_cmd_version, &nfd_cmd_help,
};

static const char *const log_formats[] = { "text", "json", NULL };

static const struct nfd_option globals[] = {
	{ .name = "root",
	  .argument = "DIR",
	  .help = "read the host below DIR (also $NFD_SOURCE_ROOT)" },
	{ .name = "config", .argument = "FILE", .help = "settings file, else " NFD_SETTINGS_FILE },
	{ .name = "kubeconfig",
	  .argument = "FILE",
	  .setting = "api.kubeconfig",
	  .help = "credentials for the API server" },
	{ .name = "node-name",
	  .argument = "NAME",
	  .setting = "core.nodeName",
	  .help = "name of our Node, else $NODE_NAME, else the host name" },
	{ .name = "log-format",
	  .argument = "FORM",
	  .choices = log_formats,
	  .setting = "log.format",
	  .help = "text or json" },
	{ .name = "set", .argument = "KEY=VALUE", .help = "override one setting; may be repeated" },
	{ .name = "verbose",
	  .letter = 'v',
	  .setting = "log.level",
	  .setting_value = "debug",
	  .help = "log debug events too" },
	{ .name = "quiet",
	  .letter = 'q',
	  .setting = "log.level",
	  .setting_value = "error",
	  .help = "log errors only" },
	{ .name = "help", .letter = 'h', .help = "print help" },
	{ .name = "version", .help = "print the version" },
};

const struct nfd_command *const *nfd_commands(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(commands);
	return commands;
}

const struct nfd_option *nfd_global_options(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(globals);
	return globals;
}

struct parser {
	struct nfd_context *context;
	char *const *argument;               /* next one, NULL at the end */
	char set_key[NFD_OVERRIDES_MAX][64]; /* keys of --set, cut off their values */
	bool help, version, options_ended;
};

static int usage(const char *what, const char *text)
{
	fprintf(stderr, "nfd-source: %s \"%s\"; see nfd-source help\n", what, text);
	return NFD_EXIT_USAGE;
}

static const struct nfd_command *find_command(const char *name)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int override(struct parser *parser, const char *key, const char *value, const char *option)
{
	struct nfd_settings_sources *sources = &parser->context->sources;

	if (sources->override_count == NFD_OVERRIDES_MAX)
		return usage("too many overrides, at option", option);
	parser->context->override[sources->override_count++] =
		(struct nfd_setting_override){ key, value, option };
	return 0;
}

/* "--set core.sleepInterval=60s" */
static int override_by_set(struct parser *parser, const char *text)
{
	char *key = parser->set_key[parser->context->sources.override_count % NFD_OVERRIDES_MAX];
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (len == 0 || len >= sizeof(parser->set_key[0]))
		return usage("--set takes KEY=VALUE, not", text);
	memcpy(key, text, len);
	key[len] = '\0';
	return override(parser, key, equals + 1, "--set");
}

static int take_global(struct parser *parser, const struct nfd_option *option, const char *value)
{
	if (option->setting)
		return override(parser, option->setting,
				option->argument ? value : option->setting_value, option->name);
	if (strcmp(option->name, "root") == 0)
		parser->context->root_path = value;
	else if (strcmp(option->name, "config") == 0)
		parser->context->sources.file = value;
	else if (strcmp(option->name, "help") == 0)
		parser->help = true;
	else if (strcmp(option->name, "version") == 0)
		parser->version = true;
	else
		return override_by_set(parser, value);
	return 0;
}

static bool is_allowed(const struct nfd_option *option, const char *value)
{
	if (!option->choices)
		return true;
	for (const char *const *choice = option->choices; *choice; choice++)
		if (strcmp(*choice, value) == 0)
			return true;
	return false;
}

/* Finds an option by name (of @len bytes) or letter: the command's own first, then global ones. */
static const struct nfd_option *find_option(const struct nfd_context *context, const char *name,
					    size_t len, char letter)
{
	const struct nfd_command *command = context->command;
	const struct nfd_option *table[] = { command ? command->option : NULL, globals };
	size_t count[] = { command ? command->option_count : 0, NFD_ARRAY_SIZE(globals) };

	for (size_t t = 0; t < NFD_ARRAY_SIZE(table); t++)
		for (size_t i = 0; i < count[t]; i++) {
			const struct nfd_option *option = &table[t][i];

			if (name ? strlen(option->name) == len &&
					    memcmp(option->name, name, len) == 0 :
				   option->letter == letter)
				return option;
		}
	return NULL;
}

static int missing_argument(const struct nfd_option *option)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%c%s--%s", option->letter ? "-" : "",
		 option->letter ? option->letter : ' ', option->letter ? ", " : "", option->name);
	return usage("missing argument of option", option->letter ? text : text + 1);
}

/* Notes an option; @value is what stood in the same argument, NULL for nothing. */
static int take_option(struct parser *parser, const struct nfd_option *option, const char *value)
{
	const struct nfd_command *command = parser->context->command;

	if (option->argument && !value) {
		value = *parser->argument;
		if (!value)
			return missing_argument(option);
		parser->argument++;
	} else if (!option->argument && value) {
		return usage("no argument is allowed for option", option->name);
	}
	if (value && !is_allowed(option, value)) {
		fprintf(stderr, "nfd-source: --%s: \"%s\" is not allowed; allowed:", option->name,
			value);
		for (const char *const *choice = option->choices; *choice; choice++)
			fprintf(stderr, " %s", *choice);
		fputs("\n", stderr);
		return NFD_EXIT_USAGE;
	}
	if (command && option >= command->option &&
	    option < command->option + command->option_count) {
		parser->context->value[option - command->option] = value ? value : "";
		return option->setting ? override(parser, option->setting, value ? value : "true",
						  option->name) :
					 0;
	}
	return take_global(parser, option, value);
}

static int take_long(struct parser *parser, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	const struct nfd_option *option = find_option(parser->context, text, len, 0);

	if (!option)
		return usage("unknown option", text);
	return take_option(parser, option, equals ? equals + 1 : NULL);
}

/* "-v", "-ojson", "-o json", "-vq" */
static int take_letters(struct parser *parser, const char *text)
{
	int r = 0;

	for (; *text && r == 0; text++) {
		const struct nfd_option *option = find_option(parser->context, NULL, 0, *text);

		if (!option)
			return usage("unknown option in", text);
		if (option->argument)
			return take_option(parser, option, text[1] ? text + 1 : NULL);
		r = take_option(parser, option, NULL);
	}
	return r;
}

static int take_word(struct parser *parser, const char *text)
{
	struct nfd_context *context = parser->context;

	if (!context->command) {
		context->command = find_command(text);
		return context->command ? 0 : usage("unknown command", text);
	}
	if (!context->command->operand || context->operand)
		return usage("unexpected argument", text);
	context->operand = text;
	return 0;
}

static int parse(struct parser *parser)
{
	int r = 0;

	while (r == 0 && *parser->argument) {
		const char *text = *parser->argument++;

		if (parser->options_ended || text[0] != '-' || !text[1])
			r = take_word(parser, text);
		else if (strcmp(text, "--") == 0)
			parser->options_ended = true;
		else if (text[1] == '-')
			r = take_long(parser, text + 2);
		else
			r = take_letters(parser, text + 1);
	}
	return r;
}

/* --help and --version win over whatever else was said. */
static int settle_command(struct parser *parser)
{
	struct nfd_context *context = parser->context;

	if (parser->help) {
		context->operand = context->command ? context->command->name : NULL;
		context->command = &nfd_cmd_help;
		return 0;
	}
	if (parser->version)
		context->command = &nfd_cmd_version;
	if (!context->command) {
		fputs("nfd-source: no command given; see nfd-source help\n", stderr);
		return NFD_EXIT_USAGE;
	}
	if (context->command->operand && context->command->operand[0] != '[' && !context->operand)
		return usage("missing argument of command", context->command->name);
	return 0;
}

static const char *root_from_environment(char *const *environment)
{
	const char *root = nfd_environment_value(environment, NFD_SETTINGS_ENVIRONMENT "ROOT");

	return root && *root ? root : "/";
}

/* A nfd-worker.conf has settings of mechanisms that are not ours; that a label is lost must be said. */
static void note_passed_over(const struct nfd_context *context)
{
	const struct nfd_settings *settings = &context->settings;

	if (settings->passed_over && settings->passed_over[0])
		nfd_log(NFD_LOG_DEBUG, "passed over settings of nfd-worker that we do not have",
			"keys", settings->passed_over, NULL);
	if (settings->has_custom_rules &&
	    settings->scan.vendor.labels[NFD_VENDOR_NFD] != NFD_VENDOR_OFF)
		nfd_log(NFD_LOG_WARNING,
			"the rules of sources.custom are not evaluated: make a NodeFeatureRule of "
			"them",
			"file", context->sources.file, NULL);
}

static int run_command(struct nfd_context *context)
{
	struct nfd_error err = { 0 };

	if (nfd_settings_load(&context->settings, &context->sources, &err) < 0) {
		fprintf(stderr, "nfd-source: %s\n", nfd_error_text(&err));
		return NFD_EXIT_USAGE;
	}
	nfd_log_setup((enum nfd_log_format)context->settings.log_format,
		      (enum nfd_log_level)context->settings.log_level);
	note_passed_over(context);
	nfd_context_settle(context);
	if (context->command->reads_host &&
	    nfd_root_open(&context->root, context->root_path, &err) < 0) {
		nfd_log(NFD_LOG_ERROR, nfd_error_text(&err), NULL);
		return NFD_EXIT_USAGE;
	}
	return context->command->run(context);
}

int nfd_cli_run(int argc, char *const *argv, char *const *environment)
{
	struct nfd_context context = { .root = { .fd = -1 } };
	struct parser parser = { .context = &context, .argument = argv + (argc > 0) };
	int r;

	context.root_path = root_from_environment(environment);
	context.sources.environment = environment;
	context.sources.override = context.override;
	r = parse(&parser);
	if (r == 0)
		r = settle_command(&parser);
	if (r != 0)
		return r;
	context.sources.file_required = context.sources.file != NULL;
	if (!context.sources.file)
		context.sources.file = NFD_SETTINGS_FILE;
	/* Help must not depend on settings that may be broken. */
	if (context.command == &nfd_cmd_help || context.command == &nfd_cmd_version)
		return context.command->run(&context);
	r = run_command(&context);
	nfd_root_close(&context.root);
	nfd_nvml_done(&context.nvml);
	nfd_settings_done(&context.settings);
	return r;
}
