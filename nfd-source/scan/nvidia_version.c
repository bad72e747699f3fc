// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each part of a version has two keys: gpu-feature-discovery still writes those that it gave up.
 */
#include "config.h"

#include "scan/nvidia_version.h"

#include <stdio.h>
#include <string.h>

#include "scan/nvidia.h"

/* Two or three parts are split, of which the third may be empty; any other text is left whole. */
static size_t split(char *text, const char *part[3])
{
	char *word;
	size_t count = 0;

	for (size_t i = 0; i < 3; i++)
		part[i] = "";
	while ((word = strsep(&text, ".")) != NULL) {
		if (count < 3)
			part[count] = word;
		count++;
	}
	return count;
}

static void put_driver(struct nfd_gfd *gfd, const char *version, const char *path)
{
	/* Each part has a name of today and one of yesterday. */
	static const char *const names[] = {
		"major", "minor", "revision", "major", "minor", "rev"
	};
	char value[NFD_LABEL_VALUE_SIZE];
	const char *part[3];
	size_t count;

	if (nfd_label_value_from_version(version, value) == 0)
		return;
	nfd_gfd_put(gfd, NFD_GFD_DRIVER, value, path, "cuda.driver-version.full");
	count = split(value, part);
	for (size_t i = 0; (count == 2 || count == 3) && i < NFD_ARRAY_SIZE(names); i++)
		nfd_gfd_put(gfd, NFD_GFD_DRIVER, part[i % 3], path, "cuda.driver%s.%s",
			    i < 3 ? "-version" : "", names[i]);
}

static void put_driver_of_module(struct nfd_gfd *gfd)
{
	struct nfd_nvidia_module module;

	nfd_nvidia_module_read(gfd->scan->root, &module);
	if (module.version[0])
		put_driver(gfd, module.version, module.path);
	else if (module.error)
		nfd_scan_failed(gfd->scan, NFD_GFD "cuda.driver", module.error_path, module.error);
	else if (gfd->report.answer == NFD_NVIDIA_GOOD)
		nfd_gfd_lose(gfd, NFD_GFD_DRIVER,
			     gfd->report.failed & NFD_NVIDIA_DRIVER ?
				     gfd->report.why :
				     "NVML: the report states no driver version",
			     false);
}

void nfd_gfd_put_cuda(struct nfd_gfd *gfd)
{
	char full[32];
	unsigned int major = gfd->report.cuda / 1000, minor = gfd->report.cuda % 1000 / 10;

	if (!gfd->report.cuda) {
		nfd_gfd_lose(gfd, NFD_GFD_CUDA,
			     gfd->report.failed & NFD_NVIDIA_CUDA ?
				     gfd->report.why :
				     "NVML: the report states no CUDA version",
			     false);
		return;
	}
	snprintf(full, sizeof(full), "%u.%u", major, minor);
	nfd_gfd_put(gfd, NFD_GFD_CUDA, full, NFD_NVML_SOURCE, "cuda.runtime-version.full");
	nfd_gfd_put_number(gfd, NFD_GFD_CUDA, major, NFD_NVML_SOURCE, "cuda.runtime-version.major");
	nfd_gfd_put_number(gfd, NFD_GFD_CUDA, minor, NFD_NVML_SOURCE, "cuda.runtime-version.minor");
	nfd_gfd_put_number(gfd, NFD_GFD_CUDA, major, NFD_NVML_SOURCE, "cuda.runtime.major");
	nfd_gfd_put_number(gfd, NFD_GFD_CUDA, minor, NFD_NVML_SOURCE, "cuda.runtime.minor");
}

void nfd_gfd_put_driver(struct nfd_gfd *gfd)
{
	if (gfd->report.driver[0])
		put_driver(gfd, gfd->report.driver, NFD_NVML_SOURCE);
	else
		put_driver_of_module(gfd);
}
