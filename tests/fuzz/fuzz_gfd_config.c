// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gpu-feature-discovery's configuration file: legal names and numbers, or an error that names the file and
 * leaves nothing behind.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "scan/gfd_config.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfd_error err = { 0 };
	struct nfd_gfd_config config;
	int r = nfd_gfd_config_parse((const char *)data, size, "file", &config, &err);

	FUZZ_CHECK(r == 0 || r == -EINVAL || r == -E2BIG);
	FUZZ_CHECK(r == 0 || strncmp(err.text, "file:", 5) == 0);
	FUZZ_CHECK(r == 0 || (config.count == 0 && config.mig_strategy == NFD_MIG_FROM_FILE));
	FUZZ_CHECK(config.count <= NFD_GFD_RESOURCES_MAX);
	FUZZ_CHECK((config.count == 0) == (strcmp(config.sharing, "none") == 0));
	for (size_t i = 0; i < config.count; i++) {
		FUZZ_CHECK(nfd_label_key_check(config.resource[i].name, NULL) == 0);
		FUZZ_CHECK(config.resource[i].replicas >= 2);
		FUZZ_CHECK(nfd_gfd_config_find(&config, config.resource[i].name));
	}
	return 0;
}
