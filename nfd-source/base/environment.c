// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A linear search: few variables are asked for.
 */
#include "config.h"

#include "base/environment.h"

#include <string.h>

const char *nfd_environment_value(char *const *environment, const char *name)
{
	size_t len = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
			return *environment + len + 1;
	return NULL;
}
