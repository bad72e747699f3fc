// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UUIDs are found by a picture ('x' is a hexadecimal digit), addresses as runs of pairs.
 */
#include "config.h"

#include "cmd/mask.h"

#include <stdbool.h>
#include <string.h>

static const char uuid[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/* Least pairs "xx:" of a hardware address: MAC 6, GUID 8, InfiniBand 20. */
#define PAIRS_MIN 6

static const char *const secret_names[] = {
	"serial",         "serial_number", "product_serial",  "board_serial",      "chassis_serial",
	"product_uuid",   "uuid",          "unique_id",       "address",           "node_guid",
	"sys_image_guid", "machine-id",    "board_asset_tag", "chassis_asset_tag",
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of the shape at @data, 0 when it is not there as a word of its own. */
static size_t match_uuid(const char *data, size_t len)
{
	size_t size = sizeof(uuid) - 1;

	if (len < size || (len > size && is_hex(data[size])))
		return 0;
	for (size_t i = 0; i < size; i++)
		if (uuid[i] == 'x' ? !is_hex(data[i]) : data[i] != uuid[i])
			return 0;
	return size;
}

/* Length of the pairs of digits joined by colons at @data, 0 when they are too few. */
static size_t match_pairs(const char *data, size_t len)
{
	size_t pairs = 0, at = 0;

	while (at + 2 <= len && is_hex(data[at]) && is_hex(data[at + 1]) &&
	       (at + 2 == len || !is_hex(data[at + 2]))) {
		pairs++;
		at += 2;
		if (at == len || data[at] != ':')
			break;
		at++;
	}
	return pairs < PAIRS_MIN ? 0 : at;
}

static void mask_digits(char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (is_hex(data[i]))
			data[i] = '0';
}

static bool is_secret(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(secret_names) / sizeof(secret_names[0]); i++)
		if (strcmp(base, secret_names[i]) == 0)
			return true;
	return false;
}

void nfd_mask(const char *path, char *data, size_t len)
{
	size_t at = 0;

	if (is_secret(path)) {
		for (size_t i = 0; i < len; i++)
			if (data[i] > ' ')
				data[i] = 'X';
		return;
	}
	while (at < len) {
		bool inside = at > 0 && is_hex(data[at - 1]);
		size_t size = inside ? 0 : match_uuid(data + at, len - at);

		if (size == 0 && !inside)
			size = match_pairs(data + at, len - at);
		mask_digits(data + at, size);
		at += size ? size : 1;
	}
}
