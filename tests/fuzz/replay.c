// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main() of a target without libFuzzer: runs it over files. fuzz_NAME without arguments takes the
 * seeds and past crashes in the folder NAME of the corpus; arguments are files or folders.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define SEED_MAX (1024 * 1024)

static int fail(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	return -1;
}

/* Memory of exactly the size of the file, so that a read behind it is found. */
static int run_file(const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "rbe");
	cleanup_free char *room = malloc(SEED_MAX);
	cleanup_free uint8_t *data = NULL;
	size_t size;

	if (!file || !room)
		return fail(path, strerror(errno));
	size = fread(room, 1, SEED_MAX, file);
	if (ferror(file) || size == SEED_MAX)
		return fail(path, "cannot be read, or is no seed");
	data = malloc(size ? size : 1);
	if (!data)
		return fail(path, strerror(errno));
	memcpy(data, room, size);
	LLVMFuzzerTestOneInput(data, size);
	return 1;
}

/* Runs all files of a folder, or a file. Returns how many, -1 on failure. */
static int run_path(const char *path)
{
	cleanup_closedir DIR *dir = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!dir)
		return errno == ENOTDIR ? run_file(path) : fail(path, strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		char name[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (run_file(name) < 0)
			return -1;
		count++;
	}
	return count ? count : fail(path, "no seed in it: this would test nothing");
}

int main(int argc, char **argv)
{
	int total = 0;

	for (int i = 1; i < argc || i == 1; i++) {
		int count = i < argc ? run_path(argv[i]) : run_path(fuzz_corpus(argv[0]));

		if (count < 0)
			return 1;
		total += count;
	}
	printf("%d inputs\n", total);
	return 0;
}
