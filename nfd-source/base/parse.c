// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text to number, and back for durations. Locale plays no part: no strtod, no isdigit.
 */
#include "config.h"

#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static int parse_digits(const char *text, unsigned int base, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;
	unsigned int digit;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		digit = (unsigned int)digit_value(*text);
		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return -ERANGE;
	}
	if (value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int nfd_parse_uint(const char *text, uint64_t max, uint64_t *ret_value)
{
	return parse_digits(text, 10, max, ret_value);
}

int nfd_parse_int(const char *text, int64_t *ret_value)
{
	bool is_negative = *text == '-';
	uint64_t value;
	int r;

	if (*text == '-' || *text == '+')
		text++;
	r = parse_digits(text, 10, (uint64_t)INT64_MAX + is_negative, &value);
	if (r < 0)
		return r;
	*ret_value = is_negative ? (int64_t)-value : (int64_t)value;
	return 0;
}

int nfd_parse_hex(const char *text, uint64_t max, uint64_t *ret_value)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	return parse_digits(text, 16, max, ret_value);
}

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	/* Longer names first: "ms" is no minute. */
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
	{ "h", INT64_C(3600000000000) },
	{ "m", INT64_C(60000000000) },
	{ "s", 1000000000 },
};

/* Adds @count units to the sum. */
static int add_units(int64_t count, int64_t unit_ns, int64_t *total_ns)
{
	int64_t ns;

	if (__builtin_mul_overflow(count, unit_ns, &ns) ||
	    __builtin_add_overflow(*total_ns, ns, total_ns))
		return -ERANGE;
	return 0;
}

/* One "number unit" item at *@text; the fraction counts to nine places. */
static int parse_duration_item(const char **text, int64_t *total_ns)
{
	const char *p = *text;
	int64_t whole = 0, fraction = 0, scale = 1;
	int digits = 0;
	size_t i;

	for (; *p >= '0' && *p <= '9'; p++, digits++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *p - '0', &whole))
			return -ERANGE;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, digits++) {
			if (scale >= 1000000000)
				continue;
			fraction = fraction * 10 + (*p - '0');
			scale *= 10;
		}
	}
	if (digits == 0)
		return -EINVAL;
	for (i = 0; i < NFD_ARRAY_SIZE(units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(p, units[i].name, len) != 0)
			continue;
		fraction = (int64_t)((double)fraction / (double)scale * (double)units[i].ns);
		if (__builtin_add_overflow(*total_ns, fraction, total_ns))
			return -ERANGE;
		*text = p + len;
		return add_units(whole, units[i].ns, total_ns);
	}
	return -EINVAL;
}

int nfd_parse_duration(const char *text, int64_t *ret_ms)
{
	bool negative = *text == '-';
	int64_t total_ns = 0;
	int r;

	if (*text == '-' || *text == '+')
		text++;
	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return 0;
	}
	if (!*text)
		return -EINVAL;
	while (*text) {
		r = parse_duration_item(&text, &total_ns);
		if (r < 0)
			return r;
	}
	total_ns /= 1000000;
	*ret_ms = negative ? -total_ns : total_ns;
	return 0;
}

void nfd_format_duration(int64_t ms, char ret[NFD_DURATION_TEXT_SIZE])
{
	static const struct {
		const char *unit;
		int64_t ms;
	} steps[] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };
	size_t i = ms == 0 ? 2 : 0;

	while (ms % steps[i].ms != 0)
		i++;
	snprintf(ret, NFD_DURATION_TEXT_SIZE, "%" PRId64 "%s", ms / steps[i].ms, steps[i].unit);
}

int nfd_parse_version(const char *text, struct nfd_version *ret, const char **ret_rest)
{
	struct nfd_version version = { 0 };
	size_t i;

	for (i = 0; i < NFD_ARRAY_SIZE(version.part); i++) {
		size_t len = strspn(text, "0123456789");

		if (len == 0 || len >= sizeof(version.part[i]))
			return -EINVAL;
		memcpy(version.part[i], text, len);
		text += len;
		if (text[0] != '.' || text[1] < '0' || text[1] > '9' || i == 2)
			break;
		text++;
	}
	*ret = version;
	if (ret_rest)
		*ret_rest = text;
	return 0;
}

char *nfd_trim(char *text)
{
	static const char blank[] = " \t\r\n\v\f";
	size_t len;

	text += strspn(text, blank);
	len = strlen(text);
	while (len > 0 && strchr(blank, text[len - 1]))
		text[--len] = '\0';
	return text;
}
