// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Header, entries, strings, as glibc's ldconfig lays them out.
 */
#include "config.h"

#include "tests/unit/ld_cache_blob.h"

#include <string.h>

#include "tests/unit/unit.h"

#define OLD_HEADER 16
#define OLD_ENTRY 12
#define NEW_HEADER 48
#define NEW_ENTRY 24
#define ROOM 8192

static void put32(char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint32_t add_string(char *table, uint32_t *end, const char *text)
{
	uint32_t at = *end;

	memcpy(table + at, text, strlen(text) + 1);
	*end += (uint32_t)strlen(text) + 1;
	return at;
}

char *ld_cache_blob(const struct ld_cache_entry *entry, int old_entries, size_t *ret_size)
{
	char *data = unit_bytes(ROOM);
	char *table = data;
	uint32_t count = 0, end;

	if (old_entries >= 0) {
		memcpy(data, "ld.so-1.7.0", 12);
		put32(data + 12, (uint32_t)old_entries);
		table += (OLD_HEADER + old_entries * OLD_ENTRY + 7) / 8 * 8;
	}
	while (entry[count].name)
		count++;
	memcpy(table, "glibc-ld.so.cache1.1", 20);
	put32(table + 20, count);
	end = NEW_HEADER + count * NEW_ENTRY;
	for (uint32_t i = 0; i < count; i++) {
		char *at = table + NEW_HEADER + i * NEW_ENTRY;

		put32(at, entry[i].flags);
		put32(at + 4, add_string(table, &end, entry[i].name));
		put32(at + 8, add_string(table, &end, entry[i].path));
	}
	put32(table + 24, end - NEW_HEADER - count * NEW_ENTRY);
	*ret_size = (size_t)(table - data) + end;
	return data;
}
