// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the JSON of nfd-source-nvml to checked values; what they mean for labels is left to the others.
 */
#include "config.h"

#include "scan/nvidia_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* Doubles hold whole numbers up to here. */
#define NUMBER_MAX 9007199254740992.0

#define ANY_OF_A_GPU                                                                       \
	(NFD_NVIDIA_MODEL | NFD_NVIDIA_MEMORY | NFD_NVIDIA_COMPUTE | NFD_NVIDIA_MIG_MODE | \
	 NFD_NVIDIA_MIG | NFD_NVIDIA_PCI | NFD_NVIDIA_FABRIC)

/* Beginnings of names of calls, so that a newer version of one is known too; the first row counts. */
static const struct {
	const char *call;
	unsigned int facts;
} calls[] = {
	{ "nvmlSystemGetDriverVersion", NFD_NVIDIA_DRIVER },
	{ "nvmlSystemGetCudaDriverVersion", NFD_NVIDIA_CUDA },
	{ "nvmlDeviceGetHandleByIndex", ANY_OF_A_GPU },
	{ "nvmlDeviceGetName", ANY_OF_A_GPU },
	{ "nvmlDeviceGetMemoryInfo", NFD_NVIDIA_MEMORY },
	{ "nvmlDeviceGetCudaComputeCapability", NFD_NVIDIA_COMPUTE },
	{ "nvmlDeviceGetPciInfo", NFD_NVIDIA_PCI },
	{ "nvmlDeviceGetMigMode", NFD_NVIDIA_MIG_MODE | NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetGpuFabricInfo", NFD_NVIDIA_FABRIC },
	{ "nvmlDeviceGetMaxMigDeviceCount", NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetMigDeviceHandle", NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetDeviceHandleFromMig", NFD_NVIDIA_MIG },
	{ "nvmlDeviceIsMigDeviceHandle", NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetAttributes", NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetGpuInstance", NFD_NVIDIA_MIG },
	{ "nvmlDeviceGetComputeInstance", NFD_NVIDIA_MIG },
	{ "nvmlGpuInstance", NFD_NVIDIA_MIG },
	{ "nvmlComputeInstance", NFD_NVIDIA_MIG },
};

/* Models that are there to drive a screen beside the GPUs for work. */
static const char *const displays[] = { "DGX Display", "NVIDIA DGX Display" };

bool nfd_nvidia_is_display(const char *model)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(displays); i++)
		if (strcmp(model, displays[i]) == 0)
			return true;
	return false;
}

bool nfd_nvidia_same_address(const struct nfd_pci_function *a, const struct nfd_pci_function *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device_number == b->device_number &&
	       a->function_number == b->function_number;
}

/* A whole number of 0 to @max in an object. */
static bool take_number(const cJSON *object, const char *key, double max, uint64_t *ret)
{
	const cJSON *item = nfd_json_get(object, key);
	double value = cJSON_IsNumber(item) ? item->valuedouble : -1;

	if (!(value >= 0 && value <= max) || (double)(uint64_t)value != value)
		return false;
	*ret = (uint64_t)value;
	return true;
}

static int take_int(const cJSON *object, const char *key, unsigned int max, int missing)
{
	uint64_t value;

	return take_number(object, key, max, &value) ? (int)value : missing;
}

static unsigned int facts_of(const char *call)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(calls); i++)
		if (strncmp(call, calls[i].call, strlen(calls[i].call)) == 0)
			return calls[i].facts;
	return 0;
}

static void explain(struct nfd_nvidia_report *ret, const char *where, const char *call,
		    const cJSON *failure)
{
	if (!ret->why[0])
		snprintf(ret->why, sizeof(ret->why), "NVML: %.80s%s%.40s failed: %d %.200s", call,
			 *where ? " of " : "", where, take_int(failure, "code", 100000, -1),
			 nfd_json_text(failure, "text"));
}

/* Failed calls in an object that has them. @where: bus id, or "". */
static unsigned int take_failures(struct nfd_nvidia_report *ret, const cJSON *object,
				  const char *where)
{
	const cJSON *failures = nfd_json_get(object, "failures");
	unsigned int facts = 0, some;
	const cJSON *failure;

	cJSON_ArrayForEach(failure, failures) {
		some = facts_of(nfd_json_text(failure, "call"));
		if (some)
			explain(ret, where, nfd_json_text(failure, "call"), failure);
		facts |= some;
	}
	return facts;
}

/* "00000000:3B:00.0". */
static bool take_address(const char *text, struct nfd_pci_function *ret)
{
	*ret = (struct nfd_pci_function){ 0 };
	if (nfd_pci_parse_address(text, ret) == 0)
		return true;
	*ret = (struct nfd_pci_function){ .domain = UINT32_MAX,
					  .bus = UINT8_MAX,
					  .device_number = UINT8_MAX,
					  .function_number = UINT8_MAX };
	return false;
}

static bool take_uuid(const char *text, char ret[37])
{
	bool has_digit = false;

	if (strlen(text) != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
		ret[i] = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
		has_digit |= !is_dash && text[i] != '0';
	}
	ret[36] = '\0';
	return has_digit;
}

/* Attached: state 3 (completed), status 0, and a cluster. */
static void take_fabric(struct nfd_nvidia_gpu *gpu, const cJSON *fabric)
{
	uint64_t clique;

	if (take_int(fabric, "state", 255, -1) != 3 ||
	    take_int(fabric, "status", 100000, -1) != 0 ||
	    !take_number(fabric, "cliqueId", UINT32_MAX, &clique) ||
	    !take_uuid(nfd_json_text(fabric, "clusterUuid"), gpu->cluster)) {
		gpu->cluster[0] = '\0';
		return;
	}
	gpu->clique = (uint32_t)clique;
	gpu->is_attached = true;
}

static void take_gpu(struct nfd_nvidia_report *ret, struct nfd_nvidia_gpu *gpu, const cJSON *device)
{
	const char *where = nfd_json_text(device, "busId");
	const cJSON *error = nfd_json_get(device, "error");
	const cJSON *mig = nfd_json_get(device, "mig");

	*gpu = (struct nfd_nvidia_gpu){
		.major = take_int(device, "computeMajor", 999, 0),
		.minor = take_int(device, "computeMinor", 999, 0),
		.mig_mode = take_int(device, "migMode", 1, -1),
		.virtualization = take_int(device, "virtualization", 255, -1),
		.mig = cJSON_IsArray(mig) ? mig : NULL,
	};
	take_number(device, "memoryBytes", NUMBER_MAX, &gpu->memory_bytes);
	snprintf(gpu->name, sizeof(gpu->name), "%s", nfd_json_text(device, "name"));
	gpu->failed = take_failures(ret, device, where);
	if (!take_address(where, &gpu->address) && *where)
		gpu->failed |= NFD_NVIDIA_PCI;
	take_fabric(gpu, nfd_json_get(device, "fabric"));
	if (error)
		explain(ret, where, "a GPU", error);
	else if (!gpu->name[0] && !(gpu->failed & NFD_NVIDIA_MODEL))
		explain(ret, where, "nvmlDeviceGetName", NULL);
	if (error || !gpu->name[0])
		gpu->failed = ANY_OF_A_GPU;
}

static int by_address(const void *a, const void *b)
{
	const struct nfd_nvidia_gpu *x = a, *y = b;
	const struct nfd_pci_function *p = &x->address, *q = &y->address;

	if (p->domain != q->domain)
		return p->domain < q->domain ? -1 : 1;
	if (p->bus != q->bus)
		return p->bus < q->bus ? -1 : 1;
	if (p->device_number != q->device_number)
		return p->device_number < q->device_number ? -1 : 1;
	if (p->function_number != q->function_number)
		return (int)p->function_number - (int)q->function_number;
	/* Without an address only the text makes an order. */
	return strcmp(x->name, y->name);
}

static int take_gpus(struct nfd_nvidia_report *ret, const cJSON *devices)
{
	int count = cJSON_GetArraySize(devices);
	const cJSON *device;

	if (count == 0)
		return 0;
	ret->gpu = calloc((size_t)count, sizeof(*ret->gpu));
	if (!ret->gpu)
		return -ENOMEM;
	cJSON_ArrayForEach(device, devices) {
		struct nfd_nvidia_gpu *gpu = &ret->gpu[ret->count];

		take_gpu(ret, gpu, device);
		if (nfd_nvidia_is_display(gpu->name))
			continue;
		ret->failed |= gpu->failed;
		ret->count++;
	}
	qsort(ret->gpu, ret->count, sizeof(*ret->gpu), by_address);
	return 0;
}

static int sick(struct nfd_nvidia_report *ret, const char *what, const char *text)
{
	ret->answer = NFD_NVIDIA_SICK;
	snprintf(ret->why, sizeof(ret->why), "NVML: %s%s%.400s", what, *text ? ": " : "", text);
	return 0;
}

/* NVML is asked where the module is loaded: then these say that a container has no way to the driver. */
static bool is_out_of_reach(int code)
{
	enum { NO_PERMISSION = 4, DRIVER_NOT_LOADED = 9 };

	return code == NO_PERMISSION || code == DRIVER_NOT_LOADED;
}

static int read_report(const cJSON *report, struct nfd_nvidia_report *ret)
{
	const cJSON *init = nfd_json_object(report, "init");
	const cJSON *count = nfd_json_object(report, "count");
	const cJSON *devices = nfd_json_get(report, "devices");
	uint64_t cuda;

	if (nfd_json_text(report, "loadError")[0])
		return sick(ret, "the library does not load", nfd_json_text(report, "loadError"));
	if (is_out_of_reach(take_int(init, "code", 100000, -1))) {
		sick(ret, "the driver's device nodes are not here for us",
		     nfd_json_text(init, "text"));
		ret->answer = NFD_NVIDIA_MISSING;
		return 0;
	}
	if (take_int(init, "code", 100000, -1) != 0)
		return sick(ret, "the driver does not start", nfd_json_text(init, "text"));
	if (count && take_int(count, "code", 100000, -1) != 0)
		return sick(ret, "the GPUs cannot be counted", nfd_json_text(count, "text"));
	if (!cJSON_IsArray(devices) || cJSON_GetArraySize(devices) > NFD_NVIDIA_GPUS_MAX)
		return sick(ret, "the report has no list of GPUs that could be true", "");
	ret->answer = NFD_NVIDIA_GOOD;
	ret->failed = take_failures(ret, report, "");
	if (strlen(nfd_json_text(report, "driverVersion")) < sizeof(ret->driver))
		snprintf(ret->driver, sizeof(ret->driver), "%s",
			 nfd_json_text(report, "driverVersion"));
	if (take_number(report, "cudaVersion", 999999, &cuda))
		ret->cuda = (unsigned int)cuda;
	return take_gpus(ret, devices);
}

int nfd_nvidia_report_read(const struct nfd_nvml *nvml, struct nfd_nvidia_report *ret)
{
	*ret = (struct nfd_nvidia_report){ .answer = NFD_NVIDIA_NOT_ASKED };
	if (!nvml || nvml->end == NFD_NVML_NOT_STARTED)
		return 0;
	if (nvml->end == NFD_NVML_DONE)
		return read_report(nvml->report, ret);
	ret->answer = nvml->end == NFD_NVML_PENDING ? NFD_NVIDIA_PENDING :
		      nvml->end == NFD_NVML_MISSING ? NFD_NVIDIA_MISSING :
						      NFD_NVIDIA_SICK;
	snprintf(ret->why, sizeof(ret->why), "NVML: %s",
		 nvml->why[0]                  ? nvml->why :
		 nvml->end == NFD_NVML_PENDING ? "it is being asked" :
						 "it does not answer");
	return 0;
}

void nfd_nvidia_report_done(struct nfd_nvidia_report *report)
{
	free(report->gpu);
	*report = (struct nfd_nvidia_report){ 0 };
}
