/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inotify on folders: names in them that begin with a wanted text, also where the folder itself does
 * not exist yet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NFD_FILE_WATCHES_MAX 64

struct nfd_file_watch {
	int fd; /* inotify; -1 when closed */
	struct {
		int wd;            /* -1: free place */
		uint32_t concerns; /* bit mask of the caller; 0: an ancestor of a missing folder */
		char name[64];     /* as nfd_file_watch_add() has it */
	} watch[NFD_FILE_WATCHES_MAX];
};

struct nfd_file_events {
	uint32_t concerns; /* union of the masks of the names that changed */
	bool tree_changed; /* a watched folder came or went: set the watches anew */
	bool lost;         /* the queue overflowed: trust nothing */
};

/**
 * nfd_file_watch_init() - make an empty watch.
 * Return: 0; negative errno of inotify_init1(2), then all other calls do nothing.
 */
int nfd_file_watch_init(struct nfd_file_watch *watch, struct nfd_error *err) nfd_must_check;

/**
 * nfd_file_watch_done() - close.
 */
void nfd_file_watch_done(struct nfd_file_watch *watch);

/**
 * nfd_file_watch_add() - watch for names in a folder; where it does not exist, for the next part of
 * its path in the nearest folder that does.
 * @dir:      absolute path.
 * @name:     names must begin with it, at most 63 bytes; "": any name but those with a dot in front.
 * @concerns: what a change concerns; must not be 0.
 * Return: 0; -ENOSPC when all places or the user's inotify watches are taken; other errno of
 *         inotify_add_watch(2).
 */
int nfd_file_watch_add(struct nfd_file_watch *watch, const char *dir, const char *name,
		       uint32_t concerns);

/**
 * nfd_file_watch_clear() - remove all watches.
 */
void nfd_file_watch_clear(struct nfd_file_watch *watch);

/**
 * nfd_file_watch_read() - take all events that wait.
 * @ret: overwritten.
 */
void nfd_file_watch_read(struct nfd_file_watch *watch, struct nfd_file_events *ret);
