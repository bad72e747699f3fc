/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of glibc's etc/ld.so.cache (spec gpu-stack.md 2.3). Every offset is hostile.
 */
#pragma once

#include <stddef.h>

/**
 * nfd_ld_cache_visitor - told of each 64-bit library whose name begins with the wanted prefix.
 * @path: absolute path as the cache has it, NUL-terminated, valid during the call.
 */
typedef void nfd_ld_cache_visitor(void *cookie, const char *path);

/**
 * nfd_ld_cache_find() - walk the entries of a cache.
 * @data:    @size bytes of the file.
 * @prefix:  beginning of the library name, such as "libnvidia-ml.so".
 * @visitor: called in the order of the cache.
 * Return: number of entries visited; -EBADMSG when this is no cache of a known form.
 */
int nfd_ld_cache_find(const char *data, size_t size, const char *prefix,
		      nfd_ld_cache_visitor *visitor, void *cookie);
