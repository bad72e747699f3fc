/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long to wait before the next try. Pure: the random number is an argument.
 */
#pragma once

#include <stdint.h>

struct nfd_backoff {
	int64_t first_ms; /* after the first failure */
	int64_t last_ms;  /* no delay is longer, jitter apart */
};

/**
 * nfd_backoff_ms() - delay before the next try: doubles with each failure up to the bound, then 0 to
 * 25 % on top, so that many nodes spread out.
 * @failures: failures in a row, from 1.
 * @asked_ms: delay that the server asked for, 0 for none: never less than it (within the bound).
 * @random:   any number; see nfd_random().
 * Return: milliseconds, at least @backoff->first_ms or @asked_ms.
 */
int64_t nfd_backoff_ms(const struct nfd_backoff *backoff, unsigned int failures, int64_t asked_ms,
		       uint32_t random);

/**
 * nfd_spread_ms() - a time within @ms ± @percent %.
 * @random: any number; see nfd_random().
 */
int64_t nfd_spread_ms(int64_t ms, int percent, uint32_t random);

/**
 * nfd_random() - a random number for jitter (getrandom(2); not for secrets).
 */
uint32_t nfd_random(void);
