// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the bits of HWCAP as NFD has them, in the order of the bits; bits without a name here are
 * not reported. PowerPC counts from the top.
 */
#include "config.h"

#include "scan/hwcap.h"

#include "base/macros.h"

static const char *const arm64_1[] = {
	"FP",      "ASIMD", "EVTSTRM", "AES",   "PMULL",    "SHA1",   "SHA2", "CRC32",
	"ATOMICS", "FPHP",  "ASIMDHP", "CPUID", "ASIMDRDM", "JSCVT",  "FCMA", "LRCPC",
	"DCPOP",   "SHA3",  "SM3",     "SM4",   "ASIMDDP",  "SHA512", "SVE",  "ASIMDFHM",
	"DIT",     "USCAT", "ILRCPC",  "FLAGM", "SSBS",     "SB",     "PACA", "PACG",
};
static const char *const arm64_2[] = {
	"DCPODP",    "SVE2",      "SVEAES",  "SVEPMULL",  "SVEBITPERM", "SVESHA3",  "SVESM4",
	"FLAGM2",    "FRINT",     "SVEI8MM", "SVEF32MM",  "SVEF64MM",   "SVEBF16",  "I8MM",
	"BF16",      "DGH",       "RNG",     "BTI",       "MTE",        "ECV",      "AFP",
	"RPRES",     "MTE3",      "SME",     "SMEI16I64", "SMEF64F64",  "SMEI8I32", "SMEF16F32",
	"SMEB16F32", "SMEF32F32", "SMEFA64", "WFXT",      "EBF16",      "SVEEBF16",
};
static const char *const arm_1[] = {
	"SWP",   "HALF",   "THUMB",  "26BIT",   "FASTMUL", "FPA",     "VFP",      "EDSP",
	"JAVA",  "IWMMXT", "CRUNCH", "THUMBEE", "NEON",    "VFPv3",   "VFPv3D16", "TLS",
	"VFPv4", "IDIVA",  "IDIVT",  "VFPD32",  "LPAE",    "EVTSTRM",
};
static const char *const arm_2[] = { "AES", "PMULL", "SHA1", "SHA2", "CRC32" };
static const char *const s390x_1[] = {
	"ESAN3",  "ZARCH",    "STFLE", "MSA",  "LDISP", "EIMM",   "DFP", "EDAT",
	"ETF3EH", "HIGHGPRS", "TE",    "VX",   "VXD",   "VXE",    "GS",  "VXE2",
	"VXP",    "SORT",     "DFLT",  "VXP2", "NNPA",  "PCIMIO", "SIE",
};
static const char *const ppc_1[] = {
	"PPC32",   "PPC64",   "PPC601",    "ALTIVEC",   "FPU",      "MMU",       "4xxMAC",
	"UCACHE",  "SPE",     "EFPFLOAT",  "EFPDOUBLE", "NOTB",     "POWER4",    "POWER5",
	"POWER5+", "CELLBE",  "BOOKE",     "SMT",       "IC_SNOOP", "ARCH_2_05", "PA6T",
	"DFP",     "POWER6X", "ARCH_2_06", "VSX",       "ARCHPMU",
};
static const char *const ppc_1_low[] = { "TRUE_LE", "PPCLE" };
static const char *const ppc_2[] = {
	"ARCH_2_07", "HTM",     "DSCR", "EBB", "ISEL",           "TAR",      "VCRYPTO", "HTM-NOSC",
	"ARCH_3_00", "IEEE128", "DARN", "SCV", "HTM-NO-SUSPEND", "ARCH_3_1", "MMA",
};

/* A row of names: the first stands for bit @first of word @word, the next for first + step. */
static const struct {
	enum nfd_cpu_arch arch;
	unsigned int word;
	int first, step;
	const char *const *name; /* array of @count */
	size_t count;
} rows[] = {
	{ NFD_CPU_ARM64, 0, 0, 1, arm64_1, NFD_ARRAY_SIZE(arm64_1) },
	{ NFD_CPU_ARM64, 1, 0, 1, arm64_2, NFD_ARRAY_SIZE(arm64_2) },
	{ NFD_CPU_ARM, 0, 0, 1, arm_1, NFD_ARRAY_SIZE(arm_1) },
	{ NFD_CPU_ARM, 1, 0, 1, arm_2, NFD_ARRAY_SIZE(arm_2) },
	{ NFD_CPU_S390X, 0, 0, 1, s390x_1, NFD_ARRAY_SIZE(s390x_1) },
	{ NFD_CPU_PPC64LE, 0, 31, -1, ppc_1, NFD_ARRAY_SIZE(ppc_1) },
	{ NFD_CPU_PPC64LE, 0, 1, -1, ppc_1_low, NFD_ARRAY_SIZE(ppc_1_low) },
	{ NFD_CPU_PPC64LE, 1, 31, -1, ppc_2, NFD_ARRAY_SIZE(ppc_2) },
};

/* Bits 31 to 24 of MIDR_EL1. */
static const struct {
	uint32_t code;
	const char *name;
} makers[] = {
	{ 0x41, "ARM" },     { 0x42, "Broadcom" }, { 0x43, "Cavium" },   { 0x44, "DEC" },
	{ 0x46, "Fujitsu" }, { 0x49, "Infineon" }, { 0x4d, "Motorola" }, { 0x4e, "NVIDIA" },
	{ 0x50, "AMCC" },    { 0x51, "Qualcomm" }, { 0x56, "Marvell" },  { 0x69, "Intel" },
	{ 0xc0, "Ampere" },
};

static void decode_midr(uint32_t midr, struct nfd_cpu_facts *facts)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(makers); i++)
		if (makers[i].code == midr >> 24)
			facts->vendor_id = makers[i].name;
	facts->family = midr >> 16 & 0xff;
	facts->model = midr & 0xffff;
}

void nfd_hwcap_decode(const struct nfd_hwcap *hwcap, struct nfd_cpu_facts *ret)
{
	nfd_cpu_facts_init(ret, hwcap->arch);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++)
		for (size_t j = 0; j < rows[i].count && rows[i].arch == hwcap->arch; j++)
			if (hwcap->word[rows[i].word] >> (rows[i].first + rows[i].step * (int)j) &
			    1)
				nfd_cpu_add_flag(ret, rows[i].name[j]);
	if (hwcap->arch == NFD_CPU_ARM64 && hwcap->word[0] & NFD_HWCAP_ARM64_CPUID)
		decode_midr(hwcap->midr, ret);
}
