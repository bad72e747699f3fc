/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording must not carry out of a host: serial numbers, MAC addresses, UUIDs.
 */
#pragma once

#include <stddef.h>

/**
 * nfd_mask() - mask a file's content in place; the length stays.
 * @path: below the root; files whose name says that they hold a serial number, an address or a UUID
 *        are masked whole.
 * @data: @len bytes: UUIDs and MAC addresses inside become zeros of the same shape.
 */
void nfd_mask(const char *path, char *data, size_t len);
