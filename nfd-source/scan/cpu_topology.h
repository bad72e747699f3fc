/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and sockets: cpu-hardware_multithreading (spec nfd.md 2.1.3).
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_cpu_topology() - add cpu.topology and its label.
 * @scan: sys/bus/cpu/devices/<cpu>/topology/{thread_siblings_list,physical_package_id} are read.
 */
void nfd_cpu_topology(struct nfd_scan *scan);
