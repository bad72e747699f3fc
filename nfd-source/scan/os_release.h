/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * os-release: system-os_release.*, as NFD's system source (spec nfd.md 2.8).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_os_release_scanner;

/**
 * nfd_os_release_value() - value of a key in an os-release file.
 * @text: content of the file, any bytes, NUL-terminated.
 * @key:  such as "VERSION_ID". Of several lines the last one wins, as in NFD.
 * @ret:  receives the value with quotes and backslash escapes undone as os-release(5) says; cut at
 *        @size - 1 bytes.
 * Return: length; 0 when the key is missing or its value empty.
 */
size_t nfd_os_release_value(const char *text, const char *key, char *ret, size_t size);

/**
 * struct nfd_os_version - the parts of a VERSION_ID that NFD tells; "" where the text has none.
 */
struct nfd_os_version {
	char major[64];
	char minor[64];
};

/**
 * nfd_os_release_version() - split a VERSION_ID.
 * @text: "24.04", "12", "3.21.0_alpha20240923": digits, then nothing or a dot and anything. The
 *        second number counts only when nothing or another dot follows it ("24.04rc" has none).
 * @ret:  filled; both parts are "" for a text of another form; a part over 63 digits is cut.
 */
void nfd_os_release_version(const char *text, struct nfd_os_version *ret);
