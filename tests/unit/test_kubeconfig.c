// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/kubeconfig: what is taken, what is refused and with which words, and that no secret is in them.
 */
#include "config.h"

#include "api/kubeconfig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define SECRET "SECRET-token-0123456789"
/* "SECRET" in base64. */
#define SECRET_BASE64 "U0VDUkVU"

static char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };

#define CONFIG(cluster, user)                                                     \
	"apiVersion: v1\nkind: Config\ncurrent-context: c\n"                      \
	"contexts:\n- name: c\n  context: {cluster: k, user: u, namespace: ns}\n" \
	"clusters:\n- name: k\n  cluster: {" cluster "}\nusers:\n- name: u\n  user: {" user "}\n"
#define SERVER "server: 'https://10.0.0.1:6443'"
#define TOKEN "token: " SECRET

/* Files beside the kubeconfig, which is etc/kube/config. */
static const struct tree_entry files[] = {
	FILE_AT("etc/kube/ca.crt", "CA"),
	FILE_AT("etc/kube/pki/cert.pem", "CERT"),
	FILE_AT("etc/kube/pki/key.pem", "KEY"),
	FILE_AT("etc/kube/token", " " SECRET "\n"),
	FILE_AT("etc/kube/odd-token", SECRET "\nX-Header: y"),
	FILE_AT("etc/kube/empty", ""),
	FILE_AT("outside/ca.crt", "OUTSIDE"),
	LINK_AT("etc/kube/link.crt", "/outside/ca.crt"),
	FIFO_AT("etc/kube/fifo"),
	DIR_AT("etc/kube/folder"),
	{ 0 },
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* All that was taken, as one text. */
static const char *credentials_text(const struct nfd_credentials *credentials)
{
	return unit_text("%s name=%s proxy=%s token=%s ns=%s ca=%s cert=%s key=%s",
			 or_none(credentials->server), or_none(credentials->server_name),
			 or_none(credentials->proxy), or_none(credentials->token),
			 or_none(credentials->namespace), or_none(credentials->ca.data),
			 or_none(credentials->certificate.data), or_none(credentials->key.data));
}

static int read_config(const char *tree, struct nfd_credentials *credentials,
		       struct nfd_api_error *err)
{
	const struct nfd_credential_source source = { .kubeconfig = "/etc/kube/config",
						      .root = tree,
						      .environment = environment,
						      .end_ms = nfd_clock_monotonic_ms() + 60000 };

	*credentials = (struct nfd_credentials){ 0 };
	return nfd_kubeconfig_read(credentials, tree_root(tree, false), &source, err);
}

#define BASE "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=- cert=- key=-"

static const struct {
	const char *name, *text, *credentials;
} good_rows[] = {
	{ "token", CONFIG(SERVER, TOKEN), BASE },
	{ "token with white space", CONFIG(SERVER, "token: \" " SECRET "\\n\""), BASE },
	{ "JSON",
	  "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\","
	  "\"user\":\"u\",\"namespace\":\"ns\"}}],\"clusters\":[{\"name\":\"k\",\"cluster\":{"
	  "\"server\":\"https://10.0.0.1:6443\"}}],\"users\":[{\"name\":\"u\",\"user\":{"
	  "\"token\":\"" SECRET "\"}}]}",
	  BASE },
	{ "slashes at the end", CONFIG("server: 'https://h/x//'", TOKEN),
	  "https://h/x name=- proxy=- token=" SECRET " ns=ns ca=- cert=- key=-" },
	{ "IPv6", CONFIG("server: 'https://[fd00::1]:6443'", TOKEN),
	  "https://[fd00::1]:6443 name=- proxy=- token=" SECRET " ns=ns ca=- cert=- key=-" },
	{ "server name and proxy",
	  CONFIG(SERVER ", tls-server-name: kube, proxy-url: 'http://p:1'", TOKEN),
	  "https://10.0.0.1:6443 name=kube proxy=http://p:1 token=" SECRET
	  " ns=ns ca=- cert=- key=-" },
	{ "relative paths",
	  CONFIG(SERVER ", certificate-authority: ca.crt",
		 "client-certificate: pki/cert.pem, client-key: ./pki/key.pem"),
	  "https://10.0.0.1:6443 name=- proxy=- token=- ns=ns ca=CA cert=CERT key=KEY" },
	{ "absolute paths are below the root",
	  CONFIG(SERVER ", certificate-authority: /outside/ca.crt", TOKEN),
	  "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=OUTSIDE cert=- key=-" },
	{ "dots do not leave the root",
	  CONFIG(SERVER ", certificate-authority: ../../../../../../outside/ca.crt", TOKEN),
	  "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=OUTSIDE cert=- key=-" },
	{ "a link does not leave the root",
	  CONFIG(SERVER ", certificate-authority: link.crt", TOKEN),
	  "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=OUTSIDE cert=- key=-" },
	{ "data",
	  CONFIG(SERVER ", certificate-authority-data: Q0E=",
		 "client-certificate-data: \"Q0VS\\nVA==\", client-key-data: S0VZ"),
	  "https://10.0.0.1:6443 name=- proxy=- token=- ns=ns ca=CA cert=CERT key=KEY" },
	{ "data wins over a path",
	  CONFIG(SERVER ", certificate-authority-data: Q0E=, certificate-authority: missing",
		 TOKEN),
	  "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=CA cert=- key=-" },
	{ "empty data and path are none",
	  CONFIG(SERVER ", certificate-authority-data: '', certificate-authority: ''", TOKEN),
	  BASE },
	{ "token file", CONFIG(SERVER, "tokenFile: token"), BASE },
	{ "token file wins over a token", CONFIG(SERVER, "tokenFile: token, token: other"), BASE },
	{ "certificate and token",
	  CONFIG(SERVER, TOKEN ", client-certificate: pki/cert.pem, client-key: pki/key.pem"),
	  "https://10.0.0.1:6443 name=- proxy=- token=" SECRET " ns=ns ca=- cert=CERT key=KEY" },
	{ "verification asked for", CONFIG(SERVER ", insecure-skip-tls-verify: false", TOKEN),
	  BASE },
	{ "unknown keys", CONFIG(SERVER ", extensions: [{name: x}]", TOKEN ", as: x"), BASE },
	{ "exec is null", CONFIG(SERVER, TOKEN ", exec: null"), BASE },
	{ "auth-provider is null", CONFIG(SERVER, TOKEN ", auth-provider: ~"), BASE },
	{ "the only ones without names",
	  "contexts: [{context: {namespace: ns}}]\nclusters: [{cluster: {" SERVER
	  "}}]\nusers: [{user: {" TOKEN "}}]\n",
	  BASE },
	{ "the context that is named, not the first",
	  "current-context: b\n"
	  "contexts: [{name: a, context: {cluster: x, user: x}}, "
	  "{name: b, context: {cluster: k, user: u, namespace: ns}}]\n"
	  "clusters: [{name: x}, {name: k, cluster: {" SERVER "}}]\n"
	  "users: [{name: x}, {name: u, user: {" TOKEN "}}]\n",
	  BASE },
};

static void takes(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;
	int r;

	tree_fill(tree, files);
	tree_file(tree, "etc/kube/config", row->text);
	r = read_config(tree, &credentials, &err);
	assert_string_equal(err.error.text, "");
	assert_int_equal(r, 0);
	assert_string_equal(credentials_text(&credentials), row->credentials);
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name, *text;
	int code;
	const char *words;
} bad_rows[] = {
	{ "empty", "", -ENODATA, "\"/etc/kube/config\" is empty or no regular file" },
	{ "comment only", "# " SECRET "\n", -ENOENT, "current-context" },
	{ "plain text", SECRET, -ENOENT, "current-context" },
	{ "list", "[" SECRET "]", -ENOENT, "current-context" },
	{ "no YAML", "a: [" SECRET "\n", -EINVAL, "kubeconfig /etc/kube/config:2:1: not YAML" },
	{ "not UTF-8", "a: \xff" SECRET, -EINVAL, "not YAML" },
	{ "nested too deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	  -E2BIG, "too large or nested too deep" },
	{ "no such context", "current-context: x\ncontexts: [{name: c, context: {}}]", -ENOENT,
	  "its current-context names none of its contexts" },
	{ "several contexts, none named",
	  "contexts: [{name: a, context: {}}, {name: b, context: {}}]", -ENOENT,
	  "its current-context names none of its contexts" },
	{ "contexts are a text", "current-context: c\ncontexts: c", -ENOENT, "current-context" },
	{ "context is a text", "current-context: c\ncontexts: [{name: c, context: c}]", -ENOENT,
	  "the cluster of its context is not in it" },
	{ "no such cluster",
	  "current-context: c\ncontexts: [{name: c, context: {cluster: x, user: u}}]\n"
	  "clusters: [{name: k, cluster: {" SERVER "}}]",
	  -ENOENT, "the cluster of its context is not in it" },
	{ "no such user",
	  "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: x}}]\n"
	  "clusters: [{name: k, cluster: {" SERVER "}}]\nusers: [{name: u, user: {" TOKEN "}}]",
	  -ENOENT, "the user of its context is not in it" },
	{ "no server", CONFIG("", TOKEN), -EINVAL, "its cluster has no server" },
	{ "empty server", CONFIG("server: ''", TOKEN), -EINVAL, "its cluster has no server" },
	{ "server is a list", CONFIG("server: [x]", TOKEN), -EINVAL, "its cluster has no server" },
	{ "http", CONFIG("server: 'http://h'", TOKEN), -EPROTONOSUPPORT, "no https:// URL" },
	{ "no scheme", CONFIG("server: 'h:6443'", TOKEN), -EPROTONOSUPPORT, "no https:// URL" },
	{ "scheme only", CONFIG("server: 'https://'", TOKEN), -EPROTONOSUPPORT, "no https:// URL" },
	{ "file scheme", CONFIG("server: 'file:///etc/passwd'", TOKEN), -EPROTONOSUPPORT,
	  "no https:// URL" },
	{ "verification off", CONFIG(SERVER ", insecure-skip-tls-verify: true", TOKEN), -EINVAL,
	  "insecure-skip-tls-verify is not supported: name the server's authority by "
	  "certificate-authority" },
	{ "auth-provider", CONFIG(SERVER, "auth-provider: {name: gcp}"), -EINVAL,
	  "auth-provider is not supported: use exec" },
	{ "basic authentication", CONFIG(SERVER, "username: u, password: " SECRET), -EINVAL,
	  "username and password are not supported: use a token or a certificate" },
	{ "password only", CONFIG(SERVER, TOKEN ", password: " SECRET), -EINVAL,
	  "username and password are not supported" },
	{ "no credentials", CONFIG(SERVER, ""), -EINVAL,
	  "its user has neither token nor client certificate" },
	{ "certificate without key", CONFIG(SERVER, "client-certificate: pki/cert.pem"), -EINVAL,
	  "of client certificate and key there is only one" },
	{ "key without certificate", CONFIG(SERVER, TOKEN ", client-key: pki/key.pem"), -EINVAL,
	  "of client certificate and key there is only one" },
	{ "missing file", CONFIG(SERVER ", certificate-authority: missing.crt", TOKEN), -ENOENT,
	  "cannot read \"/etc/kube/missing.crt\": No such file" },
	{ "empty file", CONFIG(SERVER ", certificate-authority: empty", TOKEN), -ENODATA,
	  "\"/etc/kube/empty\" is empty" },
	{ "folder", CONFIG(SERVER ", certificate-authority: folder", TOKEN), -EISDIR,
	  "cannot read \"/etc/kube/folder\"" },
	{ "FIFO", CONFIG(SERVER ", certificate-authority: fifo", TOKEN), -ENODATA,
	  "\"/etc/kube/fifo\" is empty or no regular file" },
	{ "no base64, authority", CONFIG(SERVER ", certificate-authority-data: '*'", TOKEN),
	  -EINVAL, "certificate-authority-data is no base64" },
	{ "no base64, key",
	  CONFIG(SERVER, "client-certificate-data: Q0E=, client-key-data: '" SECRET_BASE64 "*'"),
	  -EINVAL, "client-key-data is no base64" },
	{ "token is a list", CONFIG(SERVER, "token: [" SECRET "]"), -EINVAL,
	  "its user has neither token nor client certificate" },
	{ "token with a line break", CONFIG(SERVER, "token: \"" SECRET "\\nX: y\""), -EINVAL,
	  "token of kubeconfig \"/etc/kube/config\" holds no token: a byte in it" },
	{ "token of blanks", CONFIG(SERVER, "token: '  '"), -EINVAL, "holds no token" },
	{ "token that is not ASCII", CONFIG(SERVER, "token: " SECRET "\xc3\xa4"), -EINVAL,
	  "holds no token: a byte in it" },
	{ "token file with two lines", CONFIG(SERVER, "tokenFile: odd-token"), -EINVAL,
	  "/etc/kube/odd-token holds no token: a byte in it" },
	{ "token file missing, token there", CONFIG(SERVER, "tokenFile: missing, " TOKEN), -ENOENT,
	  "cannot read \"/etc/kube/missing\"" },
	{ "exec below another root", CONFIG(SERVER, TOKEN ", exec: {command: /bin/true}"), -EINVAL,
	  "credential plugin \"/bin/true\": it is a program of the host" },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	tree_fill(tree, files);
	tree_file(tree, "etc/kube/config", row->text);
	assert_int_equal(read_config(tree, &credentials, &err), row->code);
	assert_int_equal(err.kind, NFD_API_CREDENTIALS);
	assert_int_equal(err.error.code, row->code);
	unit_assert_contains(err.error.text, row->words);
	assert_null(strstr(err.error.text, "SECRET"));
	assert_null(strstr(err.error.text, SECRET_BASE64));
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name;
	struct tree_entry entry;
	int code;
} file_rows[] = {
	{ "missing", DIR_AT("etc/kube"), -ENOENT },
	{ "no folder", DIR_AT("etc"), -ENOENT },
	{ "folder", DIR_AT("etc/kube/config"), -EISDIR },
	{ "FIFO", FIFO_AT("etc/kube/config"), -ENODATA },
	{ "loop", LINK_AT("etc/kube/config", "config"), -ELOOP },
	{ "link that leaves the root", LINK_AT("etc/kube/config", "/etc/passwd"), -ENOENT },
};

static void file_cannot_be_read(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	tree_fill(tree, entry);
	assert_int_equal(read_config(tree, &credentials, &err), row->code);
	unit_assert_contains(err.error.text, "\"/etc/kube/config\"");
	nfd_credentials_done(&credentials);
}

static void size_is_bounded(void **state)
{
	const char *tree = tree_new();
	const char *text = CONFIG(SERVER, TOKEN) "#";
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	text = unit_text("%s%s", text, unit_repeat('#', NFD_CREDENTIAL_FILE_MAX - strlen(text)));
	tree_file(tree, "etc/kube/config", text);
	assert_int_equal(read_config(tree, &credentials, &err), 0);
	nfd_credentials_done(&credentials);
	tree_file(tree, "etc/kube/config", unit_text("%s#", text));
	assert_int_equal(read_config(tree, &credentials, &err), -EFBIG);
	nfd_credentials_done(&credentials);
}

static void long_path_is_refused(void **state)
{
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	tree_file(tree, "etc/kube/config",
		  unit_text(CONFIG(SERVER ", certificate-authority: %s", TOKEN),
			    unit_repeat('p', 5000)));
	assert_int_equal(read_config(tree, &credentials, &err), -ENAMETOOLONG);
	unit_assert_contains(err.error.text, "a path in it is too long");
	nfd_credentials_done(&credentials);
}

/* A relative kubeconfig counts from the working folder, and so do the paths in it. */
static void relative_kubeconfig(void **state)
{
	const char *tree = tree_new();
	struct nfd_credential_source source = { .root = "/", .environment = environment };
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials = { 0 };
	char *old = getcwd(NULL, 0);
	int r;

	(void)state;
	tree_fill(tree, files);
	tree_file(tree, "etc/kube/config", CONFIG(SERVER ", certificate-authority: ca.crt", TOKEN));
	assert_int_equal(chdir(tree_path(tree, "etc")), 0);
	source.kubeconfig = "kube/config";
	r = nfd_kubeconfig_read(&credentials, tree_root("/", false), &source, &err);
	assert_int_equal(chdir(old), 0);
	free(old);
	assert_string_equal(err.error.text, "");
	assert_int_equal(r, 0);
	assert_string_equal(credentials.ca.data, "CA");
	nfd_credentials_done(&credentials);
}

int main(void)
{
	struct unit_suite suite = { .name = "kubeconfig" };

	UNIT_ROWS(&suite, takes, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_ROWS(&suite, file_cannot_be_read, file_rows, name);
	UNIT_CASE(&suite, size_is_bounded);
	UNIT_CASE(&suite, long_path_is_refused);
	UNIT_CASE(&suite, relative_kubeconfig);
	return unit_run(&suite);
}
