// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The configuration of a container runtime below a folder of its own: as main file and as drop-in of
 * containerd, as CRI-O's and as Docker's. Every text that comes of it ends within its array.
 */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/runtime_config.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/tmp/nfd-source-fuzz-XXXXXX";

/* Folders, then files: "conf.d/good.toml" imports nothing and is always the same. */
static const char *const folders[] = { "etc", "etc/containerd", "etc/containerd/conf.d", "etc/crio",
				       "etc/docker" };
static const char *const files[] = { "etc/containerd/config.toml", "etc/containerd/main.toml",
				     "etc/containerd/conf.d/99.toml", "etc/crio/crio.conf",
				     "etc/docker/daemon.json" };
static const char importing[] = "version = 2\nimports = [\"conf.d/*.toml\"]\n";

static const char *below(const char *path)
{
	static char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", folder, path);
	return full;
}

static void remove_folder(void)
{
	for (size_t i = NFD_ARRAY_SIZE(files); i-- > 0;)
		unlink(below(files[i]));
	for (size_t i = NFD_ARRAY_SIZE(folders); i-- > 0;)
		rmdir(below(folders[i]));
	rmdir(folder);
}

static void make_folder(void)
{
	FUZZ_CHECK(mkdtemp(folder) != NULL);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++)
		FUZZ_CHECK(mkdir(below(folders[i]), 0700) == 0);
	atexit(remove_folder);
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *stream = fopen(below(path), "we");

	FUZZ_CHECK(stream && fwrite(data, 1, size, stream) == size && fclose(stream) == 0);
}

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(memchr(text, '\0', size));
}

static void check(const struct nfd_runtime_config *config)
{
	check_text(config->path, sizeof(config->path));
	check_text(config->nvidia.type, sizeof(config->nvidia.type));
	check_text(config->nvidia.binary, sizeof(config->nvidia.binary));
	check_text(config->default_runtime, sizeof(config->default_runtime));
	check_text(config->misplaced, sizeof(config->misplaced));
	check_text(config->drop_in_newer, sizeof(config->drop_in_newer));
	check_text(config->error, sizeof(config->error));
	FUZZ_CHECK(config->imported_count <= NFD_RUNTIME_DROPINS_MAX);
	FUZZ_CHECK(config->nvidia.is_there == (config->nvidia.path[0] != '\0'));
	FUZZ_CHECK(!config->drop_in_newer[0] || config->drop_in_version > config->version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nfd_root root = { .fd = -1 };
	struct nfd_runtime_config config;

	if (root.fd < 0) {
		make_folder();
		FUZZ_CHECK(nfd_root_open(&root, folder, NULL) == 0);
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(files); i++)
		write_file(files[i], data, size);
	write_file(files[1], importing, strlen(importing));
	nfd_containerd_read(&root, files[0], &config);
	check(&config);
	nfd_containerd_read(&root, files[1], &config);
	check(&config);
	FUZZ_CHECK(config.version == 2);
	nfd_crio_read(&root, &config);
	check(&config);
	nfd_docker_read(&root, &config);
	check(&config);
	return 0;
}
