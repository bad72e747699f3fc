/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon must ask others before it can write the vendors' labels: NVML, and the API server
 * about the vendors' own programs. Both are processes that it never waits for; what they tell makes
 * single scanners run again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "output/api_run.h"
#include "scan/nvml.h"
#include "scan/vendor.h"
#include "watch/loop.h"

struct nfd_context;
struct nfd_set;

struct nfd_daemon_vendors {
	struct nfd_context *context; /* borrowed */
	nfd_loop_callback *changed;  /* told when nfd_daemon_vendors_step() is due */
	void *cookie;
	bool is_open;               /* the child and the run below are ready */
	struct nfd_vendors verdict; /* of the last nfd_daemon_vendors_prepare() */
	unsigned int found;         /* bits by enum nfd_vendor: hardware of the last scan */
	bool is_pending;            /* the API server's first answer was awaited then */
	int worker_pid;             /* of an nfd-worker on this host; 0: none is seen */
	int64_t worker_due_ms;      /* when to look for one again */

	struct nfd_nvml nvml; /* last report; owned */
	struct nfd_child nvml_child;
	bool nvml_is_fresh;         /* it came since the last scan: no need to ask again */
	bool nvml_again;            /* something changed while it was being asked */
	unsigned int nvml_failures; /* in a row */
	int64_t nvml_due_ms;        /* next try after a failure; INT64_MAX for none */

	cJSON *seen, *coming; /* of the last look at the API server; owned; NULL: none */
	struct nfd_api_run look;
	bool is_looking;
	int64_t look_due_ms; /* next look; INT64_MAX for none */
	int64_t decide_ms;   /* without an answer until then files decide; 0: one came */
};

/**
 * nfd_daemon_vendors_init() - ready.
 * @vendors: filled; to be given to nfd_daemon_vendors_done() also after a failure.
 * @changed: called with @cookie when nfd_daemon_vendors_step() is due.
 * Return: 0; negative errno of the loop.
 */
int nfd_daemon_vendors_init(struct nfd_daemon_vendors *vendors, struct nfd_context *context,
			    struct nfd_loop *loop, nfd_loop_callback *changed, void *cookie,
			    struct nfd_error *err) nfd_must_check;

/**
 * nfd_daemon_vendors_done() - end the processes, free.
 */
void nfd_daemon_vendors_done(struct nfd_daemon_vendors *vendors, struct nfd_loop *loop);

/**
 * nfd_daemon_vendors_prepare() - before a scan: decide who writes what, and ask NVML where the scan is
 * about NVIDIA's labels.
 * @wanted: the scanners that the reason of the scan concerns, as bits.
 */
void nfd_daemon_vendors_prepare(struct nfd_daemon_vendors *vendors, uint32_t wanted,
				int64_t now_ms);

/**
 * nfd_daemon_vendors_found() - after a scan: what hardware there is.
 * @found: bits by enum nfd_vendor.
 */
void nfd_daemon_vendors_found(struct nfd_daemon_vendors *vendors, unsigned int found,
			      int64_t now_ms);

/**
 * nfd_daemon_vendors_is_asking() - whether the last scan lacks the raw features of NFD's sources only because
 * it is not known yet whose they are.
 */
bool nfd_daemon_vendors_is_asking(const struct nfd_daemon_vendors *vendors);

/**
 * nfd_daemon_vendors_reload() - other settings: look again soon.
 */
void nfd_daemon_vendors_reload(struct nfd_daemon_vendors *vendors, int64_t now_ms);

/**
 * nfd_daemon_vendors_step() - look after the processes, start what is due.
 * @published: labels that we publish.
 * Return: scanners that must run again, as bits; 0 for none.
 */
uint32_t nfd_daemon_vendors_step(struct nfd_daemon_vendors *vendors,
				 const struct nfd_set *published, int64_t now_ms);

/**
 * nfd_daemon_vendors_due_ms() - when to call nfd_daemon_vendors_step() at the latest.
 */
int64_t nfd_daemon_vendors_due_ms(const struct nfd_daemon_vendors *vendors);
