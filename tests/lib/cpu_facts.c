// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints what the decoders of nfd-source/scan make of a processor: of the one that it runs on, or with
 * an argument of each dump on standard input. One line each:
 *
 *     VENDOR FAMILY MODEL HYPERVISOR AVX10 RDT MHZ EPC FLAG...
 *
 * A dump is lines "LEAF SUBLEAF EAX EBX ECX EDX" (hexadecimal) and "xcr0 VALUE", and ends with "end"; a
 * leaf that it lacks reads as zeros.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scan/cpu_live.h"
#include "scan/cpuid.h"

#define LEAVES_MAX 128

struct dump {
	uint32_t leaf[LEAVES_MAX][2 + NFD_CPUID_REGISTERS];
	size_t count;
	uint32_t xcr0;
};

static void read_dump(void *cookie, uint32_t leaf, uint32_t subleaf,
		      uint32_t ret[NFD_CPUID_REGISTERS])
{
	const struct dump *dump = cookie;

	memset(ret, 0, NFD_CPUID_REGISTERS * sizeof(*ret));
	for (size_t i = 0; i < dump->count; i++)
		if (dump->leaf[i][0] == leaf && dump->leaf[i][1] == subleaf)
			memcpy(ret, &dump->leaf[i][2], NFD_CPUID_REGISTERS * sizeof(*ret));
}

static uint32_t dump_xcr0(void *cookie)
{
	const struct dump *dump = cookie;

	return dump->xcr0;
}

static void print(const struct nfd_cpu_facts *facts)
{
	printf("%s %u %u %s %u %u %" PRIu32 " %" PRIu64, facts->vendor_id, facts->family,
	       facts->model, facts->hypervisor, facts->avx10_version, facts->rdt, facts->base_mhz,
	       facts->sgx_epc_bytes);
	for (size_t i = 0; i < facts->flag_count; i++)
		printf(" %s", facts->flag[i]);
	putchar('\n');
}

static void decode(struct dump *dump)
{
	const struct nfd_cpuid_source source = { read_dump, dump_xcr0, dump };
	struct nfd_cpu_facts facts;

	nfd_cpuid_decode(&source, &facts);
	print(&facts);
	*dump = (struct dump){ 0 };
}

static int take_line(struct dump *dump, const char *line)
{
	uint32_t *to = dump->leaf[dump->count];

	if (strcmp(line, "end\n") == 0) {
		decode(dump);
		return 0;
	}
	if (sscanf(line, "xcr0 %" SCNx32, &dump->xcr0) == 1)
		return 0;
	if (dump->count + 1 == LEAVES_MAX ||
	    sscanf(line, "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32 "%" SCNx32, to,
		   to + 1, to + 2, to + 3, to + 4, to + 5) != 6) {
		fprintf(stderr, "cannot use: %s", line);
		return 1;
	}
	dump->count++;
	return 0;
}

int main(int argc, char **argv)
{
	static struct dump dump;
	struct nfd_cpu_facts facts;
	char line[128];

	(void)argv;
	if (argc < 2) {
		nfd_cpu_live(&facts);
		print(&facts);
		return 0;
	}
	while (fgets(line, sizeof(line), stdin))
		if (take_line(&dump, line) != 0)
			return 1;
	return 0;
}
