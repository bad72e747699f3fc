/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other architectures than x86: flags from the words that the kernel gives every process (AT_HWCAP
 * and AT_HWCAP2 of getauxval(3)), and the model from arm64's MIDR_EL1 (spec nfd.md 2.1.1, 2.1.2).
 */
#pragma once

#include "scan/cpu_facts.h"

/* HWCAP of arm64: MIDR_EL1 can be read, the kernel emulates it. */
#define NFD_HWCAP_ARM64_CPUID (UINT64_C(1) << 11)

struct nfd_hwcap {
	enum nfd_cpu_arch arch;
	uint64_t word[2]; /* AT_HWCAP, AT_HWCAP2 */
	uint32_t midr;    /* MIDR_EL1; looked at only with NFD_HWCAP_ARM64_CPUID on arm64 */
};

/**
 * nfd_hwcap_decode() - what the words say.
 * @hwcap: borrowed; an architecture without names gives no flags.
 * @ret:   all fields are set. Flags stand in the order of the bits as spec nfd.md lists them.
 */
void nfd_hwcap_decode(const struct nfd_hwcap *hwcap, struct nfd_cpu_facts *ret);
