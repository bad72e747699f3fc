// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels of gpu-feature-discovery. With a report of NVML's they are its labels; without one those that
 * files give, where these cannot be wrong. A driver that is sick takes nothing away.
 */
#include "config.h"

#include "scan/nvidia_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scan/nvidia.h"
#include "scan/nvidia_files.h"
#include "scan/nvidia_mig.h"
#include "scan/nvidia_resource.h"
#include "scan/nvidia_version.h"
#include "scan/nvidia_vgpu.h"
#include "scan/pci_bus.h"
#include "scan/platform_gpu.h"

#define PRODUCT_NAME "sys/class/dmi/id/product_name"

/* What is not known where NVML failed to give a fact, of whichever GPU. */
static const struct {
	enum nfd_nvidia_fact fact;
	unsigned int groups;
} groups_of[] = {
	{ NFD_NVIDIA_MODEL, NFD_GFD_MODEL | NFD_GFD_SHARING | NFD_GFD_MEMORY | NFD_GFD_FAMILY },
	{ NFD_NVIDIA_MIG_MODE, NFD_GFD_MIG_CAPABLE | NFD_GFD_MPS | NFD_GFD_RESOURCES },
	{ NFD_NVIDIA_PCI, NFD_GFD_MODE },
	{ NFD_NVIDIA_FABRIC, NFD_GFD_CLIQUE },
};

/* A board without DMI has no product name, and gpu-feature-discovery's word for that is "unknown". */
static void put_machine(struct nfd_scan *scan, const char *path, const char *missing)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .path = path };
	char text[256], value[NFD_LABEL_VALUE_SIZE];
	ssize_t len = nfd_root_read_line(scan->root, path, text, sizeof(text));

	if (len < 0 && !nfd_root_is_absent((int)len)) {
		nfd_scan_failed(scan, NFD_GFD "gpu.machine", path, (int)len);
		return;
	}
	if (nfd_label_value_from_name(len < 0 ? missing : text, value) == 0)
		return;
	finding.value = value;
	nfd_scan_label(scan, &finding, NFD_GFD "gpu.machine");
}

/* Whether any GPU is at least that far with MIG: 0 capable, 1 enabled. */
static bool has_mig(const struct nfd_nvidia_report *report, int least)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->gpu[i].mig_mode >= least)
			return true;
	return false;
}

/* Where MPS meets MIG gpu-feature-discovery ends; we write the labels as if nothing were shared. */
static void put_mps(struct nfd_gfd *gfd, struct nfd_gfd_config *config)
{
	bool is_refused = config->is_mps && has_mig(&gfd->report, 1);

	if (is_refused && !(gfd->lost & NFD_GFD_MPS))
		nfd_scan_unknown(
			gfd->scan, NFD_GFD "mps.",
			"sharing by MPS is configured, but a GPU is in MIG mode: written as "
			"not shared");
	nfd_gfd_put(gfd, NFD_GFD_MPS, config->is_mps && !is_refused ? "true" : "false",
		    NFD_NVML_SOURCE, "mps.capable");
	if (is_refused)
		config->count = 0;
}

static void put_gpus(struct nfd_gfd *gfd)
{
	struct nfd_gfd_model model = nfd_gfd_pick_model(gfd->report.gpu, gfd->report.count);
	const struct nfd_gfd_offer offer = {
		.resource = "gpu",
		.model = model.gpu->name,
		.count = model.count,
		.is_unshared = model.gpu->mig_mode == 1,
		.path = NFD_NVML_SOURCE,
	};
	bool is_partitioned = nfd_gfd_put_partitions(gfd);

	if (model.gpu->failed & NFD_NVIDIA_COMPUTE)
		nfd_gfd_lose(gfd, NFD_GFD_FAMILY, gfd->report.why, false);
	nfd_gfd_put_family(gfd, model.gpu->major, model.gpu->minor, NFD_NVML_SOURCE);
	if (is_partitioned)
		return;
	if (model.gpu->failed & NFD_NVIDIA_MEMORY)
		nfd_gfd_lose(gfd, NFD_GFD_MEMORY, gfd->report.why, false);
	nfd_gfd_put_offer(gfd, &offer);
	if (model.gpu->memory_bytes >> 20)
		nfd_gfd_put_number(gfd, NFD_GFD_MEMORY, model.gpu->memory_bytes >> 20,
				   NFD_NVML_SOURCE, "gpu.memory");
}

static const struct nfd_pci_function *function_at(const struct nfd_pci_bus *bus,
						  const struct nfd_pci_function *address)
{
	for (size_t i = 0; bus && i < bus->count; i++)
		if (nfd_nvidia_is_gpu(&bus->function[i]) &&
		    nfd_nvidia_same_address(&bus->function[i], address))
			return &bus->function[i];
	return NULL;
}

/* One mode for all, else "unknown", as where a GPU is on no bus of ours (WSL2). */
static void put_mode(struct nfd_gfd *gfd)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(gfd->scan);
	const char *mode = NULL;

	for (size_t i = 0; i < gfd->report.count; i++) {
		const struct nfd_pci_function *function =
			function_at(bus, &gfd->report.gpu[i].address);
		const char *own = function ? nfd_gfd_mode(function) : "unknown";

		mode = !mode || strcmp(mode, own) == 0 ? own : "unknown";
	}
	nfd_gfd_put(gfd, NFD_GFD_MODE, mode ? mode : "unknown", NFD_PCI_DEVICES, "gpu.mode");
}

/* Only where all GPUs on a fabric are in one clique of one cluster. */
static void put_clique(struct nfd_gfd *gfd)
{
	const struct nfd_nvidia_gpu *first = NULL;
	char value[NFD_LABEL_VALUE_SIZE];

	for (size_t i = 0; i < gfd->report.count; i++) {
		const struct nfd_nvidia_gpu *gpu = &gfd->report.gpu[i];

		if (!gpu->is_attached)
			continue;
		if (first &&
		    (first->clique != gpu->clique || strcmp(first->cluster, gpu->cluster) != 0))
			return;
		first = gpu;
	}
	if (!first)
		return;
	snprintf(value, sizeof(value), "%s.%" PRIu32, first->cluster, first->clique);
	nfd_gfd_put(gfd, NFD_GFD_CLIQUE, value, NFD_NVML_SOURCE, "gpu.clique");
}

static void put_report(struct nfd_gfd *gfd, struct nfd_gfd_config *config)
{
	/* gpu-feature-discovery writes no more than vgpu.present then. */
	if (gfd->report.count == 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(groups_of); i++)
		if (gfd->report.failed & groups_of[i].fact)
			nfd_gfd_lose(gfd, groups_of[i].groups, gfd->report.why, false);
	put_machine(gfd->scan, PRODUCT_NAME, "unknown");
	nfd_gfd_put_driver(gfd);
	nfd_gfd_put_cuda(gfd);
	nfd_gfd_put(gfd, NFD_GFD_MIG_CAPABLE, has_mig(&gfd->report, 0) ? "true" : "false",
		    NFD_NVML_SOURCE, "mig.capable");
	put_mps(gfd, config);
	put_gpus(gfd);
	put_mode(gfd);
	put_clique(gfd);
}

static void put_files(struct nfd_gfd *gfd)
{
	if (nfd_pci_count(gfd->scan, &nfd_nvidia_labels_scanner, true) == 0)
		return;
	put_machine(gfd->scan, PRODUCT_NAME, "unknown");
	nfd_gfd_put_driver(gfd);
	nfd_gfd_put_files(gfd);
}

/* The GPU of a system on chip: one, never partitioned, and not asked by NVML. */
static void put_tegra(struct nfd_gfd *gfd, const char *path)
{
	const struct nfd_gfd_offer offer = {
		.resource = "gpu", .count = 1, .model = "", .path = path
	};
	int major, minor;

	if (nfd_root_exists(gfd->scan->root, PRODUCT_NAME) > 0)
		put_machine(gfd->scan, PRODUCT_NAME, "unknown");
	else
		put_machine(gfd->scan, NFD_DEVICE_TREE_MODEL, "unknown");
	nfd_platform_tegra_compute(gfd->scan->root, &major, &minor);
	nfd_gfd_put_family(gfd, major, minor, NFD_DEVICE_TREE_COMPATIBLE);
	nfd_gfd_put_offer(gfd, &offer);
	nfd_gfd_put(gfd, NFD_GFD_MIG_CAPABLE, "false", path, "mig.capable");
	nfd_gfd_put(gfd, NFD_GFD_MPS, "false", path, "mps.capable");
}

/* Labels that depend on a file that cannot be used are better left as they are. */
static void read_config(struct nfd_gfd *gfd, struct nfd_gfd_config *config)
{
	const struct nfd_vendor_options *options = &gfd->scan->options->vendor;
	struct nfd_error err = { 0 };
	char reason[600];

	if (nfd_gfd_config_read(options->nvidia_config, config, &err) < 0) {
		snprintf(reason, sizeof(reason), "sources.vendor.nvidia.config: %.500s",
			 nfd_error_text(&err));
		nfd_gfd_lose(gfd, NFD_GFD_RESOURCES | NFD_GFD_MIG_STRATEGY | NFD_GFD_MPS, reason,
			     false);
	}
	gfd->config = config;
	gfd->strategy = options->mig_strategy != NFD_MIG_FROM_FILE ?
				(enum nfd_mig_strategy)options->mig_strategy :
				config->mig_strategy;
}

static void put_all(struct nfd_gfd *gfd, struct nfd_gfd_config *config)
{
	struct nfd_scan *scan = gfd->scan;
	const char *tegra = nfd_pci_count(scan, &nfd_nvidia_labels_scanner, true) > 0 ?
				    NULL :
				    nfd_platform_tegra(scan->root, NULL, NULL);

	if (tegra) {
		put_tegra(gfd, tegra);
	} else if (gfd->report.answer == NFD_NVIDIA_GOOD) {
		put_report(gfd, config);
	} else {
		gfd->is_stopgap = gfd->report.answer != NFD_NVIDIA_NOT_ASKED;
		put_files(gfd);
		/* Whatever else there was stays; last, for reasons that say more come first. */
		if (gfd->report.answer == NFD_NVIDIA_SICK)
			nfd_scan_unknown(scan, NFD_GFD, gfd->report.why);
		else if (gfd->report.answer == NFD_NVIDIA_MISSING)
			nfd_scan_doubt(scan, NFD_GFD, gfd->report.why);
		else if (gfd->report.answer == NFD_NVIDIA_PENDING)
			nfd_scan_pending(scan, NFD_GFD, gfd->report.why);
	}
	nfd_nvidia_vgpu_labels(scan, &gfd->report);
}

static void run(struct nfd_scan *scan)
{
	struct nfd_gfd gfd = { .scan = scan };
	struct nfd_gfd_config config;

	if (nfd_nvidia_report_read(scan->options->vendor.nvml == 0 ? scan->nvml : NULL,
				   &gfd.report) < 0) {
		scan->error = -ENOMEM;
		return;
	}
	read_config(&gfd, &config);
	put_all(&gfd, &config);
	nfd_nvidia_report_done(&gfd.report);
}

/* What other scanners found costs nothing; the one file comes last. */
static bool is_here(struct nfd_scan *scan)
{
	if (nfd_pci_count(scan, &nfd_nvidia_labels_scanner, true) > 0 ||
	    nfd_set_find(&scan->labels, NFD_F "gpu-tegra.present") ||
	    nfd_set_find(&scan->labels, NFD_F "gpu-paravirtual.vendor"))
		return true;
	return nfd_root_exists(scan->root, "sys/module/nvidia/refcnt") == 1;
}

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x10de, .class_code = 0x0300 },
	{ .vendor = 0x10de, .class_code = 0x0302 },
};
static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_GFD, NULL };

const struct nfd_scanner nfd_nvidia_labels_scanner = {
	.name = "nvidia_labels",
	.summary = "labels of gpu-feature-discovery",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_NVIDIA,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
