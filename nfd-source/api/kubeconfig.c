// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of named clusters, users and contexts; the current context picks one of each.
 */
#include "config.h"

#include "api/kubeconfig.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/exec_plugin.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/yaml_tree.h"

struct file {
	struct nfd_credentials *credentials;
	const struct nfd_root *root;
	const char *path;
	char folder[PATH_MAX]; /* absolute */
	struct nfd_api_error *err;
};

static int fail(const struct file *file, int code, const char *what)
{
	return nfd_api_error_set(file->err, NFD_API_CREDENTIALS, code, "kubeconfig \"%s\": %s",
				 file->path, what);
}

/* Text of a key; NULL when it is missing, empty or no text. */
static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = nfd_json_text(object, key);

	return *text ? text : NULL;
}

/* The entry of a list that has this name, or the only one when no name is asked for. */
static const cJSON *named(const cJSON *config, const char *list, const char *name, const char *key)
{
	const cJSON *entries = nfd_json_get(config, list);
	const cJSON *entry;

	if (!name && cJSON_GetArraySize(entries) == 1)
		return nfd_json_get(cJSON_GetArrayItem(entries, 0), key);
	cJSON_ArrayForEach(entry, entries) {
		const char *other = text_of(entry, "name");

		if (name && other && strcmp(other, name) == 0)
			return nfd_json_get(entry, key);
	}
	return NULL;
}

static int full_path(const struct file *file, const char *path, char ret[PATH_MAX])
{
	int len = path[0] == '/' ? snprintf(ret, PATH_MAX, "%s", path) :
				   snprintf(ret, PATH_MAX, "%s/%s", file->folder, path);

	return len < PATH_MAX ? 0 : fail(file, -ENAMETOOLONG, "a path in it is too long");
}

/* "<key>-data" as base64, else the file that "<key>" names; neither leaves @ret as it is. */
static int take_blob(const struct file *file, const cJSON *object, const char *key,
		     struct nfd_blob *ret)
{
	char data_key[64], path[PATH_MAX], text[160];
	int r;

	snprintf(data_key, sizeof(data_key), "%s-data", key);
	if (text_of(object, data_key)) {
		r = nfd_base64_decode(text_of(object, data_key), &ret->data, &ret->len);
		snprintf(text, sizeof(text), "%s is no base64", data_key);
		return r == -ENOMEM ? fail(file, r, "out of memory") :
		       r < 0        ? fail(file, r, text) :
				      0;
	}
	if (!text_of(object, key))
		return 0;
	r = full_path(file, text_of(object, key), path);
	return r < 0 ? r : nfd_credential_file(file->root, path, ret, file->err);
}

static int take_text(const struct file *file, const char *text, char **ret)
{
	if (!text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : fail(file, -ENOMEM, "out of memory");
}

static int take_server(const struct file *file, const char *server)
{
	static const char scheme[] = "https://";
	size_t len;
	int r;

	if (!server)
		return fail(file, -EINVAL, "its cluster has no server");
	if (strncmp(server, scheme, strlen(scheme)) != 0 || !server[strlen(scheme)])
		return fail(file, -EPROTONOSUPPORT,
			    "its server is no https:// URL: without TLS nobody knows who answers");
	r = take_text(file, server, &file->credentials->server);
	if (r < 0)
		return r;
	len = strlen(server);
	while (len > strlen(scheme) && file->credentials->server[len - 1] == '/')
		file->credentials->server[--len] = '\0';
	return 0;
}

static int take_cluster(const struct file *file, const cJSON *cluster)
{
	int r;

	if (!cluster)
		return fail(file, -ENOENT, "the cluster of its context is not in it");
	if (nfd_json_is_true(cluster, "insecure-skip-tls-verify"))
		return fail(file, -EINVAL,
			    "insecure-skip-tls-verify is not supported: name the server's "
			    "authority by certificate-authority");
	r = take_server(file, text_of(cluster, "server"));
	if (r == 0)
		r = take_text(file, text_of(cluster, "tls-server-name"),
			      &file->credentials->server_name);
	if (r == 0)
		r = take_text(file, text_of(cluster, "proxy-url"), &file->credentials->proxy);
	if (r == 0)
		r = take_blob(file, cluster, "certificate-authority", &file->credentials->ca);
	return r;
}

/* The file wins over the text, as it does for kubectl: it is the one that is rotated. */
static int take_token(const struct file *file, const cJSON *user)
{
	struct nfd_blob blob = { 0 };
	char path[PATH_MAX];
	int r;

	if (text_of(user, "tokenFile")) {
		r = full_path(file, text_of(user, "tokenFile"), path);
		if (r == 0)
			r = nfd_credential_file(file->root, path, &blob, file->err);
	} else if (text_of(user, "token")) {
		snprintf(path, sizeof(path), "token of kubeconfig \"%.1000s\"", file->path);
		r = take_text(file, text_of(user, "token"), &blob.data);
		blob.len = strlen(text_of(user, "token"));
	} else {
		return 0;
	}
	if (r == 0)
		r = nfd_credential_token(file->credentials, blob.data, blob.len, path, file->err);
	if (blob.data)
		explicit_bzero(blob.data, blob.len);
	free(blob.data);
	return r;
}

static int take_user(const struct file *file, const cJSON *user)
{
	int r;

	if (!user)
		return fail(file, -ENOENT, "the user of its context is not in it");
	if (nfd_json_object(user, "auth-provider"))
		return fail(file, -EINVAL, "auth-provider is not supported: use exec");
	if (text_of(user, "username") || text_of(user, "password"))
		return fail(file, -EINVAL,
			    "username and password are not supported: use a token or a "
			    "certificate");
	r = take_blob(file, user, "client-certificate", &file->credentials->certificate);
	if (r == 0)
		r = take_blob(file, user, "client-key", &file->credentials->key);
	return r < 0 ? r : take_token(file, user);
}

static int take_plugin(const struct file *file, const struct nfd_credential_source *source,
		       const cJSON *user, const cJSON *cluster)
{
	struct nfd_exec_plugin plugin = {
		.exec = nfd_json_object(user, "exec"),
		.cluster = cluster,
		.folder = file->folder,
		.root = source->root,
		.environment = source->environment,
		.end_ms = source->end_ms,
	};

	file->credentials->from_plugin = plugin.exec != NULL;
	return plugin.exec ? nfd_exec_plugin_run(&plugin, file->credentials, file->err) : 0;
}

static int take_config(const struct file *file, const struct nfd_credential_source *source,
		       const cJSON *config)
{
	const cJSON *context =
		named(config, "contexts", text_of(config, "current-context"), "context");
	const cJSON *cluster, *user;
	int r;

	if (!context)
		return fail(file, -ENOENT,
			    "its current-context names none of its contexts (or there are several "
			    "and it names none)");
	cluster = named(config, "clusters", text_of(context, "cluster"), "cluster");
	user = named(config, "users", text_of(context, "user"), "user");
	r = take_cluster(file, cluster);
	if (r == 0)
		r = take_user(file, user);
	if (r == 0)
		r = take_text(file, text_of(context, "namespace"), &file->credentials->namespace);
	if (r == 0)
		r = take_plugin(file, source, user, cluster);
	if (r < 0)
		return r;
	if (!file->credentials->certificate.data != !file->credentials->key.data)
		return fail(file, -EINVAL, "of client certificate and key there is only one");
	if (!file->credentials->certificate.data && !file->credentials->token)
		return fail(file, -EINVAL, "its user has neither token nor client certificate");
	return 0;
}

/* Folder of the file as an absolute path, for the relative paths in it. */
static int find_folder(struct file *file, char full[PATH_MAX])
{
	char *slash;
	size_t len = 0;

	full[0] = '\0';
	if (file->path[0] != '/') {
		if (!getcwd(full, PATH_MAX))
			return fail(file, -errno, "the working folder is not known");
		len = strlen(full);
	}
	if (snprintf(full + len, PATH_MAX - len, "%s%s", len ? "/" : "", file->path) >=
	    (int)(PATH_MAX - len))
		return fail(file, -ENAMETOOLONG, "its path is too long");
	snprintf(file->folder, sizeof(file->folder), "%s", full);
	slash = strrchr(file->folder, '/');
	*slash = '\0';
	return 0;
}

int nfd_kubeconfig_read(struct nfd_credentials *credentials, const struct nfd_root *root,
			const struct nfd_credential_source *source, struct nfd_api_error *err)
{
	struct file file = {
		.credentials = credentials, .root = root, .path = source->kubeconfig, .err = err
	};
	struct nfd_error yaml_err = { 0 };
	struct nfd_blob text = { 0 };
	cJSON *config = NULL;
	char full[PATH_MAX];
	int r;

	r = find_folder(&file, full);
	if (r == 0)
		r = nfd_credential_file(root, full, &text, err);
	if (r < 0)
		return r;
	r = nfd_yaml_tree_parse(text.data, text.len, file.path, &config, &yaml_err);
	if (r < 0)
		/* Its words are about form only: no value of the file is in them. */
		r = nfd_api_error_set(err, NFD_API_CREDENTIALS, r, "kubeconfig %s",
				      nfd_error_text(&yaml_err));
	else
		r = take_config(&file, source, config);
	cJSON_Delete(config);
	explicit_bzero(text.data, text.len);
	free(text.data);
	return r;
}
