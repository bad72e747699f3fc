// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The growing buffer behind every text that we build: feature file, log lines, reports.
 */
#include "config.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nfd_strbuf_done(struct nfd_strbuf *buf)
{
	free(buf->data);
	*buf = (struct nfd_strbuf){ 0 };
}

/* Growth by half keeps the slack small at our sizes. */
static int grow(struct nfd_strbuf *buf, size_t more)
{
	size_t need, size;
	char *data;

	if (buf->error)
		return buf->error;
	if (__builtin_add_overflow(buf->len, more, &need) || need > SIZE_MAX / 4)
		return buf->error = -ENOMEM;
	need++;
	size = buf->size + buf->size / 2;
	if (size < need)
		size = need < 64 ? 64 : need;
	data = realloc(buf->data, size);
	if (!data)
		return buf->error = -ENOMEM;
	buf->data = data;
	buf->size = size;
	return 0;
}

/* Makes room for @more bytes and the NUL. */
static inline int reserve(struct nfd_strbuf *buf, size_t more)
{
	return !buf->error && more < buf->size - buf->len ? 0 : grow(buf, more);
}

void nfd_strbuf_add(struct nfd_strbuf *buf, const void *data, size_t len)
{
	if (reserve(buf, len) < 0)
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void nfd_strbuf_puts(struct nfd_strbuf *buf, const char *text)
{
	nfd_strbuf_add(buf, text, strlen(text));
}

void nfd_strbuf_printf(struct nfd_strbuf *buf, const char *fmt, ...)
{
	size_t room = buf->error ? 0 : buf->size - buf->len;
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(room ? buf->data + buf->len : NULL, room, fmt, args);
	va_end(args);
	if (len < 0)
		buf->error = -EINVAL;
	else if ((size_t)len < room)
		buf->len += (size_t)len;
	else if (reserve(buf, (size_t)len) == 0) {
		vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, again);
		buf->len += (size_t)len;
	} else if (room)
		buf->data[buf->len] = '\0'; /* what found no room is no part of the text */
	va_end(again);
}

size_t nfd_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4;
	else
		return 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and code points past U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

bool nfd_utf8_is_valid(const char *text)
{
	size_t len = 1;

	for (; *text && len > 0; text += len)
		len = nfd_utf8_length(text);
	return len > 0;
}

/* Bytes that stand for themselves in a JSON string: all of ASCII but controls, '"' and '\'. */
static const bool is_plain[256] = {
	[0x20 ... '"' - 1] = true,
	['"' + 1 ... '\\' - 1] = true,
	['\\' + 1 ... 0x7e] = true,
};

/* The number of such bytes at the start of a text. */
static size_t plain_length(const char *text)
{
	size_t len = 0;

	while (is_plain[(unsigned char)text[len]])
		len++;
	return len;
}

static void put_escaped(struct nfd_strbuf *buf, const char *text)
{
	while (*text) {
		size_t len = nfd_utf8_length(text);

		if (len == 0) {
			nfd_strbuf_puts(buf, "\xef\xbf\xbd");
			len = 1;
		} else if (*text == '"' || *text == '\\') {
			nfd_strbuf_printf(buf, "\\%c", *text);
		} else if (len == 1) {
			nfd_strbuf_printf(buf, "\\u%04x", (unsigned int)*text);
		} else {
			nfd_strbuf_add(buf, text, len);
		}
		text += len;
		len = plain_length(text);
		nfd_strbuf_add(buf, text, len);
		text += len;
	}
}

void nfd_strbuf_put_quoted(struct nfd_strbuf *buf, const char *text)
{
	size_t len = plain_length(text);
	char *end;

	/* Nearly all texts are plain, and there may be thousands. */
	if (reserve(buf, len + 2) < 0)
		return;
	end = buf->data + buf->len;
	*end = '"';
	memcpy(end + 1, text, len);
	buf->len += len + 1;
	if (text[len])
		put_escaped(buf, text + len);
	nfd_strbuf_add(buf, "\"", 1);
}

void nfd_strbuf_put_member(struct nfd_strbuf *buf, const char *name, const char *value)
{
	size_t name_len = plain_length(name), value_len = plain_length(value);
	char *end;

	if (name[name_len] || value[value_len]) {
		nfd_strbuf_put_quoted(buf, name);
		nfd_strbuf_add(buf, ":", 1);
		nfd_strbuf_put_quoted(buf, value);
		return;
	}
	/* Nearly all are plain: what is reserved at once needs no look at each piece. */
	if (reserve(buf, name_len + value_len + 5) < 0)
		return;
	end = buf->data + buf->len;
	*end++ = '"';
	end = mempcpy(end, name, name_len);
	end = mempcpy(end, "\":\"", 3);
	end = mempcpy(end, value, value_len);
	*end++ = '"';
	*end = '\0';
	buf->len += name_len + value_len + 5;
}

void nfd_strbuf_put_utf8(struct nfd_strbuf *buf, unsigned long code)
{
	char bytes[4];
	size_t len = 0;

	if (code < 0x80) {
		bytes[len++] = (char)code;
	} else if (code < 0x800) {
		bytes[len++] = (char)(0xc0 | code >> 6);
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		bytes[len++] = (char)(0xe0 | code >> 12);
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	} else {
		bytes[len++] = (char)(0xf0 | code >> 18);
		bytes[len++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	}
	nfd_strbuf_add(buf, bytes, len);
}

void nfd_strbuf_put_word(struct nfd_strbuf *buf, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";

	if (*text && text[strspn(text, plain)] == '\0') {
		nfd_strbuf_puts(buf, text);
		return;
	}
	nfd_strbuf_puts(buf, "'");
	for (; *text; text++)
		if (*text == '\'')
			nfd_strbuf_puts(buf, "'\\''");
		else
			nfd_strbuf_add(buf, text, 1);
	nfd_strbuf_puts(buf, "'");
}

const char *nfd_strbuf_text(const struct nfd_strbuf *buf)
{
	return buf->data ? buf->data : "";
}
