// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * apt.conf: what is taken has a key and a value, and can be looked up.
 */
#include "config.h"

#include "doctor/apt_config.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_apt_config config = { 0 };

	FUZZ_CHECK(nfd_apt_config_parse(&config, text) == 0);
	FUZZ_CHECK(config.count <= NFD_APT_VALUES_MAX);
	for (size_t i = 0; i < config.count; i++) {
		size_t cursor = 0;

		FUZZ_CHECK(config.value[i].key && config.value[i].value);
		FUZZ_CHECK(nfd_apt_config_next(&config, config.value[i].key, &cursor));
		FUZZ_CHECK(cursor > 0 && cursor <= i + 1);
		FUZZ_CHECK(nfd_apt_config_get(&config, config.value[i].key, NULL));
		/* All pairs of a large input would take too long. */
		if (i == 32)
			break;
	}
	nfd_apt_config_done(&config);
	return 0;
}
