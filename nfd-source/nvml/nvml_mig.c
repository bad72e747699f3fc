// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a GPU's handle to its MIG devices. NVML does not tell a profile's name: it is put together from
 * the profiles of the GPU instance and the compute instance, which are found by their ids.
 */
#include "config.h"

#include "nvml/nvml_mig.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"

/* Seven is what a GPU has today; more than this makes no sense. */
#define MIG_MAX 16
/* 2^30 of 2^20 bytes: far beyond any GPU, and what is multiplied below stays in 64 bits. */
#define MEMORY_MB_MAX (UINT64_C(1) << 30)

/* By NVML's index of a GPU instance's profile (spec gpu-stack.md 1.7). */
static const struct {
	unsigned int slices;
	const char *suffix;
} gpu_profiles[] = {
	{ 1, "" },        { 2, "" },        { 3, "" },     { 4, "" },    { 7, "" },
	{ 8, "" },        { 6, "" },        { 1, "+me" },  { 2, "+me" }, { 1, "" },
	{ 1, "+gfx" },    { 2, "+gfx" },    { 4, "+gfx" }, { 1, "-me" }, { 2, "-me" },
	{ 1, "+me.all" }, { 2, "+me.all" },
};

/* Slices by NVML's index of a compute instance's profile. */
static const unsigned int compute_profiles[] = { 1, 2, 3, 4, 7, 8, 6, 1 };

/*
 * The memory in a profile's name, in GB: the eighths of the GPU that it takes, rounded up, of the GPU's
 * whole GiB, rounded up. So 4864 of 40960 MB are "5gb".
 */
static uint64_t profile_gb(uint64_t memory_mb, uint64_t total_bytes)
{
	uint64_t eighth_bytes = memory_mb << 23;
	uint64_t eighths = eighth_bytes / total_bytes + (eighth_bytes % total_bytes != 0);
	uint64_t total_gb = (total_bytes >> 30) + ((total_bytes & ((1 << 30) - 1)) != 0);

	return (eighths * total_gb + 4) / 8;
}

int nfd_nvml_mig_profile(unsigned int gpu_profile, unsigned int compute_profile, uint64_t memory_mb,
			 uint64_t total_bytes, char ret[NFD_NVML_PROFILE_SIZE])
{
	unsigned int compute, gpu;
	char part[16] = "";

	if (gpu_profile >= NFD_ARRAY_SIZE(gpu_profiles) ||
	    compute_profile >= NFD_ARRAY_SIZE(compute_profiles) || memory_mb > MEMORY_MB_MAX ||
	    total_bytes == 0)
		return -EINVAL;
	gpu = gpu_profiles[gpu_profile].slices;
	compute = compute_profiles[compute_profile];
	if (compute != gpu)
		snprintf(part, sizeof(part), "%uc.", compute);
	snprintf(ret, NFD_NVML_PROFILE_SIZE, "%s%ug.%" PRIu64 "gb%s", part, gpu,
		 profile_gb(memory_mb, total_bytes), gpu_profiles[gpu_profile].suffix);
	return 0;
}

/* Whether the answer about one of the profiles says only that this GPU does not have it. */
static bool is_no_profile(int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_INVALID_ARGUMENT;
}

/* Index of the GPU instance's profile with an id; -1 when there is none, or a call failed. */
static int find_gpu_profile(const struct nfd_nvml_device *device, uint32_t id)
{
	for (unsigned int i = 0; i < NFD_ARRAY_SIZE(gpu_profiles); i++) {
		struct nvml_gpu_instance_profile profile = { 0 };
		int code = device->calls->mig.gpu_instance_profile(device->handle, i, &profile);

		if (is_no_profile(code))
			continue;
		if (!nfd_nvml_device_check(device, "nvmlDeviceGetGpuInstanceProfileInfo", code))
			return -1;
		if (profile.id == id)
			return (int)i;
	}
	return -1;
}

/* The same for a compute instance's profile, which depends on the GPU instance. */
static int find_compute_profile(const struct nfd_nvml_device *device, nvml_gpu_instance_t instance,
				uint32_t id)
{
	for (unsigned int i = 0; i < NFD_ARRAY_SIZE(compute_profiles); i++) {
		struct nvml_compute_instance_profile profile = { 0 };
		int code = device->calls->mig.compute_instance_profile(instance, i, 0, &profile);

		if (is_no_profile(code))
			continue;
		if (!nfd_nvml_device_check(device, "nvmlGpuInstanceGetComputeInstanceProfileInfo",
					   code))
			return -1;
		if (profile.id == id)
			return (int)i;
	}
	return -1;
}

struct instances {
	nvml_gpu_instance_t gpu;
	struct nvml_gpu_instance_info gpu_info;
	struct nvml_compute_instance_info compute_info;
};

/* The GPU instance and the compute instance that a MIG device is; false when a call failed. */
static bool find_instances(const struct nfd_nvml_device *device, nvml_device_t mig,
			   struct instances *ret)
{
	const struct nvml_mig_calls *calls = &device->calls->mig;
	nvml_compute_instance_t compute = NULL;
	unsigned int gpu_id = 0, compute_id = 0;

	*ret = (struct instances){ 0 };
	return nfd_nvml_device_check(device, "nvmlDeviceGetGpuInstanceId",
				     calls->gpu_instance_id(mig, &gpu_id)) &&
	       nfd_nvml_device_check(device, "nvmlDeviceGetComputeInstanceId",
				     calls->compute_instance_id(mig, &compute_id)) &&
	       nfd_nvml_device_check(device, "nvmlDeviceGetGpuInstanceById",
				     calls->gpu_instance(device->handle, gpu_id, &ret->gpu)) &&
	       nfd_nvml_device_check(device, "nvmlGpuInstanceGetComputeInstanceById",
				     calls->compute_instance(ret->gpu, compute_id, &compute)) &&
	       nfd_nvml_device_check(device, "nvmlGpuInstanceGetInfo",
				     calls->gpu_instance_info(ret->gpu, &ret->gpu_info)) &&
	       nfd_nvml_device_check(device, "nvmlComputeInstanceGetInfo_v2",
				     calls->compute_instance_info(compute, &ret->compute_info));
}

static void add_profile(const struct nfd_nvml_device *device, cJSON *entry, nvml_device_t mig,
			uint64_t memory_mb)
{
	char text[NFD_NVML_PROFILE_SIZE];
	struct instances instances;
	int gpu, compute;

	if (!find_instances(device, mig, &instances))
		return;
	gpu = find_gpu_profile(device, instances.gpu_info.profile_id);
	compute = find_compute_profile(device, instances.gpu, instances.compute_info.profile_id);
	if (gpu >= 0 && compute >= 0 &&
	    nfd_nvml_mig_profile((unsigned int)gpu, (unsigned int)compute, memory_mb,
				 device->memory_bytes, text) == 0)
		cJSON_AddStringToObject(entry, "profile", text);
}

static void add_attributes(cJSON *entry, const struct nvml_attributes *attributes)
{
	const struct {
		const char *name;
		uint32_t value;
	} rows[] = {
		{ "multiprocessors", attributes->multiprocessors },
		{ "gpuInstanceSlices", attributes->gpu_instance_slices },
		{ "computeInstanceSlices", attributes->compute_instance_slices },
		{ "copyEngines", attributes->copy_engines },
		{ "decoders", attributes->decoders },
		{ "encoders", attributes->encoders },
		{ "jpegEngines", attributes->jpeg_engines },
		{ "ofaEngines", attributes->ofa_engines },
	};

	cJSON_AddNumberToObject(entry, "memoryMb", (double)attributes->memory_mb);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++)
		cJSON_AddNumberToObject(entry, rows[i].name, rows[i].value);
}

/* One MIG device; an entry also when little is known of it, for it is there. */
static void add_mig_device(const struct nfd_nvml_device *device, cJSON *list, nvml_device_t mig)
{
	struct nvml_attributes attributes = { 0 };
	cJSON *entry = cJSON_CreateObject();

	if (nfd_nvml_device_check(device, "nvmlDeviceGetAttributes_v2",
				  device->calls->mig.attributes(mig, &attributes))) {
		add_profile(device, entry, mig, attributes.memory_mb);
		add_attributes(entry, &attributes);
	}
	if (!cJSON_AddItemToArray(list, entry))
		cJSON_Delete(entry);
}

void nfd_nvml_mig_add(const struct nfd_nvml_device *device)
{
	unsigned int count = 0;
	cJSON *list;

	if (!device->calls->has_mig ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetMaxMigDeviceCount",
				   device->calls->mig.max_count(device->handle, &count)))
		return;
	list = cJSON_AddArrayToObject(device->entry, "mig");
	for (unsigned int i = 0; i < count && i < MIG_MAX; i++) {
		nvml_device_t mig = NULL;
		int code = device->calls->mig.by_index(device->handle, i, &mig);

		/* A place without a device. */
		if (code == NVML_NOT_FOUND || code == NVML_INVALID_ARGUMENT)
			continue;
		if (nfd_nvml_device_check(device, "nvmlDeviceGetMigDeviceHandleByIndex", code))
			add_mig_device(device, list, mig);
	}
}
