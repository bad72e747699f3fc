// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zlib around a growing buffer. What comes out is bounded, whatever the data promise.
 */
#include "config.h"

#include "base/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* zlib's largest window, and its number for "gzip, nothing else". */
#define WINDOW_BITS (15 + 16)
#define FIRST_SIZE 65536

static int errno_of(int code)
{
	return code == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

/* Unpacks until the buffer is full or the data end. Returns 1 at their end, 0 when full. */
static int inflate_some(z_stream *stream)
{
	while (stream->avail_out > 0) {
		int code = inflate(stream, Z_NO_FLUSH);

		if (code != Z_OK && code != Z_STREAM_END)
			return errno_of(code);
		if (code == Z_OK)
			continue;
		if (stream->avail_in == 0)
			return 1;
		code = inflateReset(stream); /* another member follows */
		if (code != Z_OK)
			return errno_of(code);
	}
	return 0;
}

static ssize_t inflate_all(z_stream *stream, size_t max, char **ret_buf)
{
	cleanup_free char *buf = NULL;
	size_t size = FIRST_SIZE, len = 0;
	int r;

	do {
		char *bigger = realloc(buf, size + 1);

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		stream->next_out = (Bytef *)buf + len;
		stream->avail_out = (uInt)(size - len);
		r = inflate_some(stream);
		if (r < 0)
			return r;
		len = size - stream->avail_out;
		if (len > max)
			return -EFBIG;
		size *= 2;
	} while (r == 0);
	buf[len] = '\0';
	*ret_buf = TAKE_PTR(buf);
	return (ssize_t)len;
}

ssize_t nfd_gunzip(const void *data, size_t len, size_t max, char **ret_buf)
{
	z_stream stream = { .next_in = (z_const Bytef *)data, .avail_in = (uInt)len };
	ssize_t r;

	if (len > INT_MAX || max > INT_MAX / 4)
		return -EFBIG;
	r = inflateInit2(&stream, WINDOW_BITS);
	if (r != Z_OK)
		return errno_of((int)r);
	r = inflate_all(&stream, max, ret_buf);
	inflateEnd(&stream);
	return r;
}
