// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop around write(2), once for files, archives and standard output.
 */
#include "config.h"

#include "base/write.h"

#include <errno.h>
#include <unistd.h>

int nfd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
