// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GPUs that are no PCI devices: the one inside a Tegra system on chip, and the paravirtual one of
 * WSL2 (field cases B7 and K1). Neither ever claims pci-10de.present.
 */
#include "config.h"

#include "scan/platform_gpu.h"

#include <string.h>

#define SOC_FAMILY "sys/devices/soc0/family"
#define COMPATIBLE NFD_DEVICE_TREE_COMPATIBLE
#define COMPATIBLE_SIZE 1024
#define DXG "dev/dxg"
#define WSL_NVML "usr/lib/wsl/lib/libnvidia-ml.so.1"

/* Compute capability of the GPUs inside. */
static const struct {
	const char *name;
	int major, minor;
} chips[] = {
	{ "nvidia,tegra210", 5, 3 }, { "nvidia,tegra186", 6, 2 },  { "nvidia,tegra194", 7, 2 },
	{ "nvidia,tegra234", 8, 7 }, { "nvidia,tegra264", 11, 0 },
};

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

const char *nfd_platform_tegra(const struct nfd_root *root, const char **ret_failed, int *ret_code)
{
	char text[COMPATIBLE_SIZE];
	const char *failed = NULL;
	bool is_tegra;
	ssize_t len;

	if (ret_failed)
		*ret_failed = NULL;
	len = nfd_root_read_line(root, SOC_FAMILY, text, sizeof(text));
	if (len > 0 && strcmp(text, "Tegra") == 0)
		return SOC_FAMILY;
	if (len < 0 && !nfd_root_is_absent((int)len)) {
		failed = SOC_FAMILY;
		if (ret_code)
			*ret_code = (int)len;
	}
	len = nfd_root_read(root, COMPATIBLE, text, sizeof(text));
	is_tegra = len > 0 && property_has(text, (size_t)len, "nvidia,tegra");
	if (len < 0 && !nfd_root_is_absent((int)len) && !failed) {
		failed = COMPATIBLE;
		if (ret_code)
			*ret_code = (int)len;
	}
	if (ret_failed)
		*ret_failed = failed;
	return is_tegra ? COMPATIBLE : NULL;
}

void nfd_platform_tegra_compute(const struct nfd_root *root, int *ret_major, int *ret_minor)
{
	char text[COMPATIBLE_SIZE];
	ssize_t len = nfd_root_read(root, COMPATIBLE, text, sizeof(text));

	*ret_major = *ret_minor = 0;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(text + at) + 1)
		for (size_t i = 0; i < NFD_ARRAY_SIZE(chips); i++)
			if (strcmp(text + at, chips[i].name) == 0) {
				*ret_major = chips[i].major;
				*ret_minor = chips[i].minor;
			}
}

static void add_tegra(struct nfd_scan *scan)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = "true" };
	const char *failed;
	int code = 0;

	finding.path = nfd_platform_tegra(scan->root, &failed, &code);
	if (failed)
		nfd_scan_failed(scan, NFD_F "gpu-tegra.", failed, code);
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
