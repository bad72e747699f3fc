// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia_version: versions of driver and CUDA, under the names of today and of yesterday.
 */
#include "config.h"

#include "scan/nvidia_version.h"

#include "tests/unit/nvml_row.h"
#include "tests/unit/unit.h"

static const struct nvml_row rows[] = {
	/* Versions. */
	{ "driver of two parts",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"driverVersion\":\"390.157\",\"cudaVersion\":9010,\"devices\":[" L4(
		  "3B") "]}",
	  0,
	  NULL,
	  "cuda.",
	  N "cuda.driver-version.full=390.157\n" N "cuda.driver-version.major=390\n" N
	    "cuda.driver-version.minor=157\n" N "cuda.driver-version.revision=\n" N
	    "cuda.driver.major=390\n" N "cuda.driver.minor=157\n" N "cuda.driver.rev=\n" N
	    "cuda.runtime-version.full=9.1\n" N "cuda.runtime-version.major=9\n" N
	    "cuda.runtime-version.minor=1\n" N "cuda.runtime.major=9\n" N
	    "cuda.runtime.minor=1\n" },
	{ "driver of one part",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"driverVersion\":\"580\",\"devices\":[" L4("3B") "]}",
	  0,
	  NULL,
	  "cuda.driver",
	  N "cuda.driver-version.full=580\n" },
	{ "driver of four parts",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"driverVersion\":\"1.2.3.4\",\"devices\":[" L4("3B") "]}",
	  0,
	  NULL,
	  "cuda.driver",
	  N "cuda.driver-version.full=1.2.3.4\n" },
	{ "driver from the module where NVML does not say",
	  { HARDWARE, MODULE },
	  "{\"init\":{\"code\":0},\"devices\":[" L4("3B") "]}",
	  0,
	  NULL,
	  "cuda.",
	  DRIVER "unknown " N "cuda.runtime\n" },
	{ "versions of another type",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"driverVersion\":580,\"cudaVersion\":\"13\",\"devices\":[" L4(
		  "3B") "]}",
	  0,
	  NULL,
	  "cuda.",
	  "unknown " N "cuda.driver\nunknown " N "cuda.runtime\n" },
	{ "CUDA minor of two digits",
	  { HARDWARE },
	  "{\"init\":{\"code\":0},\"driverVersion\":\"1.2\",\"cudaVersion\":12080,\"devices\":[" L4(
		  "3B") "]}",
	  0,
	  NULL,
	  "cuda.runtime-version.full",
	  N "cuda.runtime-version.full=12.8\n" },
};

static void scans(void **state)
{
	nvml_check_row(*state);
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia_version" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
