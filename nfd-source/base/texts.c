// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lists are short, and looked through as they are.
 */
#include "config.h"

#include "base/texts.h"

#include <string.h>

bool nfd_texts_contain(const struct nfd_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strcmp(texts->text[i], text) == 0)
			return true;
	return false;
}
