// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process of its own, because a hung driver blocks in the kernel and a library can crash. Its parent has
 * the deadline; the alarm is for no parent.
 */
#include "config.h"

#include "nvml/nvml_answer.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/call_filter.h"
#include "base/json.h"
#include "base/landlock.h"
#include "base/write.h"
#include "nvml/nvml_abi.h"
#include "nvml/nvml_calls.h"
#include "nvml/nvml_device.h"

#define DEVICES_MAX 256
/* Longer than any parent waits: with eight GPUs and no persistence a driver may need a minute. */
#define ALARM_S 150

static void add_text(cJSON *object, const char *name, int (*call)(char *, unsigned int))
{
	char text[NVML_VERSION_SIZE + 1] = "";

	if (call && call(text, NVML_VERSION_SIZE) == NVML_SUCCESS)
		nfd_json_add_text(object, name, text);
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
		nfd_nvml_add_code(object, "count", calls, code);
	for (unsigned int i = 0; i < count && i < DEVICES_MAX; i++) {
		struct nfd_nvml_device device = { .calls = calls, .entry = cJSON_CreateObject() };

		code = calls->device_by_index(i, &device.handle);
		cJSON_AddNumberToObject(device.entry, "index", i);
		if (code == NVML_SUCCESS)
			nfd_nvml_device_add(&device);
		else
			nfd_nvml_add_code(device.entry, "error", calls, code);
		cJSON_AddItemToArray(devices, device.entry);
	}
}

/* Everything that the library says goes into @object. */
static void ask(cJSON *object, const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	struct nvml_calls calls;
	int code;

	nfd_json_add_text(object, "library", path);
	if (!library) {
		const char *words = dlerror();

		nfd_json_add_text(object, "loadError", words ? words : "");
		return;
	}
	nfd_nvml_calls_find(library, &calls);
	if (!calls.init) {
		cJSON_AddStringToObject(object, "loadError", "it has no nvmlInit_v2");
		return;
	}
	code = calls.init();
	nfd_nvml_add_code(object, "init", &calls, code);
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
 * neither scan nor doctor changes anything).
 */
static void confine(bool all_calls)
{
	static const struct nfd_landlock_rule devices = { .path = "/dev",
							  .use = NFD_LANDLOCK_DEVICES };

	nfd_landlock_restrict(&devices, 1, NULL);
	if (!all_calls)
		nfd_call_filter_apply(NFD_CALLS_ANY_PROGRAM, NULL);
}

int nfd_nvml_answer(const void *cookie)
{
	const struct nfd_nvml_question *question = cookie;
	cJSON *object;
	char *text;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	alarm(ALARM_S);
	if (!question->unconfined)
		confine(question->all_calls);
	object = cJSON_CreateObject();
	cJSON_AddNumberToObject(object, "schema", 1);
	ask(object, question->library);
	text = cJSON_PrintUnformatted(object);
	r = text ? nfd_write_all(STDOUT_FILENO, text, strlen(text)) : -1;
	/* The report is whole: who reads it need not wait for the end of this process. */
	if (r == 0)
		close(STDOUT_FILENO);
	cJSON_free(text);
	cJSON_Delete(object);
	return r < 0;
}
