// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run of nfd-source-nvml, for scan and doctor.
 */
#include "config.h"

#include "scan/nvml.h"

#include <stdio.h>
#include <string.h>

#include "nvml/nvml_answer.h"
#include "scan/nvidia.h"
#include "scan/nvidia_library.h"
#include "scan/platform_gpu.h"

#define NAME "nfd-source-nvml"
#define OUTPUT_MAX (1024 * 1024)

void nfd_nvml_library_path(const struct nfd_root *root, const char *path, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/%s", strcmp(root->path, "/") == 0 ? "" : root->path, path);
}

const char *nfd_nvml_words(enum nfd_nvml_end end)
{
	static const char *const words[] = {
		[NFD_NVML_NOT_STARTED] = "not asked",  [NFD_NVML_MISSING] = "not asked",
		[NFD_NVML_PENDING] = "is being asked", [NFD_NVML_DONE] = "answered",
		[NFD_NVML_HUNG] = "does not answer",   [NFD_NVML_CRASHED] = "crashed",
		[NFD_NVML_RUBBISH] = "failed",
	};

	return words[end];
}

static bool find_library(const struct nfd_root *root, const char *library_dir, char ret[PATH_MAX])
{
	struct nfd_nvidia_libraries libraries;

	/* The usual link first: a scan looks deeper on its own while NVML is asked. */
	nfd_nvidia_libraries_find(root, library_dir, false, &libraries);
	if (libraries.count == 0)
		nfd_nvidia_libraries_find(root, library_dir, true, &libraries);
	if (libraries.count == 0)
		return false;
	nfd_nvml_library_path(root, libraries.library[0].path, ret);
	return true;
}

/* The one in a container's own root, brought by the runtime that brought the device nodes. */
static bool find_own(const struct nfd_root *root, char ret[PATH_MAX])
{
	struct nfd_root own = { .fd = -1 };
	bool found = false;

	if (nfd_root_is_partial(root) && nfd_root_open(&own, "/", NULL) == 0)
		found = find_library(&own, NULL, ret);
	nfd_root_close(&own);
	return found;
}

enum nfd_nvml_end nfd_nvml_find(const struct nfd_root *root, const char *library_dir,
				char ret[PATH_MAX], char why[100])
{
	struct nfd_nvidia_module module;

	why[0] = '\0';
	nfd_nvidia_module_read(root, &module);
	if (!module.version[0] && nfd_root_exists(root, "sys/module/nvidia/refcnt") <= 0 &&
	    !nfd_platform_is_wsl(root)) {
		snprintf(why, 100, "the nvidia module is not loaded");
		return NFD_NVML_NOT_STARTED;
	}
	if (find_own(root, ret) || find_library(root, library_dir, ret))
		return NFD_NVML_PENDING;
	snprintf(why, 100, "there is no NVIDIA library to load");
	return NFD_NVML_MISSING;
}

int nfd_nvml_start(struct nfd_child *child, const struct nfd_nvml_place *place, const char *library,
		   struct nfd_error *err)
{
	const struct nfd_nvml_question question = { .library = library,
						    .unconfined = place->unconfined,
						    .all_calls = true };
	char name[] = NAME, unconfined[] = "--unconfined", path[PATH_MAX];
	char *argv[] = { name, place->unconfined ? unconfined : path,
			 place->unconfined ? path : NULL, NULL };
	struct nfd_child_command command = {
		.path = place->helper ? place->helper : NAME,
		.run = place->helper ? NULL : nfd_nvml_answer,
		.cookie = &question,
		.argv = argv,
		.envp = place->environment,
		.input = "",
		.output_max = OUTPUT_MAX,
		.deadline_ms = place->deadline_ms,
		.quiet = true,
	};

	snprintf(path, sizeof(path), "%s", library);
	return nfd_child_start(child, &command, err);
}

bool nfd_nvml_is_running(const struct nfd_child *child)
{
	return child->pid != 0 && child->end == NFD_CHILD_RUNNING;
}

void nfd_nvml_take(const struct nfd_child *child, struct nfd_nvml *ret)
{
	struct nfd_error err = { 0 };

	*ret = (struct nfd_nvml){ .end = NFD_NVML_DONE };
	/* Still running: it has closed its output behind a report. */
	if (child->end != NFD_CHILD_RUNNING && nfd_child_check(child, NAME, &err) < 0) {
		ret->end = child->end == NFD_CHILD_DEADLINE ? NFD_NVML_HUNG :
			   child->end == NFD_CHILD_CRASHED  ? NFD_NVML_CRASHED :
							      NFD_NVML_RUBBISH;
		snprintf(ret->why, sizeof(ret->why), "%s", nfd_error_text(&err));
		return;
	}
	ret->report = cJSON_Parse(nfd_strbuf_text(&child->output));
	if (cJSON_IsObject(ret->report))
		return;
	ret->end = NFD_NVML_RUBBISH;
	snprintf(ret->why, sizeof(ret->why), NAME " printed no report");
	cJSON_Delete(ret->report);
	ret->report = NULL;
}

void nfd_nvml_ask(const struct nfd_nvml_place *place, const char *library, struct nfd_nvml *ret)
{
	struct nfd_error err = { 0 };
	struct nfd_child child;

	if (nfd_child_init(&child, &err) < 0 || nfd_nvml_start(&child, place, library, &err) < 0) {
		*ret = (struct nfd_nvml){ .end = NFD_NVML_NOT_STARTED };
		snprintf(ret->why, sizeof(ret->why), "%s", nfd_error_text(&err));
	} else {
		nfd_child_wait(&child);
		nfd_nvml_take(&child, ret);
	}
	nfd_child_done(&child);
}

void nfd_nvml_done(struct nfd_nvml *nvml)
{
	cJSON_Delete(nvml->report);
	*nvml = (struct nfd_nvml){ 0 };
}
