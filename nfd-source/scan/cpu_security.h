/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protection of guests and enclaves: SGX, TDX, SEV and Secure Execution, cpu-security.* (spec nfd.md
 * 2.1.5).
 */
#pragma once

#include "scan/scanner.h"

/**
 * nfd_cpu_security() - add cpu.security and its labels.
 * @scan: scan->cpu has SGX and the TDX guest; sys/module/kvm_intel/parameters/tdx,
 *        sys/module/kvm_amd/parameters/{sev,sev_es,sev_snp}, sys/firmware/uv/prot_virt_host and the
 *        cgroup's misc.capacity are read.
 */
void nfd_cpu_security(struct nfd_scan *scan);
