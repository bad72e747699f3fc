/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four labels that one version text gives: .full, .major, .minor, .revision.
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_scan_version() - add "<stem>.full" and the numeric parts that the text has.
 * @scan: changed.
 * @stem: full key without the ending, such as NFD_F "driver-nvidia.version".
 * @path: file that gave it, below the root.
 * @text: version text as found.
 */
void nfd_scan_version(struct nfd_scan *scan, const char *stem, const char *path, const char *text);
