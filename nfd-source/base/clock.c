// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clock reads and the RFC 3339 text form.
 */
#include "config.h"

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
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

/* Exactly @count digits at *@text as a number, which moves behind them; -1 when there are fewer. */
static int take_digits(const char **text, size_t count)
{
	int value = 0;

	for (size_t i = 0; i < count; i++) {
		char c = (*text)[i];

		if (c < '0' || c > '9')
			return -1;
		value = value * 10 + (c - '0');
	}
	*text += count;
	return value;
}

/* Digits up to @max, and one byte behind them unless @end is 0. */
static bool take_field(const char **text, size_t count, int max, char end, int *ret)
{
	*ret = take_digits(text, count);
	if (*ret < 0 || *ret > max)
		return false;
	if (end && *(*text)++ != end)
		return false;
	return true;
}

/* The offset behind the time in seconds: "Z", "+02:00", "-05:30". */
static bool take_offset(const char *text, int *ret_seconds)
{
	int hours, minutes, sign = *text == '-' ? -1 : 1;

	*ret_seconds = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if (*text != '+' && *text != '-')
		return false;
	text++;
	if (!take_field(&text, 2, 24, ':', &hours) || !take_field(&text, 2, 60, 0, &minutes))
		return false;
	*ret_seconds = (hours * 60 + minutes) * 60 * sign;
	return *text == '\0';
}

/* Go takes an hour of one digit too. */
static bool take_hour(const char **text, int *ret)
{
	return take_field(text, **text && (*text)[1] == ':' ? 1 : 2, 23, ':', ret);
}

static bool take_date_and_time(const char **text, struct tm *ret)
{
	if (!take_field(text, 4, 9999, '-', &ret->tm_year) ||
	    !take_field(text, 2, 12, '-', &ret->tm_mon) ||
	    !take_field(text, 2, 31, 'T', &ret->tm_mday))
		return false;
	ret->tm_year -= 1900;
	ret->tm_mon -= 1;
	return take_hour(text, &ret->tm_hour) && take_field(text, 2, 59, ':', &ret->tm_min) &&
	       take_field(text, 2, 59, 0, &ret->tm_sec);
}

int nfd_parse_time(const char *text, int64_t *ret_seconds)
{
	struct tm utc = { 0 };
	struct tm given;
	time_t when;
	int offset;

	if (!take_date_and_time(&text, &utc))
		return -EINVAL;
	if (*text == '.' || *text == ',') {
		size_t digits = strspn(text + 1, "0123456789");

		if (digits == 0)
			return -EINVAL;
		text += 1 + digits;
	}
	if (!take_offset(text, &offset))
		return -EINVAL;
	/* A day that the month does not have would silently become one of the next. */
	given = utc;
	when = timegm(&utc);
	if (utc.tm_mday != given.tm_mday || utc.tm_mon != given.tm_mon)
		return -EINVAL;
	*ret_seconds = (int64_t)when - offset;
	return 0;
}
