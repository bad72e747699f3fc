/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one event loop: file descriptors, timers and signals over epoll. A new event source is one
 * nfd_loop_add() away.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NFD_LOOP_SOURCES_MAX 16

/**
 * nfd_loop_callback - a source is ready.
 * @cookie: as given to nfd_loop_add().
 * Return: 0 to go on; negative errno ends nfd_loop_run() with it.
 */
typedef int nfd_loop_callback(void *cookie);

struct nfd_loop {
	int epoll_fd;
	bool stopping;
	struct {
		int fd; /* -1: free place */
		nfd_loop_callback *callback;
		void *cookie;
	} source[NFD_LOOP_SOURCES_MAX];
};

/**
 * nfd_loop_init() - make an empty loop.
 * Return: 0; errno of epoll_create1(2).
 */
int nfd_loop_init(struct nfd_loop *loop, struct nfd_error *err) nfd_must_check;

/**
 * nfd_loop_done() - close the epoll fd; sources stay their owners'.
 */
void nfd_loop_done(struct nfd_loop *loop);

/**
 * nfd_loop_add() - call back whenever a descriptor is readable.
 * @fd:       borrowed; remove it before it is closed.
 * @callback: must read what is there.
 * Return: 0; -ENOSPC when all places are taken; errno of epoll_ctl(2).
 */
int nfd_loop_add(struct nfd_loop *loop, int fd, nfd_loop_callback *callback, void *cookie,
		 struct nfd_error *err) nfd_must_check;

/**
 * nfd_loop_remove() - forget a descriptor; one that was not added is fine.
 */
void nfd_loop_remove(struct nfd_loop *loop, int fd);

/**
 * nfd_loop_run() - serve until nfd_loop_stop().
 * Return: 0; negative errno of a callback or of epoll_wait(2).
 */
int nfd_loop_run(struct nfd_loop *loop, struct nfd_error *err) nfd_must_check;

/**
 * nfd_loop_stop() - leave nfd_loop_run() after the callback that is running.
 */
void nfd_loop_stop(struct nfd_loop *loop);

/**
 * nfd_timer_new() - a timer descriptor, not armed.
 * Return: fd, owner: caller; negative errno of timerfd_create(2).
 */
int nfd_timer_new(void) nfd_must_check;

/**
 * nfd_timer_set() - arm a timer.
 * @fd:     from nfd_timer_new().
 * @due_ms: time on nfd_clock_monotonic_ms()'s clock; INT64_MAX disarms, a past time fires at once.
 */
void nfd_timer_set(int fd, int64_t due_ms);

/**
 * nfd_timer_drain() - take the expiration so that the descriptor is no longer readable.
 */
void nfd_timer_drain(int fd);

/**
 * nfd_signals_new() - block signals and deliver them by a descriptor.
 * @signals: 0-terminated list.
 * Return: fd, owner: caller; negative errno of signalfd(2).
 */
int nfd_signals_new(const int *signals) nfd_must_check;

/**
 * nfd_signals_next() - the next signal waiting in the descriptor.
 * Return: its number; 0 when there is none.
 */
int nfd_signals_next(int fd);
