/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: from the registers of CPUID to flags and numbers (spec nfd.md 2.1.1, 2.1.2). The registers
 * come through a function, so that what another machine stated can be decoded as well.
 */
#pragma once

#include "scan/cpu_facts.h"

enum nfd_cpuid_register { NFD_EAX, NFD_EBX, NFD_ECX, NFD_EDX, NFD_CPUID_REGISTERS };

struct nfd_cpuid_source {
	/**
	 * The registers of a leaf. One that there is not gives what CPUID gives there, or zeros.
	 * @subleaf: the ECX input, 0 where a leaf has none.
	 * @ret:     by enum nfd_cpuid_register.
	 */
	void (*read)(void *cookie, uint32_t leaf, uint32_t subleaf,
		     uint32_t ret[NFD_CPUID_REGISTERS]);
	/* XCR0: which states the system saves. Asked only where leaf 1 has AVX's bits (ECX 26 and 27). */
	uint32_t (*xcr0)(void *cookie);
	void *cookie;
};

/* The flags that get no label by default, separated by commas, in byte order. */
extern const char nfd_cpuid_denied[];

/**
 * nfd_cpuid_decode() - what the registers say.
 * @source: borrowed.
 * @ret:    all fields are set; arch is NFD_CPU_X86_64. Flags are those of scan/cpuid-flags.tsv, in its order.
 */
void nfd_cpuid_decode(const struct nfd_cpuid_source *source, struct nfd_cpu_facts *ret);
