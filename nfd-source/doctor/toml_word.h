/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of TOML that stand without quotes: booleans, numbers, dates and times (TOML 1.0).
 */
#pragma once

#include <stddef.h>

#include <cjson/cJSON.h>

#define NFD_TOML_WORD_SIZE 64 /* longest one, with its NUL */

/**
 * nfd_toml_word_length() - bytes up to where such a value ends.
 * @text: NUL-terminated.
 */
size_t nfd_toml_word_length(const char *text);

/**
 * nfd_toml_word() - the value of one.
 * @text: shorter than NFD_TOML_WORD_SIZE.
 * @ret:  receives a boolean, a number, or text for dates, times, inf and nan; owner: caller.
 * Return: 0; -EINVAL for what is no value, *@ret untouched; -ENOMEM.
 */
int nfd_toml_word(const char *text, cJSON **ret);
