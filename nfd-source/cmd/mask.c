// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shapes are found by comparing with a picture of them: 'x' stands for a hexadecimal digit.
 */
#include "config.h"

#include "cmd/mask.h"

#include <stdbool.h>
#include <string.h>

static const char *const shapes[] = {
	"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", /* UUID */
	"xx:xx:xx:xx:xx:xx:xx:xx",              /* GUID, InfiniBand address part */
	"xx:xx:xx:xx:xx:xx",                    /* MAC */
};

static const char *const secret_names[] = {
	"serial",         "serial_number", "product_serial", "board_serial",
	"chassis_serial", "product_uuid",  "uuid",           "unique_id",
	"address",        "node_guid",     "sys_image_guid", "machine-id",
};

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of the shape at @data, 0 when it is not there as a word of its own. */
static size_t match(const char *shape, const char *data, size_t len, bool before_is_hex)
{
	size_t size = strlen(shape);

	if (before_is_hex || len < size || (len > size && is_hex(data[size])))
		return 0;
	for (size_t i = 0; i < size; i++)
		if (shape[i] == 'x' ? !is_hex(data[i]) : data[i] != shape[i])
			return 0;
	return size;
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
		size_t size = 0;

		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && size == 0; i++)
			size = match(shapes[i], data + at, len - at,
				     at > 0 && is_hex(data[at - 1]));
		mask_digits(data + at, size);
		at += size ? size : 1;
	}
}
