// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One GPU's facts from the library's calls. MIG devices are nvml_mig.c's.
 */
#include "config.h"

#include "nvml/nvml_device.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/macros.h"
#include "nvml/nvml_mig.h"

#define FAILURES_MAX 32
#define UUID_SIZE 37

static void fill_code(cJSON *object, const struct nvml_calls *calls, int code)
{
	const char *text = calls->error_string ? calls->error_string(code) : NULL;

	cJSON_AddNumberToObject(object, "code", code);
	nfd_json_add_text(object, "text", text ? text : "");
}

void nfd_nvml_add_code(cJSON *object, const char *name, const struct nvml_calls *calls, int code)
{
	fill_code(cJSON_AddObjectToObject(object, name), calls, code);
}

static bool is_noted(const cJSON *failures, const char *call, int code)
{
	const cJSON *failure;

	cJSON_ArrayForEach(failure, failures) {
		if (strcmp(nfd_json_text(failure, "call"), call) == 0 &&
		    cJSON_GetNumberValue(nfd_json_get(failure, "code")) == code)
			return true;
	}
	return false;
}

static void note_failure(const struct nfd_nvml_device *device, const char *call, int code)
{
	cJSON *failures = nfd_json_get(device->entry, "failures"), *failure;

	if (is_noted(failures, call, code) || cJSON_GetArraySize(failures) >= FAILURES_MAX)
		return;
	if (!failures)
		failures = cJSON_AddArrayToObject(device->entry, "failures");
	failure = cJSON_CreateObject();
	cJSON_AddStringToObject(failure, "call", call);
	fill_code(failure, device->calls, code);
	if (!cJSON_AddItemToArray(failures, failure))
		cJSON_Delete(failure);
}

bool nfd_nvml_device_check(const struct nfd_nvml_device *device, const char *call, int code)
{
	if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED && code != NVML_FUNCTION_NOT_FOUND)
		note_failure(device, call, code);
	return code == NVML_SUCCESS;
}

static void add_text(const struct nfd_nvml_device *device, const char *name, const char *call,
		     int (*function)(nvml_device_t, char *, unsigned int))
{
	char text[NVML_NAME_SIZE + 1] = "";

	if (function &&
	    nfd_nvml_device_check(device, call, function(device->handle, text, NVML_NAME_SIZE)))
		nfd_json_add_text(device->entry, name, text);
}

static void add_names(struct nfd_nvml_device *device)
{
	add_text(device, "name", "nvmlDeviceGetName", device->calls->device_name);
	add_text(device, "uuid", "nvmlDeviceGetUUID", device->calls->device_uuid);
}

static void add_bus_id(struct nfd_nvml_device *device)
{
	struct nvml_pci pci = { 0 };

	if (!device->calls->device_pci ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetPciInfo_v3",
				   device->calls->device_pci(device->handle, &pci)))
		return;
	pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
	nfd_json_add_text(device->entry, "busId", pci.bus_id);
}

static void add_memory(struct nfd_nvml_device *device)
{
	struct nvml_memory memory = { 0 };

	if (!device->calls->device_memory ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetMemoryInfo",
				   device->calls->device_memory(device->handle, &memory)))
		return;
	device->memory_bytes = memory.total;
	cJSON_AddNumberToObject(device->entry, "memoryBytes", (double)memory.total);
}

static void add_compute(struct nfd_nvml_device *device)
{
	int major = 0, minor = 0;

	if (!device->calls->device_compute ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetCudaComputeCapability",
				   device->calls->device_compute(device->handle, &major, &minor)))
		return;
	cJSON_AddNumberToObject(device->entry, "computeMajor", major);
	cJSON_AddNumberToObject(device->entry, "computeMinor", minor);
}

static void add_virtualization(struct nfd_nvml_device *device)
{
	unsigned int mode = 0;

	if (device->calls->device_virtualization &&
	    nfd_nvml_device_check(device, "nvmlDeviceGetVirtualizationMode",
				  device->calls->device_virtualization(device->handle, &mode)))
		cJSON_AddNumberToObject(device->entry, "virtualization", mode);
}

/* 8-4-4-4-12 digits in lower case, as Go's uuid package prints them. */
static void uuid_text(const unsigned char bytes[16], char ret[UUID_SIZE])
{
	for (size_t i = 0, at = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			ret[at++] = '-';
		at += (size_t)snprintf(ret + at, UUID_SIZE - at, "%02x", bytes[i]);
	}
}

static void add_fabric(struct nfd_nvml_device *device)
{
	struct nvml_fabric fabric = { 0 };
	char uuid[UUID_SIZE];
	cJSON *entry;

	if (!device->calls->device_fabric ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetGpuFabricInfo",
				   device->calls->device_fabric(device->handle, &fabric)))
		return;
	uuid_text(fabric.cluster_uuid, uuid);
	entry = cJSON_AddObjectToObject(device->entry, "fabric");
	cJSON_AddNumberToObject(entry, "state", fabric.state);
	cJSON_AddNumberToObject(entry, "status", fabric.status);
	cJSON_AddStringToObject(entry, "clusterUuid", uuid);
	cJSON_AddNumberToObject(entry, "cliqueId", fabric.clique_id);
}

static void add_mig(struct nfd_nvml_device *device)
{
	unsigned int current = 0, pending = 0;

	if (!device->calls->device_mig_mode ||
	    !nfd_nvml_device_check(device, "nvmlDeviceGetMigMode",
				   device->calls->device_mig_mode(device->handle, &current,
								  &pending)))
		return;
	cJSON_AddNumberToObject(device->entry, "migMode", current);
	cJSON_AddNumberToObject(device->entry, "migPending", pending);
	if (current == 1)
		nfd_nvml_mig_add(device);
}

/* In the order of the report; the memory before the MIG devices, whose profiles are fractions of it. */
static void (*const facts[])(struct nfd_nvml_device *device) = {
	add_names, add_bus_id, add_memory, add_compute, add_virtualization, add_fabric, add_mig,
};

void nfd_nvml_device_add(struct nfd_nvml_device *device)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(facts); i++)
		facts[i](device);
}
