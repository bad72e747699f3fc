/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words that go with a failure: one value on the caller's stack, never allocated, untouched
 * on success. Functions return a negative errno; this carries the text for a person.
 */
#pragma once

#include "base/macros.h"

struct nfd_error {
	int code;       /* negative errno, 0 when unset */
	char text[640]; /* one line, no newline, paths and values in quotes */
};

/**
 * nfd_error_set() - note a failure where it is seen.
 * @err:  receives code and text; may be NULL. Overwritten.
 * @code: negative errno.
 * @fmt:  printf text naming the path, key or value; cut at the size of the field.
 * Return: @code, so that callers can write `return nfd_error_set(...)`.
 */
int nfd_error_set(struct nfd_error *err, int code, const char *fmt, ...) nfd_printf_like(3, 4);

/**
 * nfd_error_wrap() - put context before the text that is there ("context: text").
 * @err: may be NULL. The code stays.
 * @fmt: printf text of the context.
 * Return: the code held by @err, 0 when @err is NULL.
 */
int nfd_error_wrap(struct nfd_error *err, const char *fmt, ...) nfd_printf_like(2, 3);

/**
 * nfd_error_text() - text of an error for a person.
 * @err: set or not; borrowed.
 * Return: the text, or the system's text of the code where no text was set. Valid as long as @err.
 */
const char *nfd_error_text(const struct nfd_error *err);

/**
 * nfd_errno_text() - the system's text for a negative errno.
 * @code: negative errno (a positive one is taken as well).
 * Return: static text, never NULL.
 */
const char *nfd_errno_text(int code);
