// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zlib around a growing buffer. What comes out is bounded, whatever the data promise.
 */
#include "config.h"

#include "base/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

/* zlib's largest window, and its number for "gzip, nothing else". */
#define WINDOW_BITS (15 + 16)
#define FIRST_SIZE 65536

static int errno_of(int code)
{
	return code == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

/* What the end of the data says about the size of the last member; no more than a hint. */
static size_t promised_size(const unsigned char *data, size_t len, size_t max)
{
	uint32_t size = 0;

	for (size_t i = 1; i <= sizeof(size) && i <= len; i++)
		size = size << 8 | data[len - i];
	return size > 0 && size <= max ? size : FIRST_SIZE;
}

/*
 * Unpacks until the buffer is full or the data end. Returns 1 at their end, 0 when full. To zlib
 * Z_FINISH says that the buffer holds all: where it does, no window is kept beside it.
 */
static int inflate_some(z_stream *stream)
{
	while (stream->avail_out > 0) {
		int code = inflate(stream, Z_FINISH);

		if (code == Z_BUF_ERROR && stream->avail_out == 0)
			return 0;
		if (code != Z_STREAM_END)
			return errno_of(code);
		if (stream->avail_in == 0)
			return 1;
		code = inflateReset(stream); /* another member follows */
		if (code != Z_OK)
			return errno_of(code);
	}
	return 0;
}

static ssize_t inflate_all(z_stream *stream, size_t size, size_t max, char **ret_buf)
{
	cleanup_free char *buf = NULL;
	size_t len = 0;
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
	r = inflate_all(&stream, promised_size(data, len, max), max, ret_buf);
	inflateEnd(&stream);
	return r;
}
