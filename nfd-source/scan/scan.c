// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the scanners of the table and holds what they have in common. A new bus, class or subject is
 * one file and one line in the table.
 */
#include "config.h"

#include "scan/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "labels/features.h"
#include "scan/alveo.h"
#include "scan/amd.h"
#include "scan/ascend.h"
#include "scan/cpu.h"
#include "scan/custom.h"
#include "scan/driver.h"
#include "scan/gaudi.h"
#include "scan/gpu.h"
#include "scan/intel.h"
#include "scan/kernel.h"
#include "scan/kernel_config.h"
#include "scan/kernel_modules.h"
#include "scan/kernel_state.h"
#include "scan/local.h"
#include "scan/mellanox.h"
#include "scan/memory.h"
#include "scan/network.h"
#include "scan/neuron.h"
#include "scan/nvidia.h"
#include "scan/nvidia_labels.h"
#include "scan/os_release.h"
#include "scan/pci.h"
#include "scan/pci_bus.h"
#include "scan/pci_device.h"
#include "scan/platform_gpu.h"
#include "scan/qualcomm.h"
#include "scan/storage.h"
#include "scan/system.h"
#include "scan/tpu.h"
#include "scan/usb.h"

static const struct nfd_scanner *const scanners[] = {
	&nfd_pci_scanner,
	&nfd_gpu_scanner,
	&nfd_platform_gpu_scanner,
	&nfd_usb_scanner,
	&nfd_driver_scanner,
	&nfd_nvidia_scanner,
	&nfd_kernel_scanner,
	&nfd_os_release_scanner,
	&nfd_amd_scanner,
	&nfd_intel_scanner,
	&nfd_gaudi_scanner,
	&nfd_mellanox_scanner,
	&nfd_neuron_scanner,
	&nfd_tpu_scanner,
	&nfd_qualcomm_scanner,
	&nfd_ascend_scanner,
	&nfd_alveo_scanner,
	&nfd_cpu_scanner,
	&nfd_memory_scanner,
	&nfd_network_scanner,
	&nfd_storage_scanner,
	&nfd_system_scanner,
	&nfd_kernel_config_scanner,
	&nfd_kernel_modules_scanner,
	&nfd_kernel_state_scanner,
	&nfd_pci_device_scanner,
	&nfd_custom_scanner,
	/* Behind those: NVML may still be answering while they read. */
	&nfd_nvidia_labels_scanner,
	/* The last: what other programs say in feature files counts before all, as with nfd-worker. */
	&nfd_local_scanner,
};

/* Bit 31 is the caller's. */
_Static_assert(NFD_ARRAY_SIZE(scanners) < 31, "no more bits for scanners");

const struct nfd_scanner *const *nfd_scanners(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(scanners);
	return scanners;
}

const struct nfd_scanner *nfd_scanner_of(const char *key)
{
	const struct nfd_scanner *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		for (const char *const *prefix = scanners[i]->key_prefixes; *prefix; prefix++)
			if (strlen(*prefix) > best_len &&
			    strncmp(key, *prefix, strlen(*prefix)) == 0) {
				best = scanners[i];
				best_len = strlen(*prefix);
			}
	return best;
}

const struct nfd_scanner *nfd_scanner_of_label(const struct nfd_label *label)
{
	return label->writer ? scanners[label->writer - 1] : nfd_scanner_of(label->key);
}

uint32_t nfd_scanners_for_subsystem(const char *subsystem)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		for (const char *const *name = scanners[i]->subsystems; *name; name++)
			if (strcmp(*name, subsystem) == 0)
				bits |= UINT32_C(1) << i;
	return bits;
}

uint32_t nfd_scanners_for_vendor(enum nfd_vendor vendor)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		if (scanners[i]->vendor == vendor)
			bits |= UINT32_C(1) << i;
	return bits;
}

static enum nfd_vendor_verdict verdict_of(const struct nfd_scan_request *request,
					  const struct nfd_scanner *scanner)
{
	return request->vendors && scanner->vendor ? request->vendors->of[scanner->vendor].verdict :
						     NFD_VENDOR_WRITE;
}

/* A host whose sysfs is not there at all (a forgotten mount) has lost no hardware. */
static void check_sysfs(struct nfd_scan *scan, const struct nfd_scan_request *request)
{
	cleanup_names struct nfd_names names = { 0 };
	int r = nfd_root_list(scan->root, "sys", &names);

	if (r == 0 && names.count > 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		for (const char *const *prefix = scanners[i]->key_prefixes; *prefix; prefix++)
			if (scanners[i]->subsystems[0] &&
			    verdict_of(request, scanners[i]) != NFD_VENDOR_LEAVE)
				nfd_scan_unknown(scan, *prefix,
						 "sysfs is not mounted at \"sys\" below the root");
}

static bool is_wanted(uint32_t wanted, const struct nfd_scanner *scanner)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		if (scanners[i] == scanner)
			return wanted >> i & 1;
	return true;
}

/* Raw features of a scanner that does not run this time. */
static void take_features(struct nfd_scan *scan, const struct nfd_scan *before,
			  const struct nfd_scanner *scanner)
{
	for (const char *const *name = scanner->features; name && *name; name++)
		if (nfd_features_copy(before->features, *name, scan->features) < 0)
			scan->error = -ENOMEM;
}

/* What is unknown of all keys is so because of feature files. */
static const struct nfd_scanner *scanner_in_doubt(const struct nfd_unknown *unknown)
{
	return unknown->prefix[0] ? nfd_scanner_of(unknown->prefix) : &nfd_local_scanner;
}

/* Results of the scanners that do not run this time. */
static void take_over(struct nfd_scan *scan, const struct nfd_scan *before, uint32_t wanted)
{
	for (size_t i = 0; i < before->labels.count; i++) {
		const struct nfd_label *label = &before->labels.label[i];

		if (!(wanted >> (label->writer - 1) & 1) &&
		    nfd_set_put(&scan->labels, label) == -ENOMEM)
			scan->error = -ENOMEM;
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		if (!(wanted >> i & 1)) {
			scan->vendors_found |= before->vendors_found & 1U << scanners[i]->vendor;
			take_features(scan, before, scanners[i]);
		}
	for (size_t i = 0; i < before->unknowns.count; i++) {
		const struct nfd_unknown *unknown = &before->unknowns.unknown[i];

		if (!is_wanted(wanted, scanner_in_doubt(unknown)) &&
		    nfd_unknowns_add(&scan->unknowns, unknown->prefix, unknown->reason,
				     unknown->doubt) < 0)
			scan->error = -ENOMEM;
	}
}

/* What could not be read of the bus may be the hardware of any scanner that looks at functions. */
static void share_doubt(struct nfd_scan *scan, const struct nfd_scanner *scanner)
{
	const struct nfd_unknown *unknown;
	char reason[512];
	enum nfd_doubt doubt;

	nfd_pci_bus_get(scan);
	unknown = nfd_unknowns_find(&scan->unknowns, NFD_F "pci-");
	if (!unknown)
		return;
	/* The list may move while it grows. */
	snprintf(reason, sizeof(reason), "%s", unknown->reason);
	doubt = unknown->doubt;
	for (const char *const *prefix = scanner->key_prefixes; *prefix; prefix++)
		if (nfd_unknowns_add(&scan->unknowns, *prefix, reason, doubt) < 0)
			scan->error = -ENOMEM;
}

/* With raw features unless core.featureSources leaves them out. */
static void run_with_features(struct nfd_scan *scan, const struct nfd_scanner *scanner)
{
	cJSON *features = scan->features;

	if (scan->options->source.features_off >> scanner->source & 1)
		scan->features = NULL;
	scanner->run(scan);
	scan->features = features;
}

/* Labels of a vendor: only where its hardware is, and where they are ours to write. */
static void run_scanner(struct nfd_scan *scan, const struct nfd_scanner *scanner,
			const struct nfd_scan_request *request)
{
	enum nfd_vendor_verdict verdict = verdict_of(request, scanner);

	/* Nothing is read for NFD's labels where they are NFD's. */
	if (scanner->vendor == NFD_VENDOR_NFD)
		scan->vendors_found |= 1U << NFD_VENDOR_NFD;
	if (scanner->vendor == NFD_VENDOR_NFD && verdict == NFD_VENDOR_LEAVE)
		return;
	if (scanner->function_count > 0)
		share_doubt(scan, scanner);
	if (scanner->is_here && !scanner->is_here(scan))
		return;
	if (scanner->vendor)
		scan->vendors_found |= 1U << scanner->vendor;
	if (scanner->vendor == NFD_VENDOR_NVIDIA && request->await_nvml)
		request->await_nvml(request->await_cookie);
	if (verdict == NFD_VENDOR_WRITE)
		run_with_features(scan, scanner);
	else if (verdict == NFD_VENDOR_WAIT)
		for (const char *const *prefix = scanner->key_prefixes; *prefix; prefix++)
			nfd_scan_pending(scan, *prefix, request->vendors->of[scanner->vendor].why);
}

static void run_scanners(struct nfd_scan *scan, const struct nfd_scan_request *request,
			 uint32_t wanted)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners) && scan->error == 0; i++) {
		if (!(wanted >> i & 1))
			continue;
		scan->scanner = scanners[i];
		scan->writer = (unsigned char)(i + 1);
		run_scanner(scan, scanners[i], request);
	}
	scan->scanner = NULL;
	scan->writer = 0;
}

/* Whether we are in nfd-worker's place; without verdicts all is ours to write. */
static bool stands_in(const struct nfd_scan_request *request)
{
	return !request->vendors ||
	       request->vendors->of[NFD_VENDOR_NFD].verdict == NFD_VENDOR_WRITE;
}

/* The last one takes part in each scan: a key of its may give way to what the others state now. */
static uint32_t wanted_by(const struct nfd_scan_request *request)
{
	uint32_t last = UINT32_C(1) << (NFD_ARRAY_SIZE(scanners) - 1);

	return request->scanners ? request->scanners | last : NFD_SCANNERS_ALL;
}

int nfd_scan_run(struct nfd_scan *scan, const struct nfd_scan_request *request,
		 struct nfd_error *err)
{
	uint32_t wanted = wanted_by(request);
	struct nfd_filter *filter = NULL;
	int r;

	*scan = (struct nfd_scan){
		.root = request->root,
		.options = request->options,
		.cpu = request->cpu,
		.nvml = request->nvml,
		.all_devices = request->all_devices,
		.stands_in = stands_in(request),
	};
	r = nfd_filter_new(request->options->label_white_list, &filter, err);
	if (r < 0) {
		nfd_error_wrap(err, "core.labelWhiteList");
		return r;
	}
	scan->filter = filter;
	if (request->features) {
		scan->features = nfd_features_new();
		if (!scan->features)
			scan->error = -ENOMEM;
	}
	check_sysfs(scan, request);
	if (request->before)
		take_over(scan, request->before, wanted);
	run_scanners(scan, request, wanted);
	nfd_filter_free(filter);
	scan->filter = NULL;
	scan->cpu = NULL;
	scan->nvml = NULL;
	if (scan->error < 0)
		return nfd_error_set(err, scan->error, "out of memory");
	return 0;
}

void nfd_scan_done(struct nfd_scan *scan)
{
	nfd_set_done(&scan->labels);
	nfd_unknowns_done(&scan->unknowns);
	cJSON_Delete(scan->features);
	nfd_pci_bus_free(scan->pci);
	*scan = (struct nfd_scan){ 0 };
}
