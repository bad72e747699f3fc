/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TOML 1.0, read only, as a cJSON tree. For the configurations of containerd, CRI-O and dnf 5: no C
 * library for TOML is packaged where we run. Input is hostile: bounded in size, depth and number.
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/error.h"

/**
 * nfd_toml_parse() - parse a whole document.
 * @text: NUL-terminated.
 * @name: of the file, for messages.
 * @ret:  receives the tree: tables and inline tables as objects, arrays and arrays of tables as
 *        arrays, strings as text, booleans; numbers as numbers; dates, times, inf and nan as text. Owner:
 *        caller, cJSON_Delete().
 * @err:  "name:line: what is wrong"; may be NULL.
 * Return: 0; -EINVAL for what is no TOML (also a key or a table that is set twice, bytes that are no
 *         UTF-8); -E2BIG over 20,000 values or
 *         32 levels; -ENOMEM.
 */
int nfd_toml_parse(const char *text, const char *name, cJSON **ret, struct nfd_error *err)
	nfd_must_check;
