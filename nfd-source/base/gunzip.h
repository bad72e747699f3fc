/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking of gzip data (RFC 1952) in memory, for the kernel's configuration in proc.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/macros.h"

/**
 * nfd_gunzip() - unpack.
 * @data:    @len bytes: one gzip member or several in a row, nothing behind the last.
 * @max:     greatest size of the result, in bytes.
 * @ret_buf: receives malloc'd memory with a NUL behind the content; owner: caller; untouched on
 *           failure.
 * Return: bytes unpacked (>= 0); -EFBIG over @max; -EBADMSG when the data are no gzip, damaged or cut
 *         off; -ENOMEM.
 */
ssize_t nfd_gunzip(const void *data, size_t len, size_t max, char **ret_buf) nfd_must_check;
