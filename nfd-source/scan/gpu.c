// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts over the PCI functions that are GPUs: physical ones by vendor, driver and device id, and
 * virtual ones apart. A card that no longer answers is not counted.
 */
#include "config.h"

#include "scan/gpu.h"

#include <stdio.h>
#include <string.h>

#include "labels/key.h"
#include "scan/tally.h"

static const uint16_t display_classes[] = { 0x0300, 0x0302, 0x0380 };
#define CLASS_ACCELERATOR 0x1200

/* Vendors whose display controllers are GPUs that Kubernetes workloads use. */
static const uint16_t gpu_vendors[] = {
	0x1002, /* AMD */
	0x10de, /* NVIDIA */
	0x1ed5, /* Moore Threads */
	0x8086, /* Intel */
};

static bool contains(const uint16_t *list, size_t count, unsigned int value)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

bool nfd_gpu_is_accelerator(const struct nfd_pci_function *function)
{
	unsigned int class = function->class_code >> 8;

	return class == CLASS_ACCELERATOR ||
	       (contains(display_classes, NFD_ARRAY_SIZE(display_classes), class) &&
		contains(gpu_vendors, NFD_ARRAY_SIZE(gpu_vendors), function->vendor));
}

static void add_function(struct nfd_scan *scan, struct nfd_tally *tally,
			 const struct nfd_pci_function *function)
{
	char driver[NFD_LABEL_VALUE_SIZE], key[NFD_TALLY_KEY_SIZE];
	int r;

	if (function->is_virtual) {
		snprintf(key, sizeof(key), "gpu-%04x.vf-count", function->vendor);
		r = nfd_tally_add(tally, key);
	} else {
		snprintf(key, sizeof(key), "gpu-%04x.count", function->vendor);
		r = nfd_tally_add(tally, key);
		if (nfd_label_value_from_version(function->driver, driver) == 0)
			memcpy(driver, "none", sizeof("none"));
		snprintf(key, sizeof(key), "gpu-%04x.driver.%s", function->vendor, driver);
		if (r == 0)
			r = nfd_tally_add(tally, key);
		snprintf(key, sizeof(key), "gpu-%04x.device-%04x.count", function->vendor,
			 function->device);
		if (r == 0)
			r = nfd_tally_add(tally, key);
	}
	if (r < 0)
		scan->error = r;
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	cleanup_tally struct nfd_tally tally = { 0 };

	for (size_t i = 0; bus && i < bus->count; i++)
		if (bus->function[i].is_gpu && !bus->function[i].is_unresponsive)
			add_function(scan, &tally, &bus->function[i]);
	for (size_t i = 0; i < tally.count; i++) {
		bool is_detail = strstr(tally.entry[i].key, ".d") != NULL;

		nfd_scan_count(scan, is_detail ? NFD_RANK_DETAIL : NFD_RANK_NORMAL,
			       tally.entry[i].count, NFD_PCI_DEVICES, NFD_F "%s",
			       tally.entry[i].key);
	}
}

static const char *const subsystems[] = { "pci", NULL };
static const char *const prefixes[] = { NFD_F "gpu-", NULL };

const struct nfd_scanner nfd_gpu_scanner = {
	.name = "gpu",
	.summary = "counts of GPUs and accelerators by vendor, driver and device id",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
};
