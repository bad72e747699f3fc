// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of nfd-source-nvml: any JSON gives values in their ranges, sorted by address.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "scan/nvidia_report.h"
#include "tests/fuzz/fuzz.h"

static void check_gpu(const struct nfd_nvidia_gpu *gpu)
{
	FUZZ_CHECK(memchr(gpu->name, '\0', sizeof(gpu->name)));
	FUZZ_CHECK(gpu->name[0] || gpu->failed & NFD_NVIDIA_MODEL);
	FUZZ_CHECK(!nfd_nvidia_is_display(gpu->name));
	FUZZ_CHECK(gpu->mig_mode >= -1 && gpu->mig_mode <= 1);
	FUZZ_CHECK(gpu->major >= 0 && gpu->minor >= 0 && gpu->virtualization >= -1);
	FUZZ_CHECK(gpu->is_attached == (gpu->cluster[0] != '\0'));
	FUZZ_CHECK(!gpu->is_attached || strlen(gpu->cluster) == 36);
	FUZZ_CHECK(!gpu->mig || cJSON_IsArray(gpu->mig));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_nvml nvml = { .end = NFD_NVML_DONE, .report = cJSON_Parse(text) };
	struct nfd_nvidia_report report;

	FUZZ_CHECK(nfd_nvidia_report_read(&nvml, &report) == 0);
	FUZZ_CHECK(report.answer == NFD_NVIDIA_GOOD || report.count == 0);
	FUZZ_CHECK(report.answer == NFD_NVIDIA_GOOD || report.why[0]);
	FUZZ_CHECK(report.count <= NFD_NVIDIA_GPUS_MAX);
	FUZZ_CHECK(!report.failed || report.why[0]);
	for (size_t i = 0; i < report.count; i++) {
		check_gpu(&report.gpu[i]);
		FUZZ_CHECK(i == 0 ||
			   report.gpu[i - 1].address.domain <= report.gpu[i].address.domain);
	}
	nfd_nvidia_report_done(&report);
	nfd_nvml_done(&nvml);
	return 0;
}
