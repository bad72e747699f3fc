// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch/loop: sources, timers and signals. Times are past or never, so nothing waits.
 */
#include "config.h"

#include "watch/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

/* A source that is ready at once and counts its calls. */
struct source {
	struct nfd_loop *loop;
	struct source *other; /* to be removed in the callback */
	int fd;
	int calls, stop_at;
	int result;
};

static struct source make_source(struct nfd_loop *loop, int stop_at)
{
	struct source source = { .loop = loop, .fd = eventfd(1, EFD_CLOEXEC), .stop_at = stop_at };

	assert_true(source.fd >= 0);
	return source;
}

static int on_ready(void *cookie)
{
	struct source *source = cookie;

	source->calls++;
	if (source->other)
		nfd_loop_remove(source->loop, source->other->fd);
	if (source->calls == source->stop_at)
		nfd_loop_stop(source->loop);
	return source->result;
}

static void add(struct nfd_loop *loop, struct source *source)
{
	assert_int_equal(nfd_loop_add(loop, source->fd, on_ready, source, NULL), 0);
}

static void calls_until_stopped(void **state)
{
	struct nfd_loop loop;
	struct source source;

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	source = make_source(&loop, 3);
	add(&loop, &source);
	assert_int_equal(nfd_loop_run(&loop, NULL), 0);
	assert_int_equal(source.calls, 3);
	source.stop_at = 4;
	assert_int_equal(nfd_loop_run(&loop, NULL), 0); /* runs again after a stop */
	assert_int_equal(source.calls, 4);
	close(source.fd);
	nfd_loop_done(&loop);
	nfd_loop_done(&loop);
}

static void error_of_a_callback_ends_it(void **state)
{
	struct nfd_loop loop;
	struct source source;

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	source = make_source(&loop, 0);
	source.result = -EIO;
	add(&loop, &source);
	assert_int_equal(nfd_loop_run(&loop, NULL), -EIO);
	assert_int_equal(source.calls, 1);
	close(source.fd);
	nfd_loop_done(&loop);
}

/* Both are ready in one round; the first called removes the other. */
static void removed_source_is_not_called(void **state)
{
	struct source a, b;
	struct nfd_loop loop;

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	a = make_source(&loop, 2);
	b = make_source(&loop, 2);
	a.other = &b;
	b.other = &a;
	add(&loop, &a);
	add(&loop, &b);
	assert_int_equal(nfd_loop_run(&loop, NULL), 0);
	assert_true((a.calls == 2 && b.calls == 0) || (a.calls == 0 && b.calls == 2));
	close(a.fd);
	close(b.fd);
	nfd_loop_done(&loop);
}

static void places_are_limited_and_reused(void **state)
{
	struct source source[NFD_LOOP_SOURCES_MAX + 1];
	struct nfd_error err = { 0 };
	struct nfd_loop loop;

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	for (size_t i = 0; i <= NFD_LOOP_SOURCES_MAX; i++)
		source[i] = make_source(&loop, 1);
	for (size_t i = 0; i < NFD_LOOP_SOURCES_MAX; i++)
		add(&loop, &source[i]);
	assert_int_equal(nfd_loop_add(&loop, source[NFD_LOOP_SOURCES_MAX].fd, on_ready, NULL, &err),
			 -ENOSPC);
	unit_assert_contains(err.text, "16");
	nfd_loop_remove(&loop, source[5].fd);
	nfd_loop_remove(&loop, source[5].fd);
	nfd_loop_remove(&loop, -1);
	add(&loop, &source[NFD_LOOP_SOURCES_MAX]);
	assert_int_equal(nfd_loop_run(&loop, NULL), 0);
	assert_int_equal(source[5].calls, 0);
	for (size_t i = 0; i <= NFD_LOOP_SOURCES_MAX; i++)
		close(source[i].fd);
	nfd_loop_done(&loop);
}

static void add_reports_a_bad_descriptor(void **state)
{
	struct nfd_error err = { 0 };
	struct nfd_loop loop;
	struct source source;

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	assert_int_equal(nfd_loop_add(&loop, -1, on_ready, NULL, &err), -EBADF);
	unit_assert_contains(err.text, "epoll_ctl");
	source = make_source(&loop, 1);
	add(&loop, &source);
	assert_int_equal(nfd_loop_add(&loop, source.fd, on_ready, NULL, &err), -EEXIST);
	close(source.fd);
	nfd_loop_done(&loop);
}

static bool is_ready(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static const struct {
	const char *name;
	int64_t due_ms;
	bool ready;
} timer_rows[] = {
	{ "past", 1, true },
	{ "zero fires at once", 0, true },
	{ "negative fires at once", -5, true },
	{ "far future", INT64_C(1) << 50, false },
	{ "never", INT64_MAX, false },
};

static void timer_fires(void **state)
{
	const __typeof__(timer_rows[0]) *row = *state;
	int fd = nfd_timer_new();

	assert_true(fd >= 0);
	assert_false(is_ready(fd));
	nfd_timer_set(fd, row->due_ms);
	assert_int_equal(is_ready(fd), row->ready);
	nfd_timer_drain(fd);
	assert_false(is_ready(fd));
	nfd_timer_set(fd, 1);
	nfd_timer_set(fd, INT64_MAX);
	assert_false(is_ready(fd));
	close(fd);
}

static void timer_uses_the_monotonic_clock(void **state)
{
	int fd = nfd_timer_new();

	(void)state;
	nfd_timer_set(fd, nfd_clock_monotonic_ms());
	assert_true(is_ready(fd));
	nfd_timer_set(fd, nfd_clock_monotonic_ms() + 3600000);
	assert_false(is_ready(fd));
	close(fd);
}

static void signals_come_by_a_descriptor(void **state)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, 0 };
	sigset_t before;
	int fd;

	(void)state;
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &before), 0);
	fd = nfd_signals_new(signals);
	assert_true(fd >= 0);
	assert_int_equal(nfd_signals_next(fd), 0);
	assert_int_equal(raise(SIGUSR2), 0);
	assert_true(is_ready(fd));
	assert_int_equal(nfd_signals_next(fd), SIGUSR2);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(nfd_signals_next(fd), SIGUSR1);
	assert_int_equal(nfd_signals_next(fd), 0);
	close(fd);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static void descriptors_are_not_inherited(void **state)
{
	static const int signals[] = { SIGUSR1, 0 };
	struct nfd_loop loop;
	int timer = nfd_timer_new();
	int signal_fd = nfd_signals_new(signals);

	(void)state;
	assert_int_equal(nfd_loop_init(&loop, NULL), 0);
	assert_true(fcntl(loop.epoll_fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(timer, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(signal_fd, F_GETFD) & FD_CLOEXEC);
	close(timer);
	close(signal_fd);
	nfd_loop_done(&loop);
}

int main(void)
{
	struct unit_suite suite = { .name = "loop" };

	UNIT_CASE(&suite, calls_until_stopped);
	UNIT_CASE(&suite, error_of_a_callback_ends_it);
	UNIT_CASE(&suite, removed_source_is_not_called);
	UNIT_CASE(&suite, places_are_limited_and_reused);
	UNIT_CASE(&suite, add_reports_a_bad_descriptor);
	UNIT_ROWS(&suite, timer_fires, timer_rows, name);
	UNIT_CASE(&suite, timer_uses_the_monotonic_clock);
	UNIT_CASE(&suite, signals_come_by_a_descriptor);
	UNIT_CASE(&suite, descriptors_are_not_inherited);
	return unit_run(&suite);
}
