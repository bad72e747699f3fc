// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs with zlib.
 */
#include "config.h"

#include "tests/unit/gzip.h"

#include <zlib.h>

#include "tests/unit/unit.h"

struct gzip_data gzip(const char *text, size_t len)
{
	z_stream stream = { .next_in = (z_const Bytef *)text, .avail_in = (uInt)len };
	uLong size;
	char *data;

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	size = deflateBound(&stream, (uLong)len);
	data = unit_bytes(size);
	stream.next_out = (Bytef *)data;
	stream.avail_out = (uInt)size;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	size = stream.total_out;
	assert_int_equal(deflateEnd(&stream), Z_OK);
	return (struct gzip_data){ data, size };
}
