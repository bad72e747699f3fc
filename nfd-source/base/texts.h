/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A short list of texts, as the settings have them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct nfd_texts {
	char **text; /* array of @count; owned */
	size_t count;
};

/**
 * nfd_texts_contain() - whether a text is in the list, byte by byte.
 */
bool nfd_texts_contain(const struct nfd_texts *texts, const char *text);
