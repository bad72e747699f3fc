// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every reader here copes with a host that has none of it; what is missing shows as an empty field.
 */
#include "config.h"

#include "doctor/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "doctor/cdi.h"
#include "doctor/doctor.h"
#include "scan/os_release.h"
#include "scan/platform_gpu.h"
#include "scan/scan.h"

static void read_information(const struct nfd_root *root, struct nfd_gpu_facts *gpu)
{
	struct nfd_nvidia_information information;

	gpu->has_information = nfd_nvidia_information_read(root, gpu->address, &information) == 0;
	gpu->minor = information.minor;
	gpu->is_excluded = information.is_excluded;
	snprintf(gpu->model, sizeof(gpu->model), "%s", information.model);
}

static int add_gpu(struct nfd_doctor_facts *facts, const struct nfd_root *root,
		   const struct nfd_pci_function *function)
{
	struct nfd_gpu_facts *bigger =
		realloc(facts->gpu, (facts->gpu_count + 1) * sizeof(*bigger));
	struct nfd_gpu_facts *gpu;

	if (!bigger)
		return -ENOMEM;
	facts->gpu = bigger;
	gpu = &bigger[facts->gpu_count++];
	*gpu = (struct nfd_gpu_facts){
		.device = function->device,
		.is_virtual = function->is_virtual,
		.is_unresponsive = function->is_unresponsive,
	};
	nfd_pci_format_address(function, gpu->address);
	snprintf(gpu->driver, sizeof(gpu->driver), "%s", function->driver);
	read_information(root, gpu);
	return 0;
}

/* GPUs that are no PCI devices, as the scan finds them. */
static void read_platform(struct nfd_doctor_facts *facts, struct nfd_scan *scan)
{
	const struct nfd_label *tegra, *paravirtual, *label;

	nfd_platform_gpu_scanner.run(scan);
	tegra = nfd_set_find(&scan->labels, NFD_F "gpu-tegra.present");
	paravirtual = nfd_set_find(&scan->labels, NFD_F "gpu-paravirtual.present");
	label = tegra ? tegra : paravirtual;
	facts->is_tegra = tegra != NULL;
	facts->is_wsl = paravirtual != NULL;
	if (label && label->source)
		snprintf(facts->platform_source, sizeof(facts->platform_source), "%s",
			 label->source);
}

/* An empty folder, as in a container without the mount, tells as little as none. */
static bool has_sysfs(const struct nfd_root *root)
{
	cleanup_names struct nfd_names names = { 0 };

	return nfd_root_list(root, "sys", &names) == 0 && names.count > 0;
}

/* The scan's own view of the bus, with classes that labels may not want. */
static int read_gpus(struct nfd_doctor_facts *facts, const struct nfd_root *root)
{
	char display[] = "03", accelerator[] = "12", all[] = "";
	char *classes[] = { display, accelerator };
	struct nfd_scan_options options = {
		.label_white_list = all,
		.pci.class_white_list = { classes, NFD_ARRAY_SIZE(classes) },
	};
	struct nfd_scan scan = { .root = root, .options = &options };
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(&scan);
	const struct nfd_unknown *unknown = nfd_unknowns_find(&scan.unknowns, NFD_F "pci-");
	int r = bus ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < bus->count; i++) {
		if (nfd_nvidia_is_gpu(&bus->function[i]))
			r = add_gpu(facts, root, &bus->function[i]);
		else if (bus->function[i].is_gpu)
			facts->other_gpus++;
	}
	if (unknown)
		snprintf(facts->pci_reason, sizeof(facts->pci_reason), "%s", unknown->reason);
	else if (!has_sysfs(root))
		snprintf(facts->pci_reason, sizeof(facts->pci_reason),
			 "sysfs is not mounted at \"sys\" below the root");
	read_platform(facts, &scan);
	nfd_scan_done(&scan);
	return r;
}

static void read_system(struct nfd_doctor_facts *facts, const struct nfd_root *root)
{
	static const struct {
		const char *word;
		enum nfd_package_manager manager;
	} managers[] = {
		{ "debian", NFD_MANAGER_APT },  { "ubuntu", NFD_MANAGER_APT },
		{ "suse", NFD_MANAGER_ZYPPER }, { "sles", NFD_MANAGER_ZYPPER },
		{ "rhel", NFD_MANAGER_DNF },    { "fedora", NFD_MANAGER_DNF },
		{ "centos", NFD_MANAGER_DNF },  { "amzn", NFD_MANAGER_DNF },
	};
	char text[16384], words[128];

	if (nfd_root_read_line(root, "proc/sys/kernel/osrelease", facts->kernel,
			       sizeof(facts->kernel)) < 0)
		facts->kernel[0] = '\0';
	if (nfd_root_read(root, "etc/os-release", text, sizeof(text)) < 0 &&
	    nfd_root_read(root, "usr/lib/os-release", text, sizeof(text)) < 0)
		return;
	nfd_os_release_value(text, "ID", facts->distro, sizeof(facts->distro));
	facts->is_foreign = !facts->distro[0];
	nfd_os_release_value(text, "ID_LIKE", facts->distro_like, sizeof(facts->distro_like));
	nfd_os_release_value(text, "VERSION_ID", facts->distro_version,
			     sizeof(facts->distro_version));
	nfd_os_release_value(text, "VERSION_CODENAME", facts->codename, sizeof(facts->codename));
	snprintf(words, sizeof(words), "%s %s", facts->distro, facts->distro_like);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(managers) && !facts->manager; i++)
		if (strstr(words, managers[i].word))
			facts->manager = managers[i].manager;
}

static int64_t read_boot_time(const struct nfd_root *root)
{
	cleanup_free char *text = NULL;
	const char *at;

	if (nfd_root_read_alloc(root, "proc/stat", 4 * 1024 * 1024, &text) < 0)
		return 0;
	at = strstr(text, "\nbtime ");
	return at ? strtoll(at + strlen("\nbtime "), NULL, 10) : 0;
}

static void read_driver(struct nfd_doctor_facts *facts, const struct nfd_doctor_options *options)
{
	const struct nfd_root *root = options->root;
	static const char container[] = "run/nvidia/driver/";

	nfd_nvidia_module_read(root, &facts->module);
	facts->is_loaded =
		nfd_root_exists(root, "sys/module/nvidia/refcnt") > 0 || facts->module.version[0];
	nfd_nvidia_libraries_find(root, options->library_dir, true, &facts->libraries);
	facts->has_driver_container =
		facts->libraries.count > 0 &&
		strncmp(facts->libraries.library[0].path, container, strlen(container)) == 0;
	nfd_disk_module_find(root, facts->kernel, &facts->disk_module);
}

/* The API server's view of our Node. */
static void read_node(struct nfd_doctor_facts *facts, const struct nfd_doctor_options *options)
{
	cJSON *request = cJSON_CreateObject();
	struct nfd_error err = { 0 };
	struct nfd_api_access access;

	if (!options->ask_api || !nfd_api_access_find(&options->outputs->api, &access)) {
		snprintf(facts->node_why, sizeof(facts->node_why), "%s",
			 options->ask_api ? access.why : "the API server was not to be asked");
		cJSON_Delete(request);
		return;
	}
	cJSON_AddStringToObject(request, "action", "node-read");
	if (nfd_api_exchange(&options->outputs->api, request, &facts->node, &err) < 0) {
		facts->node = NULL;
		snprintf(facts->node_why, sizeof(facts->node_why), "%s", nfd_error_text(&err));
	}
}

/* The very library file that the search below the root found. */
static void run_nvml(struct nfd_doctor_facts *facts, const struct nfd_doctor_options *options)
{
	const struct nfd_nvml_place place = {
		.helper = options->nvml_helper,
		.environment = options->outputs->api.place->environment,
		.unconfined = options->outputs->api.place->unconfined,
		.deadline_ms = options->nvml_deadline_ms,
	};
	char library[PATH_MAX];

	if (!options->nvml_helper || facts->libraries.count == 0 || !facts->is_loaded) {
		snprintf(facts->nvml.why, sizeof(facts->nvml.why), "%s",
			 !options->nvml_helper       ? "NVML was not to be started" :
			 facts->libraries.count == 0 ? "there is no library to start" :
						       "the nvidia module is not loaded");
		return;
	}
	nfd_nvml_library_path(options->root, facts->libraries.library[0].path, library);
	nfd_nvml_ask(&place, library, &facts->nvml);
}

int nfd_doctor_facts_read(struct nfd_doctor_facts *facts, const struct nfd_doctor_options *options)
{
	const struct nfd_root *root = options->root;
	int r = read_gpus(facts, root);

	if (r < 0)
		return r;
	read_system(facts, root);
	facts->is_partial = nfd_root_is_partial(root);
	facts->boot_s = read_boot_time(root);
	read_driver(facts, options);
	nfd_packages_read(root, &facts->packages);
	r = nfd_holds_read(root, &facts->holds);
	if (r < 0)
		return r;
	nfd_kernel_log_read(root, &facts->log);
	nfd_processes_read(root, facts->boot_s, &facts->processes);
	nfd_runtime_find(root, &facts->processes, &facts->runtime);
	facts->has_nri = nfd_root_exists(root, "run/nri/nri.sock") > 0 ||
			 nfd_root_exists(root, "var/run/nri/nri.sock") > 0;
	facts->cdi_specs = nfd_cdi_count(root);
	read_node(facts, options);
	run_nvml(facts, options);
	return 0;
}

void nfd_doctor_facts_done(struct nfd_doctor_facts *facts)
{
	free(facts->gpu);
	cJSON_Delete(facts->node);
	nfd_nvml_done(&facts->nvml);
	facts->gpu = NULL;
	facts->node = NULL;
}

const char *nfd_node_label(const struct nfd_doctor_facts *facts, const char *key)
{
	return cJSON_GetStringValue(nfd_json_get(nfd_json_get(facts->node, "labels"), key));
}
