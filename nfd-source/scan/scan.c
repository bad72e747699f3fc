// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the scanners of the table and holds what they have in common. A new bus, class or subject is
 * one file and one line in the table.
 */
#include "config.h"

#include "scan/scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "labels/features.h"
#include "scan/alveo.h"
#include "scan/amd.h"
#include "scan/ascend.h"
#include "scan/driver.h"
#include "scan/gaudi.h"
#include "scan/gpu.h"
#include "scan/intel.h"
#include "scan/kernel.h"
#include "scan/mellanox.h"
#include "scan/neuron.h"
#include "scan/nvidia.h"
#include "scan/nvidia_labels.h"
#include "scan/os_release.h"
#include "scan/pci.h"
#include "scan/pci_bus.h"
#include "scan/platform_gpu.h"
#include "scan/qualcomm.h"
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
	/* The last: NVML may still be answering while the others read. */
	&nfd_nvidia_labels_scanner,
};

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

static void put(struct nfd_scan *scan, const struct nfd_finding *finding, const char *stopped_by,
		const char *key)
{
	char source[512];
	struct nfd_label label = {
		.key = (char *)key,
		.value = (char *)finding->value,
		.stopped_by = (char *)stopped_by,
		.source = source,
		.rank = finding->rank,
		.is_stopgap = finding->is_stopgap,
	};
	int r;

	snprintf(source, sizeof(source), "%s%s%s", finding->path, finding->detail ? ": " : "",
		 finding->detail ? finding->detail : "");
	r = nfd_set_put(&scan->labels, &label);
	if (r == -ENOMEM)
		scan->error = r;
}

/* A key that does not fit is cut, and then refused as too long by the grammar check. */
static void format_key(char key[NFD_LABEL_KEY_SIZE + 1], const char *fmt, va_list args)
{
	vsnprintf(key, NFD_LABEL_KEY_SIZE + 1, fmt, args);
}

void nfd_scan_label(struct nfd_scan *scan, const struct nfd_finding *finding, const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1];
	va_list args;
	bool passes;

	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	/* The vendor label is what GPU operators hang on: no setting takes it away (design 4, B3). */
	passes = nfd_filter_passes(scan->filter, key) || nfd_pci_is_vendor_key(key);
	put(scan, finding, passes ? NULL : "core.labelWhiteList", key);
}

void nfd_scan_stopped(struct nfd_scan *scan, const struct nfd_finding *finding, const char *setting,
		      const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1];
	va_list args;

	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	put(scan, finding, setting, key);
}

void nfd_scan_count(struct nfd_scan *scan, enum nfd_rank rank, unsigned int count, const char *path,
		    const char *fmt, ...)
{
	char key[NFD_LABEL_KEY_SIZE + 1], value[16];
	struct nfd_finding finding = { .rank = rank, .value = value, .path = path };
	va_list args;

	snprintf(value, sizeof(value), "%u", count);
	va_start(args, fmt);
	format_key(key, fmt, args);
	va_end(args);
	nfd_scan_label(scan, &finding, "%s", key);
}

static void note_unknown(struct nfd_scan *scan, const char *prefix, const char *reason,
			 enum nfd_doubt doubt)
{
	if (nfd_unknowns_add(&scan->unknowns, prefix, reason, doubt) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_failed(struct nfd_scan *scan, const char *prefix, const char *path, int code)
{
	char reason[512];

	if (nfd_root_is_absent(code))
		return;
	snprintf(reason, sizeof(reason), "cannot read \"%s\": %s", path, nfd_errno_text(code));
	note_unknown(scan, prefix, reason, NFD_DOUBT_FAILED);
}

void nfd_scan_doubt(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_SEEMS);
}

void nfd_scan_pending(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_PASSING);
}

void nfd_scan_unknown(struct nfd_scan *scan, const char *prefix, const char *reason)
{
	note_unknown(scan, prefix, reason, NFD_DOUBT_FAILED);
}

void nfd_scan_feature_set(struct nfd_scan *scan, enum nfd_feature_kind kind, const char *feature)
{
	if (nfd_features_add(scan->features, kind, feature) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_flags(struct nfd_scan *scan, const char *feature, const char *const *name,
		    size_t count)
{
	if (nfd_features_flags(scan->features, feature, name, count) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_attributes(struct nfd_scan *scan, const char *feature,
			 const struct nfd_attribute *attribute, size_t count)
{
	if (nfd_features_attributes(scan->features, feature, attribute, count) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_feature(struct nfd_scan *scan, const char *feature, const char *name,
		      const char *value)
{
	if (nfd_features_attribute(scan->features, feature, name, value) < 0)
		scan->error = -ENOMEM;
}

void nfd_scan_instance(struct nfd_scan *scan, const char *feature,
		       const struct nfd_attribute *attribute, size_t count)
{
	cJSON *instance;

	if (!scan->features)
		return;
	instance = nfd_features_instance(scan->features, feature);
	if (!instance)
		scan->error = -ENOMEM;
	for (size_t i = 0; instance && i < count; i++)
		if (attribute[i].value &&
		    nfd_features_put(instance, attribute[i].name, attribute[i].value) < 0)
			scan->error = -ENOMEM;
}

/* A host whose sysfs is not there at all (a forgotten mount) has lost no hardware. */
static void check_sysfs(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	int r = nfd_root_list(scan->root, "sys", &names);

	if (r == 0 && names.count > 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		for (const char *const *prefix = scanners[i]->key_prefixes; *prefix; prefix++)
			if (scanners[i]->subsystems[0])
				note_unknown(scan, *prefix,
					     "sysfs is not mounted at \"sys\" below the root",
					     NFD_DOUBT_FAILED);
}

static bool is_wanted(uint32_t wanted, const struct nfd_scanner *scanner)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		if (scanners[i] == scanner)
			return wanted >> i & 1;
	return true;
}

/* Results of the scanners that do not run this time. */
static void take_over(struct nfd_scan *scan, const struct nfd_scan *before, uint32_t wanted)
{
	for (size_t i = 0; i < before->labels.count; i++)
		if (!is_wanted(wanted, nfd_scanner_of(before->labels.label[i].key)) &&
		    nfd_set_put(&scan->labels, &before->labels.label[i]) == -ENOMEM)
			scan->error = -ENOMEM;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		if (!(wanted >> i & 1))
			scan->vendors_found |= before->vendors_found & 1U << scanners[i]->vendor;
	for (size_t i = 0; i < before->unknowns.count; i++) {
		const struct nfd_unknown *unknown = &before->unknowns.unknown[i];

		if (!is_wanted(wanted, nfd_scanner_of(unknown->prefix)))
			note_unknown(scan, unknown->prefix, unknown->reason, unknown->doubt);
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
		note_unknown(scan, *prefix, reason, doubt);
}

/* Labels of a vendor: only where its hardware is, and where they are ours to write. */
static void run_scanner(struct nfd_scan *scan, const struct nfd_scanner *scanner,
			const struct nfd_scan_request *request)
{
	const struct nfd_vendor_state *state =
		request->vendors && scanner->vendor ? &request->vendors->of[scanner->vendor] : NULL;

	if (scanner->function_count > 0)
		share_doubt(scan, scanner);
	if (scanner->is_here && !scanner->is_here(scan))
		return;
	if (scanner->vendor)
		scan->vendors_found |= 1U << scanner->vendor;
	if (scanner->vendor == NFD_VENDOR_NVIDIA && request->await_nvml)
		request->await_nvml(request->await_cookie);
	if (!state || state->verdict == NFD_VENDOR_WRITE)
		scanner->run(scan);
	else if (state->verdict == NFD_VENDOR_WAIT)
		for (const char *const *prefix = scanner->key_prefixes; *prefix; prefix++)
			nfd_scan_pending(scan, *prefix, state->why);
}

int nfd_scan_run(struct nfd_scan *scan, const struct nfd_scan_request *request,
		 struct nfd_error *err)
{
	uint32_t wanted = request->scanners ? request->scanners : NFD_SCANNERS_ALL;
	struct nfd_filter *filter = NULL;
	int r;

	*scan = (struct nfd_scan){
		.root = request->root,
		.options = request->options,
		.cpu = request->cpu,
		.nvml = request->nvml,
		.all_devices = request->all_devices,
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
	check_sysfs(scan);
	if (request->before)
		take_over(scan, request->before, wanted);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners) && scan->error == 0; i++)
		if (wanted >> i & 1)
			run_scanner(scan, scanners[i], request);
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
