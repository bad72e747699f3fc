/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon: scans, settles what is to be published, feeds the outputs, keeps the status file. All
 * events of its loop end in one of these calls.
 */
#pragma once

#include "base/faults.h"
#include "cmd/cmd.h"
#include "cmd/status_file.h"
#include "labels/hold.h"
#include "cmd/daemon_confine.h"
#include "cmd/daemon_events.h"
#include "cmd/daemon_vendors.h"
#include "cmd/daemon_watch.h"
#include "scan/scanner.h"
#include "watch/loop.h"

struct nfd_daemon;

struct nfd_daemon_output {
	struct nfd_daemon *daemon;
	size_t at; /* position in the table */
	const struct nfd_output *output;
	void *state;           /* NULL while it is off or could not be opened */
	int64_t due_ms;        /* next step, INT64_MAX for none */
	unsigned int failures; /* in a row */
};

struct nfd_daemon {
	struct nfd_context *context; /* borrowed; its settings are replaced by a reload */
	struct nfd_loop loop;
	int timer_fd, signal_fd;
	struct nfd_daemon_watch watch;
	struct nfd_scan last; /* results of the last scan, for scans of single scanners */
	struct nfd_hold hold;
	struct nfd_daemon_events events;
	struct nfd_daemon_vendors vendors;
	struct nfd_confinement confinement;
	struct nfd_faults faults;
	struct nfd_status status;
	struct nfd_daemon_output output[NFD_STATUS_OUTPUTS_MAX];
	nfd_loop_callback
		*output_ready;  /* with a struct nfd_daemon_output: its wait_fd is readable */
	int64_t scan_due_ms;    /* next scan */
	unsigned int hasty;     /* scans in a row that found things vanishing */
	const char *manager;    /* $NOTIFY_SOCKET of the service manager; borrowed, may be NULL */
	int64_t alive_every_ms; /* how often the manager wants to hear from us; 0: never */
	int64_t alive_due_ms;   /* next time, INT64_MAX for none */
};

/**
 * nfd_daemon_init() - make the loop, read back what is published.
 * @daemon:  filled; to be given to nfd_daemon_done() also after a failure.
 * @context: root and settings are ready.
 * Return: 0; negative errno.
 */
int nfd_daemon_init(struct nfd_daemon *daemon, struct nfd_context *context, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_daemon_run() - scan at once, then serve events until SIGTERM or SIGINT.
 * Return: 0; negative errno of the loop.
 */
int nfd_daemon_run(struct nfd_daemon *daemon, struct nfd_error *err) nfd_must_check;

/**
 * nfd_daemon_done() - close everything; the feature file stays.
 */
void nfd_daemon_done(struct nfd_daemon *daemon);
