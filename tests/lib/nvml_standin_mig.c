// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MIG in the stand-in. Each MIG device has a GPU instance and a compute instance of its own. A GPU has
 * the profiles of its MIG devices and no other, so that clients must look for them by their ids.
 */
#include <stdint.h>

#include "nvml_standin.h"

#define GPU_PROFILES 17
#define COMPUTE_PROFILES 8
#define COMPUTE_ID 0 /* within its GPU instance */

struct attributes {
	uint32_t multiprocessors, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
	uint64_t memory_mb;
};

struct instance_info {
	struct device *device;
	uint32_t id, profile_id, start, size;
};

struct compute_info {
	struct device *device;
	struct mig *gpu_instance;
	uint32_t id, profile_id, start, size;
};

struct gpu_profile {
	uint32_t id, is_p2p, slices, instances, multiprocessors, copy, decoder, encoder, jpeg, ofa;
	uint64_t memory_mb;
};

struct compute_profile {
	uint32_t id, slices, instances, multiprocessors, copy, decoder, encoder, jpeg, ofa;
};

_Static_assert(sizeof(struct attributes) == 40 && sizeof(struct instance_info) == 24 &&
		       sizeof(struct compute_info) == 32 && sizeof(struct gpu_profile) == 48 &&
		       sizeof(struct compute_profile) == 36,
	       "layouts of NVML");

static const uint32_t gpu_slices[GPU_PROFILES] = {
	1, 2, 3, 4, 7, 8, 6, 1, 2, 1, 1, 2, 4, 1, 2, 1, 2
};
static const uint32_t compute_slices[COMPUTE_PROFILES] = { 1, 2, 3, 4, 7, 8, 6, 1 };

/* Ids are no indexes. */
static uint32_t gpu_profile_id(uint32_t profile)
{
	return 40 - profile;
}

static uint32_t compute_profile_id(uint32_t profile)
{
	return 10 + profile;
}

/* What to answer about a profile that a GPU does not have: NVML has used both codes. */
static int absent(unsigned int profile)
{
	return profile % 2 ? NOT_SUPPORTED : INVALID_ARGUMENT;
}

static struct device *parent_of(const void *handle)
{
	for (unsigned int i = 0; i < state.count; i++)
		for (unsigned int j = 0; j < state.device[i].mig_count; j++)
			if (handle == &state.device[i].mig[j])
				return &state.device[i];
	return NULL;
}

/* As check(), of a MIG device or an instance. */
static int check_mig(const struct mig *mig, const char *call)
{
	if (state.users == 0)
		return UNINITIALIZED;
	return parent_of(mig) ? check(parent_of(mig), call) : INVALID_ARGUMENT;
}

static unsigned int index_of(const struct mig *mig)
{
	return (unsigned int)(mig - mig->parent->mig);
}

EXPORT int nvmlDeviceGetMigMode(const struct device *device, unsigned int *current,
				unsigned int *pending)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	if (!device->has_mig)
		return NOT_SUPPORTED;
	*current = device->mig_current;
	*pending = device->mig_pending;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(const struct device *device, unsigned int *ret)
{
	return check_and_give(device, __func__, device->has_mig ? MIG_MAX : 0, ret);
}

EXPORT int nvmlDeviceIsMigDeviceHandle(const void *device, unsigned int *ret)
{
	return give_number(parent_of(device) != NULL, ret);
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct device *device, unsigned int index,
					       struct mig **ret)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	if (index >= device->mig_count || device->mig[index].is_empty)
		return index % 2 ? NOT_FOUND : INVALID_ARGUMENT;
	*ret = &device->mig[index];
	return SUCCESS;
}

EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct mig *mig, struct device **ret)
{
	int r = check_mig(mig, __func__);

	if (r == SUCCESS)
		*ret = mig->parent;
	return r;
}

EXPORT int nvmlDeviceGetAttributes_v2(const struct mig *mig, struct attributes *ret)
{
	int r = check_mig(mig, __func__);

	if (r == SUCCESS)
		*ret = (struct attributes){ mig->multiprocessors,
					    mig->copy,
					    mig->decoder,
					    mig->encoder,
					    mig->jpeg,
					    mig->ofa,
					    gpu_slices[mig->gpu_profile % GPU_PROFILES],
					    compute_slices[mig->compute_profile % COMPUTE_PROFILES],
					    mig->memory_mb };
	return r;
}

EXPORT int nvmlDeviceGetGpuInstanceId(const struct mig *mig, unsigned int *ret)
{
	int r = check_mig(mig, __func__);

	return r == SUCCESS ? give_number(index_of(mig) + 1, ret) : r;
}

EXPORT int nvmlDeviceGetComputeInstanceId(const struct mig *mig, unsigned int *ret)
{
	int r = check_mig(mig, __func__);

	return r == SUCCESS ? give_number(COMPUTE_ID, ret) : r;
}

EXPORT int nvmlDeviceGetGpuInstanceById(struct device *device, unsigned int id, struct mig **ret)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	if (id == 0 || id > device->mig_count)
		return NOT_FOUND;
	*ret = &device->mig[id - 1];
	return SUCCESS;
}

EXPORT int nvmlGpuInstanceGetComputeInstanceById(struct mig *instance, unsigned int id,
						 struct mig **ret)
{
	int r = check_mig(instance, __func__);

	if (r != SUCCESS)
		return r;
	if (id != COMPUTE_ID)
		return NOT_FOUND;
	*ret = instance;
	return SUCCESS;
}

EXPORT int nvmlGpuInstanceGetInfo(const struct mig *instance, struct instance_info *ret)
{
	int r = check_mig(instance, __func__);

	if (r == SUCCESS)
		*ret = (struct instance_info){ .device = instance->parent,
					       .id = index_of(instance) + 1,
					       .profile_id = gpu_profile_id(instance->gpu_profile),
					       .start = index_of(instance),
					       .size = 1 };
	return r;
}

EXPORT int nvmlComputeInstanceGetInfo_v2(struct mig *instance, struct compute_info *ret)
{
	int r = check_mig(instance, __func__);

	if (r == SUCCESS)
		*ret = (struct compute_info){ .device = instance->parent,
					      .gpu_instance = instance,
					      .id = COMPUTE_ID,
					      .profile_id =
						      compute_profile_id(instance->compute_profile),
					      .size = 1 };
	return r;
}

EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(const struct device *device, unsigned int profile,
					       struct gpu_profile *ret)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	for (unsigned int i = 0; i < device->mig_count && profile < GPU_PROFILES; i++)
		if (!device->mig[i].is_empty && device->mig[i].gpu_profile == profile) {
			*ret = (struct gpu_profile){ .id = gpu_profile_id(profile),
						     .slices = gpu_slices[profile],
						     .memory_mb = device->mig[i].memory_mb };
			return SUCCESS;
		}
	return absent(profile);
}

EXPORT int nvmlGpuInstanceGetComputeInstanceProfileInfo(const struct mig *instance,
							unsigned int profile, unsigned int engine,
							struct compute_profile *ret)
{
	int r = check_mig(instance, __func__);

	if (r != SUCCESS)
		return r;
	if (engine != 0 || profile >= COMPUTE_PROFILES || profile != instance->compute_profile)
		return absent(profile);
	*ret = (struct compute_profile){ .id = compute_profile_id(profile),
					 .slices = compute_slices[profile] };
	return SUCCESS;
}
