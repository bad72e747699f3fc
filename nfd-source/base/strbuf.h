/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer with a sticky error: callers append freely and check once at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct nfd_strbuf {
	char *data; /* NUL-terminated once anything was appended; NULL before */
	size_t len; /* bytes without the NUL */
	size_t size;
	int error; /* 0 or -ENOMEM; once set, further appends do nothing */
};

#define cleanup_strbuf __attribute__((cleanup(nfd_strbuf_done)))

/**
 * nfd_strbuf_done() - free the memory and reset to the empty state.
 * @buf: initialised with {0}.
 */
void nfd_strbuf_done(struct nfd_strbuf *buf);

/**
 * nfd_strbuf_add() - append bytes.
 * @buf:  receives them; -ENOMEM sticks in @buf->error.
 * @data: @len bytes, may hold NUL.
 */
void nfd_strbuf_add(struct nfd_strbuf *buf, const void *data, size_t len);

/**
 * nfd_strbuf_puts() - append a NUL-terminated text.
 * @buf:  as for nfd_strbuf_add().
 * @text: borrowed.
 */
void nfd_strbuf_puts(struct nfd_strbuf *buf, const char *text);

/**
 * nfd_strbuf_printf() - append formatted text.
 * @buf: as for nfd_strbuf_add().
 */
void nfd_strbuf_printf(struct nfd_strbuf *buf, const char *fmt, ...) nfd_printf_like(2, 3);

/**
 * nfd_strbuf_put_quoted() - append a text as a JSON string, quotes included.
 * @buf:  as for nfd_strbuf_add().
 * @text: any bytes; control bytes become \uXXXX, bytes that are no UTF-8 become U+FFFD, so that the
 *        result is always one line of valid JSON (strings of devices are hostile).
 */
void nfd_strbuf_put_quoted(struct nfd_strbuf *buf, const char *text);

/**
 * nfd_strbuf_put_member() - add a member of a JSON object with a text as value: "NAME":"VALUE", both as
 * nfd_strbuf_put_quoted() adds them.
 */
void nfd_strbuf_put_member(struct nfd_strbuf *buf, const char *name, const char *value);

/**
 * nfd_strbuf_put_utf8() - append a code point, at most 0x10ffff, as UTF-8.
 */
void nfd_strbuf_put_utf8(struct nfd_strbuf *buf, unsigned long code);

/**
 * nfd_strbuf_put_word() - append a text as one word of a shell, for commands that people paste.
 * @text: any bytes; quoted when it holds more than letters, digits and "%+,-./:=@_".
 */
void nfd_strbuf_put_word(struct nfd_strbuf *buf, const char *text);

/**
 * nfd_utf8_length() - length of the UTF-8 sequence that a text begins with.
 * @text: NUL-terminated.
 * Return: 1 to 4 bytes (1 for the closing NUL); 0 when it is not well formed.
 */
size_t nfd_utf8_length(const char *text);

/**
 * nfd_utf8_is_valid() - whether all of a text is well-formed UTF-8.
 */
bool nfd_utf8_is_valid(const char *text);

/**
 * nfd_strbuf_text() - the content as text.
 * Return: never NULL; "" when empty. Valid until the next change.
 */
const char *nfd_strbuf_text(const struct nfd_strbuf *buf);
