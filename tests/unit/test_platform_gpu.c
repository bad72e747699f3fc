// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/platform_gpu: Tegra and WSL2 (field cases B7, K1).
 */
#include "config.h"

#include "scan/platform_gpu.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define COMPATIBLE "proc/device-tree/compatible"
#define FAMILY "sys/devices/soc0/family"

static const struct scan_row rows[] = {
	{ "nothing", { DIR_AT("sys") }, "" },
	{ "Tegra by family", { FILE_AT(FAMILY, "Tegra\n") }, "gpu-tegra.present=true\n" },
	{ "other family", { FILE_AT(FAMILY, "Snapdragon\n") }, "" },
	{ "family begins alike", { FILE_AT(FAMILY, "Tegral\n") }, "" },
	{ "family unreadable", { DIR_AT(FAMILY) }, "unknown gpu-tegra.\n" },
	{ "family and compatible are loops",
	  { LINK_AT(FAMILY, "family"), LINK_AT(COMPATIBLE, "compatible") },
	  "unknown gpu-tegra.\n" },
	{ "WSL2", { FILE_AT("dev/dxg", "") }, "gpu-paravirtual.present=true\n" },
	{ "WSL2 with NVIDIA's library",
	  { FILE_AT("dev/dxg", ""), FILE_AT("usr/lib/wsl/lib/libnvidia-ml.so.1", "") },
	  "gpu-paravirtual.present=true\ngpu-paravirtual.vendor=nvidia\n" },
	{ "the library alone", { FILE_AT("usr/lib/wsl/lib/libnvidia-ml.so.1", "") }, "" },
	{ "dxg is a loop", { LINK_AT("dev/dxg", "dxg") }, "unknown gpu-paravirtual.\n" },
	{ "dxg dangles", { LINK_AT("dev/dxg", "nowhere") }, "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_platform_gpu_scanner, *state);
}

/* Device-tree properties hold NUL bytes, so they are rows of their own. */
static const struct {
	const char *name, *data;
	size_t len;
	const char *text;
} property_rows[] = {
#define PROPERTY(data) data, sizeof(data) - 1
	{ "B7 second text", PROPERTY("nvidia,p3768-0000+p3767-0005\0nvidia,tegra234\0"),
	  "gpu-tegra.present=true\n" },
	{ "first text", PROPERTY("nvidia,tegra194\0x\0"), "gpu-tegra.present=true\n" },
	{ "no final NUL", PROPERTY("nvidia,p3768\0nvidia,tegra234"), "gpu-tegra.present=true\n" },
	{ "inside a text", PROPERTY("x-nvidia,tegra234\0"), "" },
	{ "other board", PROPERTY("raspberrypi,5-model-b\0brcm,bcm2712\0"), "" },
	{ "empty", PROPERTY(""), "" },
	{ "only NUL bytes", PROPERTY("\0\0\0"), "" },
	{ "cut", PROPERTY("nvidia,tegr"), "" },
	{ "not UTF-8", PROPERTY("\xff\xfe\0nvidia,tegra234\0"), "gpu-tegra.present=true\n" },
};

static void reads_property(void **state)
{
	const __typeof__(property_rows[0]) *row = *state;
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	tree_bytes(tree, COMPATIBLE, row->data, row->len);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++)
		assert_string_equal(scan_text(&nfd_platform_gpu_scanner,
					      tree_root(tree, no_openat2), &options, false),
				    row->text);
}

static void property_over_the_cap_is_unknown(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	tree_file(tree, COMPATIBLE, unit_repeat('x', 1024));
	assert_string_equal(scan_text(&nfd_platform_gpu_scanner, tree_root(tree, false), &options,
				      false),
			    "unknown gpu-tegra.\n");
}

int main(void)
{
	struct unit_suite suite = { .name = "platform_gpu" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_ROWS(&suite, reads_property, property_rows, name);
	UNIT_CASE(&suite, property_over_the_cap_is_unknown);
	return unit_run(&suite);
}
