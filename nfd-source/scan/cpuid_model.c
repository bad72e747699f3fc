// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One table for makers and hypervisors, as NFD has it: a hypervisor may show a maker's text.
 */
#include "config.h"

#include "scan/cpuid_model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "labels/key.h"
#include "scan/cpu_facts.h"

static const struct {
	const char *text;
	const char *name;
} names[] = {
	{ "ACRNACRNACRN", "ACRN" },      { "AMDisbetter!", "AMD" },
	{ "Apple VZ", "Apple" },         { "AuthenticAMD", "AMD" },
	{ "CentaurHauls", "VIA" },       { "Genuine  RDC", "RDC" },
	{ "GenuineIntel", "Intel" },     { "GenuineTMx86", "Transmeta" },
	{ "Geode by NSC", "NSC" },       { "HygonGenuine", "Hygon" },
	{ "KVMKVMKVM", "KVM" },          { "Linux KVM Hv", "KVM" },
	{ "Microsoft Hv", "MSVM" },      { "QNXQVMBSQG", "QNX" },
	{ "RiseRiseRise", "SiS" },       { "SRESRESRESRE", "SRE" },
	{ "SiS SiS SiS ", "SiS" },       { "TCGTCGTCGTCG", "QEMU" },
	{ "TransmetaCPU", "Transmeta" }, { "VIA VIA VIA ", "VIA" },
	{ "VMwareVMware", "VMware" },    { "Vortex86 SoC", "SiS" },
	{ "XenVMMXenVMM", "XenHVM" },    { "bhyve bhyve ", "Bhyve" },
};

void nfd_cpuid_text(uint32_t first, uint32_t second, uint32_t third, char ret[NFD_CPUID_TEXT_SIZE])
{
	const uint32_t reg[3] = { first, second, third };

	for (size_t i = 0; i < NFD_CPUID_TEXT_SIZE - 1; i++)
		ret[i] = (char)(reg[i / 4] >> i % 4 * 8 & 0xff);
	ret[NFD_CPUID_TEXT_SIZE - 1] = '\0';
}

static const char *name_of(const char *text)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		if (strcmp(names[i].text, text) == 0)
			return names[i].name;
	return NULL;
}

const char *nfd_cpuid_vendor(const char *text)
{
	const char *name = name_of(text);

	return name ? name : NFD_CPU_VENDOR_UNKNOWN;
}

void nfd_cpuid_hypervisor(const char *text, char ret[NFD_CPUID_TEXT_SIZE])
{
	const char *name = name_of(text);
	size_t len;

	len = nfd_label_text_join_illegal(name ? name : text, ret, NFD_CPUID_TEXT_SIZE);
	for (size_t i = 0; name && i < len; i++)
		ret[i] = (char)tolower((unsigned char)ret[i]);
	if (len == 0)
		snprintf(ret, NFD_CPUID_TEXT_SIZE, "unknown");
}

static unsigned int base_family(uint32_t signature)
{
	return signature >> 8 & 0xf;
}

unsigned int nfd_cpuid_family(uint32_t signature)
{
	unsigned int family = base_family(signature);

	return family == 0xf ? family + (signature >> 20 & 0xff) : family;
}

/* The kernel takes the upper half for every family from 6 on; NFD does not. */
unsigned int nfd_cpuid_model(uint32_t signature)
{
	unsigned int family = base_family(signature), model = signature >> 4 & 0xf;

	return family == 6 || family == 0xf ? model | (signature >> 16 & 0xf) << 4 : model;
}
