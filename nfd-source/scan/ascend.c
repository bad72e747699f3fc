// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Huawei Ascend accelerators: class 1200 and a known id. The vendor's management controllers, network
 * cards, disks and the engines in its processors share the vendor id.
 */
#include "config.h"

#include "scan/ascend.h"

#include "scan/accelerator.h"
#include "scan/pci_bus.h"

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x19e5, .device = 0xd100, .class_code = 0x1200 },
	{ .vendor = 0x19e5, .device = 0xd500, .class_code = 0x1200 },
	{ .vendor = 0x19e5, .device = 0xd801, .class_code = 0x1200 },
	{ .vendor = 0x19e5, .device = 0xd802, .class_code = 0x1200 },
	{ .vendor = 0x19e5, .device = 0xd803, .class_code = 0x1200 },
};

static const struct nfd_accelerator_model models[] = {
	{ .device = 0xd100, .name = "Ascend310" },    { .device = 0xd500, .name = "Ascend310P" },
	{ .device = 0xd801, .name = "Ascend910" },    { .device = 0xd802, .name = "Ascend910B" },
	{ .device = 0xd803, .name = "Ascend910_93" },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_ascend_scanner, true) > 0;
}

static void run(struct nfd_scan *scan)
{
	static const struct nfd_accelerator accelerator = {
		.scanner = &nfd_ascend_scanner,
		.stem = NFD_F "huawei-ascend",
		.fact = "model",
		.model = models,
		.model_count = NFD_ARRAY_SIZE(models),
	};

	nfd_accelerator_labels(scan, &accelerator);
}

static const char *const subsystems[] = { "pci", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "huawei-ascend", NULL };

const struct nfd_scanner nfd_ascend_scanner = {
	.name = "ascend",
	.summary = "Huawei Ascend accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_ASCEND,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
