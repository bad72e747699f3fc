// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Formats an event into one buffer and writes it with one write(2), so that lines of several
 * processes on one stderr do not mix.
 */
#include "config.h"

#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"

static struct {
	enum nfd_log_format format;
	enum nfd_log_level level;
} sink = { NFD_LOG_TEXT, NFD_LOG_INFO };

static const char *const level_names[] = {
	[NFD_LOG_ERROR] = "error",
	[NFD_LOG_WARNING] = "warning",
	[NFD_LOG_INFO] = "info",
	[NFD_LOG_DEBUG] = "debug",
};

void nfd_log_setup(enum nfd_log_format format, enum nfd_log_level level)
{
	sink.format = format;
	sink.level = level;
}

bool nfd_log_wants(enum nfd_log_level level)
{
	return level <= sink.level;
}

/* A value stays bare when no reader could split it wrongly. */
static bool is_bare(const char *value)
{
	return *value && !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-_./:+,@%")];
}

static void put_field(struct nfd_strbuf *line, const char *name, const char *value)
{
	if (sink.format == NFD_LOG_JSON) {
		nfd_strbuf_puts(line, line->len ? "," : "{");
		nfd_strbuf_put_quoted(line, name);
		nfd_strbuf_puts(line, ":");
		nfd_strbuf_put_quoted(line, value);
		return;
	}
	nfd_strbuf_printf(line, "%s%s=", line->len ? " " : "", name);
	if (is_bare(value))
		nfd_strbuf_puts(line, value);
	else
		nfd_strbuf_put_quoted(line, value);
}

/* In text form the time is left to journald or the container runtime, which both add one. */
static void put_time(struct nfd_strbuf *line)
{
	char text[32];
	struct timespec now;
	struct tm utc;

	if (sink.format != NFD_LOG_JSON || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
	    !gmtime_r(&now.tv_sec, &utc))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	put_field(line, "time", text);
}

/* A reader of stderr that has stopped reading must not stop the scanner: the line is lost instead. */
static bool has_room(void)
{
	struct pollfd stderr_fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&stderr_fd, 1, 0) == 1 && stderr_fd.revents & POLLOUT;
}

void nfd_log(enum nfd_log_level level, const char *message, ...)
{
	cleanup_strbuf struct nfd_strbuf line = { 0 };
	const char *name, *value;
	va_list args;
	ssize_t written;

	if (!nfd_log_wants(level))
		return;
	put_time(&line);
	put_field(&line, "level", level_names[level]);
	put_field(&line, "msg", message);
	va_start(args, message);
	while ((name = va_arg(args, const char *)) != NULL) {
		value = va_arg(args, const char *);
		put_field(&line, name, value ? value : "");
	}
	va_end(args);
	nfd_strbuf_puts(&line, sink.format == NFD_LOG_JSON ? "}\n" : "\n");
	if (line.error || !has_room())
		return;
	written = write(STDERR_FILENO, line.data, line.len);
	(void)written;
}
