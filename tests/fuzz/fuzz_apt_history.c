// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * apt's history: what is found is of the set and moves with the module.
 */
#include "config.h"

#include <string.h>

#include "doctor/packages.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_upgrade upgrade;
	bool coupled = false;

	if (!nfd_packages_find_upgrade(text, &upgrade)) {
		FUZZ_CHECK(!upgrade.package[0] && !upgrade.when[0]);
		return 0;
	}
	FUZZ_CHECK(memchr(upgrade.before, '\0', sizeof(upgrade.before)));
	FUZZ_CHECK(memchr(upgrade.after, '\0', sizeof(upgrade.after)));
	FUZZ_CHECK(memchr(upgrade.when, '\0', sizeof(upgrade.when)));
	FUZZ_CHECK(memchr(upgrade.command, '\0', sizeof(upgrade.command)));
	FUZZ_CHECK(nfd_package_is_driver(upgrade.package, &coupled) && coupled);
	return 0;
}
