/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two clocks in milliseconds and the one text form of a time that others read (RFC 3339, UTC).
 */
#pragma once

#include <stdint.h>

#include "base/macros.h"

#define NFD_TIME_TEXT_SIZE 32

/**
 * nfd_clock_monotonic_ms() - milliseconds of CLOCK_BOOTTIME: goes on during suspend, never jumps.
 */
int64_t nfd_clock_monotonic_ms(void);

/**
 * nfd_clock_real_s() - seconds since 1970 (CLOCK_REALTIME); may jump.
 */
int64_t nfd_clock_real_s(void);

/**
 * nfd_clock_real_ms() - milliseconds since 1970 (CLOCK_REALTIME).
 */
int64_t nfd_clock_real_ms(void);

/**
 * nfd_format_time() - "2026-01-02T03:04:05Z".
 * @seconds: since 1970.
 * @ret:     receives the text.
 */
void nfd_format_time(int64_t seconds, char ret[NFD_TIME_TEXT_SIZE]);

/**
 * nfd_parse_time() - RFC 3339 time, as NFD's expiry directive takes it: Go's time.Parse is no stickler
 * about hours, commas and offsets, but wants "T" and "Z" in upper case.
 * @text:        date "T" time, optional fraction, then "Z" or a numeric offset.
 * @ret_seconds: since 1970; untouched on failure.
 * Return: 0; -EINVAL.
 */
int nfd_parse_time(const char *text, int64_t *ret_seconds) nfd_must_check;
