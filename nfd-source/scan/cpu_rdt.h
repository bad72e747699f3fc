/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel Resource Director Technology: the raw feature cpu.rdt; it has no labels (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_cpu_rdt() - add the elements of cpu.rdt.
 * @scan: scan->cpu has the bits; info/L3/num_closids is read where resctrl is mounted: sys/fs/resctrl,
 *        else the first mount of that type in proc/self/mounts.
 */
void nfd_cpu_rdt(struct nfd_scan *scan);
