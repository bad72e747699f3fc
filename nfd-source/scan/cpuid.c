// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Goes through the table of flags that build-aux/cpuid-flags.awk makes of cpuid-flags.tsv, and reads
 * what is no flag: threads of a core, AVX10's version, SGX's memory, RDT. A leaf is read once: in a
 * virtual machine each CPUID is a trip to the hypervisor.
 */
#include "config.h"

#include "scan/cpuid.h"

#include <string.h>

#include "base/macros.h"
#include "scan/cpuid_flags.h" /* alone for CPUID_DENIED */
#include "scan/cpuid_model.h"

#define BIT(number) (UINT32_C(1) << (number))
#define FIRST_EXTENDED_LEAF 0x80000000u
#define HYPERVISOR_LEAF 0x40000000u

#define LEAVES_MAX 40 /* the table and this file name fewer */
#define SGX_SUBLEAF_FIRST 2
#define SGX_SUBLEAF_COUNT 8

const char nfd_cpuid_denied[] = CPUID_DENIED;

enum flag {
#define CPUID_FLAG(name) FLAG_##name,
#include "scan/cpuid_flags.h"
	FLAG_COUNT,
};
_Static_assert(FLAG_COUNT <= NFD_CPU_FLAGS_MAX, "the facts have no room for all flags");

static const char *const flag_names[] = {
#define CPUID_FLAG(name) #name,
#include "scan/cpuid_flags.h"
};

enum vendor { VENDOR_ANY, VENDOR_INTEL, VENDOR_AMD };

/* Which register a rule looks at; a text is in EBX, EDX and ECX. */
enum place {
	IN_EAX = NFD_EAX,
	IN_EBX = NFD_EBX,
	IN_ECX = NFD_ECX,
	IN_EDX = NFD_EDX,
	IN_TEXT,
	IN_NONE,
};

/* One row of the table: the flag is there when all of it holds. */
struct rule {
	uint32_t leaf;
	uint32_t mask;       /* bits that must be 1, or 0 with @is_clear */
	uint32_t least_leaf; /* basic or extended; 0: none */
	uint8_t flag;        /* enum flag */
	uint8_t vendor;      /* enum vendor */
	uint8_t subleaf;
	uint8_t place; /* enum place */
	uint8_t is_clear;
	uint8_t condition; /* see holds(); 0: none */
};

static const struct rule rules[] = {
/* clang-format off */
#define CPUID_RULE(name, maker, leaf_, subleaf_, where, mask_, is_clear_, least, condition_) \
	{ .flag = FLAG_##name, .vendor = VENDOR_##maker, .leaf = leaf_, .subleaf = subleaf_, .place = IN_##where, \
	  .mask = mask_, .is_clear = is_clear_, .least_leaf = least, .condition = condition_ },
#include "scan/cpuid_flags.h"
	/* clang-format on */
};

struct leaf {
	uint32_t leaf, subleaf;
	uint32_t reg[NFD_CPUID_REGISTERS];
};

struct cpu {
	const struct nfd_cpuid_source *source;
	struct leaf seen[LEAVES_MAX];
	size_t seen_count;
	uint32_t max_leaf, max_extended;
	enum vendor vendor;
	unsigned int family, model, threads, pmuver, nfixed;
	bool osavx, osavx512;
	bool has[FLAG_COUNT];
};

static const uint32_t *read_leaf(struct cpu *cpu, uint32_t leaf, uint32_t subleaf)
{
	struct leaf *entry;

	for (size_t i = 0; i < cpu->seen_count; i++)
		if (cpu->seen[i].leaf == leaf && cpu->seen[i].subleaf == subleaf)
			return cpu->seen[i].reg;
	if (cpu->seen_count < LEAVES_MAX)
		cpu->seen_count++;
	entry = &cpu->seen[cpu->seen_count - 1];
	entry->leaf = leaf;
	entry->subleaf = subleaf;
	cpu->source->read(cpu->source->cookie, leaf, subleaf, entry->reg);
	return entry->reg;
}

static bool has_leaf(const struct cpu *cpu, uint32_t leaf)
{
	return leaf <= (leaf >= FIRST_EXTENDED_LEAF ? cpu->max_extended : cpu->max_leaf);
}

/* The registers that a rule looks at. */
static const uint32_t *registers_of(struct cpu *cpu, const struct rule *rule)
{
	return read_leaf(cpu, rule->leaf, rule->subleaf);
}

static uint32_t value_of(struct cpu *cpu, const struct rule *rule)
{
	return rule->place <= IN_EDX ? registers_of(cpu, rule)[rule->place] : 0;
}

static bool is_text(const uint32_t *reg, const char *expected)
{
	char text[NFD_CPUID_TEXT_SIZE];

	nfd_cpuid_text(reg[NFD_EBX], reg[NFD_EDX], reg[NFD_ECX], text);
	return strcmp(text, expected) == 0;
}

/* What the table says beside a bit. */
static bool holds(struct cpu *cpu, const struct rule *rule)
{
#define HAS(name) cpu->has[FLAG_##name]
#define FACT(name) cpu->name
#define VALUE value_of(cpu, rule)
#define TEXT_IS(expected) is_text(registers_of(cpu, rule), expected)
#define CPUID_CONDITION(number, expression) \
	case number:                        \
		return expression;
	switch (rule->condition) {
#include "scan/cpuid_flags.h"
	default:
		return true;
	}
}

/* The condition before the bit: a leaf that it makes meaningless is not read. */
static bool applies(struct cpu *cpu, const struct rule *rule)
{
	uint32_t value;

	if (!has_leaf(cpu, rule->least_leaf) ||
	    (rule->vendor != VENDOR_ANY && rule->vendor != cpu->vendor) || !holds(cpu, rule))
		return false;
	value = value_of(cpu, rule);
	return ((rule->is_clear ? ~value : value) & rule->mask) == rule->mask;
}

/* The rules stand in an order in which a flag comes before those that need it. */
static void apply_rules(struct cpu *cpu, struct nfd_cpu_facts *facts)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rules); i++)
		if (!cpu->has[rules[i].flag])
			cpu->has[rules[i].flag] = applies(cpu, &rules[i]);
	for (size_t i = 0; i < FLAG_COUNT; i++)
		if (cpu->has[i])
			nfd_cpu_add_flag(facts, flag_names[i]);
}

/* An AMD core: from Zen on it has two threads unless it says better. */
static unsigned int amd_threads(struct cpu *cpu)
{
	if (!(read_leaf(cpu, 1, 0)[NFD_EDX] & BIT(28)) || cpu->family < 23)
		return 1;
	if (!has_leaf(cpu, 0x8000001eu))
		return 2;
	return (read_leaf(cpu, 0x8000001eu, 0)[NFD_EBX] >> 8 & 0xff) + 1;
}

/* An Intel core before leaf 0Bh: logical processors by cores, of a package. */
static unsigned int old_intel_threads(struct cpu *cpu)
{
	const uint32_t *reg = read_leaf(cpu, 1, 0);
	unsigned int logical = reg[NFD_EBX] >> 16 & 0xff;

	if (!(reg[NFD_EDX] & BIT(28)) || logical <= 1)
		return 1;
	return logical / ((read_leaf(cpu, 4, 0)[NFD_EAX] >> 26) + 1);
}

static unsigned int threads_per_core(struct cpu *cpu)
{
	unsigned int threads;

	if (cpu->max_leaf < 4 || cpu->vendor == VENDOR_ANY)
		return 1;
	if (cpu->max_leaf < 0xb)
		return cpu->vendor == VENDOR_INTEL ? old_intel_threads(cpu) : 1;
	threads = read_leaf(cpu, 0xb, 0)[NFD_EBX] & 0xffff;
	if (threads == 0)
		return cpu->vendor == VENDOR_AMD ? amd_threads(cpu) : 1;
	return threads;
}

/* Whether the system saves the registers of AVX and AVX-512. */
static void read_states(struct cpu *cpu)
{
	const uint32_t avx = BIT(1) | BIT(2), avx512 = avx | BIT(5) | BIT(6) | BIT(7);
	const uint32_t xsave = BIT(26) | BIT(27);
	uint32_t xcr0;

	/* Without these bits XGETBV is no instruction. */
	if ((read_leaf(cpu, 1, 0)[NFD_ECX] & xsave) != xsave)
		return;
	xcr0 = cpu->source->xcr0(cpu->source->cookie);
	cpu->osavx = (xcr0 & avx) == avx;
	cpu->osavx512 = (xcr0 & avx512) == avx512;
}

static void read_maker(struct cpu *cpu, struct nfd_cpu_facts *facts)
{
	const uint32_t *reg = read_leaf(cpu, 0, 0);
	char text[NFD_CPUID_TEXT_SIZE];

	cpu->max_leaf = reg[NFD_EAX];
	nfd_cpuid_text(reg[NFD_EBX], reg[NFD_EDX], reg[NFD_ECX], text);
	facts->vendor_id = nfd_cpuid_vendor(text);
	if (strcmp(facts->vendor_id, "Intel") == 0)
		cpu->vendor = VENDOR_INTEL;
	else if (strcmp(facts->vendor_id, "AMD") == 0)
		cpu->vendor = VENDOR_AMD;
	cpu->max_extended = read_leaf(cpu, FIRST_EXTENDED_LEAF, 0)[NFD_EAX];
}

static void read_model(struct cpu *cpu, struct nfd_cpu_facts *facts)
{
	uint32_t signature = read_leaf(cpu, 1, 0)[NFD_EAX];

	cpu->family = facts->family = nfd_cpuid_family(signature);
	cpu->model = facts->model = nfd_cpuid_model(signature);
	cpu->threads = threads_per_core(cpu);
	if (cpu->max_leaf >= 0xa) {
		cpu->pmuver = read_leaf(cpu, 0xa, 0)[NFD_EAX] & 0xff;
		cpu->nfixed = read_leaf(cpu, 0xa, 0)[NFD_EDX] & 0x1f;
	}
}

static void read_hypervisor(struct cpu *cpu, struct nfd_cpu_facts *facts)
{
	char text[NFD_CPUID_TEXT_SIZE];
	const uint32_t *reg;

	if (!cpu->has[FLAG_HYPERVISOR])
		return;
	reg = read_leaf(cpu, HYPERVISOR_LEAF, 0);
	nfd_cpuid_text(reg[NFD_EBX], reg[NFD_ECX], reg[NFD_EDX], text);
	nfd_cpuid_hypervisor(text, facts->hypervisor);
}

static uint64_t sgx_epc_bytes(const struct cpu *cpu)
{
	const struct nfd_cpuid_source *source = cpu->source;
	uint32_t reg[NFD_CPUID_REGISTERS];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SGX_SUBLEAF_COUNT && cpu->has[FLAG_SGX]; i++) {
		source->read(source->cookie, 0x12, SGX_SUBLEAF_FIRST + i, reg);
		if ((reg[NFD_EAX] & 0xf) == 0)
			break;
		if ((reg[NFD_EAX] & 0xf) == 1)
			sum += (uint64_t)(reg[NFD_EDX] & 0xfffff) << 32 |
			       (reg[NFD_ECX] & 0xfffff000);
	}
	return sum;
}

/* RDT's bits: each needs the one named before it. */
static unsigned int rdt_bits(struct cpu *cpu)
{
	const uint32_t general = read_leaf(cpu, 7, 0)[NFD_EBX];
	unsigned int bits = 0;
	uint32_t kinds;

	if (general & BIT(12) && read_leaf(cpu, 0xf, 0)[NFD_EDX] & BIT(1)) {
		kinds = read_leaf(cpu, 0xf, 1)[NFD_EDX];
		bits |= NFD_RDT_MONITORING;
		bits |= kinds & BIT(0) ? NFD_RDT_OCCUPANCY : 0;
		bits |= (kinds & 0x6) == 0x6 ? NFD_RDT_BANDWIDTH_MONITORING : 0;
	}
	if (general & BIT(15)) {
		kinds = read_leaf(cpu, 0x10, 0)[NFD_EBX];
		bits |= kinds & BIT(1) ? NFD_RDT_L3_ALLOCATION : 0;
		bits |= kinds & BIT(2) ? NFD_RDT_L2_ALLOCATION : 0;
		bits |= kinds & BIT(3) ? NFD_RDT_BANDWIDTH_ALLOCATION : 0;
	}
	return bits;
}

void nfd_cpuid_decode(const struct nfd_cpuid_source *source, struct nfd_cpu_facts *ret)
{
	struct cpu cpu = { .source = source };

	nfd_cpu_facts_init(ret, NFD_CPU_X86_64);
	read_maker(&cpu, ret);
	/* These two are read as they are, whatever the highest leaf is, as NFD does. */
	ret->base_mhz = read_leaf(&cpu, 0x16, 0)[NFD_EAX];
	ret->rdt = rdt_bits(&cpu);
	if (cpu.max_leaf < 1)
		return;
	read_model(&cpu, ret);
	read_states(&cpu);
	apply_rules(&cpu, ret);
	read_hypervisor(&cpu, ret);
	ret->sgx_epc_bytes = sgx_epc_bytes(&cpu);
	if (cpu.has[FLAG_AVX10] && has_leaf(&cpu, 0x24))
		ret->avx10_version = read_leaf(&cpu, 0x24, 0)[NFD_EBX] & 0xff;
}
