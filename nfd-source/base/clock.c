// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clock reads and the RFC 3339 text form.
 */
#include "config.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t nfd_clock_monotonic_ms(void)
{
	return clock_ms(CLOCK_BOOTTIME);
}

int64_t nfd_clock_real_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t nfd_clock_real_s(void)
{
	return clock_ms(CLOCK_REALTIME) / 1000;
}

void nfd_format_time(int64_t seconds, char ret[NFD_TIME_TEXT_SIZE])
{
	time_t when = (time_t)seconds;
	struct tm utc = { 0 };

	gmtime_r(&when, &utc);
	if (strftime(ret, NFD_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		ret[0] = '\0';
}

/* The offset behind the time in seconds: "Z", "+02:00", "-05:30". */
static int parse_offset(const char *text, int *ret_seconds)
{
	int hours, minutes, used = 0;

	if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) {
		*ret_seconds = 0;
		return 0;
	}
	if ((text[0] != '+' && text[0] != '-') ||
	    sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || used != 5 ||
	    text[6] != '\0' || hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return -EINVAL;
	*ret_seconds = (hours * 60 + minutes) * 60 * (text[0] == '-' ? -1 : 1);
	return 0;
}

int nfd_parse_time(const char *text, int64_t *ret_seconds)
{
	struct tm utc = { 0 };
	const char *rest;
	int offset;

	/* strptime takes shorter fields than RFC 3339, so the shape is checked first. */
	if (strlen(text) < 20 || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
	    text[16] != ':')
		return -EINVAL;
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
	if (!rest || rest != text + 19)
		return -EINVAL;
	if (*rest == '.') {
		size_t digits = strspn(rest + 1, "0123456789");

		if (digits == 0)
			return -EINVAL;
		rest += 1 + digits;
	}
	if (parse_offset(rest, &offset) < 0)
		return -EINVAL;
	*ret_seconds = (int64_t)timegm(&utc) - offset;
	return 0;
}
