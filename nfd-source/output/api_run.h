/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of nfd-source-api, one after the other, with the backoff between them (docs/api-protocol.md).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/child.h"
#include "base/error.h"
#include "labels/unknown.h"
#include "output/api_access.h"

/* Counted since the start, for metrics. */
struct nfd_api_counts {
	uint64_t runs, failures, deadlines; /* runs of the helper; how many failed, were killed */
	uint64_t get, patch, delete;        /* requests */
};

struct nfd_api_run {
	struct nfd_child child;
	unsigned int failures; /* in a row */
	int64_t slow_ms;       /* least delay after a failure that waits for a person */
	int64_t not_before_ms; /* backoff: see nfd_api_run_not_before_ms() */
	struct nfd_api_counts counts;
};

/* How one run ended. */
struct nfd_api_answer {
	cJSON *result; /* what the helper printed; NULL when that is nothing usable; owned */
	bool failed;   /* @text and @status say how */
	int status;    /* HTTP status of a refusal; else 0 */
	char text[600];
};

/**
 * nfd_api_run_init() - ready for runs.
 * @resync_ms: the caller looks so often anyway: failures that wait for a person are tried again
 *             after a minute, or after this when it is less.
 * Return: 0; negative errno.
 */
int nfd_api_run_init(struct nfd_api_run *run, int64_t resync_ms, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_api_run_done() - end a run that is under way, free.
 */
void nfd_api_run_done(struct nfd_api_run *run);

/**
 * nfd_api_run_start() - send a request. No run may be under way.
 * @options: borrowed.
 * @request: fields of the action; schema, deadline, credentials, node and proxy are added. Taken
 *           over, also after a failure; NULL counts as memory that ran out.
 * @err:     why it could not be started; counted as a failure for the backoff.
 * Return: 0; negative errno.
 */
int nfd_api_run_start(struct nfd_api_run *run, const struct nfd_api_options *options,
		      cJSON *request, struct nfd_error *err) nfd_must_check;

/**
 * nfd_api_run_not_before_ms() - when the next run may start: backoff of this output, and what the API
 * server asked of all.
 */
int64_t nfd_api_run_not_before_ms(const struct nfd_api_run *run,
				  const struct nfd_api_options *options);

/**
 * nfd_api_run_is_busy() - whether a run is under way.
 */
bool nfd_api_run_is_busy(const struct nfd_api_run *run);

/**
 * nfd_api_run_step() - look after a run.
 * @now_ms: nfd_clock_monotonic_ms().
 * @ret:    filled when it has ended; owner: caller, nfd_api_answer_done(). After a failure
 *          nfd_api_run_not_before_ms() is later.
 * Return: whether a run ended in this call.
 */
bool nfd_api_run_step(struct nfd_api_run *run, const struct nfd_api_options *options,
		      int64_t now_ms, struct nfd_api_answer *ret);

/**
 * nfd_api_answer_done() - free; a zeroed one is fine.
 */
void nfd_api_answer_done(struct nfd_api_answer *answer);

/**
 * nfd_api_prefixes() - key prefixes of unknown facts as the helper takes them ("keep").
 * @unknowns: NULL for none.
 * @ret:      receives an array of texts; NULL for none. Owner: caller.
 * Return: 0; -ENOMEM.
 */
int nfd_api_prefixes(const struct nfd_unknowns *unknowns, cJSON **ret) nfd_must_check;

/**
 * nfd_api_exchange() - one run from start to end, blocking; for commands that do nothing else.
 * @request: as for nfd_api_run_start().
 * @ret:     receives the result; owner: caller, cJSON_Delete(). May be NULL.
 * @err:     what failed.
 * Return: 0; -EACCES, -ENOENT for a refusal with 401 or 403, with 404; -EREMOTEIO for one with
 *         another status; -EIO for all else: no answer.
 */
int nfd_api_exchange(const struct nfd_api_options *options, cJSON *request, cJSON **ret,
		     struct nfd_error *err) nfd_must_check;
