// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file holds an optional old table, then the new one: a 48-byte header and 24-byte entries with
 * string offsets from the start of the new header. Native byte order.
 */
#include "config.h"

#include "scan/ld_cache.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define OLD_HEADER 16 /* magic with its NUL, u32 count */
#define OLD_ENTRY 12
#define NEW_HEADER 48
#define NEW_ENTRY 24

/* Flags of 64-bit libraries: x86-64 and aarch64. */
static int is_64_bit(uint32_t flags)
{
	return flags == 0x0303 || flags == 0x0a03;
}

static uint32_t get32(const char *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

/* Start of the new table, or NULL. */
static const char *new_table(const char *data, size_t size, size_t *ret_size)
{
	size_t at = 0;

	if (size >= OLD_HEADER && memcmp(data, OLD_MAGIC, sizeof(OLD_MAGIC)) == 0) {
		uint32_t count = get32(data + 12);

		if (count > (size - OLD_HEADER) / OLD_ENTRY)
			return NULL;
		at = (OLD_HEADER + (size_t)count * OLD_ENTRY + 7) & ~(size_t)7;
	}
	if (at > size || size - at < NEW_HEADER ||
	    memcmp(data + at, NEW_MAGIC, sizeof(NEW_MAGIC) - 1) != 0)
		return NULL;
	*ret_size = size - at;
	return data + at;
}

/* The string at an offset, NULL when it does not end inside the table. */
static const char *string_at(const char *table, size_t size, uint32_t offset)
{
	if (offset >= size || !memchr(table + offset, '\0', size - offset))
		return NULL;
	return table + offset;
}

int nfd_ld_cache_find(const char *data, size_t size, const char *prefix,
		      nfd_ld_cache_visitor *visitor, void *cookie)
{
	const char *table = new_table(data, size, &size);
	size_t prefix_len = strlen(prefix);
	uint32_t count;
	int found = 0;

	if (!table)
		return -EBADMSG;
	count = get32(table + 20);
	if (count > (size - NEW_HEADER) / NEW_ENTRY)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		const char *entry = table + NEW_HEADER + (size_t)i * NEW_ENTRY;
		const char *name = string_at(table, size, get32(entry + 4));
		const char *path = string_at(table, size, get32(entry + 8));

		if (!name || !path || !is_64_bit(get32(entry)) ||
		    strncmp(name, prefix, prefix_len) != 0)
			continue;
		visitor(cookie, path);
		found++;
	}
	return found;
}
