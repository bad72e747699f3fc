/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events on our Node (design 8): when the driver's library and module come apart or fit again, and
 * when doctor finds a broken link of the chain or none any more. So "kubectl describe node" tells it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "labels/set.h"
#include "output/api_run.h"
#include "watch/loop.h"

#define NFD_EVENTS_MAX 8
#define NFD_CAUSE_SIZE 32

struct nfd_context;

/* One that waits to be sent. */
struct nfd_event {
	char reason[32];
	char message[600];
	bool is_warning;
};

struct nfd_daemon_events {
	struct nfd_context *context; /* borrowed */
	nfd_loop_callback *changed;  /* told after something was done: the timer must be set anew */
	void *cookie;
	struct nfd_api_run run;  /* sends them, one at a time */
	struct nfd_child doctor; /* a process of its own: its memory and time are not ours */
	bool is_open;            /* the two above are ready */
	bool is_sending;
	struct nfd_event waiting[NFD_EVENTS_MAX];
	size_t count;
	char cause[NFD_CAUSE_SIZE]; /* id of the finding that was told last; "" for none */
	int64_t doctor_due_ms;      /* next look; INT64_MAX for none */
	char fault[600];            /* why the last one could not be sent; "" when it could */
};

/**
 * nfd_daemon_events_init() - ready; nothing is done where no output talks to the API server.
 * @events:  filled; to be given to nfd_daemon_events_done() also after a failure.
 * @cause:   finding that was told before this process (status file); "" for none.
 * @changed: called with @cookie after something was done.
 * Return: 0; negative errno of the loop.
 */
int nfd_daemon_events_init(struct nfd_daemon_events *events, struct nfd_context *context,
			   struct nfd_loop *loop, const char *cause, nfd_loop_callback *changed,
			   void *cookie, struct nfd_error *err) nfd_must_check;

/**
 * nfd_daemon_events_done() - end the processes, free.
 */
void nfd_daemon_events_done(struct nfd_daemon_events *events, struct nfd_loop *loop);

/**
 * nfd_daemon_events_compare() - labels have changed: note what is to be told of it.
 * @before, @after: published labels.
 */
void nfd_daemon_events_compare(struct nfd_daemon_events *events, const struct nfd_set *before,
			       const struct nfd_set *after, int64_t now_ms);

/**
 * nfd_daemon_events_step() - do what is due: look after the processes, start the next one.
 */
void nfd_daemon_events_step(struct nfd_daemon_events *events, int64_t now_ms);

/**
 * nfd_daemon_events_due_ms() - when to call nfd_daemon_events_step() at the latest.
 */
int64_t nfd_daemon_events_due_ms(const struct nfd_daemon_events *events);
