// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Base64 of a kubeconfig: never more bytes than the text can hold, and the same again without blanks.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	cleanup_free char *bytes = NULL;
	cleanup_free char *again = NULL;
	size_t len = 0, again_len = 0, kept = 0;
	int r = nfd_base64_decode(text, &bytes, &len);

	FUZZ_CHECK(r == 0 || r == -EINVAL);
	FUZZ_CHECK((r == 0) == (bytes != NULL));
	FUZZ_CHECK(len <= strlen(text) / 4 * 3 + 2);
	if (r < 0)
		return 0;
	FUZZ_CHECK(bytes[len] == '\0');
	for (size_t i = 0; text[i]; i++)
		if (!strchr(" \t\r\n=", text[i]))
			text[kept++] = text[i];
	text[kept] = '\0';
	FUZZ_CHECK(nfd_base64_decode(text, &again, &again_len) == 0);
	FUZZ_CHECK(again_len == len && memcmp(again, bytes, len) == 0);
	return 0;
}
