// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What NVML said, from its child.
 */
#include "config.h"

#include <string.h>

#include "base/json.h"
#include "doctor/doctor.h"

enum { NVML_DRIVER_NOT_LOADED = 9, NVML_GPU_LOST = 15, NVML_MISMATCH = 18 };

static void found_hang(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-NVML-HANG", NFD_VERDICT_CRITICAL,
			 "NVML does not answer: the driver or a GPU's firmware hangs");
	nfd_prove(doctor, found, doctor->facts.libraries.library[0].path, "%s",
		  doctor->facts.nvml.why);
	nfd_advise_drain(doctor, found);
	nfd_advise(doctor, found, "nvidia-smi --gpu-reset    # or: reboot");
}

static struct nfd_diagnosis *found_init(struct nfd_doctor *doctor, const char *what,
					const char *words)
{
	struct nfd_diagnosis *found =
		nfd_find(doctor, "GPU-NVML-INIT", NFD_VERDICT_CRITICAL,
			 "NVML does not start: %s%s%s", what, *words ? ": " : "", words);

	nfd_prove(doctor, found, doctor->facts.libraries.library[0].path, "%s",
		  *words ? words : what);
	return found;
}

/* A code with which a start fails; the mismatch has a row of its own, which explains this one. */
static void found_code(struct nfd_doctor *doctor, const cJSON *init, int code)
{
	static const struct {
		int code;
		const char *what;
	} known[] = {
		{ NVML_DRIVER_NOT_LOADED, "it finds no loaded driver (code 9)" },
		{ NVML_GPU_LOST, "a GPU is lost (code 15)" },
		{ NVML_MISMATCH, "library and kernel module have different versions (code 18)" },
	};
	const char *what = "it fails";
	struct nfd_diagnosis *found;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(known); i++)
		if (known[i].code == code)
			what = known[i].what;
	found = found_init(doctor, what, nfd_json_text(init, "text"));
	nfd_prove(doctor, found, "nvmlInit_v2", "%d", code);
	nfd_advise_drain(doctor, found);
	nfd_advise_reload(doctor, found);
}

/* NVML sees fewer GPUs than the bus has for the driver. */
static void compare_count(struct nfd_doctor *doctor)
{
	size_t seen = 0, bound = 0;
	struct nfd_diagnosis *found;
	const cJSON *device, *lost = NULL;

	cJSON_ArrayForEach(device, nfd_json_get(doctor->facts.nvml.report, "devices")) {
		lost = nfd_json_get(device, "error") ? nfd_json_get(device, "error") : lost;
		seen += !nfd_json_get(device, "error");
	}
	for (size_t i = 0; i < doctor->facts.gpu_count; i++)
		bound += strcmp(doctor->facts.gpu[i].driver, "nvidia") == 0 &&
			 !doctor->facts.gpu[i].is_excluded && !doctor->facts.gpu[i].is_virtual;
	if (seen >= bound)
		return;
	found = nfd_find(doctor, "GPU-NVML-INIT", NFD_VERDICT_WARNING,
			 "NVML sees %zu of the %zu GPUs that the driver holds", seen, bound);
	nfd_prove(doctor, found, "nvmlDeviceGetCount_v2", "%zu",
		  nfd_json_length(doctor->facts.nvml.report, "devices"));
	if (lost)
		nfd_prove(doctor, found, "nvmlDeviceGetHandleByIndex_v2", "%s",
			  nfd_json_text(lost, "text"));
	nfd_advise(doctor, found, "dmesg | grep -i nvrm    # says which GPU did not start");
}

static void judge_report(struct nfd_doctor *doctor)
{
	const cJSON *init = nfd_json_get(doctor->facts.nvml.report, "init");
	const char *load_error = nfd_json_text(doctor->facts.nvml.report, "loadError");
	const cJSON *code = nfd_json_get(init, "code");

	if (*load_error)
		found_init(doctor, "the library cannot be loaded", load_error);
	else if (!cJSON_IsNumber(code))
		found_init(doctor, "its report makes no sense", "");
	else if (code->valueint != 0)
		found_code(doctor, init, code->valueint);
	else
		compare_count(doctor);
}

void nfd_check_nvml(struct nfd_doctor *doctor)
{
	switch (doctor->facts.nvml.end) {
	case NFD_NVML_DONE:
		judge_report(doctor);
		return;
	case NFD_NVML_HUNG:
		found_hang(doctor);
		nfd_skip(doctor, "GPU-NVML-INIT", "%s", doctor->facts.nvml.why);
		return;
	case NFD_NVML_CRASHED:
		found_init(doctor, "the library crashes", doctor->facts.nvml.why);
		return;
	case NFD_NVML_RUBBISH:
		found_init(doctor, "its process fails", doctor->facts.nvml.why);
		return;
	default:
		nfd_skip(doctor, "GPU-NVML-HANG", "%s", doctor->facts.nvml.why);
		nfd_skip(doctor, "GPU-NVML-INIT", "%s", doctor->facts.nvml.why);
	}
}
