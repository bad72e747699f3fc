// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Error texts: set once where the failure is seen, wrapped at most once per module border.
 */
#include "config.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int nfd_error_set(struct nfd_error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return code;
}

int nfd_error_wrap(struct nfd_error *err, const char *fmt, ...)
{
	char context[256];
	char text[sizeof(err->text)];
	va_list args;

	if (!err)
		return 0;
	va_start(args, fmt);
	vsnprintf(context, sizeof(context), fmt, args);
	va_end(args);
	memcpy(text, err->text, sizeof(text));
	/* A full text loses its tail, never its context. */
	snprintf(err->text, sizeof(err->text), "%s: %.*s", context,
		 (int)(sizeof(err->text) - strlen(context) - 3), text);
	return err->code;
}

const char *nfd_error_text(const struct nfd_error *err)
{
	return err->text[0] ? err->text : nfd_errno_text(err->code);
}

const char *nfd_errno_text(int code)
{
	return strerror(code < 0 ? -code : code);
}
