// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs in the guest beside the daemon: prints, with the time of CLOCK_MONOTONIC in microseconds,
 * each uevent of the kernel ("uevent TIME ACTION SUBSYSTEM DEVPATH") and each rename and touch in a
 * folder ("rename TIME NAME", "touch TIME NAME"). Argument: the folder.
 */
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

/* The message is "ACTION@DEVPATH", then KEY=VALUE texts, each ended by a NUL. */
static void read_uevent(int fd)
{
	char buf[8192];
	const char *subsystem = "?";
	ssize_t len = recv(fd, buf, sizeof(buf) - 1, 0);
	long long time = now_us();
	char *at;

	if (len <= 0)
		return;
	buf[len] = '\0';
	for (char *text = buf; text < buf + len; text += strlen(text) + 1)
		if (strncmp(text, "SUBSYSTEM=", 10) == 0)
			subsystem = text + 10;
	at = strchr(buf, '@');
	if (!at)
		return;
	*at = '\0';
	printf("uevent %lld %s %s %s\n", time, buf, subsystem, at + 1);
}

static void read_files(int fd)
{
	char buf[8192] __attribute__((aligned(8)));
	ssize_t len = read(fd, buf, sizeof(buf));
	long long time = now_us();

	for (char *at = buf; at < buf + len;) {
		const struct inotify_event *event = (const void *)at;

		if (event->len)
			printf("%s %lld %s\n", event->mask & IN_MOVED_TO ? "rename" : "touch", time,
			       event->name);
		at += sizeof(*event) + event->len;
	}
}

int main(int argc, char **argv)
{
	struct pollfd source[2] = { { .events = POLLIN }, { .events = POLLIN } };

	source[0].fd = open_uevents();
	source[1].fd = inotify_init1(IN_CLOEXEC);
	if (argc != 2 || source[0].fd < 0 ||
	    inotify_add_watch(source[1].fd, argv[1], IN_MOVED_TO | IN_ATTRIB) < 0)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("listening %lld\n", now_us());
	while (poll(source, 2, -1) > 0) {
		if (source[0].revents)
			read_uevent(source[0].fd);
		if (source[1].revents)
			read_files(source[1].fd);
	}
	return 1;
}
