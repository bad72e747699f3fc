/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon counts, as a text file for the textfile collector of node-exporter.
 */
#pragma once

#include "cmd/status_file.h"

/**
 * nfd_metrics_render() - the metrics as Prometheus text, names nfd_source_….
 * @buf: receives it.
 */
void nfd_metrics_render(const struct nfd_status *status, struct nfd_strbuf *buf);

/**
 * nfd_metrics_write() - write the file at once, as its reader must see it: whole.
 * @path: absolute; should end in ".prom" for the collector. Its folder must exist.
 * @err:  names path and step.
 * Return: 0; negative errno, then the old file is as it was; -ENOMEM.
 */
int nfd_metrics_write(const char *path, const struct nfd_status *status, struct nfd_error *err)
	nfd_must_check;
