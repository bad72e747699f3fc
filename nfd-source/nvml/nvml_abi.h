/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of NVIDIA's management library that are used, in our own words (spec gpu-stack.md 1.7).
 * Nothing is linked: each is looked up by name in the library that was found.
 */
#pragma once

#include <stdint.h>

/* Return codes that we tell apart; every other one is told by its number. */
enum { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3 };

#define NVML_VERSION_SIZE 80
#define NVML_NAME_SIZE 96

/* Opaque: a pointer by value. */
typedef struct nvml_device *nvml_device_t;

struct nvml_memory {
	uint64_t total, free, used; /* bytes */
};

/* nvmlPciInfo_t, version 3. */
struct nvml_pci {
	char bus_id_legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32]; /* "00000000:3B:00.0" */
};

_Static_assert(sizeof(struct nvml_pci) == 68, "nvmlPciInfo_t has 68 bytes");

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
	int (*device_mig_mode)(nvml_device_t device, unsigned int *current, unsigned int *pending);
};
