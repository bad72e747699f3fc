/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a processor says of itself, whatever its architecture: the facts behind cpu-cpuid.* and
 * cpu-model.*. They are found once (scan/cpu_live for the processor that we run on) and given to every
 * scan: on a machine with two kinds of cores the answer depends on where one happens to run, and
 * nfd-worker asks once as well.
 * nfd-worker's quirks are listed in scan/source.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nfd_cpu_arch {
	NFD_CPU_OTHER, /* one whose flags NFD has no names for */
	NFD_CPU_X86_64,
	NFD_CPU_ARM64,
	NFD_CPU_ARM,
	NFD_CPU_S390X,
	NFD_CPU_PPC64LE,
};

/* Intel Resource Director Technology, as bits. */
enum nfd_cpu_rdt {
	NFD_RDT_MONITORING = 1 << 0,
	NFD_RDT_OCCUPANCY = 1 << 1,
	NFD_RDT_BANDWIDTH_MONITORING = 1 << 2,
	NFD_RDT_L3_ALLOCATION = 1 << 3,
	NFD_RDT_L2_ALLOCATION = 1 << 4,
	NFD_RDT_BANDWIDTH_ALLOCATION = 1 << 5,
};

#define NFD_CPU_FLAGS_MAX 256
#define NFD_CPU_VENDOR_UNKNOWN "VendorUnknown"

struct nfd_cpu_facts {
	enum nfd_cpu_arch arch;
	const char *vendor_id; /* static; "Intel", NFD_CPU_VENDOR_UNKNOWN */
	unsigned int family, model;
	char hypervisor[16];                 /* "none", "kvm"; may be no legal label value */
	const char *flag[NFD_CPU_FLAGS_MAX]; /* static names as NFD has them, @flag_count of them */
	size_t flag_count;
	/* x86-64 alone from here on. */
	unsigned int avx10_version; /* 0: none */
	unsigned int rdt;           /* bits of enum nfd_cpu_rdt */
	uint32_t base_mhz;          /* nominal frequency; 0: not stated */
	uint64_t sgx_epc_bytes;     /* all sections of the enclave page cache together */
};

/**
 * nfd_cpu_facts_init() - facts of a processor that says nothing of itself.
 */
void nfd_cpu_facts_init(struct nfd_cpu_facts *facts, enum nfd_cpu_arch arch);

/**
 * nfd_cpu_has() - whether a flag is there.
 * @facts: NULL has none.
 * @flag:  NFD's name, case matters.
 */
bool nfd_cpu_has(const struct nfd_cpu_facts *facts, const char *flag);

/**
 * nfd_cpu_add_flag() - one more flag.
 * @flag: static text; borrowed. What does not fit is dropped: no architecture has that many.
 */
void nfd_cpu_add_flag(struct nfd_cpu_facts *facts, const char *flag);
