// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Helpers of the targets.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <string.h>

char *fuzz_text(const uint8_t *data, size_t size)
{
	size_t len = size ? strnlen((const char *)data, size) : 0;
	char *text = malloc(len + 1);

	if (!text)
		abort();
	if (len)
		memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

void fuzz_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

const char *fuzz_corpus(const char *program)
{
	static const char prefix[] = "fuzz_";
	static char path[PATH_MAX];
	const char *base = strrchr(program, '/');

	base = base ? base + 1 : program;
	if (strncmp(base, prefix, strlen(prefix)) == 0)
		base += strlen(prefix);
	snprintf(path, sizeof(path), "%s/%s", FUZZ_CORPUS, base);
	return path;
}

#ifdef FUZZ_ENGINE
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Without arguments (make check) the seeds are replayed once; otherwise it would fuzz for ever. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char runs[] = "-runs=0";
	static char *replay[] = { NULL, runs, NULL, NULL };

	if (*argc != 1)
		return 0;
	replay[0] = (*argv)[0];
	replay[2] = (char *)fuzz_corpus((*argv)[0]);
	*argc = 3;
	*argv = replay;
	return 0;
}
#endif
