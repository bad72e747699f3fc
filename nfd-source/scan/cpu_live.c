// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID is executed and not taken from proc/cpuinfo, which has other names and hides bits.
 */
#include "config.h"

#include "scan/cpu_live.h"

#ifdef __x86_64__

#include <cpuid.h>

#include "scan/cpuid.h"

static void read_registers(void *cookie, uint32_t leaf, uint32_t subleaf,
			   uint32_t ret[NFD_CPUID_REGISTERS])
{
	(void)cookie;
	__cpuid_count(leaf, subleaf, ret[NFD_EAX], ret[NFD_EBX], ret[NFD_ECX], ret[NFD_EDX]);
}

static uint32_t read_xcr0(void *cookie)
{
	uint32_t low, high;

	(void)cookie;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	(void)high;
	return low;
}

void nfd_cpu_live(struct nfd_cpu_facts *ret)
{
	const struct nfd_cpuid_source source = { .read = read_registers, .xcr0 = read_xcr0 };

	nfd_cpuid_decode(&source, ret);
}

#else

#include <sys/auxv.h>

#include "scan/hwcap.h"

#if defined(__aarch64__)
#define ARCH NFD_CPU_ARM64
#elif defined(__arm__)
#define ARCH NFD_CPU_ARM
#elif defined(__s390x__)
#define ARCH NFD_CPU_S390X
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH NFD_CPU_PPC64LE
#else
#define ARCH NFD_CPU_OTHER
#endif

static uint32_t read_midr(void)
{
	uint64_t midr = 0;

#ifdef __aarch64__
	__asm__("mrs %0, midr_el1" : "=r"(midr));
#endif
	return (uint32_t)midr;
}

void nfd_cpu_live(struct nfd_cpu_facts *ret)
{
	struct nfd_hwcap hwcap = {
		.arch = ARCH,
		.word = { getauxval(AT_HWCAP), getauxval(AT_HWCAP2) },
	};

	if (ARCH == NFD_CPU_ARM64 && hwcap.word[0] & NFD_HWCAP_ARM64_CPUID)
		hwcap.midr = read_midr();
	nfd_hwcap_decode(&hwcap, ret);
}

#endif
