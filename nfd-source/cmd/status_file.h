/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that the daemon keeps for status, doctor and probes (design 6): JSON, written aside and
 * renamed.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>

#include "base/error.h"
#include "base/faults.h"
#include "labels/set.h"
#include "output/output.h"

#define NFD_STATUS_OUTPUTS_MAX 4

struct nfd_daemon_vendors;
struct nfd_daemon_watch;

struct nfd_status_output {
	const char *name;
	bool is_on;
	const char *why; /* constant sentence */
	char target[NFD_OUTPUT_TARGET_SIZE];
	int64_t published_s; /* seconds since 1970, 0: not yet */
	int64_t success_s;   /* all was out and well at that time; 0: never */
	int64_t expiry_s;    /* 0: none */
	size_t labels, left_out;
	unsigned int publications,
		failures;          /* since the start; failures of its helper are in @api */
	char state[400];           /* how things are, in words; "" for nothing to say */
	bool is_idle;              /* on, with nothing to do in this cluster */
	size_t faults;             /* that it reports now */
	struct nfd_api_counts api; /* what its helper did */
};

struct nfd_status {
	int64_t started_s, stopped_s; /* seconds since 1970; stopped_s 0 while running */
	int64_t scanned_s, changed_s; /* 0: not yet */
	int64_t scan_ms;              /* duration of the last scan */
	unsigned int scans, publications;
	const char *node_name, *root; /* borrowed */
	const char *doctor_cause;     /* finding told by an Event; "" for none; borrowed */
	const struct nfd_set *labels; /* borrowed */
	size_t kept_unknown;          /* of the labels: facts that are unknown now */
	size_t leaving; /* of the labels: their device has gone, removal is being delayed */
	const struct nfd_faults *faults;           /* borrowed */
	const struct nfd_daemon_watch *watch;      /* borrowed; NULL leaves it out */
	const struct nfd_confinement *confinement; /* borrowed; NULL leaves it out */
	const struct nfd_daemon_vendors *vendors;  /* borrowed; NULL leaves it out */
	struct nfd_status_output output[NFD_STATUS_OUTPUTS_MAX];
	size_t output_count;
};

/**
 * nfd_status_write() - write the file; its directory is made (0755) when missing.
 * @path: the file.
 * @err:  names path and step.
 * Return: 0; negative errno; -ENOMEM.
 */
int nfd_status_write(const char *path, const struct nfd_status *status, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_status_read() - read the file as JSON.
 * @ret: receives the document; owner: caller, cJSON_Delete().
 * @err: names the path.
 * Return: 0; -ENOENT; -EFBIG over one MiB; -EBADMSG when it is no JSON; other errno of open(2).
 */
int nfd_status_read(const char *path, cJSON **ret, struct nfd_error *err) nfd_must_check;

/**
 * nfd_status_labels() - labels in a status document, added to @set; illegal ones are passed over.
 * Return: 0; -ENOMEM.
 */
int nfd_status_labels(const cJSON *document, struct nfd_set *set) nfd_must_check;

/**
 * nfd_status_remove() - remove the file.
 * Return: 1; 0 when there was none; negative errno.
 */
int nfd_status_remove(const char *path, struct nfd_error *err);
