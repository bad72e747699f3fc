// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Google TPUs, by device id: the vendor's disks and network card share its vendor id. The label
 * cloud.google.com/gke-tpu-accelerator is GKE's own and is not touched.
 */
#include "config.h"

#include "scan/tpu.h"

#include "scan/accelerator.h"
#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1ae0, .device = 0x0027 }, { .vendor = 0x1ae0, .device = 0x0056 },
	{ .vendor = 0x1ae0, .device = 0x005e }, { .vendor = 0x1ae0, .device = 0x0062 },
	{ .vendor = 0x1ae0, .device = 0x0063 }, { .vendor = 0x1ae0, .device = 0x006f },
	{ .vendor = 0x1ae0, .device = 0x0076 },
};

static const struct nfd_accelerator_model models[] = {
	{ .device = 0x0027, .subsystem_device = 0x004e, .name = "v2" },
	{ .device = 0x0027, .subsystem_device = 0x004f, .name = "v3" },
	{ .device = 0x005e, .name = "v4" },
	{ .device = 0x0062, .name = "v5p" },
	{ .device = 0x0063, .name = "v5e" },
	{ .device = 0x006f, .name = "v6e" },
	{ .device = 0x0076, .name = "7x" }, /* "TPU7x": the maker dropped the v */
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_tpu_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	static const struct nfd_accelerator accelerator = {
		.scanner = &nfd_tpu_scanner,
		.stem = NFD_F "google-tpu",
		.fact = "generation",
		.model = models,
		.model_count = NFD_ARRAY_SIZE(models),
	};

	nfd_accelerator_labels(scan, &accelerator);
}

static const char *const subsystems[] = { "pci", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "google-tpu", NULL };

const struct nfd_scanner nfd_tpu_scanner = {
	.name = "tpu",
	.summary = "Google TPUs",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_TPU,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
