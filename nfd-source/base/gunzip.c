// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdeflate unpacks a member at once, or not at all when the buffer is too small. What comes out is bounded,
 * whatever the data promise.
 */
#include "config.h"

#include "base/gunzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <libdeflate.h>

#define FIRST_SIZE 65536

/* What comes out, of all members. */
struct output {
	char *buf; /* owned */
	size_t len, size, max;
};

/* What the end of the data says about the size of the last member; no more than a hint. */
static size_t promised_size(const unsigned char *data, size_t len, size_t max)
{
	uint32_t size = 0;

	for (size_t i = 1; i <= sizeof(size) && i <= len; i++)
		size = size << 8 | data[len - i];
	if (size == 0 || size > max)
		size = FIRST_SIZE;
	return size < max ? size : max;
}

static int resize(struct output *out, size_t size)
{
	char *bigger = realloc(out->buf, size + 1);

	if (!bigger)
		return -ENOMEM;
	out->buf = bigger;
	out->size = size;
	return 0;
}

/* Makes room for a member that did not fit. */
static int grow(struct output *out)
{
	if (out->size == out->max)
		return -EFBIG;
	return resize(out, out->size < out->max / 2 ? out->size * 2 : out->max);
}

/* Unpacks the member at @data. Returns its length there; negative errno. */
static ssize_t unpack_member(struct libdeflate_decompressor *decompressor, const char *data,
			     size_t len, struct output *out)
{
	for (;;) {
		size_t taken, given;
		enum libdeflate_result result =
			libdeflate_gzip_decompress_ex(decompressor, data, len, out->buf + out->len,
						      out->size - out->len, &taken, &given);
		int r;

		if (result == LIBDEFLATE_SUCCESS) {
			out->len += given;
			return (ssize_t)taken;
		}
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return -EBADMSG;
		r = grow(out);
		if (r < 0)
			return r;
	}
}

static int unpack(struct libdeflate_decompressor *decompressor, const char *data, size_t len,
		  struct output *out)
{
	ssize_t taken;

	do {
		taken = unpack_member(decompressor, data, len, out);
		if (taken < 0)
			return (int)taken;
		data += taken;
		len -= (size_t)taken;
	} while (len > 0);
	return 0;
}

ssize_t nfd_gunzip(const void *data, size_t len, size_t max, char **ret_buf)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	struct output out = { .max = max };
	int r = decompressor ? resize(&out, promised_size(data, len, max)) : -ENOMEM;

	if (r == 0)
		r = unpack(decompressor, data, len, &out);
	if (decompressor)
		libdeflate_free_decompressor(decompressor);
	if (r < 0) {
		free(out.buf);
		return r;
	}
	out.buf[out.len] = '\0';
	*ret_buf = out.buf;
	return (ssize_t)out.len;
}
