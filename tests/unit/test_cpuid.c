// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/cpuid and scan/cpuid_model: from registers to flags, names and numbers (spec nfd.md 2.1.1 and
 * 2.1.2, and the conditions of scan/cpuid-flags.tsv). The bits one by one are the property test's.
 */
#include "config.h"

#include "scan/cpuid.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "scan/cpuid_model.h"
#include "tests/unit/unit.h"

#define BIT(number) (UINT32_C(1) << (number))
#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

/* Leaf 1, EAX: family 6 model 0x8f, family 0x17 model 0x31, 0x19, and 0x1a. */
#define SAPPHIRE 0x000806f8
#define ROME 0x00830f10
#define MILAN 0x00a00f11
#define TURIN(model_high) (0x00b00f00 | (model_high) << 16)

#define AVX_STATES 0x6
#define AVX512_STATES 0xe6
#define AVX_BITS (BIT(26) | BIT(27) | BIT(28))

struct leaf {
	uint32_t leaf, subleaf;
	uint32_t reg[NFD_CPUID_REGISTERS];
};

struct row {
	const char *name;
	const char *maker; /* leaf 0; NULL: none */
	uint32_t max_leaf, max_extended;
	uint32_t signature, ebx, ecx, edx; /* leaf 1 */
	uint32_t xcr0;
	struct leaf leaf[12]; /* ends with a zeroed one */
	const char *text;     /* see facts_text() */
};

static uint32_t word(const char *text, size_t at)
{
	char padded[13] = { 0 };
	uint32_t value;

	memcpy(padded, text, strlen(text));
	memcpy(&value, padded + at, sizeof(value));
	return value;
}

static void read_row(void *cookie, uint32_t leaf, uint32_t subleaf,
		     uint32_t ret[NFD_CPUID_REGISTERS])
{
	const struct row *row = cookie;
	const char *maker = row->maker ? row->maker : "";
	struct leaf found = { .leaf = leaf };

	for (const struct leaf *at = row->leaf; at->leaf; at++)
		if (at->leaf == leaf && at->subleaf == subleaf)
			found = *at;
	if (leaf == 0)
		found = (struct leaf){
			.reg = { row->max_leaf, word(maker, 0), word(maker, 8), word(maker, 4) },
		};
	if (leaf == 1)
		found = (struct leaf){
			.reg = { row->signature, row->ebx, row->ecx, row->edx },
		};
	if (leaf == 0x80000000)
		found.reg[NFD_EAX] = row->max_extended;
	memcpy(ret, found.reg, sizeof(found.reg));
}

/* On a processor without the bits the instruction does not exist. */
static uint32_t xcr0_row(void *cookie)
{
	const struct row *row = cookie;

	assert_int_equal(row->ecx & (BIT(26) | BIT(27)), BIT(26) | BIT(27));
	return row->xcr0;
}

static const char *number(const char *name, uint64_t value)
{
	return value ? unit_text(" %s=%" PRIu64, name, value) : "";
}

/* "MAKER FAMILY MODEL HYPERVISOR", numbers that are not 0 as " name=N", and the flags. */
static const char *facts_text(const struct nfd_cpu_facts *facts)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	nfd_strbuf_printf(&buf, "%s %u %u %s%s%s%s%s", facts->vendor_id, facts->family,
			  facts->model, facts->hypervisor, number("avx10", facts->avx10_version),
			  number("rdt", facts->rdt), number("mhz", facts->base_mhz),
			  number("epc", facts->sgx_epc_bytes));
	for (size_t i = 0; i < facts->flag_count; i++)
		nfd_strbuf_printf(&buf, " %s", facts->flag[i]);
	return unit_text("%s", nfd_strbuf_text(&buf));
}

#define V1_EDX (BIT(0) | BIT(8) | BIT(11) | BIT(15) | BIT(23) | BIT(24) | BIT(25) | BIT(26))
#define V1_FLAGS "X87 CMPXCHG8 SYSEE CMOV MMX FXSR FXSROPT SSE SSE2"
#define V2_ECX (BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23))
#define V3_ECX (V2_ECX | BIT(12) | BIT(22) | BIT(29) | AVX_BITS)
#define V3_EBX (BIT(3) | BIT(5) | BIT(8))
#define V4_EBX (V3_EBX | BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31))

static const struct row rows[] = {
	{ "nothing at all", .text = "VendorUnknown 0 0 none" },
	{ "leaf 1 is above the highest", INTEL, .signature = SAPPHIRE, .ecx = ~0U, .edx = ~0U,
	  .text = "Intel 0 0 none" },
	{ "bit 0 is SSE3, XSAVE and OSXSAVE", INTEL, 1, .ecx = BIT(0),
	  .text = "Intel 0 0 none SSE3 XSAVE OSXSAVE" },
	{ "the bits of XSAVE and OSXSAVE say nothing", INTEL, 1, .ecx = BIT(26) | BIT(27),
	  .text = "Intel 0 0 none" },
	{ "FXSROPT follows SSE", INTEL, 1, .edx = BIT(25), .text = "Intel 0 0 none FXSROPT SSE" },
	{ "AVX needs saved state", INTEL, 1, .ecx = AVX_BITS, .xcr0 = AVX_STATES,
	  .text = "Intel 0 0 none AVX" },
	{ "half of the state is none", INTEL, 1, .ecx = AVX_BITS, .xcr0 = 0x2,
	  .text = "Intel 0 0 none" },
	{ "FMA3 needs OSXSAVE's bit", INTEL, 1, .ecx = BIT(12), .text = "Intel 0 0 none" },
	{ "FMA3 with it", INTEL, 1, .ecx = BIT(12) | BIT(27), .text = "Intel 0 0 none FMA3" },
	{ "AVX2 needs AVX, BMI2 needs BMI1", INTEL, 7, .leaf = { { 7, 0, { 0, BIT(5) | BIT(8) } } },
	  .text = "Intel 0 0 none" },
	{ "leaf 7 is above the highest", INTEL, 6,
	  .leaf = { { 7, 0, { ~0U, ~0U & ~(BIT(12) | BIT(15)), ~0U, ~0U } } },
	  .text = "Intel 0 0 none" },
	{ "AVX-512 needs saved state", INTEL, 7, .ecx = BIT(26) | BIT(27), .xcr0 = AVX512_STATES,
	  .leaf = { { 7, 0, { 0, BIT(16) } } }, .text = "Intel 0 0 none AVX512F" },
	{ "AVX-512 without it", INTEL, 7, .ecx = BIT(26) | BIT(27), .xcr0 = AVX_STATES,
	  .leaf = { { 7, 0, { 0, BIT(16), BIT(3) } } }, .text = "Intel 0 0 none" },
	{ "AVX-512 without AVX's state", INTEL, 7, .ecx = BIT(26) | BIT(27), .xcr0 = 0xe0,
	  .leaf = { { 7, 0, { 0, BIT(16) } } }, .text = "Intel 0 0 none" },
	{ "AMXFP8 follows PKU", INTEL, 7, .ecx = BIT(26) | BIT(27), .xcr0 = AVX512_STATES,
	  .leaf = { { 7, 0, { 0, 0, BIT(3) } } }, .text = "Intel 0 0 none AMXFP8" },
	{ "AVXSLOW on Sandy Bridge", INTEL, 1, .signature = 0x000206a7, .ecx = AVX_BITS,
	  .xcr0 = AVX_STATES, .text = "Intel 6 42 none AVX AVXSLOW" },
	{ "no AVXSLOW on Haswell", INTEL, 1, .signature = 0x000306c3, .ecx = AVX_BITS,
	  .xcr0 = AVX_STATES, .text = "Intel 6 60 none AVX" },
	{ "AVXSLOW on Naples", AMD, 1, .signature = 0x00800f12, .ecx = AVX_BITS, .xcr0 = AVX_STATES,
	  .text = "AMD 23 1 none AVX AVXSLOW TSA_L1_NO TSA_SQ_NO" },
	{ "no AVXSLOW on Rome", AMD, 1, .signature = ROME, .ecx = AVX_BITS, .xcr0 = AVX_STATES,
	  .text = "AMD 23 49 none AVX TSA_L1_NO TSA_SQ_NO" },
	{ "HTT of leaf 0Bh", INTEL, 0xb, .signature = SAPPHIRE, .edx = BIT(28),
	  .leaf = { { 0xb, 0, { 0, 2 } } }, .text = "Intel 6 143 none HTT" },
	{ "one thread by leaf 0Bh", INTEL, 0xb, .signature = SAPPHIRE, .edx = BIT(28),
	  .leaf = { { 0xb, 0, { 0, 1 } } }, .text = "Intel 6 143 none" },
	{ "HTT of old Intel: 4 logical, 2 cores", INTEL, 4, .signature = SAPPHIRE, .ebx = 4 << 16,
	  .edx = BIT(28), .leaf = { { 4, 0, { 1 << 26 } } }, .text = "Intel 6 143 none HTT" },
	{ "old Intel: 2 logical, 2 cores", INTEL, 4, .signature = SAPPHIRE, .ebx = 2 << 16,
	  .edx = BIT(28), .leaf = { { 4, 0, { 1 << 26 } } }, .text = "Intel 6 143 none" },
	{ "old Intel: more cores than logical", INTEL, 4, .signature = SAPPHIRE, .ebx = 2 << 16,
	  .edx = BIT(28), .leaf = { { 4, 0, { 7 << 26 } } }, .text = "Intel 6 143 none" },
	{ "old Intel: 1 logical", INTEL, 4, .signature = SAPPHIRE, .ebx = 1 << 16, .edx = BIT(28),
	  .text = "Intel 6 143 none" },
	{ "old Intel: too few leaves", INTEL, 3, .signature = SAPPHIRE, .ebx = 4 << 16,
	  .edx = BIT(28), .text = "Intel 6 143 none" },
	{ "old AMD has one thread", AMD, 4, .signature = MILAN, .ebx = 4 << 16, .edx = BIT(28),
	  .text = "AMD 25 1 none" },
	{ "AMD without leaf 8000001Eh has two threads", AMD, 0xb, 0x80000001, .signature = MILAN,
	  .edx = BIT(28), .text = "AMD 25 1 none HTT" },
	{ "AMD with leaf 8000001Eh: one", AMD, 0xb, 0x8000001e, .signature = MILAN, .edx = BIT(28),
	  .text = "AMD 25 1 none" },
	{ "AMD with leaf 8000001Eh: two", AMD, 0xb, 0x8000001e, .signature = MILAN, .edx = BIT(28),
	  .leaf = { { 0x8000001e, 0, { 0, 1 << 8 } } }, .text = "AMD 25 1 none HTT" },
	{ "AMD before Zen has one thread", AMD, 0xb, 0x8000001e, .signature = 0x00600f12,
	  .edx = BIT(28), .leaf = { { 0x8000001e, 0, { 0, 1 << 8 } } },
	  .text = "AMD 21 1 none TSA_L1_NO TSA_SQ_NO" },
	{ "Hygon has no HTT", "HygonGenuine", 0xb, .signature = 0x00900f01, .edx = BIT(28),
	  .leaf = { { 0xb, 0, { 0, 2 } } }, .text = "Hygon 24 0 none" },
	{ "SGX: two sections, what is no section, the end", INTEL, 0x12,
	  .leaf = { { 7, 0, { 0, BIT(2), BIT(30) } },
		    { 0x12, 0, { BIT(12) } },
		    { 0x12, 2, { 0x70000001, 0, 0x5f00fff, 0xfff00001 } },
		    { 0x12, 3, { 2, 0, 0x1000, 0 } },
		    { 0x12, 4, { 1, 0, 0x1000, 0 } },
		    { 0x12, 6, { 1, 0, 0x1000, 0 } } },
	  .text = "Intel 0 0 none epc=4394586112 SGX SGXLC SGXPQC" },
	{ "SGX without memory", INTEL, 7, .leaf = { { 7, 0, { 0, BIT(2) } } },
	  .text = "Intel 0 0 none SGX" },
	{ "memory without SGX", INTEL, 0x12,
	  .leaf = { { 0x12, 0, { BIT(12) } }, { 0x12, 2, { 1, 0, 0x1000, 0 } } },
	  .text = "Intel 0 0 none" },
	{ "both bits of wide Key Locker", INTEL, 0x19,
	  .leaf = { { 7, 0, { 0, 0, BIT(23) } }, { 0x19, 0, { 0, BIT(0) | BIT(2) } } },
	  .text = "Intel 0 0 none KEYLOCKER KEYLOCKERW" },
	{ "one bit of wide Key Locker", INTEL, 0x19,
	  .leaf = { { 7, 0, { 0, 0, BIT(23) } }, { 0x19, 0, { 0, BIT(2) } } },
	  .text = "Intel 0 0 none KEYLOCKER" },
	{ "AVX10", INTEL, 0x24,
	  .leaf = { { 7, 1, { 0, 0, 0, BIT(19) } }, { 0x24, 0, { 0, 0x70002 } } },
	  .text = "Intel 0 0 none avx10=2 AVX10 AVX10_128 AVX10_256 AVX10_512" },
	{ "AVX10 without leaf 24h", INTEL, 0x23,
	  .leaf = { { 7, 1, { 0, 0, 0, BIT(19) } }, { 0x24, 0, { 0, 0x70002 } } },
	  .text = "Intel 0 0 none AVX10" },
	{ "leaf 24h without AVX10", INTEL, 0x24, .leaf = { { 0x24, 0, { 0, 0x70002 } } },
	  .text = "Intel 0 0 none" },
	{ "XSAVEOPT and its like need XSAVE, which is SSE3", INTEL, 0xd, .ecx = BIT(0),
	  .leaf = { { 0xd, 1, { 0xf } } },
	  .text = "Intel 0 0 none SSE3 XSAVE OSXSAVE XSAVEOPT XSAVEC XGETBV1 XSAVES" },
	{ "XSAVEOPT without XSAVE", INTEL, 0xd, .leaf = { { 0xd, 1, { 0xf } } },
	  .text = "Intel 0 0 none" },
	{ "POPCNT follows LZCNT too", INTEL, 1, 0x80000001,
	  .leaf = { { 0x80000001, 0, { 0, 0, BIT(5) } } }, .text = "Intel 0 0 none POPCNT LZCNT" },
	{ "extended leaf above the highest", INTEL, 1, 0x80000000,
	  .leaf = { { 0x80000001, 0, { 0, 0, BIT(5) } } }, .text = "Intel 0 0 none" },
	{ "SVM and what needs it", INTEL, 1, 0x8000000a,
	  .leaf = { { 0x80000001, 0, { 0, 0, BIT(2) } }, { 0x8000000a, 0, { 0, 0, 0, BIT(3) } } },
	  .text = "Intel 0 0 none SVM NRIPS" },
	{ "without SVM", INTEL, 1, 0x8000000a, .leaf = { { 0x8000000a, 0, { 0, 0, 0, BIT(3) } } },
	  .text = "Intel 0 0 none" },
	{ "SEV is AMD's", AMD, 1, 0x8000001f, .signature = MILAN,
	  .leaf = { { 0x8000001f, 0, { BIT(1) } } }, .text = "AMD 25 1 none SEV" },
	{ "SEV is not Hygon's", "HygonGenuine", 1, 0x8000001f, .signature = MILAN,
	  .leaf = { { 0x8000001f, 0, { BIT(1) } } }, .text = "Hygon 25 1 none" },
	{ "TSA by bits", AMD, 1, 0x80000021, .signature = MILAN,
	  .leaf = { { 0x80000021, 0, { 0, 0, BIT(1) } } }, .text = "AMD 25 1 none TSA_L1_NO" },
	{ "TSA: family 1Ah, model 40h", AMD, 1, .signature = TURIN(4),
	  .text = "AMD 26 64 none TSA_L1_NO TSA_SQ_NO" },
	{ "TSA: family 1Ah, model 50h", AMD, 1, .signature = TURIN(5), .text = "AMD 26 80 none" },
	{ "TSA: family 1Ah, model 70h", AMD, 1, .signature = TURIN(7),
	  .text = "AMD 26 112 none TSA_L1_NO TSA_SQ_NO" },
	{ "TSA: family 1Ah, model 80h", AMD, 1, .signature = TURIN(8), .text = "AMD 26 128 none" },
	{ "TDX guest of leaf 21h", INTEL, 0x21,
	  .leaf = { { 0x21, 0, { 0, 0x65746e49, 0x20202020, 0x5844546c } } },
	  .text = "Intel 0 0 none TDX_GUEST" },
	{ "TDX guest of leaf 21h above the highest", INTEL, 0x20,
	  .leaf = { { 0x21, 0, { 0, 0x65746e49, 0x20202020, 0x5844546c } } },
	  .text = "Intel 0 0 none" },
	{ "TDX guest of Hyper-V", INTEL, 0x20, .leaf = { { 0x4000000c, 0, { 0, 0xbe3 } } },
	  .text = "Intel 0 0 none TDX_GUEST" },
	{ "another guest of Hyper-V", INTEL, 0x20, .leaf = { { 0x4000000c, 0, { 0, 0xbe2 } } },
	  .text = "Intel 0 0 none" },
	{ "PMU: clear bits of EBX", INTEL, 0xa, .leaf = { { 0xa, 0, { 1, 0xb } } },
	  .text = "Intel 0 0 none PMU_FIXEDCOUNTER_REFCYCLES" },
	{ "PMU: EBX of version 0", INTEL, 0xa, .leaf = { { 0xa, 0, { 0, 0xb } } },
	  .text = "Intel 0 0 none" },
	{ "PMU: three counters", INTEL, 0xa, .leaf = { { 0xa, 0, { 2, 0, 0, 3 } } },
	  .text = "Intel 0 0 none PMU_FIXEDCOUNTER_INSTRUCTIONS PMU_FIXEDCOUNTER_CYCLES "
		  "PMU_FIXEDCOUNTER_REFCYCLES" },
	{ "PMU: four counters", INTEL, 0xa, .leaf = { { 0xa, 0, { 2, 0, 0, 4 } } },
	  .text = "Intel 0 0 none PMU_FIXEDCOUNTER_INSTRUCTIONS PMU_FIXEDCOUNTER_CYCLES "
		  "PMU_FIXEDCOUNTER_REFCYCLES PMU_FIXEDCOUNTER_TOPDOWN_SLOTS" },
	{ "PMU: two counters", INTEL, 0xa, .leaf = { { 0xa, 0, { 2, 0, 0, 2 } } },
	  .text = "Intel 0 0 none" },
	{ "PMU: version 1 without EBX", INTEL, 0xa, .leaf = { { 0xa, 0, { 1, 0, 0, 4 } } },
	  .text = "Intel 0 0 none" },
	{ "x86-64 level 1", INTEL, 1, .edx = V1_EDX,
	  .text = "Intel 0 0 none " V1_FLAGS " X86_64_V1" },
	{ "level 1 by SYSCALL", INTEL, 1, 0x80000001, .edx = V1_EDX & ~BIT(11),
	  .leaf = { { 0x80000001, 0, { 0, 0, 0, BIT(11) } } },
	  .text = "Intel 0 0 none X87 CMPXCHG8 CMOV MMX FXSR FXSROPT SSE SSE2 SYSCALL X86_64_V1" },
	{ "level 1 without SSE2", INTEL, 1, .edx = V1_EDX & ~BIT(26),
	  .text = "Intel 0 0 none X87 CMPXCHG8 SYSEE CMOV MMX FXSR FXSROPT SSE" },
	{ "x86-64 level 2", INTEL, 1, 0x80000001, .ecx = V2_ECX, .edx = V1_EDX,
	  .leaf = { { 0x80000001, 0, { 0, 0, BIT(0) } } },
	  .text = "Intel 0 0 none " V1_FLAGS
		  " SSE3 SSSE3 CX16 SSE4 SSE42 POPCNT XSAVE OSXSAVE LAHF "
		  "X86_64_V1 X86_64_V2" },
	{ "x86-64 level 3", INTEL, 7, 0x80000001, .signature = SAPPHIRE, .ecx = V3_ECX,
	  .edx = V1_EDX, .xcr0 = AVX_STATES,
	  .leaf = { { 7, 0, { 0, V4_EBX } }, { 0x80000001, 0, { 0, 0, BIT(0) | BIT(5) } } },
	  .text = "Intel 6 143 none " V1_FLAGS
		  " SSE3 SSSE3 CX16 SSE4 SSE42 MOVBE POPCNT XSAVE OSXSAVE "
		  "FMA3 AVX F16C BMI1 AVX2 BMI2 LAHF LZCNT X86_64_V1 X86_64_V2 X86_64_V3" },
	{ "x86-64 level 4", INTEL, 7, 0x80000001, .signature = SAPPHIRE, .ecx = V3_ECX,
	  .edx = V1_EDX, .xcr0 = AVX512_STATES,
	  .leaf = { { 7, 0, { 0, V4_EBX } }, { 0x80000001, 0, { 0, 0, BIT(0) | BIT(5) } } },
	  .text = "Intel 6 143 none " V1_FLAGS
		  " SSE3 SSSE3 CX16 SSE4 SSE42 MOVBE POPCNT XSAVE OSXSAVE "
		  "FMA3 AVX F16C BMI1 AVX2 BMI2 AVX512F AVX512DQ AVX512CD AVX512BW AVX512VL LAHF LZCNT "
		  "X86_64_V1 X86_64_V2 X86_64_V3 X86_64_V4" },
	{ "RDT: all of it, whatever the highest leaf is", INTEL, 1,
	  .leaf = { { 7, 0, { 0, BIT(12) | BIT(15) } },
		    { 0xf, 0, { 0, 0, 0, BIT(1) } },
		    { 0xf, 1, { 0, 0, 0, 0x7 } },
		    { 0x10, 0, { 0, 0xe } } },
	  .text = "Intel 0 0 none rdt=63" },
	{ "RDT: total bandwidth alone", INTEL, 1,
	  .leaf = { { 7, 0, { 0, BIT(12) } },
		    { 0xf, 0, { 0, 0, 0, BIT(1) } },
		    { 0xf, 1, { 0, 0, 0, 0x2 } },
		    { 0x10, 0, { 0, 0xe } } },
	  .text = "Intel 0 0 none rdt=1" },
	{ "RDT: kinds without monitoring of the cache", INTEL, 1,
	  .leaf = { { 7, 0, { 0, BIT(12) | BIT(15) } },
		    { 0xf, 1, { 0, 0, 0, 0x7 } },
		    { 0x10, 0, { 0, 0x4 } } },
	  .text = "Intel 0 0 none rdt=16" },
	{ "frequency, whatever the highest leaf is", INTEL, 1, .leaf = { { 0x16, 0, { 2300 } } },
	  .text = "Intel 0 0 none mhz=2300" },
	{ "hypervisor", INTEL, 1, .ecx = BIT(31),
	  .leaf = { { 0x40000000, 0, { 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d } } },
	  .text = "Intel 0 0 kvm HYPERVISOR" },
	{ "hypervisor without a name", INTEL, 1, .ecx = BIT(31),
	  .text = "Intel 0 0 unknown HYPERVISOR" },
	{ "no hypervisor, but its leaf", INTEL, 1,
	  .leaf = { { 0x40000000, 0, { 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d } } },
	  .text = "Intel 0 0 none" },
};

static void decodes(void **state)
{
	struct row *row = *state;
	const struct nfd_cpuid_source source = { read_row, xcr0_row, row };
	struct nfd_cpu_facts facts;

	nfd_cpuid_decode(&source, &facts);
	assert_int_equal(facts.arch, NFD_CPU_X86_64);
	assert_string_equal(facts_text(&facts), row->text);
}

static const struct {
	const char *text; /* at most 12 bytes */
	const char *vendor;
	const char *hypervisor;
} names[] = {
	{ "GenuineIntel", "Intel", "intel" },
	{ "AuthenticAMD", "AMD", "amd" },
	{ "AMDisbetter!", "AMD", "amd" },
	{ "HygonGenuine", "Hygon", "hygon" },
	{ "CentaurHauls", "VIA", "via" },
	{ "VIA VIA VIA ", "VIA", "via" },
	{ "TransmetaCPU", "Transmeta", "transmeta" },
	{ "GenuineTMx86", "Transmeta", "transmeta" },
	{ "Geode by NSC", "NSC", "nsc" },
	{ "Vortex86 SoC", "SiS", "sis" },
	{ "SiS SiS SiS ", "SiS", "sis" },
	{ "RiseRiseRise", "SiS", "sis" },
	{ "Genuine  RDC", "RDC", "rdc" },
	{ "KVMKVMKVM", "KVM", "kvm" },
	{ "Linux KVM Hv", "KVM", "kvm" },
	{ "TCGTCGTCGTCG", "QEMU", "qemu" },
	{ "Microsoft Hv", "MSVM", "msvm" },
	{ "VMwareVMware", "VMware", "vmware" },
	{ "XenVMMXenVMM", "XenHVM", "xenhvm" },
	{ "bhyve bhyve ", "Bhyve", "bhyve" },
	{ "QNXQVMBSQG", "QNX", "qnx" },
	{ "ACRNACRNACRN", "ACRN", "acrn" },
	{ "SRESRESRESRE", "SRE", "sre" },
	{ "Apple VZ", "Apple", "apple" },
	{ "  Shanghai  ", "VendorUnknown", "_Shanghai_" },
	{ "a!?b_.-C", "VendorUnknown", "a_b_.-C" },
	{ "\xff\xfe"
	  "x",
	  "VendorUnknown", "_x" },
	{ "", "VendorUnknown", "unknown" },
};

static void names_makers(void **state)
{
	const __typeof__(names[0]) *row = *state;
	char text[NFD_CPUID_TEXT_SIZE], hypervisor[NFD_CPUID_TEXT_SIZE];

	nfd_cpuid_text(word(row->text, 0), word(row->text, 4), word(row->text, 8), text);
	assert_string_equal(text, row->text);
	assert_string_equal(nfd_cpuid_vendor(text), row->vendor);
	nfd_cpuid_hypervisor(text, hypervisor);
	assert_string_equal(hypervisor, row->hypervisor);
}

static const struct {
	const char *name;
	uint32_t signature;
	unsigned int family, model;
} signatures[] = {
	{ "zero", 0, 0, 0 },
	{ "family 6", 0x000806f8, 6, 0x8f },
	{ "family 17h", 0x00830f10, 0x17, 0x31 },
	{ "family 5 lacks the upper half", 0x000a0543, 5, 4 },
	{ "family 7 lacks it as well, other than in the kernel", 0x000a0743, 7, 4 },
	{ "extended family without family 15", 0x0ff00600, 6, 0 },
	{ "all ones", 0xffffffff, 270, 255 },
};

static void reads_signatures(void **state)
{
	const __typeof__(signatures[0]) *row = *state;

	assert_int_equal(nfd_cpuid_family(row->signature), row->family);
	assert_int_equal(nfd_cpuid_model(row->signature), row->model);
}

static void denies_what_nfd_denies(void **state)
{
	(void)state;
	assert_string_equal(nfd_cpuid_denied,
			    "AVX10,BMI1,BMI2,CLMUL,CMOV,CX16,ERMS,F16C,HTT,LZCNT,MMX,MMXEXT,NX,"
			    "POPCNT,RDRAND,RDSEED,RDTSCP,SGX,SGXLC,SSE,SSE2,SSE3,SSE4,SSE42,SSSE3,"
			    "TDX_GUEST");
}

static void finds_flags(void **state)
{
	static const char *const flag = "SSE";
	struct nfd_cpu_facts facts;

	(void)state;
	nfd_cpu_facts_init(&facts, NFD_CPU_OTHER);
	assert_false(nfd_cpu_has(NULL, flag));
	assert_false(nfd_cpu_has(&facts, flag));
	for (size_t i = 0; i <= NFD_CPU_FLAGS_MAX; i++)
		nfd_cpu_add_flag(&facts, flag);
	assert_int_equal(facts.flag_count, NFD_CPU_FLAGS_MAX);
	assert_true(nfd_cpu_has(&facts, "SSE"));
	assert_false(nfd_cpu_has(&facts, "sse"));
}

int main(void)
{
	struct unit_suite suite = { .name = "cpuid" };

	UNIT_ROWS(&suite, decodes, rows, name);
	UNIT_ROWS(&suite, names_makers, names, text);
	UNIT_ROWS(&suite, reads_signatures, signatures, name);
	UNIT_CASE(&suite, denies_what_nfd_denies);
	UNIT_CASE(&suite, finds_flags);
	return unit_run(&suite);
}
