// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sd_notify(3)'s protocol: one datagram to a unix socket.
 */
#include "config.h"

#include "base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/parse.h"

int nfd_notify(const char *socket_name, const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int fd = -1;
	socklen_t len;

	if (!socket_name || !*socket_name)
		return 0;
	if (strlen(socket_name) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, socket_name, strlen(socket_name));
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(socket_name));
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* A manager that does not read must not stop us. */
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
			     (const struct sockaddr *)&address, len) < 0)
		return -errno;
	return 0;
}

int64_t nfd_notify_watchdog_ms(const char *usec, const char *pid)
{
	uint64_t allowed_us, for_pid;

	if (!usec || nfd_parse_uint(usec, INT64_MAX, &allowed_us) < 0 || allowed_us == 0)
		return 0;
	if (pid && (nfd_parse_uint(pid, INT32_MAX, &for_pid) < 0 || (pid_t)for_pid != getpid()))
		return 0;
	return allowed_us < 2000 ? 1 : (int64_t)(allowed_us / 2000);
}
