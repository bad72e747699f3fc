/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon listens to: uevents, library folders, feature files. Turns events into "these
 * scanners" after the debounce; reads nothing by itself.
 */
#pragma once

#include "base/root.h"
#include "output/output.h"
#include "scan/scanner.h"
#include "watch/debounce.h"
#include "watch/file_watch.h"
#include "watch/loop.h"
#include "watch/udev_monitor.h"

/* Bit beside the scanners: only our own feature file was touched by somebody. */
#define NFD_CONCERNS_OUTPUT (UINT32_C(1) << 31)

struct nfd_daemon_watch_options {
	const char *group; /* "kernel" or "udev"; borrowed from the caller's table */
	bool sources;      /* what concerns NFD's sources alone is listened to as well */
};

struct nfd_daemon_watch {
	struct nfd_udev_monitor *monitor; /* NULL when no events can come */
	struct nfd_file_watch files;
	struct nfd_debounce debounce;
	bool files_stale; /* folders came or went: set the watches anew */
	struct nfd_daemon_watch_options options;
	char reason[256];           /* why no events can come; "" when they can */
	int64_t since_s;            /* listening since, seconds since 1970 */
	int64_t event_s;            /* time of the last event; 0: none yet */
	char event[128];            /* the last event, for people */
	uint64_t events, lost;      /* counted since the start */
	nfd_loop_callback *changed; /* told after events: the timer must be armed anew */
	void *cookie;
};

/**
 * nfd_daemon_watch_init() - start to listen and join the loop. A monitor that is refused is no
 * failure: @watch->reason says why, and the caller scans more often.
 * @watch:   filled; to be given to nfd_daemon_watch_done() also after a failure.
 * @options: copied; the group must outlive @watch.
 * @changed: called after events came, with @cookie.
 * Return: 0; negative errno of the loop.
 */
int nfd_daemon_watch_init(struct nfd_daemon_watch *watch, struct nfd_loop *loop,
			  const struct nfd_daemon_watch_options *options,
			  nfd_loop_callback *changed, void *cookie, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_daemon_watch_done() - stop listening.
 */
void nfd_daemon_watch_done(struct nfd_daemon_watch *watch, struct nfd_loop *loop);

/**
 * nfd_daemon_watch_files() - set the watches on library folders, on the feature file, and on those of
 * other programs where they are read.
 * @root:    library folders are below it, links resolved.
 * @options: of the scan that follows.
 * @output:  features.d and our file's name in it.
 */
void nfd_daemon_watch_files(struct nfd_daemon_watch *watch, const struct nfd_root *root,
			    const struct nfd_scan_options *options,
			    const struct nfd_feature_file_options *output);
