// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the facts about module and library to labels. The kernel compares the two version texts for
 * equality, so that is what driver-nvidia.match says.
 */
#include "config.h"

#include "scan/nvidia.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "scan/version_labels.h"

#define STEM NFD_F "driver-nvidia"
#define PROC_VERSION "proc/driver/nvidia/version"
#define SYS_TAINT "sys/module/nvidia/taint"
#define SYS_VERSION "sys/module/nvidia/version"
#define VENDOR_NVIDIA 0x10de

/* Length of a token "580.126.09" or "390.157" at @text, 0 when it is none. */
static size_t version_token(const char *text)
{
	size_t len = strcspn(text, " \t\r\n");
	struct nfd_version version;
	const char *rest;

	if (len == 0 || len >= NFD_NVIDIA_VERSION_SIZE ||
	    nfd_parse_version(text, &version, &rest) < 0 || rest != text + len ||
	    !version.part[1][0])
		return 0;
	return len;
}

void nfd_nvidia_parse_version(const char *text, char ret_version[NFD_NVIDIA_VERSION_SIZE],
			      const char **ret_flavor)
{
	const char *end = text + strcspn(text, "\n");
	const char *module, *open, *token;

	ret_version[0] = '\0';
	*ret_flavor = NULL;
	/* The last "Module" of the line: the open flavour's newest text has the word Kernel twice. */
	for (module = NULL, token = text; (token = strstr(token, "Module")) && token < end; token++)
		module = token;
	if (!module)
		return;
	for (token = module + strlen("Module"); token < end;) {
		size_t len = version_token(token);

		if (len > 0) {
			memcpy(ret_version, token, len);
			ret_version[len] = '\0';
			open = strstr(text, "Open Kernel");
			*ret_flavor = open && open < end ? "open" : "proprietary";
			return;
		}
		token += strcspn(token, " \t\n");
		token += strspn(token, " \t\n");
	}
}

static void note_error(struct nfd_nvidia_module *module, const char *path, int code)
{
	if (nfd_root_is_absent(code) || module->error)
		return;
	module->error = code;
	snprintf(module->error_path, sizeof(module->error_path), "%s", path);
}

/* Without the driver's own words only the proprietary flavour leaves a mark: it taints with P. */
static const char *flavor_from_taint(const struct nfd_root *root)
{
	char text[32];

	if (nfd_root_read_line(root, SYS_TAINT, text, sizeof(text)) < 0)
		return NULL;
	return strchr(text, 'P') ? "proprietary" : NULL;
}

void nfd_nvidia_module_read(const struct nfd_root *root, struct nfd_nvidia_module *ret)
{
	char text[4096], version[NFD_NVIDIA_VERSION_SIZE];
	ssize_t len;

	*ret = (struct nfd_nvidia_module){ 0 };
	len = nfd_root_read(root, PROC_VERSION, text, sizeof(text));
	if (len < 0)
		note_error(ret, PROC_VERSION, (int)len);
	else
		nfd_nvidia_parse_version(text, ret->version, &ret->flavor);
	if (ret->version[0])
		snprintf(ret->path, sizeof(ret->path), "%s", PROC_VERSION);
	/* The module's own file is the shorter statement, and decides where both are there. */
	len = nfd_root_read_line(root, SYS_VERSION, version, sizeof(version));
	if (len == -EFBIG)
		len = 0; /* no version text has that length */
	if (len < 0)
		note_error(ret, SYS_VERSION, (int)len);
	if (len > 0) {
		memcpy(ret->version, version, sizeof(version));
		snprintf(ret->path, sizeof(ret->path), "%s", SYS_VERSION);
	}
	if (!ret->version[0])
		return;
	ret->error = 0;
	if (!ret->flavor)
		ret->flavor = flavor_from_taint(root);
}

bool nfd_nvidia_is_gpu(const struct nfd_pci_function *function)
{
	uint32_t class_code = function->class_code >> 8;

	return function->vendor == VENDOR_NVIDIA && (class_code == 0x0300 || class_code == 0x0302);
}

static void take_information(struct nfd_nvidia_information *ret, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		char *value = strchr(line, ':');
		uint64_t number;

		if (!value)
			continue;
		*value++ = '\0';
		value = nfd_trim(value);
		if (strcmp(line, "Model") == 0)
			snprintf(ret->model, sizeof(ret->model), "%s", value);
		else if (strcmp(line, "GPU Excluded") == 0)
			ret->is_excluded = strcmp(value, "Yes") == 0;
		else if (strcmp(line, "Device Minor") == 0 &&
			 nfd_parse_uint(value, 255, &number) == 0)
			ret->minor = (int)number;
	}
}

int nfd_nvidia_information_read(const struct nfd_root *root, const char *address,
				struct nfd_nvidia_information *ret)
{
	char path[96], text[4096];
	ssize_t len;

	*ret = (struct nfd_nvidia_information){ .minor = -1 };
	snprintf(path, sizeof(path), NFD_NVIDIA_GPUS "/%s/information", address);
	len = nfd_root_read(root, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	take_information(ret, text);
	return 0;
}

static bool has_device(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);

	for (size_t i = 0; bus && i < bus->count; i++)
		if (bus->function[i].vendor == VENDOR_NVIDIA)
			return true;
	return false;
}

static void add_module(struct nfd_scan *scan, const struct nfd_nvidia_module *module)
{
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
				       .value = module->flavor,
				       .path = PROC_VERSION };

	if (module->error) {
		nfd_scan_failed(scan, STEM ".version", module->error_path, module->error);
		nfd_scan_failed(scan, STEM ".flavor", module->error_path, module->error);
	}
	if (!module->version[0])
		return;
	nfd_scan_version(scan, STEM ".version", module->path, module->version);
	nfd_scan_feature(scan, "nfd-source.nvidia", "module.version", module->version);
	if (!module->flavor)
		return;
	nfd_scan_label(scan, &finding, STEM ".flavor");
	nfd_scan_feature(scan, "nfd-source.nvidia", "module.flavor", module->flavor);
}

static void add_library(struct nfd_scan *scan, const struct nfd_nvidia_libraries *libraries)
{
	const struct nfd_nvidia_library *library = &libraries->library[0];
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
				       .value = library->version,
				       .path = library->path };

	if (libraries->error && libraries->count == 0)
		nfd_scan_failed(scan, STEM ".library", libraries->error_path, libraries->error);
	if (libraries->count == 0)
		return;
	nfd_scan_label(scan, &finding, STEM ".library.version.full");
	nfd_scan_feature(scan, "nfd-source.nvidia", "library.version", library->version);
	for (size_t i = 1; i < libraries->count; i++)
		nfd_log(NFD_LOG_DEBUG, "a second version of the NVIDIA library is installed",
			"path", libraries->library[i].path, "in_force", library->path, NULL);
}

static void add_match(struct nfd_scan *scan, const struct nfd_nvidia_module *module,
		      const struct nfd_nvidia_libraries *libraries)
{
	const struct nfd_nvidia_library *library = &libraries->library[0];
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .path = module->path };
	char detail[160];

	if (module->error)
		nfd_scan_failed(scan, STEM ".match", module->error_path, module->error);
	if (libraries->error && libraries->count == 0)
		nfd_scan_failed(scan, STEM ".match", libraries->error_path, libraries->error);
	if (!module->version[0] || libraries->count == 0)
		return;
	snprintf(detail, sizeof(detail), "module %s, library %s", module->version,
		 library->version);
	finding.detail = detail;
	finding.value = strcmp(module->version, library->version) == 0 ? "true" : "false";
	nfd_scan_label(scan, &finding, STEM ".match");
	nfd_scan_feature(scan, "nfd-source.nvidia", "match", finding.value);
}

static void run(struct nfd_scan *scan)
{
	struct nfd_nvidia_libraries libraries;
	struct nfd_nvidia_module module;

	nfd_nvidia_module_read(scan->root, &module);
	nfd_nvidia_libraries_find(scan->root, scan->options->nvidia_library_dir,
				  module.version[0] || module.error || has_device(scan),
				  &libraries);
	add_module(scan, &module);
	add_library(scan, &libraries);
	add_match(scan, &module, &libraries);
}

static const char *const subsystems[] = { "module", "drivers", "pci", NULL };
static const char *const prefixes[] = { STEM ".", NULL };
static const char *const features[] = { "nfd-source.nvidia", NULL };

const struct nfd_scanner nfd_nvidia_scanner = {
	.name = "nvidia",
	.summary = "NVIDIA module and library versions, and whether they match",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
};
