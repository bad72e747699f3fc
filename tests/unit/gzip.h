/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packed data for tests.
 */
#pragma once

#include <stddef.h>

struct gzip_data {
	char *data; /* lives until the end of the test */
	size_t len;
};

/**
 * gzip() - @len bytes as one gzip member.
 */
struct gzip_data gzip(const char *text, size_t len);
