// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/exec_plugin: scripts that stand in for a cloud's credential plugin; what they get, what is taken
 * of what they print.
 */
#include "config.h"

#include "api/exec_plugin.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/json_row.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define SECRET "SECRET-token"
#define PRINT(status) "echo '{\"kind\":\"ExecCredential\",\"status\":" status "}'"

static char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "KEPT=kept" },
				     (char[]){ "CHANGED=old" }, NULL };

/* A plugin in a new tree: the script is "plugin", @exec is its object without the command. */
static struct nfd_exec_plugin plugin_new(const char *script, const char *exec)
{
	const char *tree = tree_new();
	cJSON *object = json_new(exec);

	tree_program(tree, "plugin", unit_text("cd '%s'\n%s", tree, script));
	if (!cJSON_GetObjectItem(object, "command"))
		cJSON_AddStringToObject(object, "command", "./plugin");
	return (struct nfd_exec_plugin){ .exec = object,
					 .folder = tree,
					 .root = "/",
					 .environment = environment,
					 .end_ms = nfd_clock_monotonic_ms() + 60000 };
}

static const struct {
	const char *name, *script;
	int code;
	const char *words;
	const char *token, *certificate, *key; /* NULL: none */
} rows[] = {
	{ "token", PRINT("{\"token\":\"" SECRET "\"}"), 0, "", SECRET, NULL, NULL },
	{ "token with a line end", PRINT("{\"token\":\"" SECRET "\\n\"}"), 0, "", SECRET, NULL,
	  NULL },
	{ "certificate", PRINT("{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}"), 0, "",
	  NULL, "C", "K" },
	{ "all of it",
	  PRINT("{\"expirationTimestamp\":\"2026-01-01T00:00:00Z\",\"token\":\"" SECRET
		"\",\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}"),
	  0, "", SECRET, "C", "K" },
	{ "empty status", PRINT("{}"), 0, "", NULL, NULL, NULL },
	{ "empty token", PRINT("{\"token\":\"\"}"), 0, "", NULL, NULL, NULL },
	{ "numbers", PRINT("{\"token\":7,\"clientKeyData\":[]}"), 0, "", NULL, NULL, NULL },
	{ "words on standard error are no harm",
	  "echo '" SECRET "' >&2; " PRINT("{\"token\":\"" SECRET "\"}"), 0, "", SECRET, NULL,
	  NULL },
	{ "it reads standard input", "cat; " PRINT("{\"token\":\"" SECRET "\"}"), 0, "", SECRET,
	  NULL, NULL },
	{ "nothing", ":", -EINVAL, "it did not print an ExecCredential with a status" },
	{ "garbage", "echo '" SECRET "'", -EINVAL, "it did not print an ExecCredential" },
	{ "other kind", "echo '{\"kind\":\"Other\",\"status\":{\"token\":\"" SECRET "\"}}'",
	  -EINVAL, "it did not print an ExecCredential" },
	{ "no status", "echo '{\"kind\":\"ExecCredential\",\"token\":\"" SECRET "\"}'", -EINVAL,
	  "it did not print an ExecCredential" },
	{ "status is a list", PRINT("[\"" SECRET "\"]"), -EINVAL,
	  "it did not print an ExecCredential" },
	{ "a list", "echo '[\"" SECRET "\"]'", -EINVAL, "it did not print an ExecCredential" },
	{ "token with a line break", PRINT("{\"token\":\"" SECRET "\\nX: y\"}"), -EINVAL,
	  "credential plugin \"./plugin\" holds no token: a byte in it" },
	{ "token of blanks", PRINT("{\"token\":\"  \"}"), -EINVAL, "holds no token" },
	{ "fails", "echo '" SECRET "'; exit 3", -EIO, "it ended with status 3" },
	{ "fails after a credential", PRINT("{\"token\":\"" SECRET "\"}") "; exit 1", -EIO,
	  "it ended with status 1" },
	{ "crashes", "kill -SEGV $$", -EIO, "it was ended by signal 11" },
	{ "floods", "while :; do echo '" SECRET "'; done", -EFBIG,
	  "it wrote more than 262144 bytes" },
};

static void runs(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_exec_plugin plugin = plugin_new(row->script, "{}");
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };
	const char *printed;

	unit_capture(2);
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), row->code);
	printed = unit_captured(2);
	assert_string_equal(printed, "");
	unit_assert_contains(err.error.text, row->words);
	assert_null(strstr(err.error.text, "SECRET"));
	if (row->code) {
		assert_int_equal(err.kind, NFD_API_CREDENTIALS);
		unit_assert_contains(err.error.text, "credential plugin \"./plugin\"");
	}
	if (row->token)
		assert_string_equal(credentials.token, row->token);
	else
		assert_null(credentials.token);
	if (row->certificate) {
		assert_string_equal(credentials.certificate.data, row->certificate);
		assert_string_equal(credentials.key.data, row->key);
		assert_int_equal(credentials.key.len, strlen(row->key));
	} else {
		assert_null(credentials.certificate.data);
		assert_null(credentials.key.data);
	}
	nfd_credentials_done(&credentials);
}

/* What the kubeconfig had is replaced. */
static void replaces_what_is_there(void **state)
{
	struct nfd_exec_plugin plugin = plugin_new(
		PRINT("{\"token\":\"new\",\"clientCertificateData\":\"CC\",\"clientKeyData\":\"K\"}"),
		"{}");
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { .token = strdup("old"),
					       .certificate = { strdup("old"), 3 } };

	(void)state;
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), 0);
	assert_string_equal(credentials.token, "new");
	assert_string_equal(credentials.certificate.data, "CC");
	assert_int_equal(credentials.certificate.len, 2);
	nfd_credentials_done(&credentials);
}

/* The script writes what it got into files of its folder. */
#define RECORD                                                                            \
	"for a in \"$@\"; do echo \"<$a>\"; done >args; env >env; echo $#>count; " PRINT( \
		"{\"token\":\"" SECRET "\"}")

static const struct {
	const char *name, *exec, *cluster;
	const char *args, *info;
	const char *variables[3], *missing;
} input_rows[] = {
	{ "nothing",
	  "{}",
	  "{}",
	  "",
	  "{'kind':'ExecCredential','apiVersion':'','spec':{'interactive':false}}",
	  { "KEPT=kept\n", "CHANGED=old\n", "PATH=/usr/bin:/bin\n" } },
	{ "arguments pass as they are",
	  "{'apiVersion':'client.authentication.k8s.io/v1','args':['a b','','$(id)','-x','*']}",
	  "{}", "<a b>\n<>\n<$(id)>\n<-x>\n<*>\n",
	  "{'kind':'ExecCredential','apiVersion':'client.authentication.k8s.io/v1','spec':{"
	  "'interactive':false}}" },
	{ "variables are added and changed",
	  "{'env':[{'name':'ADDED','value':'a b'},{'name':'CHANGED','value':'new'},"
	  "{'name':'EMPTY'},{'value':'nameless'},7]}",
	  "{}",
	  "",
	  NULL,
	  { "ADDED=a b\n", "CHANGED=new\n", "EMPTY=\n" },
	  "CHANGED=old" },
	{ "the last of two counts",
	  "{'env':[{'name':'A','value':'1'},{'name':'A','value':'2'}]}",
	  "{}",
	  "",
	  NULL,
	  { "A=2\n" },
	  "A=1" },
	{ "null lists", "{'env':null,'args':null}", "{}", "", NULL },
	{ "the information cannot be forged",
	  "{'env':[{'name':'KUBERNETES_EXEC_INFO','value':'forged'}]}",
	  "{}",
	  "",
	  "{'kind':'ExecCredential','apiVersion':'','spec':{'interactive':false}}",
	  { NULL },
	  "forged" },
	{ "no cluster unless asked for", "{'provideClusterInfo':false}", "{'server':'https://h'}",
	  "", "{'kind':'ExecCredential','apiVersion':'','spec':{'interactive':false}}" },
	{ "cluster", "{'provideClusterInfo':true}",
	  "{'server':'https://h','tls-server-name':'n','proxy-url':'http://p',"
	  "'certificate-authority-data':'Q0E=','extensions':[1]}",
	  "",
	  "{'kind':'ExecCredential','apiVersion':'','spec':{'interactive':false,'cluster':{"
	  "'server':'https://h','tls-server-name':'n','proxy-url':'http://p',"
	  "'certificate-authority-data':'Q0E='}}}" },
};

static void gets_its_input(void **state)
{
	const __typeof__(input_rows[0]) *row = *state;
	struct nfd_exec_plugin plugin = plugin_new(RECORD, row->exec);
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };
	const char *variables, *info;

	plugin.cluster = json_new(row->cluster);
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), 0);
	assert_string_equal(tree_read(plugin.folder, "args"), row->args);
	variables = unit_text("\n%s", tree_read(plugin.folder, "env"));
	for (size_t i = 0; i < NFD_ARRAY_SIZE(row->variables) && row->variables[i]; i++)
		unit_assert_contains(variables, unit_text("\n%s", row->variables[i]));
	if (row->missing)
		assert_null(strstr(variables, row->missing));
	info = strstr(variables, "\nKUBERNETES_EXEC_INFO=");
	assert_non_null(info);
	info = unit_text("%.*s", (int)strcspn(info + 22, "\n"), info + 22);
	if (row->info)
		assert_string_equal(json_text(json_keep(cJSON_Parse(info))), row->info);
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name, *command, *path; /* %s: the folder */
	int code;
} find_rows[] = {
	{ "relative, counts from the kubeconfig", "./plugin", "/usr/bin", 0 },
	{ "relative, deeper", "bin/plugin", "/usr/bin", 0 },
	{ "by PATH", "plugin", "/nowhere:%s", 0 },
	{ "by PATH, first match", "plugin", "%s:/bin", 0 },
	{ "empty parts of PATH are no folder", "plugin", "::%s:", 0 },
	{ "not in PATH", "plugin", "/nowhere:", -ENOENT },
	{ "empty PATH", "plugin", "", -ENOENT },
	{ "the folder of the kubeconfig is not searched", "plugin", "/bin", -ENOENT },
	{ "empty", "", "%s", -ENOENT },
	{ "missing, relative", "./missing", "%s", -ENOENT },
	{ "missing, absolute", "/nowhere/missing", "%s", -ENOENT },
	{ "not to be run", "./plain", "%s", -EACCES },
	{ "not to be run, by PATH", "plain", "%s", -ENOENT },
	{ "folder", "./bin", "%s", -EACCES },
	{ "no shell", "./plugin; id", "%s", -ENOENT },
};

static void finds_the_command(void **state)
{
	const __typeof__(find_rows[0]) *row = *state;
	struct nfd_exec_plugin plugin = plugin_new(PRINT("{\"token\":\"found\"}"),
						   unit_text("{'command':'%s'}", row->command));
	const char *mark = strstr(row->path, "%s");
	char *const variables[] = { mark ? unit_text("PATH=%.*s%s%s", (int)(mark - row->path),
						     row->path, plugin.folder, mark + 2) :
					   unit_text("PATH=%s", row->path),
				    NULL };
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };

	plugin.environment = variables;
	tree_file(plugin.folder, "plain", "");
	tree_program(plugin.folder, "bin/plugin", PRINT("{\"token\":\"found\"}"));
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), row->code);
	if (row->code == 0)
		assert_string_equal(credentials.token, "found");
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name, *exec;
	int code;
} exec_rows[] = {
	{ "no command", "{'command':''}", -ENOENT },
	{ "command is a list", "{'command':['/bin/true']}", -ENOENT },
	{ "argument is a number", "{'args':[7]}", -EINVAL },
	{ "argument is null", "{'args':['a',null]}", -EINVAL },
};

static void refuses(void **state)
{
	const __typeof__(exec_rows[0]) *row = *state;
	struct nfd_exec_plugin plugin = plugin_new(PRINT("{}"), row->exec);
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };

	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), row->code);
	unit_assert_contains(err.error.text, "credential plugin \"");
	nfd_credentials_done(&credentials);
}

static void arguments_are_bounded(void **state)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };
	const char *list = "'a'";
	struct nfd_exec_plugin plugin;

	(void)state;
	for (int i = 1; i < 64; i++)
		list = unit_text("%s,'a'", list);
	plugin = plugin_new(RECORD, unit_text("{'args':[%s]}", list));
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), 0);
	assert_string_equal(tree_read(plugin.folder, "count"), "64\n");
	plugin = plugin_new(RECORD, unit_text("{'args':[%s,'a']}", list));
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), -EINVAL);
	nfd_credentials_done(&credentials);
}

/* A pod has seven variables for each service of its namespace. */
static void a_large_environment_passes(void **state)
{
	struct nfd_exec_plugin plugin = plugin_new(RECORD, "{}");
	char **variables = unit_bytes(1002 * sizeof(*variables));
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };
	int r;

	(void)state;
	for (int i = 0; i < 1000; i++)
		variables[i] = unit_text("SERVICE_%d_PORT=tcp://10.0.0.1:443", i);
	variables[1000] = unit_text("PATH=/usr/bin:/bin");
	plugin.environment = variables;
	r = nfd_exec_plugin_run(&plugin, &credentials, &err);
	assert_string_equal(err.error.text, "");
	assert_int_equal(r, 0);
	nfd_credentials_done(&credentials);
}

static void deadline_ends_it(void **state)
{
	struct nfd_exec_plugin plugin = plugin_new("exec sleep 1000", "{}");
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };

	(void)state;
	plugin.end_ms = nfd_clock_monotonic_ms() + 200;
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), -ETIME);
	unit_assert_contains(err.error.text, "it did not end in time and was killed");
	/* And one for which there is no time left. */
	plugin.end_ms = nfd_clock_monotonic_ms() - 5000;
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), -ETIME);
	nfd_credentials_done(&credentials);
}

static void another_root_has_no_plugins(void **state)
{
	struct nfd_exec_plugin plugin = plugin_new("touch ran", "{}");
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };

	(void)state;
	plugin.root = "/host";
	assert_int_equal(nfd_exec_plugin_run(&plugin, &credentials, &err), -EINVAL);
	unit_assert_contains(err.error.text, "cannot be run below another root");
	assert_null(tree_read(plugin.folder, "ran"));
	nfd_credentials_done(&credentials);
}

int main(void)
{
	struct unit_suite suite = { .name = "exec_plugin" };

	UNIT_ROWS(&suite, runs, rows, name);
	UNIT_CASE(&suite, replaces_what_is_there);
	UNIT_ROWS(&suite, gets_its_input, input_rows, name);
	UNIT_ROWS(&suite, finds_the_command, find_rows, name);
	UNIT_ROWS(&suite, refuses, exec_rows, name);
	UNIT_CASE(&suite, arguments_are_bounded);
	UNIT_CASE(&suite, a_large_environment_passes);
	UNIT_CASE(&suite, deadline_ends_it);
	UNIT_CASE(&suite, another_root_has_no_plugins);
	return unit_run(&suite);
}
