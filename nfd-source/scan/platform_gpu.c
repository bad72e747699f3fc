// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GPUs that are no PCI devices: the one inside a Tegra system on chip, and the paravirtual one of
 * WSL2 (field cases B7 and K1). Neither ever claims pci-10de.present.
 */
#include "config.h"

#include "scan/platform_gpu.h"

#include <string.h>

#define SOC_FAMILY "sys/devices/soc0/family"
#define COMPATIBLE "proc/device-tree/compatible"
#define DXG "dev/dxg"
#define WSL_NVML "usr/lib/wsl/lib/libnvidia-ml.so.1"

/* Whether one of the NUL-separated texts of a device-tree property begins with @prefix. */
static bool property_has(const char *data, size_t len, const char *prefix)
{
	size_t at = 0;

	while (at < len) {
		if (strncmp(data + at, prefix, strlen(prefix)) == 0)
			return true;
		at += strlen(data + at) + 1;
	}
	return false;
}

static void add_tegra(struct nfd_scan *scan)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = "true" };
	char text[1024];
	ssize_t len;

	len = nfd_root_read_line(scan->root, SOC_FAMILY, text, sizeof(text));
	if (len < 0)
		nfd_scan_failed(scan, NFD_F "gpu-tegra.", SOC_FAMILY, (int)len);
	if (len > 0 && strcmp(text, "Tegra") == 0) {
		finding.path = SOC_FAMILY;
	} else {
		len = nfd_root_read(scan->root, COMPATIBLE, text, sizeof(text));
		if (len < 0)
			nfd_scan_failed(scan, NFD_F "gpu-tegra.", COMPATIBLE, (int)len);
		if (len > 0 && property_has(text, (size_t)len, "nvidia,tegra"))
			finding.path = COMPATIBLE;
	}
	if (finding.path)
		nfd_scan_label(scan, &finding, NFD_F "gpu-tegra.present");
}

bool nfd_platform_is_wsl(const struct nfd_root *root)
{
	return nfd_root_exists(root, DXG) == 1;
}

static void add_paravirtual(struct nfd_scan *scan)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = "true", .path = DXG };
	int r = nfd_root_exists(scan->root, DXG);

	if (r < 0)
		nfd_scan_failed(scan, NFD_F "gpu-paravirtual.", DXG, r);
	if (r != 1)
		return;
	nfd_scan_label(scan, &finding, NFD_F "gpu-paravirtual.present");
	if (nfd_root_exists(scan->root, WSL_NVML) != 1)
		return;
	finding.path = WSL_NVML;
	finding.value = "nvidia";
	nfd_scan_label(scan, &finding, NFD_F "gpu-paravirtual.vendor");
}

static void run(struct nfd_scan *scan)
{
	add_tegra(scan);
	add_paravirtual(scan);
}

static const char *const subsystems[] = { "platform", NULL };
static const char *const prefixes[] = { NFD_F "gpu-tegra.", NFD_F "gpu-paravirtual.", NULL };

const struct nfd_scanner nfd_platform_gpu_scanner = {
	.name = "platform_gpu",
	.summary = "GPUs that are no PCI devices: Tegra, WSL2",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
};
