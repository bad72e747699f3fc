// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The names of NVML's functions (spec gpu-stack.md 1.7) and where each is kept.
 */
#include "config.h"

#include "nvml/nvml_calls.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"

#define AT(member) offsetof(struct nvml_calls, member)

struct name {
	const char *text;
	size_t offset;
};

static const struct name names[] = {
	{ "nvmlInit_v2", AT(init) },
	{ "nvmlShutdown", AT(shutdown) },
	{ "nvmlErrorString", AT(error_string) },
	{ "nvmlSystemGetDriverVersion", AT(driver_version) },
	{ "nvmlSystemGetNVMLVersion", AT(nvml_version) },
	{ "nvmlSystemGetCudaDriverVersion", AT(cuda_version) },
	{ "nvmlDeviceGetCount_v2", AT(device_count) },
	{ "nvmlDeviceGetHandleByIndex_v2", AT(device_by_index) },
	{ "nvmlDeviceGetName", AT(device_name) },
	{ "nvmlDeviceGetUUID", AT(device_uuid) },
	{ "nvmlDeviceGetPciInfo_v3", AT(device_pci) },
	{ "nvmlDeviceGetMemoryInfo", AT(device_memory) },
	{ "nvmlDeviceGetCudaComputeCapability", AT(device_compute) },
	{ "nvmlDeviceGetMigMode", AT(device_mig_mode) },
	{ "nvmlDeviceGetVirtualizationMode", AT(device_virtualization) },
	{ "nvmlDeviceGetGpuFabricInfo", AT(device_fabric) },
};

static const struct name mig_names[] = {
	{ "nvmlDeviceGetMaxMigDeviceCount", AT(mig.max_count) },
	{ "nvmlDeviceGetMigDeviceHandleByIndex", AT(mig.by_index) },
	{ "nvmlDeviceGetAttributes_v2", AT(mig.attributes) },
	{ "nvmlDeviceGetGpuInstanceId", AT(mig.gpu_instance_id) },
	{ "nvmlDeviceGetComputeInstanceId", AT(mig.compute_instance_id) },
	{ "nvmlDeviceGetGpuInstanceById", AT(mig.gpu_instance) },
	{ "nvmlGpuInstanceGetComputeInstanceById", AT(mig.compute_instance) },
	{ "nvmlGpuInstanceGetInfo", AT(mig.gpu_instance_info) },
	{ "nvmlComputeInstanceGetInfo_v2", AT(mig.compute_instance_info) },
	{ "nvmlDeviceGetGpuInstanceProfileInfo", AT(mig.gpu_instance_profile) },
	{ "nvmlGpuInstanceGetComputeInstanceProfileInfo", AT(mig.compute_instance_profile) },
};

/* dlsym gives a data pointer; POSIX has it hold a function's address, ISO C has no cast for that. */
static bool look_up(void *library, const struct name *name, struct nvml_calls *calls)
{
	void *address = dlsym(library, name->text);

	memcpy((char *)calls + name->offset, &address, sizeof(address));
	return address != NULL;
}

void nfd_nvml_calls_find(void *library, struct nvml_calls *ret)
{
	*ret = (struct nvml_calls){ .has_mig = true };
	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		look_up(library, &names[i], ret);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(mig_names); i++)
		if (!look_up(library, &mig_names[i], ret))
			ret->has_mig = false;
}
