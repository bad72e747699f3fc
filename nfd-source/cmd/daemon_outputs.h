/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the daemon drives its outputs.
 */
#pragma once

#include "cmd/daemon.h"

/**
 * nfd_daemon_fault() - note a fault in this round (base/faults).
 * @kind, @name: together the fault's id.
 * @text:        what failed, for a person.
 */
void nfd_daemon_fault(struct nfd_daemon *daemon, enum nfd_log_level level, const char *kind,
		      const char *name, const char *text);

/**
 * nfd_daemon_output_offer() - open or close an output as the settings say, give it what is to be
 * published, and run the step that is due. Failures become faults and a later retry.
 * @at: position in @daemon->output.
 */
void nfd_daemon_output_offer(struct nfd_daemon *daemon, size_t at);

/**
 * nfd_daemon_output_serve() - run the step of an output that is due, outside a scan.
 * Return: true when the status has changed.
 */
bool nfd_daemon_output_serve(struct nfd_daemon *daemon, size_t at);

/**
 * nfd_daemon_output_close() - close an output; what it published stays.
 */
void nfd_daemon_output_close(struct nfd_daemon *daemon, size_t at);
