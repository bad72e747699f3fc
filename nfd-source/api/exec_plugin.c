// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plugin runs without a terminal and without our standard error: what it says there may be a
 * secret. No shell: command, arguments and environment are passed as they are.
 */
#include "config.h"

#include "api/exec_plugin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"

#define ARGUMENTS_MAX 64
/* Variables that the kubeconfig adds; those that we were given have no limit. */
#define ADDED_MAX 64
#define OUTPUT_MAX (256 * 1024)

static int fail(const struct nfd_exec_plugin *plugin, struct nfd_api_error *err, int code,
		const char *what)
{
	return nfd_api_error_set(err, NFD_API_CREDENTIALS, code, "credential plugin \"%.200s\": %s",
				 nfd_json_text(plugin->exec, "command"), what);
}

/* As execvp(3) would search, but with the PATH that we were given. */
static int find_command(const struct nfd_exec_plugin *plugin, char ret[PATH_MAX])
{
	const char *command = nfd_json_text(plugin->exec, "command");
	const char *path = nfd_environment_value(plugin->environment, "PATH");

	if (strchr(command, '/')) {
		snprintf(ret, PATH_MAX, "%s%s%s", command[0] == '/' ? "" : plugin->folder,
			 command[0] == '/' ? "" : "/", command);
		return access(ret, X_OK) == 0 ? 0 : -errno;
	}
	for (path = path ? path : "/usr/bin:/bin"; *command; path++) {
		size_t len = strcspn(path, ":");

		if (len && len < PATH_MAX) {
			snprintf(ret, PATH_MAX, "%.*s/%s", (int)len, path, command);
			if (access(ret, X_OK) == 0)
				return 0;
		}
		path += len;
		if (!*path)
			break;
	}
	return -ENOENT;
}

/* The object that the plugin finds in KUBERNETES_EXEC_INFO. */
static char *exec_info(const struct nfd_exec_plugin *plugin)
{
	static const char *const fields[] = { "server", "tls-server-name", "proxy-url",
					      "certificate-authority-data" };
	cJSON *info = cJSON_CreateObject();
	cJSON *spec, *cluster;
	char *text;

	cJSON_AddStringToObject(info, "kind", "ExecCredential");
	cJSON_AddStringToObject(info, "apiVersion", nfd_json_text(plugin->exec, "apiVersion"));
	spec = cJSON_AddObjectToObject(info, "spec");
	cJSON_AddBoolToObject(spec, "interactive", false);
	if (nfd_json_is_true(plugin->exec, "provideClusterInfo")) {
		cluster = cJSON_AddObjectToObject(spec, "cluster");
		for (size_t i = 0; i < NFD_ARRAY_SIZE(fields); i++)
			if (*nfd_json_text(plugin->cluster, fields[i]))
				cJSON_AddStringToObject(cluster, fields[i],
							nfd_json_text(plugin->cluster, fields[i]));
	}
	text = cJSON_PrintUnformatted(info);
	cJSON_Delete(info);
	return text;
}

struct words {
	char *argument[ARGUMENTS_MAX + 2];
	char **variable; /* NULL-terminated, room for ADDED_MAX more; owned */
	size_t variable_count;
	char *added[ADDED_MAX]; /* variables that are ours to free */
	size_t added_count;
};

static int add_variable(struct words *words, const char *name, const char *value)
{
	char *text = NULL;

	if (words->added_count == ADDED_MAX)
		return -E2BIG;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return -ENOMEM;
	words->added[words->added_count++] = text;
	/* Of two variables with one name nobody knows which counts: it takes the place of the other. */
	for (size_t i = 0; i < words->variable_count; i++)
		if (strncmp(words->variable[i], text, strlen(name) + 1) == 0) {
			words->variable[i] = text;
			return 0;
		}
	words->variable[words->variable_count++] = text;
	return 0;
}

static int fill_words(const struct nfd_exec_plugin *plugin, const char *info, struct words *words)
{
	const cJSON *item, *list = nfd_json_get(plugin->exec, "args");
	size_t count = 1;
	int r = 0;

	words->argument[0] = cJSON_GetStringValue(nfd_json_get(plugin->exec, "command"));
	cJSON_ArrayForEach(item, list) {
		if (!cJSON_IsString(item) || count == ARGUMENTS_MAX + 1)
			return -EINVAL;
		words->argument[count++] = item->valuestring;
	}
	for (count = 0; plugin->environment[count]; count++)
		;
	words->variable = calloc(count + ADDED_MAX + 1, sizeof(*words->variable));
	if (!words->variable)
		return -ENOMEM;
	memcpy(words->variable, plugin->environment, count * sizeof(*words->variable));
	words->variable_count = count;
	list = nfd_json_get(plugin->exec, "env");
	cJSON_ArrayForEach(item, list)
		if (r == 0 && *nfd_json_text(item, "name"))
			r = add_variable(words, nfd_json_text(item, "name"),
					 nfd_json_text(item, "value"));
	return r < 0 ? r : add_variable(words, "KUBERNETES_EXEC_INFO", info);
}

static int take_pem(const cJSON *status, const char *key, struct nfd_blob *ret)
{
	const char *text = nfd_json_text(status, key);

	if (!*text)
		return 0;
	free(ret->data);
	ret->len = strlen(text);
	ret->data = strdup(text);
	return ret->data ? 0 : -ENOMEM;
}

static int take_output(const struct nfd_exec_plugin *plugin, const char *text,
		       struct nfd_credentials *credentials, struct nfd_api_error *err)
{
	cJSON *object = cJSON_Parse(text);
	cJSON *status = nfd_json_get(object, "status");
	char *token = cJSON_GetStringValue(nfd_json_get(status, "token"));
	char from[320];
	int r = 0;

	if (strcmp(nfd_json_text(object, "kind"), "ExecCredential") != 0 || !cJSON_IsObject(status))
		r = fail(plugin, err, -EINVAL, "it did not print an ExecCredential with a status");
	snprintf(from, sizeof(from), "credential plugin \"%.200s\"",
		 nfd_json_text(plugin->exec, "command"));
	if (r == 0 && token && *token)
		r = nfd_credential_token(credentials, token, strlen(token), from, err);
	if (r == 0 && (take_pem(status, "clientCertificateData", &credentials->certificate) < 0 ||
		       take_pem(status, "clientKeyData", &credentials->key) < 0))
		r = fail(plugin, err, -ENOMEM, "out of memory");
	cJSON_Delete(object);
	return r;
}

static int run_child(const struct nfd_exec_plugin *plugin, const struct nfd_child_command *command,
		     struct nfd_credentials *credentials, struct nfd_api_error *err)
{
	struct nfd_error child_err = { 0 };
	struct nfd_child child;
	int r;

	r = nfd_child_init(&child, &child_err);
	if (r == 0)
		r = nfd_child_start(&child, command, &child_err);
	if (r == 0) {
		nfd_child_wait(&child);
		r = nfd_child_check(&child, "it", &child_err);
	}
	if (r < 0)
		r = fail(plugin, err, r, nfd_error_text(&child_err));
	else
		r = take_output(plugin, nfd_strbuf_text(&child.output), credentials, err);
	if (child.output.data)
		explicit_bzero(child.output.data, child.output.len);
	nfd_child_done(&child);
	return r;
}

int nfd_exec_plugin_run(const struct nfd_exec_plugin *plugin, struct nfd_credentials *credentials,
			struct nfd_api_error *err)
{
	struct nfd_child_command command = { .output_max = OUTPUT_MAX, .quiet = true };
	struct words words = { 0 };
	char path[PATH_MAX];
	char *info;
	int r;

	if (strcmp(plugin->root, "/") != 0)
		return fail(plugin, err, -EINVAL,
			    "it is a program of the host and cannot be run below another root");
	r = find_command(plugin, path);
	if (r < 0)
		return fail(plugin, err, r, "it is not there or cannot be run (PATH is searched)");
	info = exec_info(plugin);
	r = info ? fill_words(plugin, info, &words) : -ENOMEM;
	command.path = path;
	command.argv = words.argument;
	command.envp = words.variable;
	command.deadline_ms = plugin->end_ms - nfd_clock_monotonic_ms();
	if (r < 0)
		r = fail(plugin, err, r, "its arguments or variables are not right");
	else
		r = run_child(plugin, &command, credentials, err);
	for (size_t i = 0; i < words.added_count; i++)
		free(words.added[i]);
	free(words.variable);
	cJSON_free(info);
	return r;
}
