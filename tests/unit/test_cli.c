// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cli: arguments to command, options, exit code. Commands run on a made root; nothing outside it is
 * read but the settings file, which is always given.
 */
#include "config.h"

#include "cli.h"

#include <string.h>

#include "cmd/cmd.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define ARGUMENTS_MAX 12

static const struct tree_entry host[] = {
	PCI_AT("0000:01:00.0", "30200", "10DE:27B8", "nvidia"),
	FILE_AT("etc/os-release", "ID=x\n"),
	FILE_AT("empty.yaml", ""),
	FILE_AT("broken.yaml", "core: [\n"),
	{ 0 },
};

struct outcome {
	int code;
	const char *out, *err;
};

/* Runs with arguments split at blanks; "@" stands for the tree. */
static struct outcome run(const char *tree, const char *line, char *const *environment)
{
	static char *no_environment[] = { NULL };
	char *argv[ARGUMENTS_MAX + 1] = { unit_text("nfd-source") };
	char *rest = unit_text("%s", line), *word;
	struct outcome outcome;
	int argc = 1;

	while ((word = strsep(&rest, " ")) != NULL) {
		char *at = strchr(word, '@');

		if (!*word)
			continue;
		assert_true(argc < ARGUMENTS_MAX);
		argv[argc++] =
			at ? unit_text("%.*s%s%s", (int)(at - word), word, tree, at + 1) : word;
	}
	unit_capture(1);
	unit_capture(2);
	outcome.code = nfd_cli_run(argc, argv, environment ? environment : no_environment);
	outcome.err = unit_captured(2);
	outcome.out = unit_captured(1);
	nfd_log_setup(NFD_LOG_TEXT, NFD_LOG_INFO);
	return outcome;
}

static const char *make_tree(void)
{
	const char *tree = tree_new();

	tree_fill(tree, host);
	return tree;
}

#define CONFIG "--config @/empty.yaml "
#define ROOT "--root @ "

static const struct {
	const char *line;
	int code;
	const char *out, *err; /* parts */
} rows[] = {
	{ "", NFD_EXIT_USAGE, "", "no command given" },
	{ "version", NFD_EXIT_DONE, PACKAGE_NAME " " PACKAGE_VERSION "\n", "" },
	{ "--version", NFD_EXIT_DONE, PACKAGE_VERSION, "" },
	{ "--version scan", NFD_EXIT_DONE, PACKAGE_VERSION, "" },
	{ "help", NFD_EXIT_DONE, "Usage: nfd-source [OPTION]... COMMAND", "" },
	{ "--help", NFD_EXIT_DONE, "Usage: nfd-source [OPTION]... COMMAND", "" },
	{ "-h", NFD_EXIT_DONE, "Commands:", "" },
	{ "help scan", NFD_EXIT_DONE, "Usage: nfd-source [OPTION]... scan", "" },
	{ "scan --help", NFD_EXIT_DONE, "Options of this command:", "" },
	{ "help nonsense", NFD_EXIT_USAGE, "", "unknown command \"nonsense\"" },
	{ "help scan run", NFD_EXIT_USAGE, "", "unexpected argument \"run\"" },
	{ "nonsense", NFD_EXIT_USAGE, "", "unknown command \"nonsense\"" },
	{ "-", NFD_EXIT_USAGE, "", "unknown command \"-\"" },
	{ "--", NFD_EXIT_USAGE, "", "no command given" },
	{ "-- --help", NFD_EXIT_USAGE, "", "unknown command \"--help\"" },
	{ "scan extra", NFD_EXIT_USAGE, "", "unexpected argument \"extra\"" },
	{ "scan --nonsense", NFD_EXIT_USAGE, "", "unknown option \"nonsense\"" },
	{ "scan -Z", NFD_EXIT_USAGE, "", "unknown option in \"Z\"" },
	{ "scan -o", NFD_EXIT_USAGE, "", "missing argument of option \"-o, --output\"" },
	{ "scan --root", NFD_EXIT_USAGE, "", "missing argument of option \"--root\"" },
	{ "scan -o yaml", NFD_EXIT_USAGE, "", "\"yaml\" is not allowed; allowed: text json" },
	{ "scan --output=", NFD_EXIT_USAGE, "", "\"\" is not allowed" },
	{ "scan --verbose=yes", NFD_EXIT_USAGE, "",
	  "no argument is allowed for option \"verbose\"" },
	{ "--output=json scan", NFD_EXIT_USAGE, "", "unknown option \"output=json\"" },
	{ "explain", NFD_EXIT_USAGE, "", "missing argument of command \"explain\"" },
	{ "scan --set core", NFD_EXIT_USAGE, "", "--set takes KEY=VALUE, not \"core\"" },
	{ "scan --set =1", NFD_EXIT_USAGE, "", "--set takes KEY=VALUE, not \"=1\"" },
	{ "scan --log-format xml", NFD_EXIT_USAGE, "",
	  "\"xml\" is not allowed; allowed: text json" },
	{ "scan --config @/nowhere.yaml", NFD_EXIT_USAGE, "", "cannot read settings" },
	{ "scan --config @/broken.yaml", NFD_EXIT_USAGE, "", "broken.yaml:2:1: not YAML" },
	{ "help --config @/broken.yaml", NFD_EXIT_DONE, "Usage", "" },
	{ "scan " CONFIG "--set core.x=1", NFD_EXIT_USAGE, "",
	  "option --set: unknown key \"core.x\"" },
	{ "scan " CONFIG "--root @/nowhere", NFD_EXIT_USAGE, "", "cannot open root" },
	{ ROOT CONFIG "scan", NFD_EXIT_DONE, "/pci-10de.present=true\n", "" },
	{ "scan " ROOT CONFIG, NFD_EXIT_DONE, "/pci-10de.present=true\n", "" },
	{ "scan --root=@ " CONFIG, NFD_EXIT_DONE, "/pci-10de.present=true\n", "" },
	{ "scan -ojson " ROOT CONFIG, NFD_EXIT_DONE, "\"schema\":\t1", "" },
	{ "scan -o json " ROOT CONFIG, NFD_EXIT_DONE, "\"schema\":\t1", "" },
	{ "scan -qo text " ROOT CONFIG, NFD_EXIT_DONE, "system-os_release.ID=x\n", "" },
	{ "scan -o feature-file " ROOT CONFIG, NFD_EXIT_DONE, "# +expiry-time=", "" },
	{ "scan -o nodefeature --node-name n1 " ROOT CONFIG, NFD_EXIT_DONE, "\"n1-nfd-source\"",
	  "" },
	{ "scan -o table " ROOT CONFIG, NFD_EXIT_DONE, "0000:01:00.0", "" },
	{ "scan " ROOT CONFIG "--set core.labelWhiteList=os_release", NFD_EXIT_DONE,
	  "system-os_release.ID=x\n", "" },
	{ "settings " CONFIG "--node-name n1", NFD_EXIT_DONE,
	  "core.nodeName: n1  # option node-name", "" },
	{ "settings " CONFIG "--set core.sleepInterval=7s", NFD_EXIT_DONE,
	  "core.sleepInterval: 7s  # option --set", "" },
	{ "settings " CONFIG "-v", NFD_EXIT_DONE, "log.level: debug  # option verbose", "" },
	{ "settings " CONFIG "-vq", NFD_EXIT_DONE, "log.level: error  # option quiet", "" },
	{ "settings " CONFIG "--kubeconfig /k", NFD_EXIT_DONE, "api.kubeconfig: /k", "" },
	{ "settings " CONFIG "--set doctor.failOn=warning", NFD_EXIT_DONE, "doctor.failOn: warning",
	  "" },
	{ "settings --check @/empty.yaml " CONFIG, NFD_EXIT_DONE, "settings are valid", "" },
	{ "settings --check @/broken.yaml " CONFIG, NFD_EXIT_USAGE, "", "not YAML" },
	{ "explain pci-10de.present " ROOT CONFIG, NFD_EXIT_DONE, "yes, value \"true\"", "" },
	{ "explain pci-ffff.present " ROOT CONFIG, NFD_EXIT_FAILED, "nothing on this host gives it",
	  "" },
	{ "explain a//b " ROOT CONFIG, NFD_EXIT_USAGE, "", "not a label key" },
	{ "status " CONFIG "--set status.path=@/nowhere", NFD_EXIT_FAILED, "", "no status" },
};

static void runs(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct outcome outcome = run(make_tree(), row->line, NULL);

	assert_int_equal(outcome.code, row->code);
	unit_assert_contains(outcome.out, row->out);
	unit_assert_contains(outcome.err, row->err);
	if (row->code == NFD_EXIT_USAGE)
		assert_string_equal(outcome.out, "");
	if (!row->err[0])
		assert_string_equal(outcome.err, "");
}

static void root_from_the_environment(void **state)
{
	const char *tree = make_tree();
	char *environment[] = { unit_text("NFD_SOURCE_ROOT=%s", tree), NULL };

	(void)state;
	unit_assert_contains(run(tree, "scan " CONFIG, environment).out,
			     "/pci-10de.present=true\n");
	assert_int_equal(run(tree, "scan --root @/nowhere " CONFIG, environment).code,
			 NFD_EXIT_USAGE);
}

static void set_may_be_repeated(void **state)
{
	struct outcome outcome = run(make_tree(),
				     "settings " CONFIG "--set core.sleepInterval=1s "
				     "--set core.sleepInterval=2s --set watch.removalDelay=9s",
				     NULL);

	(void)state;
	assert_int_equal(outcome.code, NFD_EXIT_DONE);
	unit_assert_contains(outcome.out, "core.sleepInterval: 2s  # option --set\n");
	unit_assert_contains(outcome.out, "watch.removalDelay: 9s  # option --set\n");
}

static void overrides_are_limited(void **state)
{
	char *argv[NFD_OVERRIDES_MAX + 3] = { unit_text("nfd-source"), unit_text("version") };
	char *environment[] = { NULL };

	(void)state;
	for (int i = 0; i <= NFD_OVERRIDES_MAX; i++)
		argv[i + 2] = i < NFD_OVERRIDES_MAX ? unit_text("-v") : NULL;
	unit_capture(1);
	assert_int_equal(nfd_cli_run(NFD_OVERRIDES_MAX + 2, argv, environment), NFD_EXIT_DONE);
	unit_captured(1);
	argv[2] = unit_text("-vv");
	unit_capture(2);
	assert_int_equal(nfd_cli_run(NFD_OVERRIDES_MAX + 2, argv, environment), NFD_EXIT_USAGE);
	unit_assert_contains(unit_captured(2), "too many overrides");
}

static void no_arguments_at_all(void **state)
{
	char *argv[] = { NULL };

	(void)state;
	unit_capture(2);
	assert_int_equal(nfd_cli_run(0, argv, argv), NFD_EXIT_USAGE);
	unit_assert_contains(unit_captured(2), "no command given");
}

static void check_option(const struct nfd_option *option)
{
	assert_true(option->name[0] && option->help[0]);
	assert_false(option->setting_value && option->argument);
	assert_false(option->choices && !option->argument);
}

static void tables_are_sound(void **state)
{
	size_t count, global_count;
	const struct nfd_command *const *commands = nfd_commands(&count);
	const struct nfd_option *globals = nfd_global_options(&global_count);

	(void)state;
	for (size_t i = 0; i < global_count; i++)
		check_option(&globals[i]);
	for (size_t i = 0; i < count; i++) {
		assert_true(commands[i]->name[0] && commands[i]->summary[0]);
		assert_non_null(commands[i]->run);
		assert_true(commands[i]->option_count <= NFD_OPTIONS_MAX);
		for (size_t j = 0; j < commands[i]->option_count; j++) {
			check_option(&commands[i]->option[j]);
			for (size_t k = 0; k < global_count; k++) {
				assert_string_not_equal(commands[i]->option[j].name,
							globals[k].name);
				assert_false(globals[k].letter &&
					     commands[i]->option[j].letter == globals[k].letter);
			}
		}
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "cli" };

	UNIT_ROWS(&suite, runs, rows, line);
	UNIT_CASE(&suite, root_from_the_environment);
	UNIT_CASE(&suite, set_may_be_repeated);
	UNIT_CASE(&suite, overrides_are_limited);
	UNIT_CASE(&suite, no_arguments_at_all);
	UNIT_CASE(&suite, tables_are_sound);
	return unit_run(&suite);
}
