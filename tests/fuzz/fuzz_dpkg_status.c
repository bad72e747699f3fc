// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dpkg's database: only packages of the set, with name and version, not more than fit.
 */
#include "config.h"

#include <string.h>

#include "doctor/packages.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_packages packages = { 0 };

	nfd_packages_parse(text, &packages);
	FUZZ_CHECK(packages.count <= NFD_PACKAGES_MAX);
	for (size_t i = 0; i < packages.count; i++) {
		const struct nfd_package *package = &packages.package[i];

		FUZZ_CHECK(memchr(package->name, '\0', sizeof(package->name)));
		FUZZ_CHECK(memchr(package->version, '\0', sizeof(package->version)));
		FUZZ_CHECK(package->name[0] && !strchr(package->name, '\n'));
	}
	return 0;
}
