// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stand-in for NVIDIA's libnvidia-ml.so.1: the calls of nfd-source-nvml, of gpu-feature-discovery and
 * of the device plugin (spec gpu-stack.md 1.7), answered from a fixture root. tests/lib/nvml_standin.py
 * builds it; it needs nothing but libc.
 *
 *   NFD_STANDIN_ROOT   fixture root: sys/bus/pci/devices (vendor 10de, class 0300 or 0302) has the GPUs,
 *                      proc/driver/nvidia/gpus/ADDRESS/information their "Model", "GPU UUID" and "Device
 *                      Minor", sys/module/nvidia/version the loaded module's version. MIG is on where
 *                      standin/mig holds "CURRENT PENDING".
 *   NFD_STANDIN_FAULT  hang (in nvmlInit_v2), crash, lost (15), nodevices, unknown (999), lost-device
 *                      (device 0 answers 15), hang-device, chatter (writes to standard output), bytes
 *                      (names that are not UTF-8)
 *
 * The library's own version is in its file name, libnvidia-ml.so.VERSION. PCI addresses are told in
 * domain fade, so that a client that looks them up finds nothing on the machine that runs the test;
 * NFD_STANDIN_DOMAIN=keep tells them as they are.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define DEVICES_MAX 64
#define ADDRESS_SIZE 16

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	TIMEOUT = 10,
	GPU_IS_LOST = 15,
	VERSION_MISMATCH = 18,
	UNKNOWN = 999,
};

/* All structs are laid out as NVML's of the same purpose. */
struct device {
	char address[ADDRESS_SIZE], name[96], uuid[96];
	unsigned int ids, subsystem, minor;
};

struct memory {
	uint64_t total, free, used;
};

struct pci {
	char legacy[16];
	uint32_t domain, bus, device, ids, subsystem;
	char bus_id[32];
};

struct fabric {
	unsigned char uuid[16];
	int status;
	uint32_t clique;
	unsigned char state;
};

struct events {
	int unused;
};

_Static_assert(sizeof(struct pci) == 68 && sizeof(struct memory) == 24 &&
		       sizeof(struct fabric) == 28,
	       "layouts of NVML");

static struct {
	pthread_mutex_t lock;
	int users; /* nvmlInit_v2 without nvmlShutdown */
	struct device device[DEVICES_MAX];
	unsigned int count;
	char version[80]; /* of the module */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct events events;

static bool has_fault(const char *name)
{
	const char *fault = secure_getenv("NFD_STANDIN_FAULT");

	return fault && strcmp(fault, name) == 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

/* A whole file below the root, NUL-terminated, without white space at its end; -1 without it. */
static ssize_t read_below(const char *path, char *ret, size_t size)
{
	const char *root = secure_getenv("NFD_STANDIN_ROOT");
	char full[PATH_MAX];
	FILE *file;
	size_t len;

	snprintf(full, sizeof(full), "%s/%s", root ? root : "", path);
	file = fopen(full, "re");
	if (!file)
		return -1;
	len = fread(ret, 1, size - 1, file);
	fclose(file);
	while (len && strchr(" \t\r\n", ret[len - 1]))
		len--;
	ret[len] = '\0';
	return (ssize_t)len;
}

static unsigned int hex_below(const char *address, const char *attribute)
{
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", address, attribute);
	return read_below(path, text, sizeof(text)) < 0 ? 0 : (unsigned int)strtoul(text, NULL, 16);
}

/* Value behind "Key:" of an information file. */
static void information(const char *text, const char *key, char *ret, size_t size)
{
	const char *at = strstr(text, key);

	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, ": \t");
	snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void add_device(const char *address)
{
	struct device *device = &state.device[state.count];
	char path[PATH_MAX], text[4096], minor[16] = "";

	*device = (struct device){ .minor = state.count };
	snprintf(device->address, sizeof(device->address), "%.15s", address);
	device->ids = hex_below(address, "device") << 16 | 0x10de;
	device->subsystem = hex_below(address, "subsystem_device") << 16 |
			    hex_below(address, "subsystem_vendor");
	snprintf(device->name, sizeof(device->name), "NVIDIA Stand-in");
	snprintf(device->uuid, sizeof(device->uuid), "GPU-00000000-0000-0000-0000-%012x",
		 state.count);
	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
	if (read_below(path, text, sizeof(text)) >= 0) {
		information(text, "Model", device->name, sizeof(device->name));
		information(text, "GPU UUID", device->uuid, sizeof(device->uuid));
		information(text, "Device Minor", minor, sizeof(minor));
		if (minor[0])
			device->minor = (unsigned int)strtoul(minor, NULL, 10);
	}
	if (has_fault("bytes"))
		snprintf(device->name, sizeof(device->name), "NVIDIA \377\033[2J\"\\");
	state.count++;
}

static int by_address(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void find_devices(void)
{
	const char *root = secure_getenv("NFD_STANDIN_ROOT");
	char path[PATH_MAX];
	struct dirent **entry;
	int count;

	state.count = 0;
	if (has_fault("nodevices"))
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root ? root : "");
	count = scandir(path, &entry, NULL, by_address);
	for (int i = 0; i < count; i++) {
		unsigned int class = hex_below(entry[i]->d_name, "class") >> 8;

		if (entry[i]->d_name[0] != '.' && hex_below(entry[i]->d_name, "vendor") == 0x10de &&
		    (class == 0x0300 || class == 0x0302) && state.count < DEVICES_MAX)
			add_device(entry[i]->d_name);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
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

static int give_number(unsigned int value, unsigned int *ret)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (!ret)
		return INVALID_ARGUMENT;
	*ret = value;
	return SUCCESS;
}

/* Whether a handle is one that we gave out; SUCCESS, or what is wrong. */
static int check(const struct device *device)
{
	if (state.users == 0)
		return UNINITIALIZED;
	if (device < state.device || device >= state.device + state.count)
		return INVALID_ARGUMENT;
	if (device == state.device && has_fault("lost-device"))
		return GPU_IS_LOST;
	if (has_fault("hang-device"))
		hang();
	return SUCCESS;
}

static int check_and_give(const struct device *device, unsigned int value, unsigned int *ret)
{
	int r = check(device);

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
	return give_number(13000, (unsigned int *)ret);
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
	int r = check(device);

	return r == SUCCESS ? give(device->name, ret, size) : r;
}

EXPORT int nvmlDeviceGetUUID(const struct device *device, char *ret, unsigned int size)
{
	int r = check(device);

	return r == SUCCESS ? give(device->uuid, ret, size) : r;
}

EXPORT int nvmlDeviceGetIndex(const struct device *device, unsigned int *ret)
{
	return check_and_give(device, (unsigned int)(device - state.device), ret);
}

EXPORT int nvmlDeviceGetMinorNumber(const struct device *device, unsigned int *ret)
{
	int r = check(device);

	return r == SUCCESS ? give_number(device->minor, ret) : r;
}

EXPORT int nvmlDeviceGetPciInfo_v3(const struct device *device, struct pci *ret)
{
	unsigned int part[4];
	int r = check(device);

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
	int r = check(device);

	if (r == SUCCESS)
		*ret = (struct memory){ .total = 23028ULL << 20,
					.free = 22000ULL << 20,
					.used = 1028ULL << 20 };
	return r;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(const struct device *device, int *major, int *minor)
{
	int r = check(device);

	if (r == SUCCESS) {
		*major = 8;
		*minor = 9;
	}
	return r;
}

EXPORT int nvmlDeviceGetMigMode(const struct device *device, unsigned int *current,
				unsigned int *pending)
{
	char text[32];
	int r = check(device);

	if (r != SUCCESS)
		return r;
	if (read_below("standin/mig", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%u %u", current, pending) != 2)
		return NOT_SUPPORTED;
	return SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(const struct device *device, unsigned int *ret)
{
	return check_and_give(device, 0, ret);
}

EXPORT int nvmlDeviceIsMigDeviceHandle(const struct device *device, unsigned int *ret)
{
	return check_and_give(device, 0, ret);
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(const struct device *device, unsigned int index,
					       struct device **ret)
{
	int r = check(device);

	(void)index;
	(void)ret;
	return r == SUCCESS ? NOT_FOUND : r;
}

EXPORT int nvmlDeviceGetGpuFabricInfo(const struct device *device, struct fabric *ret)
{
	int r = check(device);

	(void)ret;
	return r == SUCCESS ? NOT_SUPPORTED : r;
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
	int r = check(device);

	/* Xid (8), single and double bit ECC errors (1, 2). */
	if (r == SUCCESS)
		*ret = 0xb;
	return r;
}

EXPORT int nvmlDeviceRegisterEvents(const struct device *device, unsigned long long types,
				    struct events *set)
{
	int r = check(device);

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

/* What clients ask and cards without NVLink, MIG, vGPU and confidential computing do not have. */
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
UNSUPPORTED(nvmlDeviceGetAttributes_v2)
UNSUPPORTED(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)
UNSUPPORTED(nvmlDeviceGetGpuInstanceId)
UNSUPPORTED(nvmlDeviceGetComputeInstanceId)
UNSUPPORTED(nvmlDeviceGetGpuInstanceById)
UNSUPPORTED(nvmlDeviceGetGpuInstances)
UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfo)
UNSUPPORTED(nvmlGpuInstanceGetInfo)
UNSUPPORTED(nvmlGpuInstanceGetComputeInstances)
UNSUPPORTED(nvmlGpuInstanceGetComputeInstanceById)
UNSUPPORTED(nvmlGpuInstanceGetComputeInstanceProfileInfo)
UNSUPPORTED(nvmlComputeInstanceGetInfo_v2)
UNSUPPORTED(nvmlDeviceGetComputeRunningProcesses_v3)
UNSUPPORTED(nvmlDeviceGetVirtualizationMode)
UNSUPPORTED(nvmlDeviceSetComputeMode)
UNSUPPORTED(nvmlDeviceGetArchitecture)
