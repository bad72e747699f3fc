// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Six bits a digit; bits that are left over at the end must be zero.
 */
#include "config.h"

#include "base/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* What may follow the last digit. */
static bool is_end(const char *text)
{
	size_t padding = 0;

	for (; *text; text++) {
		if (*text == '=')
			padding++;
		else if (!strchr(" \t\r\n", *text))
			return false;
	}
	return padding <= 2;
}

int nfd_base64_decode(const char *text, char **ret, size_t *ret_len)
{
	cleanup_free char *bytes = malloc(strlen(text) / 4 * 3 + 4);
	unsigned int held = 0, bits = 0;
	size_t len = 0, count = 0;

	if (!bytes)
		return -ENOMEM;
	for (; *text && *text != '='; text++) {
		const char *digit;

		if (strchr(" \t\r\n", *text))
			continue;
		digit = strchr(digits, *text);
		if (!digit)
			return -EINVAL;
		held = (held << 6 | (unsigned int)(digit - digits)) & 0xfff;
		bits += 6;
		count++;
		if (bits >= 8) {
			bits -= 8;
			bytes[len++] = (char)(held >> bits & 0xff);
		}
	}
	if (!is_end(text) || count % 4 == 1 || (held & ((1U << bits) - 1)))
		return -EINVAL;
	bytes[len] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_len = len;
	return 0;
}
