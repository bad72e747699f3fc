// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID is executed and not taken from proc/cpuinfo, which has other names and hides bits.
 */
#include "config.h"

#include "scan/cpu_live.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <string.h>

#include "base/macros.h"
#include "scan/cpuid.h"

#define FIRST_EXTENDED_LEAF 0x80000000u

/* The highest leaf of both ranges, once it was read. */
struct ranges {
	uint32_t max, max_extended;
};

#ifdef HAVE_SYS_PLATFORM_X86_H

#include <sys/platform/x86.h>

/* Leaves that the C library has read at the start of the process. */
static const struct {
	uint32_t leaf, subleaf;
	unsigned int index;
} kept[] = {
	{ 0x1, 0, CPUID_INDEX_1 },
	{ 0x7, 0, CPUID_INDEX_7 },
	{ 0x7, 1, CPUID_INDEX_7_ECX_1 },
	{ 0xd, 1, CPUID_INDEX_D_ECX_1 },
	{ 0x14, 0, CPUID_INDEX_14_ECX_0 },
	{ 0x19, 0, CPUID_INDEX_19 },
	{ 0x80000001, 0, CPUID_INDEX_80000001 },
	{ 0x80000007, 0, CPUID_INDEX_80000007 },
	{ 0x80000008, 0, CPUID_INDEX_80000008 },
};

/* In a virtual machine each CPUID is a trip to the hypervisor, which takes as long as three small files. */
static bool take_kept(const struct ranges *ranges, uint32_t leaf, uint32_t subleaf,
		      uint32_t ret[NFD_CPUID_REGISTERS])
{
	/* Above the highest leaf the processor has an answer, and the library none. */
	if (leaf > (leaf >= FIRST_EXTENDED_LEAF ? ranges->max_extended : ranges->max))
		return false;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(kept); i++)
		if (kept[i].leaf == leaf && kept[i].subleaf == subleaf) {
			memcpy(ret, __x86_get_cpuid_feature_leaf(kept[i].index)->cpuid_array,
			       NFD_CPUID_REGISTERS * sizeof(*ret));
			return true;
		}
	return false;
}

#else

static bool take_kept(const struct ranges *ranges, uint32_t leaf, uint32_t subleaf,
		      uint32_t ret[NFD_CPUID_REGISTERS])
{
	(void)ranges;
	(void)leaf;
	(void)subleaf;
	(void)ret;
	return false;
}

#endif

static void read_registers(void *cookie, uint32_t leaf, uint32_t subleaf,
			   uint32_t ret[NFD_CPUID_REGISTERS])
{
	struct ranges *ranges = cookie;

	if (take_kept(ranges, leaf, subleaf, ret))
		return;
	__cpuid_count(leaf, subleaf, ret[NFD_EAX], ret[NFD_EBX], ret[NFD_ECX], ret[NFD_EDX]);
	if (leaf == 0)
		ranges->max = ret[NFD_EAX];
	else if (leaf == FIRST_EXTENDED_LEAF)
		ranges->max_extended = ret[NFD_EAX];
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
	struct ranges ranges = { 0 };
	const struct nfd_cpuid_source source = {
		.read = read_registers,
		.xcr0 = read_xcr0,
		.cookie = &ranges,
	};

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
