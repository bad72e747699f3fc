// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The version line of NVIDIA's driver: a version is a label value with a number first, and there is
 * a flavour with it or neither.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "labels/key.h"
#include "scan/nvidia.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	char version[NFD_NVIDIA_VERSION_SIZE];
	struct nfd_version parts;
	const char *flavor;

	nfd_nvidia_parse_version(text, version, &flavor);
	FUZZ_CHECK(memchr(version, '\0', sizeof(version)));
	FUZZ_CHECK(!version[0] == !flavor);
	if (!version[0])
		return 0;
	FUZZ_CHECK(nfd_label_value_is_valid(version));
	FUZZ_CHECK(nfd_parse_version(version, &parts, NULL) == 0 && parts.part[1][0]);
	/* It comes from line 1. */
	FUZZ_CHECK(strstr(text, version) < text + strcspn(text, "\n"));
	return 0;
}
