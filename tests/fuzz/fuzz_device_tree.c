// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Device-tree properties: the input is proc/device-tree/compatible of a root that lives as long as
 * the process. Whatever is in it, the only label is gpu-tegra.present=true, and only with the name.
 */
#include "config.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "scan/platform_gpu.h"
#include "tests/fuzz/fuzz.h"

#define COMPATIBLE "proc/device-tree/compatible"

static char path[PATH_MAX];
static struct nfd_root root;

static int remove_entry(const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(name);
}

static void remove_root(void)
{
	nfd_root_close(&root);
	nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_root(void)
{
	const char *dir = secure_getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/nfd-source-fuzz-XXXXXX", dir && *dir ? dir : "/tmp");
	FUZZ_CHECK(mkdtemp(path) && nfd_root_open(&root, path, NULL) == 0);
	FUZZ_CHECK(atexit(remove_root) == 0);
	FUZZ_CHECK(mkdirat(root.fd, "proc", 0700) == 0);
	FUZZ_CHECK(mkdirat(root.fd, "proc/device-tree", 0700) == 0);
}

static void write_input(const uint8_t *data, size_t size)
{
	cleanup_close int fd =
		openat(root.fd, COMPATIBLE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfd_scan scan = { .root = &root };
	static const char name[] = "nvidia,tegra";

	if (!root.path)
		make_root();
	write_input(data, size);
	nfd_platform_gpu_scanner.run(&scan);
	FUZZ_CHECK(scan.error == 0 && scan.labels.count <= 1);
	if (scan.labels.count == 1) {
		FUZZ_CHECK(strcmp(scan.labels.label[0].key, NFD_F "gpu-tegra.present") == 0);
		FUZZ_CHECK(memmem(data, size, name, strlen(name)));
	}
	nfd_set_done(&scan.labels);
	nfd_unknowns_done(&scan.unknowns);
	return 0;
}
