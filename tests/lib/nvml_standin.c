// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1: the calls of nfd-source-nvml, of gpu-feature-discovery and
 * of the device plugin (spec gpu-stack.md 1.7), answered from a fixture root. tests/lib/nvml_standin.py
 * builds it; it needs nothing but libc.
 *
 *   NFD_STANDIN_ROOT   fixture root: sys/bus/pci/devices (vendor 10de, class 0300 or 0302) has the GPUs,
 *                      proc/driver/nvidia/gpus/ADDRESS/information their "Model", "GPU UUID" and "Device
 *                      Minor", sys/module/nvidia/version the loaded module's version, standin/devices
 *                      what only NVML knows of them (below), standin/cuda the version of CUDA (13000).
 *   NFD_STANDIN_FAULT  hang (in nvmlInit_v2), crash, lost (15), nodevices, unknown (999), lost-device
 *                      (device 0 answers 15), hang-device, chatter (writes to standard output), bytes
 *                      (names that are not UTF-8)
 *
 * standin/devices has lines "ADDRESS KEY=VALUE...", with "*" for all GPUs:
 *
 *   memory=MB  compute=MAJOR.MINOR  virtualization=MODE  fabric=UUID/CLIQUE/STATE/STATUS
 *   mig=CURRENT[/PENDING]           without it the GPU cannot do MIG
 *   migdev=GPUPROFILE:COMPUTEPROFILE:MB[:MULTIPROCESSORS:COPY:DECODER:ENCODER:JPEG:OFA]
 *                                   one more MIG device, with NVML's indexes of its profiles; "-": an
 *                                   empty place
 *   fail=FUNCTION:CODE              that function fails for this GPU
 *
 * The library's own version is in its file name, libnvidia-ml.so.VERSION. PCI addresses are told in
 * domain fade, so that a client that looks them up finds nothing on the machine that runs the test;
 * NFD_STANDIN_DOMAIN=keep tells them as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "nvml_standin.h"

struct memory {
	uint64_t total, free, used;
};

struct pci {
	char legacy[16];
	uint32_t domain, bus, device, ids, subsystem;
	char bus_id[32];
};

struct events {
	int unused;
};

_Static_assert(sizeof(struct pci) == 68 && sizeof(struct memory) == 24, "layouts of NVML");

struct state state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct events events;

bool has_fault(const char *name)
{
	const char *fault = secure_getenv("NFD_STANDIN_FAULT");

	return fault && strcmp(fault, name) == 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

/* "580.126.09" of ".../libnvidia-ml.so.580.126.09", links followed. */
static void own_version(char *ret, size_t size)
{
	char path[PATH_MAX];
	const char *at;
	Dl_info info;

	ret[0] = '\0';
	if (!dladdr(&state, &info) || !realpath(info.dli_fname, path))
		return;
	at = strstr(path, ".so.");
	snprintf(ret, size, "%s", at ? at + 4 : "");
}

static int start(void)
{
	char own[80];

	if (has_fault("hang"))
		hang();
	if (has_fault("crash"))
		abort();
	if (has_fault("lost"))
		return GPU_IS_LOST;
	if (has_fault("unknown"))
		return UNKNOWN;
	if (has_fault("chatter"))
		(void)!write(STDOUT_FILENO, "NVML: hello\n", 12);
	if (read_below("sys/module/nvidia/version", state.version, sizeof(state.version)) <= 0)
		return DRIVER_NOT_LOADED;
	own_version(own, sizeof(own));
	if (own[0] && strcmp(own, state.version) != 0)
		return VERSION_MISMATCH;
	find_devices();
	return SUCCESS;
}

EXPORT int nvmlInit_v2(void)
{
	int r = SUCCESS;

	pthread_mutex_lock(&state.lock);
	if (state.users == 0)
		r = start();
	if (r == SUCCESS)
		state.users++;
	pthread_mutex_unlock(&state.lock);
	return r;
}

EXPORT int nvmlInitWithFlags(unsigned int flags)
{
	(void)flags;
	return nvmlInit_v2();
}

EXPORT int nvmlShutdown(void)
{
	int r;

	pthread_mutex_lock(&state.lock);
	r = state.users ? SUCCESS : UNINITIALIZED;
	state.users -= r == SUCCESS;
	pthread_mutex_unlock(&state.lock);
	return r;
}

EXPORT const char *nvmlErrorString(int code)
{
	static const struct {
		int code;
		const char *text;
	} texts[] = {
		{ SUCCESS, "Success" },
		{ UNINITIALIZED, "Uninitialized" },
		{ INVALID_ARGUMENT, "Invalid Argument" },
		{ NOT_SUPPORTED, "Not Supported" },
		{ NOT_FOUND, "Not Found" },
		{ INSUFFICIENT_SIZE, "Insufficient Size" },
		{ DRIVER_NOT_LOADED, "Driver Not Loaded" },
		{ TIMEOUT, "Timeout" },
		{ GPU_IS_LOST, "GPU is lost" },
		{ VERSION_MISMATCH, "Driver/library version mismatch" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].code == code)
			return texts[i].text;
	return "Unknown Error";
}

static int give(const char *text, char *ret, unsigned int size)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (!ret)
		return INVALID_ARGUMENT;
	if (strlen(text) >= size)
		return INSUFFICIENT_SIZE;
	memcpy(ret, text, strlen(text) + 1);
	return SUCCESS;
}

int give_number(unsigned int value, unsigned int *ret)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (!ret)
		return INVALID_ARGUMENT;
	*ret = value;
	return SUCCESS;
}

int check(const struct device *device, const char *call)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (device < state.device || device >= state.device + state.count)
		return INVALID_ARGUMENT;
	if (device == state.device && has_fault("lost-device"))
		return GPU_IS_LOST;
	if (has_fault("hang-device"))
		hang();
	for (unsigned int i = 0; i < device->fail_count; i++)
		if (strcmp(device->fail[i].call, call) == 0)
			return device->fail[i].code;
	return SUCCESS;
}

int check_and_give(const struct device *device, const char *call, unsigned int value,
		   unsigned int *ret)
{
	int r = check(device, call);

	return r == SUCCESS ? give_number(value, ret) : r;
}

EXPORT int nvmlSystemGetDriverVersion(char *ret, unsigned int size)
{
	return give(state.version, ret, size);
}

/* This one is answered also where the start failed. */
EXPORT int nvmlSystemGetNVMLVersion(char *ret, unsigned int size)
{
	char own[80], text[96];

	own_version(own, sizeof(own));
	snprintf(text, sizeof(text), "13.%s", own);
	if (!ret)
		return INVALID_ARGUMENT;
	if (strlen(text) >= size)
		return INSUFFICIENT_SIZE;
	memcpy(ret, text, strlen(text) + 1);
	return SUCCESS;
}

EXPORT int nvmlSystemGetCudaDriverVersion(int *ret)
{
	char text[32];
	bool is_set = read_below("standin/cuda", text, sizeof(text)) > 0;

	return give_number(is_set ? (unsigned int)strtoul(text, NULL, 10) : 13000,
			   (unsigned int *)ret);
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *ret)
{
	return nvmlSystemGetCudaDriverVersion(ret);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int *ret)
{
	return give_number(state.count, ret);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct device **ret)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (index >= state.count || !ret)
		return INVALID_ARGUMENT;
	if (index == 0 && has_fault("lost-device"))
		return GPU_IS_LOST;
	*ret = &state.device[index];
	return SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **ret)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (!uuid || !ret)
		return INVALID_ARGUMENT;
	for (unsigned int i = 0; i < state.count; i++)
		if (strcmp(state.device[i].uuid, uuid) == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, ret);
	return NOT_FOUND;
}

static void told_address(const struct device *device, unsigned int part[4])
{
	const char *keep = secure_getenv("NFD_STANDIN_DOMAIN");

	if (sscanf(device->address, "%x:%x:%x.%x", &part[0], &part[1], &part[2], &part[3]) != 4)
		memset(part, 0, 4 * sizeof(part[0]));
	if (!keep || strcmp(keep, "keep") != 0)
		part[0] = 0xfade;
}

static void bus_id(const struct device *device, char *ret, size_t size)
{
	unsigned int part[4];

	told_address(device, part);
	snprintf(ret, size, "%08X:%02X:%02X.%X", part[0], part[1], part[2], part[3]);
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, struct device **ret)
{
	char text[32];

	if (state.users == 0)
		return UNINITIALIZED;
	if (!address || !ret)
		return INVALID_ARGUMENT;
	for (unsigned int i = 0; i < state.count; i++) {
		bus_id(&state.device[i], text, sizeof(text));
		if (strcasecmp(text, address) == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, ret);
	}
	return NOT_FOUND;
}

EXPORT int nvmlDeviceGetName(const struct device *device, char *ret, unsigned int size)
{
	int r = check(device, __func__);

	return r == SUCCESS ? give(device->name, ret, size) : r;
}

EXPORT int nvmlDeviceGetUUID(const struct device *device, char *ret, unsigned int size)
{
	int r = check(device, __func__);

	return r == SUCCESS ? give(device->uuid, ret, size) : r;
}

EXPORT int nvmlDeviceGetIndex(const struct device *device, unsigned int *ret)
{
	return check_and_give(device, __func__, (unsigned int)(device - state.device), ret);
}

EXPORT int nvmlDeviceGetMinorNumber(const struct device *device, unsigned int *ret)
{
	int r = check(device, __func__);

	return r == SUCCESS ? give_number(device->minor, ret) : r;
}

EXPORT int nvmlDeviceGetPciInfo_v3(const struct device *device, struct pci *ret)
{
	unsigned int part[4];
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	told_address(device, part);
	*ret = (struct pci){ .domain = part[0],
			     .bus = part[1],
			     .device = part[2],
			     .ids = device->ids,
			     .subsystem = device->subsystem };
	bus_id(device, ret->bus_id, sizeof(ret->bus_id));
	snprintf(ret->legacy, sizeof(ret->legacy), "%04X:%02X:%02X.%X", part[0] & 0xffff,
		 part[1] & 0xff, part[2] & 0xff, part[3] & 0xf);
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo(const struct device *device, struct memory *ret)
{
	int r = check(device, __func__);

	if (r == SUCCESS)
		*ret = (struct memory){ .total = (uint64_t)device->memory_mb << 20,
					.free = (uint64_t)device->memory_mb << 19,
					.used = (uint64_t)device->memory_mb << 19 };
	return r;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(const struct device *device, int *major, int *minor)
{
	int r = check(device, __func__);

	if (r == SUCCESS) {
		*major = device->compute_major;
		*minor = device->compute_minor;
	}
	return r;
}

EXPORT int nvmlDeviceGetVirtualizationMode(const struct device *device, unsigned int *ret)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	return device->virtualization < 0 ? NOT_SUPPORTED :
					    give_number((unsigned int)device->virtualization, ret);
}

EXPORT int nvmlDeviceGetGpuFabricInfo(const struct device *device, struct fabric *ret)
{
	int r = check(device, __func__);

	if (r != SUCCESS)
		return r;
	if (!device->has_fabric)
		return NOT_SUPPORTED;
	*ret = device->fabric;
	return SUCCESS;
}

EXPORT int nvmlEventSetCreate(struct events **ret)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (!ret)
		return INVALID_ARGUMENT;
	*ret = &events;
	return SUCCESS;
}

EXPORT int nvmlEventSetFree(struct events *set)
{
	return set == &events ? SUCCESS : INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetSupportedEventTypes(const struct device *device, unsigned long long *ret)
{
	int r = check(device, __func__);

	/* Xid (8), single and double bit ECC errors (1, 2). */
	if (r == SUCCESS)
		*ret = 0xb;
	return r;
}

EXPORT int nvmlDeviceRegisterEvents(const struct device *device, unsigned long long types,
				    struct events *set)
{
	int r = check(device, __func__);

	(void)types;
	return r == SUCCESS && set != &events ? INVALID_ARGUMENT : r;
}

/* Nothing ever happens: it blocks until its time is over, as the real one does. */
EXPORT int nvmlEventSetWait_v2(struct events *set, void *data, unsigned int timeout_ms)
{
	struct timespec left = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };

	(void)data;
	if (state.users == 0)
		return UNINITIALIZED;
	if (set != &events)
		return INVALID_ARGUMENT;
	while (nanosleep(&left, &left) < 0)
		continue;
	return TIMEOUT;
}

/* What clients ask and cards without NVLink, vGPU and confidential computing do not have. */
#define UNSUPPORTED(name)                                           \
	EXPORT int name(void);                                      \
	EXPORT int name(void)                                       \
	{                                                           \
		return state.users ? NOT_SUPPORTED : UNINITIALIZED; \
	}

UNSUPPORTED(nvmlDeviceGetNvLinkState)
UNSUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
UNSUPPORTED(nvmlDeviceGetNvLinkCapability)
UNSUPPORTED(nvmlDeviceGetP2PStatus)
UNSUPPORTED(nvmlDeviceGetTopologyCommonAncestor)
UNSUPPORTED(nvmlDeviceGetCpuAffinity)
UNSUPPORTED(nvmlDeviceGetPowerManagementLimit)
UNSUPPORTED(nvmlDeviceGetPcieThroughput)
UNSUPPORTED(nvmlDeviceGetGpuInstances)
UNSUPPORTED(nvmlGpuInstanceGetComputeInstances)
UNSUPPORTED(nvmlDeviceGetComputeRunningProcesses_v3)
UNSUPPORTED(nvmlDeviceSetComputeMode)
UNSUPPORTED(nvmlDeviceGetArchitecture)
