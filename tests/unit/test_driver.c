// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/driver: versions that loaded modules state.
 */
#include "config.h"

#include "scan/driver.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

static const struct scan_row rows[] = {
	{ "nothing loaded", { DIR_AT("sys/module") }, "" },
	{ "module without a version", { DIR_AT("sys/module/amdgpu") }, "" },
	{ "two modules",
	  { FILE_AT("sys/module/amdgpu/version", "6.12.12\n"),
	    FILE_AT("sys/module/habanalabs/version", "1.18.0-abc\n") },
	  "driver-amdgpu.version.full=6.12.12\ndriver-amdgpu.version.major=6\n"
	  "driver-amdgpu.version.minor=12\ndriver-amdgpu.version.revision=12\n"
	  "driver-habanalabs.version.full=1.18.0-abc\ndriver-habanalabs.version.major=1\n"
	  "driver-habanalabs.version.minor=18\ndriver-habanalabs.version.revision=0\n" },
	{ "other module", { FILE_AT("sys/module/e1000/version", "1.0\n") }, "" },
	{ "nvidia is another scanner's", { FILE_AT("sys/module/nvidia/version", "580.1\n") }, "" },
	{ "empty", { FILE_AT("sys/module/xe/version", "\n") }, "" },
	{ "no number",
	  { FILE_AT("sys/module/xe/version", "unknown\n") },
	  "driver-xe.version.full=unknown\n" },
	{ "unreadable",
	  { DIR_AT("sys/module/mlx5_core/version") },
	  "unknown driver-mlx5_core.version\n" },
	{ "loop", { LINK_AT("sys/module/qaic", "qaic") }, "unknown driver-qaic.version\n" },
	{ "hostile",
	  { FILE_AT("sys/module/xe/version", "1.0\nz/evil=1\n") },
	  "driver-xe.version.full=1.0_z_evil_1\ndriver-xe.version.major=1\n"
	  "driver-xe.version.minor=0\n" },
	{ "not UTF-8", { FILE_AT("sys/module/xe/version", "\xff\xfe\n") }, "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_driver_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "driver" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
