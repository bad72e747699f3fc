// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files are read through base/root, which neither blocks nor leaves the folder it is given.
 */
#include "config.h"

#include "api/credentials.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/kubeconfig.h"
#include "base/environment.h"
#include "base/parse.h"

static void wipe(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static void wipe_blob(struct nfd_blob *blob)
{
	if (blob->data)
		explicit_bzero(blob->data, blob->len);
	free(blob->data);
	*blob = (struct nfd_blob){ 0 };
}

void nfd_credentials_done(struct nfd_credentials *credentials)
{
	free(credentials->server);
	free(credentials->server_name);
	free(credentials->proxy);
	free(credentials->namespace);
	wipe(&credentials->token);
	wipe_blob(&credentials->ca);
	wipe_blob(&credentials->certificate);
	wipe_blob(&credentials->key);
	*credentials = (struct nfd_credentials){ 0 };
}

const char *nfd_credentials_name(const struct nfd_credential_source *source)
{
	return source->kubeconfig ? source->kubeconfig : "the service account";
}

int nfd_credential_file(const struct nfd_root *root, const char *path, struct nfd_blob *ret,
			struct nfd_api_error *err)
{
	char *data = NULL;
	ssize_t len =
		nfd_root_read_alloc(root, path + strspn(path, "/"), NFD_CREDENTIAL_FILE_MAX, &data);

	if (len == 0) {
		free(data);
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -ENODATA,
					 "\"%s\" is empty or no regular file", path);
	}
	if (len < 0)
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, (int)len,
					 "cannot read \"%s\": %s", path, nfd_errno_text((int)len));
	wipe_blob(ret);
	*ret = (struct nfd_blob){ .data = data, .len = (size_t)len };
	return 0;
}

int nfd_credential_token(struct nfd_credentials *credentials, char *text, size_t len,
			 const char *from, struct nfd_api_error *err)
{
	bool is_cut = strlen(text) < len;

	text = nfd_trim(text);
	if (!*text)
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -EINVAL, "%s holds no token",
					 from);
	for (const char *c = text; *c; c++)
		if (*c < '!' || *c > '~' || is_cut)
			return nfd_api_error_set(err, NFD_API_CREDENTIALS, -EINVAL,
						 "%s holds no token: a byte in it is neither "
						 "letter, digit nor sign",
						 from);
	wipe(&credentials->token);
	credentials->token = strdup(text);
	return credentials->token ?
		       0 :
		       nfd_api_error_set(err, NFD_API_CREDENTIALS, -ENOMEM, "out of memory");
}

/* An IPv6 address needs brackets in a URL, and only once (field case F3). */
static int service_url(const char *host, const char *port, char **ret, struct nfd_api_error *err)
{
	bool brackets = strchr(host, ':') && host[0] != '[';
	uint64_t number;

	if (!host[0] || host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789.-:[]")])
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -EINVAL,
					 "KUBERNETES_SERVICE_HOST \"%.100s\" is no host name or "
					 "address",
					 host);
	if (nfd_parse_uint(port, 65535, &number) < 0 || number == 0)
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -EINVAL,
					 "KUBERNETES_SERVICE_PORT \"%.20s\" is no port (1 to "
					 "65535)",
					 port);
	if (asprintf(ret, "https://%s%s%s:%d", brackets ? "[" : "", host, brackets ? "]" : "",
		     (int)number) < 0) {
		*ret = NULL;
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -ENOMEM, "out of memory");
	}
	return 0;
}

static int read_namespace(struct nfd_credentials *credentials, const struct nfd_root *root,
			  const char *dir)
{
	char path[512], text[256];

	snprintf(path, sizeof(path), "%s/namespace", dir + strspn(dir, "/"));
	/* Only NodeFeature objects need it, and they say so when it is missing. */
	if (nfd_root_read_line(root, path, text, sizeof(text)) <= 0)
		return 0;
	credentials->namespace = strdup(text);
	return credentials->namespace ? 0 : -ENOMEM;
}

static int read_service_account(struct nfd_credentials *credentials, const struct nfd_root *root,
				const struct nfd_credential_source *source,
				struct nfd_api_error *err)
{
	const char *host = nfd_environment_value(source->environment, "KUBERNETES_SERVICE_HOST");
	const char *port = nfd_environment_value(source->environment, "KUBERNETES_SERVICE_PORT");
	struct nfd_blob token = { 0 };
	char path[512];
	int r;

	if (!host || !port)
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -ENOENT,
					 "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
					 "not both set: not in a pod?");
	r = service_url(host, port, &credentials->server, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/ca.crt", source->service_account_dir);
	r = nfd_credential_file(root, path, &credentials->ca, err);
	if (r < 0)
		return r;
	if (read_namespace(credentials, root, source->service_account_dir) < 0)
		return nfd_api_error_set(err, NFD_API_CREDENTIALS, -ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/token", source->service_account_dir);
	r = nfd_credential_file(root, path, &token, err);
	if (r == 0)
		r = nfd_credential_token(credentials, token.data, token.len, path, err);
	wipe_blob(&token);
	return r;
}

int nfd_credentials_read(struct nfd_credentials *credentials,
			 const struct nfd_credential_source *source, struct nfd_api_error *err)
{
	struct nfd_root root = { 0 };
	struct nfd_error root_err = { 0 };
	int r;

	*credentials = (struct nfd_credentials){ 0 };
	r = nfd_root_open(&root, source->root, &root_err);
	if (r < 0)
		r = nfd_api_error_set(err, NFD_API_CREDENTIALS, r, "%s", nfd_error_text(&root_err));
	else if (source->kubeconfig)
		r = nfd_kubeconfig_read(credentials, &root, source, err);
	else
		r = read_service_account(credentials, &root, source, err);
	nfd_root_close(&root);
	return r;
}
