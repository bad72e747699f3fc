// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sys/module/<module>/version of drivers that GPU, accelerator and network operators care
 * about. Modules of the kernel tree mostly state none, and then there is no label. The nvidia
 * module, whose version has two sources, is in scan/nvidia.
 */
#include "config.h"

#include "scan/driver.h"

#include <stdio.h>

#include "scan/version_labels.h"

static const char *const modules[] = {
	"amdgpu", "drv_davinci", "gdrdrv", "habanalabs", "i915", "intel_vpu", "mlx5_core",
	"neuron", "nvidia_fs",   "qaic",   "xclmgmt",    "xe",   "xocl",
};

static void add_module(struct nfd_scan *scan, const char *module)
{
	char path[96], stem[96], text[128];
	ssize_t len;

	snprintf(path, sizeof(path), "sys/module/%s/version", module);
	snprintf(stem, sizeof(stem), NFD_F "driver-%s.version", module);
	len = nfd_root_read_line(scan->root, path, text, sizeof(text));
	if (len > 0)
		nfd_scan_version(scan, stem, path, text);
	else if (len < 0)
		nfd_scan_failed(scan, stem, path, (int)len);
	if (len > 0)
		nfd_scan_feature(scan, "nfd-source.driver", module, text);
}

static void run(struct nfd_scan *scan)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(modules); i++)
		add_module(scan, modules[i]);
}

static const char *const subsystems[] = { "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "driver-", NULL };
static const char *const features[] = { "nfd-source.driver", NULL };

const struct nfd_scanner nfd_driver_scanner = {
	.name = "driver",
	.summary = "versions that loaded kernel modules state",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
};
