// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nvml/nvml_mig: names of MIG profiles, as nvidia-smi lists them and gpu-feature-discovery writes them.
 */
#include "config.h"

#include "nvml/nvml_mig.h"

#include <errno.h>

#include "tests/unit/unit.h"

#define MB (UINT64_C(1) << 20)

/* Sizes of MIG devices and of GPUs as their drivers tell them. */
static const struct {
	const char *expected;
	unsigned int gpu, compute;
	uint64_t memory_mb, total_mb;
} rows[] = {
	{ "1g.5gb", 0, 0, 4864, 40960 },
	{ "2g.10gb", 1, 1, 9856, 40960 },
	{ "3g.20gb", 2, 2, 19968, 40960 },
	{ "4g.20gb", 3, 3, 19968, 40960 },
	{ "7g.40gb", 4, 4, 40192, 40960 },
	{ "8g.40gb", 5, 5, 40192, 40960 },
	{ "6g.40gb", 6, 6, 40192, 40960 },
	{ "1g.5gb+me", 7, 0, 4864, 40960 },
	{ "2g.12gb+me", 8, 1, 11968, 24576 },
	{ "1g.10gb", 9, 0, 9856, 40960 },
	{ "1g.6gb+gfx", 10, 0, 5952, 24576 },
	{ "2g.24gb+gfx", 11, 1, 24192, 48935 },
	{ "4g.48gb+gfx", 12, 3, 48640, 48935 },
	{ "1g.6gb-me", 13, 0, 5952, 24576 },
	{ "2g.24gb-me", 14, 1, 24192, 48935 },
	{ "1g.12gb+me.all", 15, 0, 12032, 48935 },
	{ "2g.24gb+me.all", 16, 1, 24192, 48935 },
	/* Fewer compute slices than the GPU instance has. */
	{ "1c.3g.20gb", 2, 0, 19968, 40960 },
	{ "2c.3g.20gb", 2, 1, 19968, 40960 },
	{ "1c.7g.80gb", 4, 0, 80896, 81559 },
	{ "1c.2g.12gb+me", 8, 0, 11968, 24576 },
	/* Another revision of the compute profile of one slice. */
	{ "1c.2g.10gb", 1, 7, 9856, 40960 },
	{ "1g.5gb", 0, 7, 4864, 40960 },
	/* GPUs whose memory is no whole number of GiB. */
	{ "7g.80gb", 4, 4, 80896, 81559 },
	{ "1g.18gb", 0, 0, 16384, 143771 },
	{ "7g.141gb", 4, 4, 143104, 143771 },
	{ "1g.24gb", 0, 0, 24192, 97887 },
	/* 7.5 is rounded up. */
	{ "1g.8gb", 0, 0, 7680, 20480 },
	{ "1g.1gb", 0, 0, 1, 4096 },
	{ "1g.0gb", 0, 0, 0, 40960 },
	{ "1g.100gb", 0, 0, 100, 1 },
	/* The largest that is taken. */
	{ "1g.1048576gb", 0, 0, UINT64_C(1) << 30, 1024 },
};

static void test_profile(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	char text[NFD_NVML_PROFILE_SIZE] = "";

	assert_int_equal(nfd_nvml_mig_profile(row->gpu, row->compute, row->memory_mb,
					      row->total_mb * MB, text),
			 0);
	assert_string_equal(text, row->expected);
}

static const struct {
	const char *name;
	unsigned int gpu, compute;
	uint64_t memory_mb, total_bytes;
} wrong[] = {
	{ "unknown GPU profile", 17, 0, 4864, 40960 * MB },
	{ "largest GPU profile", UINT32_MAX, 0, 4864, 40960 * MB },
	{ "unknown compute profile", 0, 8, 4864, 40960 * MB },
	{ "largest compute profile", 0, UINT32_MAX, 4864, 40960 * MB },
	{ "GPU without memory", 0, 0, 4864, 0 },
	{ "more memory than there is", 0, 0, (UINT64_C(1) << 30) + 1, 40960 * MB },
	{ "largest memory", 0, 0, UINT64_MAX, UINT64_MAX },
};

static void test_wrong(void **state)
{
	const __typeof__(wrong[0]) *row = *state;
	char text[NFD_NVML_PROFILE_SIZE] = "as it was";

	assert_int_equal(nfd_nvml_mig_profile(row->gpu, row->compute, row->memory_mb,
					      row->total_bytes, text),
			 -EINVAL);
	assert_string_equal(text, "as it was");
}

int main(void)
{
	struct unit_suite suite = { .name = "nvml_mig" };

	UNIT_ROWS(&suite, test_profile, rows, expected);
	UNIT_ROWS(&suite, test_wrong, wrong, name);
	return unit_run(&suite);
}
