/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole-string numbers, hexadecimal ids, durations and dotted versions. Nothing here accepts
 * trailing text, signs where none belong, or a value that does not fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define NFD_DURATION_TEXT_SIZE 32

/**
 * nfd_parse_uint() - decimal number.
 * @text:      digits only, 1 to 20 of them.
 * @max:       greatest value taken.
 * @ret_value: untouched on failure.
 * Return: 0; -EINVAL when not a number; -ERANGE when above @max.
 */
int nfd_parse_uint(const char *text, uint64_t max, uint64_t *ret_value) nfd_must_check;

/**
 * nfd_parse_int() - decimal number with or without a sign.
 * @text:      an optional '-' or '+' and digits.
 * @ret_value: untouched on failure.
 * Return: 0; -EINVAL when not a number; -ERANGE when it does not fit.
 */
int nfd_parse_int(const char *text, int64_t *ret_value) nfd_must_check;

/**
 * nfd_parse_hex() - hexadecimal number without sign; one leading "0x" is taken.
 * @text:      1 to 16 digits of either case after the prefix.
 * @max:       greatest value taken.
 * @ret_value: untouched on failure.
 * Return: 0; -EINVAL; -ERANGE when above @max.
 */
int nfd_parse_hex(const char *text, uint64_t max, uint64_t *ret_value) nfd_must_check;

/**
 * nfd_parse_duration() - duration in the form of Kubernetes (Go): "90s", "1h30m", "1.5s", "0".
 * @text:   numbers with unit h, m, s, ms, us or ns; a leading minus makes the whole negative.
 * @ret_ms: milliseconds, rounded down; untouched on failure.
 * Return: 0; -EINVAL; -ERANGE when it is over 292 years.
 */
int nfd_parse_duration(const char *text, int64_t *ret_ms) nfd_must_check;

/**
 * nfd_format_duration() - such a text in the largest unit that needs no fraction ("90s", "250ms").
 * @ms:  milliseconds.
 * @ret: receives the text.
 */
void nfd_format_duration(int64_t ms, char ret[NFD_DURATION_TEXT_SIZE]);

/**
 * struct nfd_version - the numeric parts at the start of a version text.
 * @part: major, minor, revision as decimal text; "" when the text has no such part.
 */
struct nfd_version {
	char part[3][16];
};

/**
 * nfd_parse_version() - split the start of "580.126.09-x" into its numeric parts.
 * @text:     digits, optionally ".digits" up to twice, then any rest.
 * @ret:      untouched on failure.
 * @ret_rest: what follows the parts, points into @text; "" when all was taken. May be NULL.
 * Return: 0; -EINVAL when @text does not begin with a digit or a part is over 15 digits.
 */
int nfd_parse_version(const char *text, struct nfd_version *ret, const char **ret_rest)
	nfd_must_check;

/**
 * nfd_trim() - cut white space (ASCII) off both ends, in place.
 * @text: NUL-terminated, changed.
 * Return: pointer into @text.
 */
char *nfd_trim(char *text);
