// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epoll, timerfd and signalfd. At rest the process sleeps in epoll_wait without a timeout.
 */
#include "config.h"

#include "watch/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

int nfd_loop_init(struct nfd_loop *loop, struct nfd_error *err)
{
	*loop = (struct nfd_loop){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	for (size_t i = 0; i < NFD_LOOP_SOURCES_MAX; i++)
		loop->source[i].fd = -1;
	if (loop->epoll_fd < 0) {
		int code = -errno;

		return nfd_error_set(err, code, "epoll_create1: %s", nfd_errno_text(code));
	}
	return 0;
}

void nfd_loop_done(struct nfd_loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int nfd_loop_add(struct nfd_loop *loop, int fd, nfd_loop_callback *callback, void *cookie,
		 struct nfd_error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	for (uint32_t i = 0; i < NFD_LOOP_SOURCES_MAX; i++) {
		if (loop->source[i].fd >= 0)
			continue;
		event.data.u32 = i;
		if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
			int code = -errno;

			return nfd_error_set(err, code, "epoll_ctl: %s", nfd_errno_text(code));
		}
		loop->source[i].fd = fd;
		loop->source[i].callback = callback;
		loop->source[i].cookie = cookie;
		return 0;
	}
	return nfd_error_set(err, -ENOSPC, "more than %d event sources", NFD_LOOP_SOURCES_MAX);
}

void nfd_loop_remove(struct nfd_loop *loop, int fd)
{
	for (size_t i = 0; i < NFD_LOOP_SOURCES_MAX; i++)
		if (fd >= 0 && loop->source[i].fd == fd) {
			epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
			loop->source[i].fd = -1;
		}
}

int nfd_loop_run(struct nfd_loop *loop, struct nfd_error *err)
{
	struct epoll_event events[NFD_LOOP_SOURCES_MAX];
	int count, r;

	loop->stopping = false;
	while (!loop->stopping) {
		count = epoll_wait(loop->epoll_fd, events, NFD_LOOP_SOURCES_MAX, -1);
		if (count < 0 && errno != EINTR) {
			int code = -errno;

			return nfd_error_set(err, code, "epoll_wait: %s", nfd_errno_text(code));
		}
		for (int i = 0; i < count && !loop->stopping; i++) {
			uint32_t at = events[i].data.u32;

			/* A callback before it may have removed this source. */
			if (loop->source[at].fd < 0)
				continue;
			r = loop->source[at].callback(loop->source[at].cookie);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

void nfd_loop_stop(struct nfd_loop *loop)
{
	loop->stopping = true;
}

int nfd_timer_new(void)
{
	/* The same clock as nfd_clock_monotonic_ms(): an interval goes on during suspend. */
	int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void nfd_timer_set(int fd, int64_t due_ms)
{
	struct itimerspec when = { 0 };

	if (due_ms != INT64_MAX) {
		/* Zero would disarm. */
		if (due_ms < 1)
			due_ms = 1;
		when.it_value.tv_sec = due_ms / 1000;
		when.it_value.tv_nsec = due_ms % 1000 * 1000000;
	}
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void nfd_timer_drain(int fd)
{
	uint64_t expirations;
	ssize_t n = read(fd, &expirations, sizeof(expirations));

	(void)n;
}

int nfd_signals_new(const int *signals)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int nfd_signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}
