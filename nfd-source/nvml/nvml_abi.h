/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of NVIDIA's management library that are used, in our own words (spec gpu-stack.md 1.7).
 * Nothing is linked: each is looked up by name in the library that was found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Return codes that we tell apart; every other one is told by its number. */
enum {
	NVML_SUCCESS = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NOT_FOUND = 6,
	NVML_FUNCTION_NOT_FOUND = 13,
};

#define NVML_VERSION_SIZE 80
#define NVML_NAME_SIZE 96

/* Opaque: pointers by value. A MIG device's handle has the type of a device's. */
typedef struct nvml_device *nvml_device_t;
typedef struct nvml_gpu_instance *nvml_gpu_instance_t;
typedef struct nvml_compute_instance *nvml_compute_instance_t;

struct nvml_memory {
	uint64_t total, free, used; /* bytes */
};

/* nvmlPciInfo_t, version 3. */
struct nvml_pci {
	char bus_id_legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32]; /* "00000000:3B:00.0" */
};

/* nvmlGpuFabricInfo_t. */
struct nvml_fabric {
	unsigned char cluster_uuid[16];
	int status; /* a return code; it counts when the state is 3, completed */
	uint32_t clique_id;
	unsigned char state;
};

/* nvmlDeviceAttributes_t: what a MIG device has. */
struct nvml_attributes {
	uint32_t multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
	uint32_t gpu_instance_slices, compute_instance_slices;
	uint64_t memory_mb; /* of 2^20 bytes */
};

/* nvmlGpuInstanceInfo_t. */
struct nvml_gpu_instance_info {
	nvml_device_t device;
	uint32_t id, profile_id, placement_start, placement_size;
};

/* nvmlComputeInstanceInfo_t, version 2. */
struct nvml_compute_instance_info {
	nvml_device_t device;
	nvml_gpu_instance_t gpu_instance;
	uint32_t id, profile_id, placement_start, placement_size;
};

/* nvmlGpuInstanceProfileInfo_t; beyond the id nothing of it is used. */
struct nvml_gpu_instance_profile {
	uint32_t id, others[9];
	uint64_t memory_mb;
};

/* nvmlComputeInstanceProfileInfo_t, likewise. */
struct nvml_compute_instance_profile {
	uint32_t id, others[8];
};

_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t has 68 bytes");
_Static_assert(sizeof(struct nvml_fabric) == 28, "nvmlGpuFabricInfo_t has 28 bytes");
_Static_assert(sizeof(struct nvml_attributes) == 40, "nvmlDeviceAttributes_t has 40 bytes");
_Static_assert(sizeof(struct nvml_gpu_instance_profile) == 48,
	       "nvmlGpuInstanceProfileInfo_t has 48 bytes");
_Static_assert(sizeof(struct nvml_compute_instance_profile) == 36,
	       "nvmlComputeInstanceProfileInfo_t has 36 bytes");

/* The calls about MIG; of use only together. */
struct nvml_mig_calls {
	int (*max_count)(nvml_device_t device, unsigned int *count);
	int (*by_index)(nvml_device_t device, unsigned int index, nvml_device_t *mig);
	int (*attributes)(nvml_device_t mig, struct nvml_attributes *attributes);
	int (*gpu_instance_id)(nvml_device_t mig, unsigned int *id);
	int (*compute_instance_id)(nvml_device_t mig, unsigned int *id);
	int (*gpu_instance)(nvml_device_t device, unsigned int id, nvml_gpu_instance_t *instance);
	int (*compute_instance)(nvml_gpu_instance_t gpu_instance, unsigned int id,
				nvml_compute_instance_t *instance);
	int (*gpu_instance_info)(nvml_gpu_instance_t instance, struct nvml_gpu_instance_info *info);
	int (*compute_instance_info)(nvml_compute_instance_t instance,
				     struct nvml_compute_instance_info *info);
	int (*gpu_instance_profile)(nvml_device_t device, unsigned int profile,
				    struct nvml_gpu_instance_profile *info);
	int (*compute_instance_profile)(nvml_gpu_instance_t instance, unsigned int profile,
					unsigned int engine_profile,
					struct nvml_compute_instance_profile *info);
};

/* Functions by name; each returns a code. NULL where the library lacks it. */
struct nvml_calls {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int code);
	int (*driver_version)(char *text, unsigned int size);
	int (*nvml_version)(char *text, unsigned int size);
	int (*cuda_version)(int *version);
	int (*device_count)(unsigned int *count);
	int (*device_by_index)(unsigned int index, nvml_device_t *device);
	int (*device_name)(nvml_device_t device, char *text, unsigned int size);
	int (*device_uuid)(nvml_device_t device, char *text, unsigned int size);
	int (*device_pci)(nvml_device_t device, struct nvml_pci *pci);
	int (*device_memory)(nvml_device_t device, struct nvml_memory *memory);
	int (*device_compute)(nvml_device_t device, int *major, int *minor);
	int (*device_mig_mode)(nvml_device_t device, unsigned int *current, unsigned int *pending);
	int (*device_virtualization)(nvml_device_t device, unsigned int *mode);
	int (*device_fabric)(nvml_device_t device, struct nvml_fabric *fabric);
	struct nvml_mig_calls mig;
	bool has_mig; /* none of @mig is missing */
};
