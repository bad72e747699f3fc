// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How Intel's drivers have set the processor up. With other drivers these labels do not exist.
 */
#include "config.h"

#include "scan/cpu_power.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/cpu_element.h"

#define CPU_DIR "sys/devices/system/cpu"
#define STATUS CPU_DIR "/intel_pstate/status"
#define NO_TURBO CPU_DIR "/intel_pstate/no_turbo"
#define CPUFREQ CPU_DIR "/cpufreq"
#define CPUIDLE CPU_DIR "/cpuidle"
#define IDLE_DRIVER CPUIDLE "/current_driver"
#define MAX_CSTATE "sys/module/intel_idle/parameters/max_cstate"

static const struct nfd_cpu_element status = { "pstate", "status", "pstate.status" };
static const struct nfd_cpu_element turbo = { "pstate", "turbo", "pstate.turbo" };
static const struct nfd_cpu_element governor = { "pstate", "scaling_governor",
						 "pstate.scaling_governor" };
static const struct nfd_cpu_element cstate = { "cstate", "enabled", "cstate.enabled" };
static const struct nfd_cpu_element sst_bf = { "sst", "bf.enabled", "power.sst_bf.enabled" };

static void add_turbo(struct nfd_scan *scan)
{
	char first;
	ssize_t len = nfd_root_read_start(scan->root, NO_TURBO, &first, 1);

	if (len < 0)
		nfd_cpu_failed(scan, &turbo, NO_TURBO, (int)len);
	else if (len > 0)
		nfd_cpu_put(scan, &turbo, first == '0' ? "true" : "false", NO_TURBO);
}

/* An attribute of a policy; a length of 0 when it is empty or cannot be read. */
static size_t read_policy(struct nfd_scan *scan, const char *policy, const char *attribute,
			  char *buf, size_t size)
{
	char path[512];
	ssize_t len;

	snprintf(path, sizeof(path), CPUFREQ "/%s/%s", policy, attribute);
	len = nfd_root_read_line(scan->root, path, buf, size);
	if (len >= 0)
		return (size_t)len;
	nfd_cpu_failed(scan, &governor, path, (int)len);
	buf[0] = '\0';
	return 0;
}

/* The governor of all policies that have CPUs; nothing when they differ. */
static void add_governor(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names policies = { 0 };
	char common[64] = "", text[8192];
	int r = nfd_root_list(scan->root, CPUFREQ, &policies);

	if (r < 0)
		nfd_cpu_failed(scan, &governor, CPUFREQ, r);
	for (size_t i = 0; i < policies.count; i++) {
		if (read_policy(scan, policies.name[i], "affected_cpus", text, sizeof(text)) == 0 ||
		    read_policy(scan, policies.name[i], "scaling_governor", text, sizeof(common)) ==
			    0)
			continue;
		if (common[0] && strcmp(common, text) != 0)
			return;
		snprintf(common, sizeof(common), "%s", text);
	}
	if (common[0])
		nfd_cpu_put(scan, &governor, common, CPUFREQ);
}

void nfd_cpu_pstate(struct nfd_scan *scan)
{
	char text[64];
	ssize_t len;

	if (!nfd_cpu_may_be(scan, NFD_CPU_X86_64))
		return;
	len = nfd_root_read_line(scan->root, STATUS, text, sizeof(text));
	if (len < 0)
		nfd_scan_failed(scan, NFD_CPU_KEY "pstate.", STATUS, (int)len);
	if (len < 0 || strcmp(text, "off") == 0)
		return;
	nfd_cpu_put(scan, &status, text, STATUS);
	add_turbo(scan);
	if (strcmp(text, "active") == 0)
		add_governor(scan);
}

/* Whether something is there; a failure to tell counts as a failed read of the C states. */
static int cstate_exists(struct nfd_scan *scan, const char *path)
{
	int r = nfd_root_exists(scan->root, path);

	if (r < 0)
		nfd_cpu_failed(scan, &cstate, path, r);
	return r;
}

/* A line of text for the C states: its length, negative errno. */
static ssize_t cstate_line(struct nfd_scan *scan, const char *path, char *buf, size_t size)
{
	ssize_t len = nfd_root_read_line(scan->root, path, buf, size);

	if (len < 0)
		nfd_cpu_failed(scan, &cstate, path, (int)len);
	return len;
}

static int read_cstate(struct nfd_scan *scan)
{
	char text[64];
	int64_t max;
	int r = cstate_exists(scan, CPU_DIR);

	if (r <= 0)
		return -ENOENT;
	r = cstate_exists(scan, CPUIDLE);
	if (r <= 0)
		return r;
	if (cstate_line(scan, IDLE_DRIVER, text, sizeof(text)) < 0)
		return -ENOENT;
	if (strcmp(text, "intel_idle") != 0)
		return 0;
	if (cstate_line(scan, MAX_CSTATE, text, sizeof(text)) < 0)
		return -ENOENT;
	r = nfd_parse_int(text, &max);
	if (r < 0)
		nfd_cpu_failed(scan, &cstate, MAX_CSTATE, r);
	else
		nfd_cpu_put(scan, &cstate, max > 0 ? "true" : "false", MAX_CSTATE);
	return r;
}

void nfd_cpu_cstate(struct nfd_scan *scan)
{
	if (!nfd_cpu_may_be(scan, NFD_CPU_X86_64) || read_cstate(scan) == 0)
		nfd_scan_feature_set(scan, NFD_ATTRIBUTES, "cpu.cstate");
}

/* One CPU: 1 when it runs above its nominal frequency, 0 when not; negative errno. */
static int is_above_nominal(struct nfd_scan *scan, const char *path)
{
	char text[64];
	int64_t khz;
	ssize_t len = nfd_root_read_line(scan->root, path, text, sizeof(text));
	int r;

	if (len < 0)
		return nfd_root_is_absent((int)len) ? 0 : (int)len;
	r = nfd_parse_int(text, &khz);
	if (r < 0)
		return r;
	if (scan->cpu->base_mhz == 0)
		return -ENODATA;
	return khz / 1000 > (int64_t)scan->cpu->base_mhz;
}

void nfd_cpu_sst(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names cpus = { 0 };
	char path[512] = NFD_CPU_DEVICES;
	int r;

	nfd_scan_feature_set(scan, NFD_ATTRIBUTES, "cpu.sst");
	if (!scan->cpu || scan->cpu->arch != NFD_CPU_X86_64)
		return;
	r = nfd_root_list(scan->root, path, &cpus);
	for (size_t i = 0; i < cpus.count && r == 0; i++) {
		snprintf(path, sizeof(path), NFD_CPU_DEVICES "/%s/cpufreq/base_frequency",
			 cpus.name[i]);
		r = is_above_nominal(scan, path);
	}
	if (r > 0)
		nfd_cpu_put(scan, &sst_bf, "true", path);
	/* A processor that never states its nominal frequency is no read to be tried again. */
	else if (r < 0 && r != -ENODATA)
		nfd_cpu_failed(scan, &sst_bf, path, r);
}
