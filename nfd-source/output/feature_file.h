/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The feature file in NFD's features.d: read back, write, touch, remove (design 5.1). What the file
 * says is output/feature_text's; when it may be renamed is output/spacing's.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "labels/set.h"

enum nfd_mode { NFD_MODE_AUTO, NFD_MODE_ON, NFD_MODE_OFF };

#define NFD_FEATURES_D "/etc/kubernetes/node-feature-discovery/features.d"
#define NFD_STAGING_DIR ".nfd-source"

struct nfd_feature_file_options {
	int mode;            /* enum nfd_mode; auto: on when the directory exists */
	char *dir;           /* features.d; owned by the settings */
	char *name;          /* file name in it; owned by the settings */
	int64_t lifetime_ms; /* 0: no expiry line */
};

/* What is on the disk now. */
struct nfd_feature_file_state {
	bool exists;
	struct nfd_set labels; /* labels in it that NFD would still take; owned */
	int64_t expiry_s;      /* seconds since 1970; 0 when the file states none */
	int64_t changed_ms;    /* ctime in milliseconds since 1970: last rename or touch */
	char *text;            /* content, NULL when missing or unreadable; owned */
};

/**
 * nfd_feature_file_is_on() - whether this output is used here.
 * @options: borrowed.
 * @ret_why: receives a constant sentence that says why.
 * Return: true when mode is on, or auto and the directory exists.
 */
bool nfd_feature_file_is_on(const struct nfd_feature_file_options *options, const char **ret_why);

/**
 * nfd_feature_file_read() - read our file back.
 * @options: borrowed.
 * @now_s:   seconds since 1970; labels whose expiry is before are left out.
 * @ret:     filled; owner: caller, nfd_feature_file_state_done().
 * @err:     names the file.
 * Return: 0, also when there is no file; -EFBIG over 65,536 bytes; errno of open(2); -ENOMEM.
 */
int nfd_feature_file_read(const struct nfd_feature_file_options *options, int64_t now_s,
			  struct nfd_feature_file_state *ret, struct nfd_error *err) nfd_must_check;

/**
 * nfd_feature_file_state_done() - free; a zeroed one is fine.
 */
void nfd_feature_file_state_done(struct nfd_feature_file_state *state);

/**
 * nfd_feature_file_needs_write() - whether the file on disk must be replaced: its labels differ, or
 * less than half of its lifetime is left.
 * @options: borrowed.
 * @state:   from nfd_feature_file_read().
 * @set:     labels that should be there.
 * @now_s:   seconds since 1970.
 */
bool nfd_feature_file_needs_write(const struct nfd_feature_file_options *options,
				  const struct nfd_feature_file_state *state,
				  const struct nfd_set *set, int64_t now_s);

/* What a preparation or a write did, for the log. */
struct nfd_feature_file_report {
	bool made_dir;    /* features.d was missing: a running nfd-worker has no watch on it */
	size_t labels;    /* lines written */
	size_t left_out;  /* labels that found no room in 65,536 bytes */
	int64_t expiry_s; /* 0: none */
};

/**
 * nfd_feature_file_prepare() - make features.d (0755) and the staging folder if missing. Called once
 * at start, so that later writes are a single event in features.d.
 * @report: @report->made_dir is set.
 * Return: 0; errno of mkdir(2).
 */
int nfd_feature_file_prepare(const struct nfd_feature_file_options *options,
			     struct nfd_feature_file_report *report, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_feature_file_give() - give features.d, made (0755) if missing, to the user that a writer without
 * root's rights runs as. What is in it stays as it is, but for a staging folder of the owner before, which
 * goes; a folder that is that user's already is left alone.
 * @uid, @gid: the user.
 * @report:    @report->made_dir is set.
 * @err:       names the folder.
 * Return: 1 when it was given; 0 when it was that user's; errno of mkdir(2), chown(2).
 */
int nfd_feature_file_give(const struct nfd_feature_file_options *options, uid_t uid, gid_t gid,
			  struct nfd_feature_file_report *report, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_feature_file_write() - write all labels of a set by one rename.
 * @set:    labels; stopped ones are left out.
 * @now_s:  the expiry is this plus the lifetime.
 * @report: receives what was written.
 * @err:    names path and step.
 * Return: 0; negative errno, then the old file is untouched.
 */
int nfd_feature_file_write(const struct nfd_feature_file_options *options,
			   const struct nfd_set *set, int64_t now_s,
			   struct nfd_feature_file_report *report, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_feature_file_touch() - give a worker whose window was used up a second event.
 * Return: 0; -ENOENT when somebody removed the file; other errno of utimensat(2).
 */
int nfd_feature_file_touch(const struct nfd_feature_file_options *options, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_feature_file_remove() - remove our file, nothing else.
 * Return: 1 when there was a file; 0 when there was none; negative errno.
 */
int nfd_feature_file_remove(const struct nfd_feature_file_options *options, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_feature_file_remove_staging() - remove the staging folder: the last thing of ours, and one
 * more event for an nfd-worker that missed the removal of the file.
 * Return: 1 when there was one; 0 when there was none; negative errno.
 */
int nfd_feature_file_remove_staging(const struct nfd_feature_file_options *options,
				    struct nfd_error *err) nfd_must_check;
