// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/notify: one datagram to the service manager; the interval of its watchdog.
 */
#include "config.h"

#include "base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name, *usec;
	int64_t ms;
} watchdog_rows[] = {
	{ "none", NULL, 0 },
	{ "empty", "", 0 },
	{ "zero", "0", 0 },
	{ "30 s", "30000000", 15000 },
	{ "one microsecond", "1", 1 },
	{ "1999 microseconds", "1999", 1 },
	{ "2 ms", "2000", 1 },
	{ "negative", "-1", 0 },
	{ "no number", "soon", 0 },
	{ "greatest", "9223372036854775807", INT64_C(4611686018427387) },
	{ "too great", "9223372036854775808", 0 },
};

static void halves_the_watchdog(void **state)
{
	const __typeof__(watchdog_rows[0]) *row = *state;

	assert_int_equal(nfd_notify_watchdog_ms(row->usec, NULL), row->ms);
	assert_int_equal(nfd_notify_watchdog_ms(row->usec, unit_text("%d", (int)getpid())),
			 row->ms);
	assert_int_equal(nfd_notify_watchdog_ms(row->usec, unit_text("%d", (int)getppid())), 0);
	assert_int_equal(nfd_notify_watchdog_ms(row->usec, "x"), 0);
}

static void outside_a_manager_nothing_happens(void **state)
{
	(void)state;
	assert_int_equal(nfd_notify(NULL, "READY=1"), 0);
	assert_int_equal(nfd_notify("", "READY=1"), 0);
}

/* A socket bound to a path, or with '@' to an abstract name. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0 && strlen(name) < sizeof(address.sun_path));
	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	return fd;
}

static void check_delivery(const char *name)
{
	int fd = listen_at(name);
	char buf[64];

	assert_int_equal(nfd_notify(name, "READY=1\nSTATUS=x"), 0);
	assert_int_equal(recv(fd, buf, sizeof(buf), 0), 16);
	assert_memory_equal(buf, "READY=1\nSTATUS=x", 16);
	close(fd);
}

static void delivers_to_a_path(void **state)
{
	const char *name = tree_path(tree_new(), "s");

	(void)state;
	if (strlen(name) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
		print_message("TMPDIR is too long for the path of a socket\n");
		skip();
	}
	check_delivery(name);
}

static void delivers_to_an_abstract_name(void **state)
{
	(void)state;
	/* The tree's name is unique, and no abstract name is longer than this part of it. */
	check_delivery(unit_text("@%s", strrchr(tree_new(), '/') + 1));
}

static void failures_are_told(void **state)
{
	(void)state;
	assert_int_equal(nfd_notify(tree_path(tree_new(), "nobody"), "READY=1"), -ENOENT);
	assert_int_equal(nfd_notify(unit_repeat('a', 200), "READY=1"), -ENAMETOOLONG);
}

int main(void)
{
	struct unit_suite suite = { .name = "notify" };

	UNIT_ROWS(&suite, halves_the_watchdog, watchdog_rows, name);
	UNIT_CASE(&suite, outside_a_manager_nothing_happens);
	UNIT_CASE(&suite, delivers_to_a_path);
	UNIT_CASE(&suite, delivers_to_an_abstract_name);
	UNIT_CASE(&suite, failures_are_told);
	return unit_run(&suite);
}
