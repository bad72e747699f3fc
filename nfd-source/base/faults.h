/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that last: each is logged when it begins, then rarely with a count, and once when it ends
 * (field case L2).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

struct nfd_fault {
	char *id;           /* what is at fault; owned */
	char *text;         /* last words; owned */
	unsigned int count; /* times seen */
	int64_t since_s;    /* seconds since 1970 */
	int64_t logged_ms;  /* monotonic */
	unsigned int round; /* last round that saw it */
};

struct nfd_faults {
	struct nfd_fault *fault; /* array of @count; owned */
	size_t count;
	unsigned int round;
};

/**
 * nfd_faults_begin() - start a round (a scan); faults not seen until nfd_faults_end() have ended.
 */
void nfd_faults_begin(struct nfd_faults *faults);

/**
 * nfd_faults_see() - note a fault of this round.
 * @level: level of its log lines.
 * @id:    stable name of what is at fault; faults with other ids are other faults.
 * @text:  what failed, for a person.
 * Logs at the first time and then once an hour with a count. When memory runs out the line is
 * logged each time.
 */
void nfd_faults_see(struct nfd_faults *faults, enum nfd_log_level level, const char *id,
		    const char *text);

/**
 * nfd_faults_end() - end a round: log and drop faults of ids with this prefix that it did not see.
 * @prefix: "" for all.
 */
void nfd_faults_end(struct nfd_faults *faults, const char *prefix);

/**
 * nfd_faults_done() - free; a zeroed one is fine.
 */
void nfd_faults_done(struct nfd_faults *faults);
