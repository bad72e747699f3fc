// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exponential backoff with additive jitter: never earlier than what the server asked for.
 */
#include "config.h"

#include "base/backoff.h"

#include <sys/random.h>
#include <time.h>

#include "base/macros.h"

/* @random as a share of @range_ms. */
static int64_t share(int64_t range_ms, uint32_t random)
{
	return (int64_t)((double)range_ms * ((double)random / UINT32_MAX));
}

int64_t nfd_backoff_ms(const struct nfd_backoff *backoff, unsigned int failures, int64_t asked_ms,
		       uint32_t random)
{
	int64_t delay_ms = backoff->first_ms;

	while (failures-- > 1 && delay_ms < backoff->last_ms)
		delay_ms *= 2;
	if (delay_ms < asked_ms)
		delay_ms = asked_ms;
	delay_ms = nfd_min64(delay_ms, backoff->last_ms);
	return delay_ms + share(delay_ms / 4, random);
}

int64_t nfd_spread_ms(int64_t ms, int percent, uint32_t random)
{
	int64_t range_ms = ms / 100 * percent + ms % 100 * percent / 100;

	return ms - range_ms + share(2 * range_ms, random);
}

uint32_t nfd_random(void)
{
	uint32_t random;

	/* Before the kernel's pool is ready a clock is random enough. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		random = (uint32_t)now.tv_nsec * UINT32_C(2654435761);
	}
	return random;
}
