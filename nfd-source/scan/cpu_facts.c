// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The container of what a processor says of itself; scan/cpuid and scan/hwcap fill it.
 */
#include "config.h"

#include "scan/cpu_facts.h"

#include <string.h>

void nfd_cpu_facts_init(struct nfd_cpu_facts *facts, enum nfd_cpu_arch arch)
{
	*facts = (struct nfd_cpu_facts){
		.arch = arch,
		.vendor_id = NFD_CPU_VENDOR_UNKNOWN,
		.hypervisor = "none",
	};
}

bool nfd_cpu_has(const struct nfd_cpu_facts *facts, const char *flag)
{
	for (size_t i = 0; facts && i < facts->flag_count; i++)
		if (strcmp(facts->flag[i], flag) == 0)
			return true;
	return false;
}

void nfd_cpu_add_flag(struct nfd_cpu_facts *facts, const char *flag)
{
	if (facts->flag_count < NFD_CPU_FLAGS_MAX)
		facts->flag[facts->flag_count++] = flag;
}
