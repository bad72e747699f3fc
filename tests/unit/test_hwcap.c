// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/hwcap: names of bits, and arm64's MIDR_EL1 (spec nfd.md 2.1.1, 2.1.2).
 */
#include "config.h"

#include "scan/hwcap.h"

#include "base/strbuf.h"
#include "scan/cpu_live.h"
#include "tests/unit/unit.h"

#define BIT(number) (UINT64_C(1) << (number))
#define CPUID NFD_HWCAP_ARM64_CPUID

static const struct {
	const char *name;
	struct nfd_hwcap hwcap;
	const char *text; /* "MAKER FAMILY MODEL" and the flags */
} rows[] = {
	{ "an architecture without names",
	  { NFD_CPU_OTHER, { ~0ULL, ~0ULL }, ~0U },
	  "VendorUnknown 0 0" },
	{ "arm64: nothing", { NFD_CPU_ARM64, { 0, 0 }, 0x410fd0c1 }, "VendorUnknown 0 0" },
	{ "arm64: both ends of both words, and a bit above",
	  { NFD_CPU_ARM64,
	    { BIT(0) | BIT(31) | BIT(32) | BIT(63), BIT(0) | BIT(33) | BIT(34) },
	    0 },
	  "VendorUnknown 0 0 FP PACG DCPODP SVEEBF16" },
	{ "arm64: what lies between",
	  { NFD_CPU_ARM64, { BIT(6) | BIT(22), BIT(17) | BIT(23) }, 0 },
	  "VendorUnknown 0 0 SHA2 SVE BTI SME" },
	{ "arm64: Neoverse N1",
	  { NFD_CPU_ARM64, { CPUID | BIT(1), 0 }, 0x413fd0c1 },
	  "ARM 63 53441 ASIMD CPUID" },
	{ "arm64: Ampere", { NFD_CPU_ARM64, { CPUID, 0 }, 0xc00fac30 }, "Ampere 15 44080 CPUID" },
	{ "arm64: NVIDIA", { NFD_CPU_ARM64, { CPUID, 0 }, 0x4e0f0040 }, "NVIDIA 15 64 CPUID" },
	{ "arm64: nobody knows it",
	  { NFD_CPU_ARM64, { CPUID, 0 }, 0x610f0220 },
	  "VendorUnknown 15 544 CPUID" },
	{ "arm64: Broadcom", { NFD_CPU_ARM64, { CPUID, 0 }, 0x42000000 }, "Broadcom 0 0 CPUID" },
	{ "arm64: Cavium", { NFD_CPU_ARM64, { CPUID, 0 }, 0x43000000 }, "Cavium 0 0 CPUID" },
	{ "arm64: DEC", { NFD_CPU_ARM64, { CPUID, 0 }, 0x44000000 }, "DEC 0 0 CPUID" },
	{ "arm64: Fujitsu", { NFD_CPU_ARM64, { CPUID, 0 }, 0x46000000 }, "Fujitsu 0 0 CPUID" },
	{ "arm64: Infineon", { NFD_CPU_ARM64, { CPUID, 0 }, 0x49000000 }, "Infineon 0 0 CPUID" },
	{ "arm64: Motorola", { NFD_CPU_ARM64, { CPUID, 0 }, 0x4d000000 }, "Motorola 0 0 CPUID" },
	{ "arm64: AMCC", { NFD_CPU_ARM64, { CPUID, 0 }, 0x50000000 }, "AMCC 0 0 CPUID" },
	{ "arm64: Qualcomm", { NFD_CPU_ARM64, { CPUID, 0 }, 0x51000000 }, "Qualcomm 0 0 CPUID" },
	{ "arm64: Marvell", { NFD_CPU_ARM64, { CPUID, 0 }, 0x56000000 }, "Marvell 0 0 CPUID" },
	{ "arm64: Intel", { NFD_CPU_ARM64, { CPUID, 0 }, 0x69000000 }, "Intel 0 0 CPUID" },
	{ "arm: bit 11 is no CPUID",
	  { NFD_CPU_ARM, { BIT(0) | BIT(11) | BIT(21) | BIT(22), 0x3f }, 0x41000000 },
	  "VendorUnknown 0 0 SWP THUMBEE EVTSTRM AES PMULL SHA1 SHA2 CRC32" },
	{ "s390x: both ends",
	  { NFD_CPU_S390X, { BIT(0) | BIT(11) | BIT(22) | BIT(23), ~0ULL }, 0 },
	  "VendorUnknown 0 0 ESAN3 VX SIE" },
	{ "ppc64le: from the top, with a gap",
	  { NFD_CPU_PPC64LE,
	    { BIT(32) | BIT(31) | BIT(17) | BIT(7) | BIT(6) | BIT(5) | BIT(2) | BIT(1) | BIT(0),
	      0 },
	    0 },
	  "VendorUnknown 0 0 PPC32 POWER5+ VSX ARCHPMU TRUE_LE PPCLE" },
	{ "ppc64le: second word",
	  { NFD_CPU_PPC64LE, { 0, BIT(31) | BIT(24) | BIT(18) | BIT(17) | BIT(16) }, 0 },
	  "VendorUnknown 0 0 ARCH_2_07 HTM-NOSC ARCH_3_1 MMA" },
};

static void decodes(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_cpu_facts facts;

	nfd_hwcap_decode(&row->hwcap, &facts);
	nfd_strbuf_printf(&buf, "%s %u %u", facts.vendor_id, facts.family, facts.model);
	for (size_t i = 0; i < facts.flag_count; i++)
		nfd_strbuf_printf(&buf, " %s", facts.flag[i]);
	assert_string_equal(nfd_strbuf_text(&buf), row->text);
	assert_int_equal(facts.arch, row->hwcap.arch);
	assert_string_equal(facts.hypervisor, "none");
}

/* All names of an architecture, so that none is lost or counted twice. */
static const struct {
	const char *name;
	enum nfd_cpu_arch arch;
	size_t count;
} totals[] = {
	{ "arm64", NFD_CPU_ARM64, 32 + 34 },
	{ "arm", NFD_CPU_ARM, 22 + 5 },
	{ "s390x", NFD_CPU_S390X, 23 },
	{ "ppc64le", NFD_CPU_PPC64LE, 28 + 15 },
};

static void has_all_names(void **state)
{
	const __typeof__(totals[0]) *row = *state;
	const struct nfd_hwcap hwcap = { row->arch, { ~0ULL, ~0ULL }, 0 };
	struct nfd_cpu_facts facts;

	nfd_hwcap_decode(&hwcap, &facts);
	assert_int_equal(facts.flag_count, row->count);
}

static void asks_this_processor(void **state)
{
	struct nfd_cpu_facts first, second;

	(void)state;
	nfd_cpu_live(&first);
	nfd_cpu_live(&second);
	assert_string_equal(first.vendor_id, second.vendor_id);
#if defined(__x86_64__) || defined(__aarch64__)
	assert_true(first.flag_count > 0);
#endif
}

int main(void)
{
	struct unit_suite suite = { .name = "hwcap" };

	UNIT_ROWS(&suite, decodes, rows, name);
	UNIT_ROWS(&suite, has_all_names, totals, name);
	UNIT_CASE(&suite, asks_this_processor);
	return unit_run(&suite);
}
