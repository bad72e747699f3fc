/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maker, family, model and hypervisor: cpu-model.* (spec nfd.md 2.1.1).
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_cpu_model() - add cpu.model and its labels.
 * @scan: scan->cpu is not NULL; on s390x also proc/cpuinfo and proc/sysinfo are read.
 */
void nfd_cpu_model(struct nfd_scan *scan);
