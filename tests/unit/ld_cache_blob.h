/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the bytes of an ld.so.cache, right or wrong (spec gpu-stack.md 2.3).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LD_CACHE_X86_64 0x0303
#define LD_CACHE_AARCH64 0x0a03
#define LD_CACHE_I386 0x0803

struct ld_cache_entry {
	const char *name, *path; /* a NULL name ends a list */
	uint32_t flags;
};

/**
 * ld_cache_blob() - the file's bytes, living until the end of the test.
 * @entry:       up to the one without a name.
 * @old_entries: number of entries of an old table before it, -1 for no such table.
 * @ret_size:    receives the size.
 */
char *ld_cache_blob(const struct ld_cache_entry *entry, int old_entries, size_t *ret_size);
