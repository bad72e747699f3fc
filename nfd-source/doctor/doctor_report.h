/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What doctor found, in four forms.
 */
#pragma once

#include "base/strbuf.h"
#include "doctor/doctor.h"

/**
 * nfd_report_text() - for people: causes first, at most one screen for a healthy node.
 * @colour: with escape sequences for a terminal.
 * @all:    also rows that are ok, and the reason of each that was not checked.
 * @buf:    receives it.
 */
void nfd_report_text(const struct nfd_doctor *doctor, bool colour, bool all,
		     struct nfd_strbuf *buf);

/**
 * nfd_report_json() - {"schema":1,"verdict","cause","findings":[…],"checks":[…]} (docs/doctor.md).
 */
void nfd_report_json(const struct nfd_doctor *doctor, struct nfd_strbuf *buf);

/**
 * nfd_report_npd() - one line of at most 80 bytes for node-problem-detector's custom plugin.
 * Return: exit code for it: 0 ok, 1 problem, 2 unknown.
 */
int nfd_report_npd(const struct nfd_doctor *doctor, enum nfd_verdict fail_on,
		   struct nfd_strbuf *buf);

/**
 * nfd_report_metrics() - Prometheus text: one gauge for each row.
 */
void nfd_report_metrics(const struct nfd_doctor *doctor, struct nfd_strbuf *buf);
