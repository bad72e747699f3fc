// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nfd-source-nvml [--unconfined] LIBRARY: loads that very library file, starts NVML, prints what it says as one JSON
 * object, ends. A process of its own, because a hung driver blocks in the kernel and a library can
 * crash (docs/doctor.md has the fields). Its parent has the deadline; the alarm is for no parent.
 */
#include "config.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/call_filter.h"
#include "base/json.h"
#include "base/landlock.h"
#include "base/macros.h"
#include "base/write.h"
#include "nvml/nvml_abi.h"

#define DEVICES_MAX 256
#define ALARM_S 60

/* dlsym gives a data pointer; POSIX has it hold a function's address, ISO C has no cast for that. */
static void look_up(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	memcpy(function, &address, sizeof(address));
}

static void look_up_all(void *library, struct nvml_calls *calls)
{
	const struct {
		const char *name;
		void *function;
	} names[] = {
		{ "nvmlInit_v2", &calls->init },
		{ "nvmlShutdown", &calls->shutdown },
		{ "nvmlErrorString", &calls->error_string },
		{ "nvmlSystemGetDriverVersion", &calls->driver_version },
		{ "nvmlSystemGetNVMLVersion", &calls->nvml_version },
		{ "nvmlSystemGetCudaDriverVersion", &calls->cuda_version },
		{ "nvmlDeviceGetCount_v2", &calls->device_count },
		{ "nvmlDeviceGetHandleByIndex_v2", &calls->device_by_index },
		{ "nvmlDeviceGetName", &calls->device_name },
		{ "nvmlDeviceGetUUID", &calls->device_uuid },
		{ "nvmlDeviceGetPciInfo_v3", &calls->device_pci },
		{ "nvmlDeviceGetMemoryInfo", &calls->device_memory },
		{ "nvmlDeviceGetMigMode", &calls->device_mig_mode },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		look_up(library, names[i].name, names[i].function);
}

/* A code with its words, under a name: {"code","text"}. */
static void add_code(cJSON *object, const char *name, const struct nvml_calls *calls, int code)
{
	cJSON *entry = cJSON_AddObjectToObject(object, name);
	const char *text = calls->error_string ? calls->error_string(code) : NULL;

	cJSON_AddNumberToObject(entry, "code", code);
	nfd_json_add_text(entry, "text", text ? text : "");
}

static void add_text(cJSON *object, const char *name, int (*call)(char *, unsigned int))
{
	char text[NVML_VERSION_SIZE + 1] = "";

	if (call && call(text, NVML_VERSION_SIZE) == NVML_SUCCESS)
		nfd_json_add_text(object, name, text);
}

static void add_device_text(cJSON *object, const char *name, nvml_device_t device,
			    int (*call)(nvml_device_t, char *, unsigned int))
{
	char text[NVML_NAME_SIZE + 1] = "";

	if (call && call(device, text, NVML_NAME_SIZE) == NVML_SUCCESS)
		nfd_json_add_text(object, name, text);
}

static void add_device_facts(cJSON *object, const struct nvml_calls *calls, nvml_device_t device)
{
	struct nvml_memory memory;
	unsigned int current, pending;
	struct nvml_pci pci = { 0 };

	add_device_text(object, "name", device, calls->device_name);
	add_device_text(object, "uuid", device, calls->device_uuid);
	if (calls->device_pci && calls->device_pci(device, &pci) == NVML_SUCCESS) {
		pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
		nfd_json_add_text(object, "busId", pci.bus_id);
	}
	if (calls->device_memory && calls->device_memory(device, &memory) == NVML_SUCCESS)
		cJSON_AddNumberToObject(object, "memoryBytes", (double)memory.total);
	if (calls->device_mig_mode &&
	    calls->device_mig_mode(device, &current, &pending) == NVML_SUCCESS) {
		cJSON_AddNumberToObject(object, "migMode", current);
		cJSON_AddNumberToObject(object, "migPending", pending);
	}
}

static void add_devices(cJSON *object, const struct nvml_calls *calls)
{
	cJSON *devices = cJSON_AddArrayToObject(object, "devices");
	unsigned int count = 0;
	int code;

	if (!calls->device_count || !calls->device_by_index)
		return;
	code = calls->device_count(&count);
	if (code != NVML_SUCCESS)
		add_code(object, "count", calls, code);
	for (unsigned int i = 0; i < count && i < DEVICES_MAX; i++) {
		cJSON *entry = cJSON_CreateObject();
		nvml_device_t device = NULL;

		code = calls->device_by_index(i, &device);
		cJSON_AddNumberToObject(entry, "index", i);
		if (code == NVML_SUCCESS)
			add_device_facts(entry, calls, device);
		else
			add_code(entry, "error", calls, code);
		cJSON_AddItemToArray(devices, entry);
	}
}

/* Everything that the library says goes into @object. */
static void ask(cJSON *object, const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	struct nvml_calls calls = { 0 };
	int code;

	nfd_json_add_text(object, "library", path);
	if (!library) {
		const char *words = dlerror();

		nfd_json_add_text(object, "loadError", words ? words : "");
		return;
	}
	look_up_all(library, &calls);
	if (!calls.init) {
		cJSON_AddStringToObject(object, "loadError", "it has no nvmlInit_v2");
		return;
	}
	code = calls.init();
	add_code(object, "init", &calls, code);
	/* After a failed start only the library's own version can be asked for. */
	add_text(object, "nvmlVersion", calls.nvml_version);
	if (code != NVML_SUCCESS)
		return;
	add_text(object, "driverVersion", calls.driver_version);
	if (calls.cuda_version && calls.cuda_version(&code) == NVML_SUCCESS)
		cJSON_AddNumberToObject(object, "cudaVersion", code);
	add_devices(object, &calls);
	if (calls.shutdown)
		calls.shutdown();
}

/*
 * Before a byte of the library is mapped, as far as this system can. It talks to the driver's device
 * nodes and to services of this host; it starts nothing (nvidia-modprobe would make device nodes, and
 * doctor changes nothing).
 */
static void confine(void)
{
	static const struct nfd_landlock_rule devices = { .path = "/dev",
							  .use = NFD_LANDLOCK_DEVICES };

	nfd_landlock_restrict(&devices, 1, NULL);
	nfd_call_filter_apply(NFD_CALLS_ANY_PROGRAM, NULL);
}

int main(int argc, char **argv)
{
	bool unconfined = argc > 1 && strcmp(argv[1], "--unconfined") == 0;
	const char *library = argc > 0 ? argv[argc - 1] : "";
	cJSON *object;
	char *text;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	alarm(ALARM_S);
	if (argc != 2 + unconfined || library[0] != '/') {
		fputs("nfd-source-nvml: takes the absolute path of libnvidia-ml.so; started by "
		      "nfd-source doctor\n",
		      stderr);
		return 2;
	}
	if (!unconfined)
		confine();
	object = cJSON_CreateObject();
	cJSON_AddNumberToObject(object, "schema", 1);
	ask(object, library);
	text = cJSON_PrintUnformatted(object);
	r = text ? nfd_write_all(STDOUT_FILENO, text, strlen(text)) : -1;
	cJSON_free(text);
	cJSON_Delete(object);
	/* Without running the library's destructors: they may hang as its calls may. */
	_exit(r < 0);
}
