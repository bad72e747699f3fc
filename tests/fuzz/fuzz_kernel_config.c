// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel configurations: names are words, values are of one line and without quotes at their ends.
 */
#include "config.h"

#include <string.h>

#include "scan/kernel_config.h"
#include "tests/fuzz/fuzz.h"

static void check_option(const struct nfd_kernel_option *option)
{
	size_t len = strlen(option->value);

	FUZZ_CHECK(option->name[0] != '\0');
	FUZZ_CHECK(!strpbrk(option->name, "=\n \"-./"));
	FUZZ_CHECK(!strchr(option->value, '\n'));
	FUZZ_CHECK(len == 0 || (option->value[0] != '"' && option->value[len - 1] != '"'));
	FUZZ_CHECK(!option->is_enabled || len == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free struct nfd_kernel_option *option = NULL;
	cleanup_free char *text = fuzz_text(data, size);
	ssize_t count = nfd_kernel_config_parse(text, &option);

	FUZZ_CHECK(count >= 0 && (size_t)count <= size / strlen("CONFIG_A="));
	for (ssize_t i = 0; i < count; i++) {
		check_option(&option[i]);
		FUZZ_CHECK(i == 0 || option[i].name > option[i - 1].name);
	}
	return 0;
}
