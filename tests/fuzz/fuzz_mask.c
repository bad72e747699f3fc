// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mask of recordings: length and shape stay, no MAC address or UUID is left, a second pass
 * changes nothing. The input's first byte chooses the path.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "cmd/mask.h"
#include "tests/fuzz/fuzz.h"

static const char *const paths[] = { "proc/x", "sys/bus/usb/devices/1-1/serial" };

static bool is_hex(uint8_t c)
{
	return c && strchr("0123456789abcdefABCDEF", c) != NULL;
}

/* A MAC address at @data that stands alone: 17 bytes, neither end next to another digit. */
static bool is_mac(const char *data, size_t at, size_t size)
{
	if (size - at < 17 || (at && is_hex((uint8_t)data[at - 1])) ||
	    (size - at > 17 && is_hex((uint8_t)data[at + 17])))
		return false;
	for (size_t i = 0; i < 17; i++)
		if (i % 3 == 2 ? data[at + i] != ':' : !is_hex((uint8_t)data[at + i]))
			return false;
	return true;
}

static void check_shape(const uint8_t *before, const char *after, size_t size)
{
	for (size_t i = 0; i < size; i++)
		FUZZ_CHECK((uint8_t)after[i] == before[i] ||
			   (is_hex(before[i]) && after[i] == '0'));
	for (size_t at = 0; at < size; at++)
		if (is_mac(after, at, size))
			FUZZ_CHECK(memcmp(after + at, "00:00:00:00:00:00", 17) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *copy = NULL;
	cleanup_free char *again = NULL;
	size_t at;

	if (size < 1)
		return 0;
	at = data[0] % NFD_ARRAY_SIZE(paths);
	data++;
	size--;
	copy = malloc(size ? size : 1);
	again = malloc(size ? size : 1);
	FUZZ_CHECK(copy && again);
	memcpy(copy, data, size);
	nfd_mask(paths[at], copy, size);
	if (at == 0)
		check_shape(data, copy, size);
	memcpy(again, copy, size);
	nfd_mask(paths[at], again, size);
	FUZZ_CHECK(memcmp(copy, again, size) == 0);
	return 0;
}
