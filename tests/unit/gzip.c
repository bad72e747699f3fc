// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs with libdeflate.
 */
#include "config.h"

#include "tests/unit/gzip.h"

#include <libdeflate.h>

#include "tests/unit/unit.h"

struct gzip_data gzip(const char *text, size_t len)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
	size_t size;
	char *data;

	assert_non_null(compressor);
	size = libdeflate_gzip_compress_bound(compressor, len);
	data = unit_bytes(size);
	size = libdeflate_gzip_compress(compressor, text, len, data, size);
	assert_true(size > 0);
	libdeflate_free_compressor(compressor);
	return (struct gzip_data){ data, size };
}
