// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ld.so.cache: every path that is handed out is a text inside the file.
 */
#include "config.h"

#include <string.h>

#include "scan/ld_cache.h"
#include "tests/fuzz/fuzz.h"

struct file {
	const char *data;
	size_t size;
	int visited;
};

static void visit(void *cookie, const char *path)
{
	struct file *file = cookie;

	FUZZ_CHECK(path >= file->data && path < file->data + file->size);
	FUZZ_CHECK(path + strlen(path) < file->data + file->size);
	file->visited++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const prefixes[] = { "libnvidia-ml.so", "libcuda.so", "" };
	struct file file = { .data = (const char *)data, .size = size };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(prefixes); i++) {
		int found;

		file.visited = 0;
		found = nfd_ld_cache_find(file.data, size, prefixes[i], visit, &file);
		FUZZ_CHECK(found < 0 ? file.visited == 0 : found == file.visited);
	}
	return 0;
}
