// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kubeconfig below a folder of its own, so that no program of it is ever run. What is taken is
 * complete and safe.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "api/credentials.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/nfd-source-fuzz-XXXXXX";
static char file[sizeof(folder) + 8];

static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

static void make_folder(void)
{
	FUZZ_CHECK(mkdtemp(folder) != NULL);
	snprintf(file, sizeof(file), "%s/config", folder);
	atexit(remove_folder);
}

static void write_config(const uint8_t *data, size_t size)
{
	FILE *stream = fopen(file, "we");

	FUZZ_CHECK(stream && fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
}

static void check(const struct nfd_credentials *credentials)
{
	FUZZ_CHECK(credentials->server && strncmp(credentials->server, "https://", 8) == 0);
	FUZZ_CHECK(credentials->token || credentials->certificate.data);
	FUZZ_CHECK(!credentials->certificate.data == !credentials->key.data);
	/* It becomes a header line. */
	for (const char *c = credentials->token; c && *c; c++)
		FUZZ_CHECK(*c > ' ' && *c <= '~');
	FUZZ_CHECK(!credentials->token || *credentials->token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *const environment[] = { NULL };
	const struct nfd_credential_source source = { .kubeconfig = "/config",
						      .root = folder,
						      .environment = environment };
	cleanup_api_error struct nfd_api_error err = { 0 };
	struct nfd_credentials credentials;
	int r;

	if (!file[0])
		make_folder();
	write_config(data, size);
	r = nfd_credentials_read(&credentials, &source, &err);
	FUZZ_CHECK(r <= 0 && r == err.error.code);
	if (r == 0)
		check(&credentials);
	else
		FUZZ_CHECK(err.kind == NFD_API_CREDENTIALS && err.error.text[0]);
	nfd_credentials_done(&credentials);
	return 0;
}
