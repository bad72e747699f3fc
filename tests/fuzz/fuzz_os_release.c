// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * os-release: values in a large and in a tiny buffer.
 */
#include "config.h"

#include <string.h>

#include "scan/os_release.h"
#include "tests/fuzz/fuzz.h"

static void read_into(const char *text, const char *key, size_t size)
{
	cleanup_free char *value = malloc(size);
	size_t len;

	FUZZ_CHECK(value);
	len = nfd_os_release_value(text, key, value, size);
	FUZZ_CHECK(len < size && len == strlen(value));
	FUZZ_CHECK(!strchr(value, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "ID", "VERSION_ID" };
	cleanup_free char *text = fuzz_text(data, size);

	for (size_t i = 0; i < NFD_ARRAY_SIZE(keys); i++) {
		read_into(text, keys[i], 256);
		read_into(text, keys[i], 4);
		read_into(text, keys[i], 1);
	}
	return 0;
}
