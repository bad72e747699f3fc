/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel's frequency and idle drivers, and Speed Select base frequency: cpu-pstate.*, cpu-cstate.enabled,
 * cpu-power.sst_bf.enabled (spec nfd.md 2.1.4).
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_cpu_pstate() - add cpu.pstate and its labels.
 * @scan: sys/devices/system/cpu/intel_pstate/{status,no_turbo} and cpufreq/<policy>/{affected_cpus,
 *        scaling_governor} beside it are read.
 */
void nfd_cpu_pstate(struct nfd_scan *scan);

/**
 * nfd_cpu_cstate() - add cpu.cstate, which is not even there when it cannot be told, and its label.
 * @scan: sys/devices/system/cpu/cpuidle/current_driver and sys/module/intel_idle/parameters/max_cstate
 *        are read.
 */
void nfd_cpu_cstate(struct nfd_scan *scan);

/**
 * nfd_cpu_sst() - add cpu.sst and its label.
 * @scan: sys/bus/cpu/devices/<cpu>/cpufreq/base_frequency (kHz) are compared with CPUID's nominal
 *        frequency; without scan->cpu there is nothing to compare with.
 */
void nfd_cpu_sst(struct nfd_scan *scan);
