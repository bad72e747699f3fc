// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * s390x has no register that names the processor; the kernel writes it into proc, as
 * "identification  : 0133E8" for each processor, and what hypervisors run above.
 */
#include "config.h"

#include "scan/cpu_model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/cpu_element.h"

#define CPUINFO "proc/cpuinfo"
#define SYSINFO "proc/sysinfo"
#define PROC_FILE_MAX (4 << 20)
#define CONTROL_PROGRAM "Control Program:"

enum part { VENDOR, FAMILY, MODEL, HYPERVISOR, PART_COUNT };

static const struct nfd_cpu_element elements[] = {
	[VENDOR] = { "model", "vendor_id", "model.vendor_id" },
	[FAMILY] = { "model", "family", "model.family" },
	[MODEL] = { "model", "id", "model.id" },
	[HYPERVISOR] = { "model", "hypervisor", "model.hypervisor" },
};

struct model {
	char text[PART_COUNT][128];
	const char *path[PART_COUNT]; /* what gave the text; NULL: there is none */
};

static void set(struct model *model, enum part part, const char *text, const char *path)
{
	snprintf(model->text[part], sizeof(model->text[part]), "%s", text);
	model->path[part] = path;
}

static void set_legal(struct model *model, enum part part, const char *text, const char *path)
{
	nfd_label_text_join_illegal(text, model->text[part], sizeof(model->text[part]));
	model->path[part] = path;
}

/* The family is that of the first processor that states one; of the others the last one counts. */
static void take_field(struct model *model, const char *name, const char *value)
{
	if (!*value)
		return;
	if (strcmp(name, "vendor_id") == 0)
		set_legal(model, VENDOR, value, CPUINFO);
	else if (strcmp(name, "machine") == 0 && strcmp(value, "0") != 0)
		set(model, MODEL, value, CPUINFO);
	else if (strcmp(name, "identification") == 0 && strcmp(model->text[FAMILY], "0") == 0)
		set(model, FAMILY, value, CPUINFO);
}

static void read_cpuinfo(struct nfd_scan *scan, struct model *model)
{
	cleanup_free char *text = NULL;
	char *save = NULL, *colon;
	ssize_t len = nfd_root_read_alloc(scan->root, CPUINFO, PROC_FILE_MAX, &text);

	if (len < 0) {
		nfd_scan_failed(scan, NFD_CPU_KEY "model.", CPUINFO, (int)len);
		/* What the host says of itself there stays as it was published. */
		for (size_t i = 0; i < HYPERVISOR && !nfd_root_is_absent((int)len); i++)
			model->path[i] = NULL;
		return;
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		take_field(model, nfd_trim(line), nfd_trim(colon + 1));
	}
}

/* The value of a line "VM00 Control Program: z/VM    7.3.0", as it stands behind the first colon. */
static void read_sysinfo(struct nfd_scan *scan, struct model *model)
{
	cleanup_free char *text = NULL;
	char *line, *end, *value;
	ssize_t len = nfd_root_read_alloc(scan->root, SYSINFO, PROC_FILE_MAX, &text);

	if (len < 0) {
		nfd_cpu_failed(scan, &elements[HYPERVISOR], SYSINFO, (int)len);
		model->path[HYPERVISOR] = NULL;
		return;
	}
	line = strstr(text, CONTROL_PROGRAM);
	if (!line)
		return;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	while (line > text && line[-1] != '\n')
		line--;
	value = nfd_trim(strchr(line, ':') + 1);
	if (*value)
		set_legal(model, HYPERVISOR, value, SYSINFO);
}

/* What told the facts, for a person. */
static const char *origin(enum nfd_cpu_arch arch)
{
	if (arch == NFD_CPU_X86_64)
		return "CPUID";
	return arch == NFD_CPU_ARM64 ? "MIDR_EL1" : "AT_HWCAP";
}

void nfd_cpu_model(struct nfd_scan *scan)
{
	const struct nfd_cpu_facts *cpu = scan->cpu;
	const char *path = origin(cpu->arch);
	struct model model;

	set(&model, VENDOR, cpu->vendor_id, path);
	set(&model, HYPERVISOR, cpu->hypervisor, path);
	snprintf(model.text[FAMILY], sizeof(model.text[FAMILY]), "%u", cpu->family);
	snprintf(model.text[MODEL], sizeof(model.text[MODEL]), "%u", cpu->model);
	model.path[FAMILY] = model.path[MODEL] = path;
	if (cpu->arch == NFD_CPU_S390X) {
		read_cpuinfo(scan, &model);
		read_sysinfo(scan, &model);
	}
	for (size_t i = 0; i < PART_COUNT; i++)
		if (model.path[i])
			nfd_cpu_put(scan, &elements[i], model.text[i], model.path[i]);
}
