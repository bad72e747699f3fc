// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gzip data: the result is no longer than allowed, and is text up to its length.
 */
#include "config.h"

#include <errno.h>

#include "base/gunzip.h"
#include "tests/fuzz/fuzz.h"

#define MAX 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = NULL;
	ssize_t len = nfd_gunzip(data, size, MAX, &text);

	FUZZ_CHECK(len <= MAX);
	FUZZ_CHECK(len >= 0 || len == -EFBIG || len == -EBADMSG);
	FUZZ_CHECK((len >= 0) == (text != NULL));
	FUZZ_CHECK(!text || text[len] == '\0');
	return 0;
}
