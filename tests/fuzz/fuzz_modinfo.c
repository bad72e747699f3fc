// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel module: the version is a text that stands in the file, or empty.
 */
#include "config.h"

#include <string.h>

#include "doctor/disk_module.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char none[] = "";
	char version[NFD_NVIDIA_VERSION_SIZE];
	size_t len;

	memset(version, 'x', sizeof(version));
	nfd_modinfo_version(size ? (const char *)data : none, size, version);
	len = strnlen(version, sizeof(version));
	FUZZ_CHECK(len < sizeof(version));
	FUZZ_CHECK(len == 0 || memmem(data, size, version, len));
	return 0;
}
