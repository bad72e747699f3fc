// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/credentials: the service account of a pod, URLs from its environment (field cases F2, F3), rules
 * for tokens. The tree is the root, so nothing of this host is read.
 */
#include "config.h"

#include "api/credentials.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define SECRET "SECRET.token-0123_456789~+/="
#define DIR "/run/account"

static const struct tree_entry account[] = {
	FILE_AT("run/account/ca.crt", "CA"),
	FILE_AT("run/account/token", SECRET),
	FILE_AT("run/account/namespace", "kube-system"),
	{ 0 },
};

/* Host and port may be NULL: not set. */
static int read_account(const char *tree, const char *host, const char *port,
			struct nfd_credentials *credentials, struct nfd_api_error *err)
{
	char **environment = unit_bytes(4 * sizeof(*environment));
	const struct nfd_credential_source source = { .root = tree,
						      .service_account_dir = DIR,
						      .environment = environment };
	size_t count = 0;

	environment[count++] = unit_text("OTHER=x");
	if (host)
		environment[count++] = unit_text("KUBERNETES_SERVICE_HOST=%s", host);
	if (port)
		environment[count++] = unit_text("KUBERNETES_SERVICE_PORT=%s", port);
	return nfd_credentials_read(credentials, &source, err);
}

static const struct {
	const char *host, *port, *url;
} url_rows[] = {
	{ "10.0.0.1", "443", "https://10.0.0.1:443" },
	{ "kubernetes.default.svc", "6443", "https://kubernetes.default.svc:6443" },
	{ "UPPER-case.example", "1", "https://UPPER-case.example:1" },
	{ "fd00:10:96::1", "443", "https://[fd00:10:96::1]:443" },
	{ "::1", "65535", "https://[::1]:65535" },
	{ "[fd00::1]", "443", "https://[fd00::1]:443" },
	{ "::ffff:10.0.0.1", "443", "https://[::ffff:10.0.0.1]:443" },
	{ "10.0.0.1", "0443", "https://10.0.0.1:443" },
};

static void f3_makes_a_url(void **state)
{
	const __typeof__(url_rows[0]) *row = *state;
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	tree_fill(tree, account);
	assert_int_equal(read_account(tree, row->host, row->port, &credentials, &err), 0);
	assert_string_equal(credentials.server, row->url);
	assert_string_equal(credentials.token, SECRET);
	assert_string_equal(credentials.namespace, "kube-system");
	assert_string_equal(credentials.ca.data, "CA");
	assert_int_equal(credentials.ca.len, 2);
	assert_null(credentials.certificate.data);
	assert_null(credentials.key.data);
	assert_null(credentials.proxy);
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name, *host, *port;
	int code;
	const char *words;
} environment_rows[] = {
	{ "nothing set", NULL, NULL, -ENOENT, "not in a pod?" },
	{ "no port", "10.0.0.1", NULL, -ENOENT, "not both set" },
	{ "no host", NULL, "443", -ENOENT, "not both set" },
	{ "empty host", "", "443", -EINVAL, "KUBERNETES_SERVICE_HOST \"\" is no host name" },
	{ "host with a path", "h/x", "443", -EINVAL, "is no host name or address" },
	{ "host with a user", "u@h", "443", -EINVAL, "is no host name or address" },
	{ "host with a query", "h?x", "443", -EINVAL, "is no host name or address" },
	{ "host with a fragment", "h#x", "443", -EINVAL, "is no host name or address" },
	{ "host with a blank", "h h", "443", -EINVAL, "is no host name or address" },
	{ "host with a line break", "h\nX: y", "443", -EINVAL, "is no host name or address" },
	{ "host with a zone", "fe80::1%eth0", "443", -EINVAL, "is no host name or address" },
	{ "host that is not ASCII", "h\xc3\xa4", "443", -EINVAL, "is no host name or address" },
	{ "empty port", "h", "", -EINVAL, "KUBERNETES_SERVICE_PORT \"\" is no port" },
	{ "port 0", "h", "0", -EINVAL, "is no port (1 to 65535)" },
	{ "port 65536", "h", "65536", -EINVAL, "is no port (1 to 65535)" },
	{ "huge port", "h", "99999999999999999999999", -EINVAL, "is no port" },
	{ "port with a sign", "h", "+443", -EINVAL, "is no port" },
	{ "port with a path", "h", "443/x", -EINVAL, "is no port" },
	{ "port of a link", "h", "tcp://10.0.0.1:443", -EINVAL, "is no port" },
};

static void refuses_the_environment(void **state)
{
	const __typeof__(environment_rows[0]) *row = *state;
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	tree_fill(tree, account);
	assert_int_equal(read_account(tree, row->host, row->port, &credentials, &err), row->code);
	assert_int_equal(err.kind, NFD_API_CREDENTIALS);
	unit_assert_contains(err.error.text, row->words);
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name;
	struct tree_entry entry; /* put over what is there */
	const char *remove;      /* taken away before */
	int code;
	const char *words;
} file_rows[] = {
	{ "no authority", DIR_AT("x"), "ca.crt", -ENOENT, "cannot read \"" DIR "/ca.crt\"" },
	{ "empty authority", FILE_AT("run/account/ca.crt", ""), NULL, -ENODATA,
	  "/ca.crt\" is empty" },
	{ "no token", DIR_AT("x"), "token", -ENOENT, "cannot read \"" DIR "/token\"" },
	{ "empty token", FILE_AT("run/account/token", ""), NULL, -ENODATA, "/token\" is empty" },
	{ "blank token", FILE_AT("run/account/token", " \n"), NULL, -EINVAL,
	  DIR "/token holds no token" },
	{ "token is a folder", DIR_AT("run/account/token"), "token", -EISDIR, "/token\"" },
	{ "token is a FIFO", FIFO_AT("run/account/token"), "token", -ENODATA, "/token\"" },
	{ "token with a line break", FILE_AT("run/account/token", "SECRET\nX: y"), NULL, -EINVAL,
	  "/token holds no token: a byte in it is neither letter, digit nor sign" },
	{ "token with a blank", FILE_AT("run/account/token", "SECRET x"), NULL, -EINVAL, "a byte" },
	{ "token with a control byte", FILE_AT("run/account/token", "SECRET\001"), NULL, -EINVAL,
	  "a byte" },
	{ "token with a delete byte", FILE_AT("run/account/token", "SECRET\177x"), NULL, -EINVAL,
	  "a byte" },
	{ "token that is not ASCII", FILE_AT("run/account/token", "SECRET\xc3\xa4"), NULL, -EINVAL,
	  "a byte" },
	{ "no namespace is fine", DIR_AT("x"), "namespace", 0, "" },
	{ "empty namespace is fine", FILE_AT("run/account/namespace", ""), NULL, 0, "" },
	{ "namespace is a folder: fine", DIR_AT("run/account/namespace"), "namespace", 0, "" },
};

static void reads_the_files(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	tree_fill(tree, account);
	if (row->remove)
		assert_int_equal(unlink(tree_path(tree, unit_text("run/account/%s", row->remove))),
				 0);
	tree_fill(tree, entry);
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), row->code);
	unit_assert_contains(err.error.text, row->words);
	assert_null(strstr(err.error.text, "SECRET"));
	if (row->code == 0)
		assert_null(credentials.namespace);
	nfd_credentials_done(&credentials);
}

static void size_is_bounded(void **state)
{
	const char *tree = tree_new();
	char *text = unit_repeat('t', NFD_CREDENTIAL_FILE_MAX);
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	tree_fill(tree, account);
	tree_file(tree, "run/account/token", text);
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), 0);
	assert_string_equal(credentials.token, text);
	nfd_credentials_done(&credentials);
	tree_file(tree, "run/account/token", unit_text("%st", text));
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), -EFBIG);
	nfd_credentials_done(&credentials);
}

/* Kubernetes rotates by links: token → ..data/token, ..data → ..2026_…. */
static void follows_rotated_links(void **state)
{
	const struct tree_entry first[] = { FILE_AT("run/account/..1/token", "first"),
					    FILE_AT("run/account/..1/ca.crt", "CA"),
					    FILE_AT("run/account/..2/token", "second\n"),
					    FILE_AT("run/account/..2/ca.crt", "CA2"),
					    LINK_AT("run/account/..data", "..1"),
					    LINK_AT("run/account/token", "..data/token"),
					    LINK_AT("run/account/ca.crt", "..data/ca.crt"),
					    { 0 } };
	const struct tree_entry second[] = { LINK_AT("run/account/..data", "..2"), { 0 } };
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	tree_fill(tree, first);
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), 0);
	assert_string_equal(credentials.token, "first");
	nfd_credentials_done(&credentials);
	assert_int_equal(unlink(tree_path(tree, "run/account/..data")), 0);
	tree_fill(tree, second);
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), 0);
	assert_string_equal(credentials.token, "second");
	assert_string_equal(credentials.ca.data, "CA2");
	nfd_credentials_done(&credentials);
}

static const struct {
	const char *name, *text, *token; /* NULL: refused */
} token_rows[] = {
	{ "plain", "abc", "abc" },
	{ "all signs", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" },
	{ "blanks around", " \t\r\nabc\r\n ", "abc" },
	{ "one byte", "a", "a" },
	{ "empty", "", NULL },
	{ "blanks only", " \t\n", NULL },
	{ "blank inside", "a b", NULL },
	{ "tab inside", "a\tb", NULL },
	{ "carriage return inside", "a\rb", NULL },
	{ "byte 0x80", "a\x80", NULL },
	{ "byte 0xff", "a\xff", NULL },
	{ "escape", "a\033[0m", NULL },
};

static void takes_tokens(void **state)
{
	const __typeof__(token_rows[0]) *row = *state;
	struct nfd_credentials credentials = { .token = strdup("earlier") };
	cleanup_api_error struct nfd_api_error err = { 0 };
	int r = nfd_credential_token(&credentials, unit_text("%s", row->text), strlen(row->text),
				     "here", &err);

	assert_int_equal(r, row->token ? 0 : -EINVAL);
	if (row->token)
		assert_string_equal(credentials.token, row->token);
	else
		unit_assert_contains(err.error.text, "here holds no token");
	nfd_credentials_done(&credentials);
}

static void a_nul_byte_is_refused(void **state)
{
	const char *tree = tree_new();
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	tree_fill(tree, account);
	tree_bytes(tree, "run/account/token", "SECRET\0x", 8);
	assert_int_equal(read_account(tree, "h", "443", &credentials, &err), -EINVAL);
	unit_assert_contains(err.error.text, "/token holds no token: a byte");
	nfd_credentials_done(&credentials);
}

static void root_must_be_there(void **state)
{
	const struct nfd_credential_source source = { .kubeconfig = "/config",
						      .root = "/nowhere/at-all" };
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	assert_int_equal(nfd_credentials_read(&credentials, &source, &err), -ENOENT);
	assert_int_equal(err.kind, NFD_API_CREDENTIALS);
	unit_assert_contains(err.error.text, "/nowhere/at-all");
	nfd_credentials_done(&credentials);
}

static void reads_a_kubeconfig(void **state)
{
	const char *tree = tree_new();
	const struct nfd_credential_source source = { .kubeconfig = "/config", .root = tree };
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;

	(void)state;
	tree_file(tree, "config",
		  "contexts: [{context: {}}]\nclusters: [{cluster: {server: 'https://h'}}]\n"
		  "users: [{user: {token: abc}}]\n");
	assert_int_equal(nfd_credentials_read(&credentials, &source, &err), 0);
	assert_string_equal(credentials.server, "https://h");
	assert_string_equal(credentials.token, "abc");
	nfd_credentials_done(&credentials);
	assert_null(credentials.server);
	nfd_credentials_done(&credentials);
}

static void has_a_name(void **state)
{
	const struct nfd_credential_source config = { .kubeconfig = "/etc/config" };
	const struct nfd_credential_source pod = { .service_account_dir = DIR };

	(void)state;
	unit_assert_contains(nfd_credentials_name(&config), "/etc/config");
	unit_assert_contains(nfd_credentials_name(&pod), "service account");
}

int main(void)
{
	struct unit_suite suite = { .name = "credentials" };

	UNIT_ROWS(&suite, f3_makes_a_url, url_rows, host);
	UNIT_ROWS(&suite, refuses_the_environment, environment_rows, name);
	UNIT_ROWS(&suite, reads_the_files, file_rows, name);
	UNIT_CASE(&suite, size_is_bounded);
	UNIT_CASE(&suite, follows_rotated_links);
	UNIT_ROWS(&suite, takes_tokens, token_rows, name);
	UNIT_CASE(&suite, a_nul_byte_is_refused);
	UNIT_CASE(&suite, root_must_be_there);
	UNIT_CASE(&suite, reads_a_kubeconfig);
	UNIT_CASE(&suite, has_a_name);
	return unit_run(&suite);
}
