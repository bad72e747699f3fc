/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processor, as NFD's source of that name: cpu-cpuid.*, cpu-model.*, cpu-hardware_multithreading,
 * cpu-pstate.*, cpu-cstate.*, cpu-power.*, cpu-security.*, cpu-coprocessor.*, and the raw features
 * "cpu.*" (spec nfd.md 2.1 and 3).
 */
#pragma once

#include "scan/scanner.h"

/* Needs struct nfd_scan.cpu for what the processor says of itself; the rest is read below the root. */
extern const struct nfd_scanner nfd_cpu_scanner;
