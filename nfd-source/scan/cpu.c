// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts together what the files cpu_* find. The flags go all into the raw feature; which of them get a
 * label the lists of the options decide.
 */
#include "config.h"

#include "scan/cpu.h"

#include "scan/cpu_element.h"
#include "scan/cpu_model.h"
#include "scan/cpu_power.h"
#include "scan/cpu_rdt.h"
#include "scan/cpu_security.h"
#include "scan/cpu_topology.h"

#define NX_GZIP "sys/devices/vio/ibm,compression-v1/nx_gzip_caps"
#define WHITE_LIST "sources.cpu.cpuid.attributeWhitelist"
#define BLACK_LIST "sources.cpu.cpuid.attributeBlacklist"

/* NFD writes these also when nothing is in them. */
static const struct {
	enum nfd_feature_kind kind;
	const char *feature;
	bool x86_only;
} always[] = {
	{ NFD_FLAGS, "cpu.cpuid", false },         { NFD_ATTRIBUTES, "cpu.cpuid", true },
	{ NFD_ATTRIBUTES, "cpu.model", false },    { NFD_ATTRIBUTES, "cpu.pstate", false },
	{ NFD_ATTRIBUTES, "cpu.rdt", false },      { NFD_ATTRIBUTES, "cpu.security", false },
	{ NFD_ATTRIBUTES, "cpu.topology", false }, { NFD_ATTRIBUTES, "cpu.coprocessor", false },
};

static const struct nfd_cpu_element avx10 = { "cpuid", "AVX10_VERSION", "cpuid.AVX10_VERSION" };
static const struct nfd_cpu_element nx_gzip = { "coprocessor", "nx_gzip", "coprocessor.nx_gzip" };

static void declare_features(struct nfd_scan *scan)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(always); i++)
		if (!always[i].x86_only || nfd_cpu_may_be(scan, NFD_CPU_X86_64))
			nfd_scan_feature_set(scan, always[i].kind, always[i].feature);
}

/* The setting that keeps a flag from having a label; NULL: it has one. */
static const char *stopped_by(const struct nfd_cpu_options *options, const char *flag)
{
	if (options->flag_white_list.count > 0)
		return nfd_texts_contain(&options->flag_white_list, flag) ? NULL : WHITE_LIST;
	return nfd_texts_contain(&options->flag_black_list, flag) ? BLACK_LIST : NULL;
}

static void add_flag_label(struct nfd_scan *scan, const char *flag)
{
	const struct nfd_finding finding = {
		.rank = NFD_RANK_DETAIL,
		.value = "true",
		.path = scan->cpu->arch == NFD_CPU_X86_64 ? "CPUID" : "HWCAP",
	};
	const char *setting = stopped_by(&scan->options->cpu, flag);

	if (setting)
		nfd_scan_stopped(scan, &finding, setting, NFD_CPU_KEY "cpuid.%s", flag);
	else
		nfd_scan_label(scan, &finding, NFD_CPU_KEY "cpuid.%s", flag);
}

static void add_facts(struct nfd_scan *scan)
{
	nfd_scan_flags(scan, "cpu.cpuid", scan->cpu->flag, scan->cpu->flag_count);
	for (size_t i = 0; i < scan->cpu->flag_count; i++)
		add_flag_label(scan, scan->cpu->flag[i]);
	if (scan->cpu->avx10_version > 0)
		nfd_cpu_put_number(scan, &avx10, scan->cpu->avx10_version, "CPUID");
	nfd_cpu_model(scan);
}

static void add_coprocessor(struct nfd_scan *scan)
{
	int r;

	if (!nfd_cpu_may_be(scan, NFD_CPU_PPC64LE))
		return;
	r = nfd_root_exists(scan->root, NX_GZIP);
	if (r < 0)
		nfd_cpu_failed(scan, &nx_gzip, NX_GZIP, r);
	if (r > 0)
		nfd_cpu_put(scan, &nx_gzip, "true", NX_GZIP);
}

static void run(struct nfd_scan *scan)
{
	declare_features(scan);
	if (scan->cpu)
		add_facts(scan);
	nfd_cpu_topology(scan);
	nfd_cpu_pstate(scan);
	nfd_cpu_cstate(scan);
	nfd_cpu_sst(scan);
	nfd_cpu_rdt(scan);
	nfd_cpu_security(scan);
	add_coprocessor(scan);
}

static const char *const subsystems[] = { "cpu", NULL };
static const char *const prefixes[] = { NFD_CPU_KEY, NULL };
static const char *const features[] = { "cpu.cpuid",  "cpu.model",    "cpu.cstate",
					"cpu.pstate", "cpu.rdt",      "cpu.security",
					"cpu.sst",    "cpu.topology", "cpu.coprocessor",
					NULL };

const struct nfd_scanner nfd_cpu_scanner = {
	.name = "cpu",
	.summary = "flags, model, threads, power and security of the processor",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_CPU,
};
