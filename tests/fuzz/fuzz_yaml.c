// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The YAML reader with a visitor that descends everywhere it may, up to a number of keys.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "settings_yaml.h"
#include "tests/fuzz/fuzz.h"

#define KEYS_MAX 1000

static int visit(void *cookie, const struct nfd_yaml_item *item, struct nfd_error *err)
{
	int *keys = cookie;

	FUZZ_CHECK(item->key && item->line >= 1 && item->column >= 1);
	FUZZ_CHECK(item->count <= NFD_YAML_VALUES_MAX);
	FUZZ_CHECK(!item->is_mapping || item->count == 0);
	for (size_t i = 0; i < item->count; i++)
		FUZZ_CHECK(item->value[i] && strlen(item->value[i]) < SIZE_MAX);
	if (++*keys > KEYS_MAX)
		return nfd_error_set(err, -E2BIG, "enough");
	return NFD_YAML_DESCEND;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfd_error err = { 0 };
	int keys = 0;
	int r = nfd_yaml_parse((const char *)data, size, "file", visit, &keys, &err);

	FUZZ_CHECK(r <= 0 && (r == 0) == (err.code == 0));
	FUZZ_CHECK(r == 0 || strncmp(err.text, "file:", 5) == 0 || r == -ENOMEM);
	return 0;
}
