/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices, their drivers and the labels that they give, for a person (scan -o table).
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "scan/scanner.h"

/**
 * nfd_device_table_render() - write the table.
 * @scan:   result of a scan.
 * @colour: use terminal colours.
 * @buf:    receives the text.
 */
void nfd_device_table_render(struct nfd_scan *scan, bool colour, struct nfd_strbuf *buf);
