// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The container runtime's effective configuration: which file counts depends on the distribution.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "doctor/doctor.h"
#include "doctor/runtime_config.h"

static void advise_configure(struct nfd_doctor *doctor, struct nfd_diagnosis *found,
			     const struct nfd_runtime_config *config)
{
	static const char *const names[] = { "containerd", "containerd", "crio", "docker" };
	const char *name = names[config->kind];

	if (config->template) {
		nfd_advise(doctor, found,
			   "# edit %s, which the distribution makes the file from, and restart it; "
			   "in the GPU Operator: toolkit env CONTAINERD_CONFIG and "
			   "CONTAINERD_SOCKET",
			   config->template);
		return;
	}
	nfd_advise(doctor, found, "nvidia-ctk runtime configure --runtime=%s", name);
	nfd_advise(doctor, found, "systemctl restart %s", name);
}

static const char *place_name(const struct nfd_runtime_config *config)
{
	return config->path[0] ? config->path : "built-in defaults (there is no file)";
}

/* An nvidia runtime in the stock file, while this containerd reads another one. */
static bool check_wrong_file(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	struct nfd_runtime_config stock;
	struct nfd_diagnosis *found;

	if (config->kind != NFD_RUNTIME_CONTAINERD ||
	    strcmp(config->path, NFD_CONTAINERD_STOCK) == 0)
		return false;
	nfd_containerd_read(doctor->options->root, NFD_CONTAINERD_STOCK, &stock);
	if (!stock.nvidia.is_there)
		return false;
	found = nfd_find(doctor, "GPU-CRI-WRONGFILE", NFD_VERDICT_CRITICAL,
			 "the nvidia runtime is in /%s, but the containerd of this node reads /%s",
			 NFD_CONTAINERD_STOCK, place_name(config));
	nfd_prove(doctor, found, NFD_CONTAINERD_STOCK, "has runtimes.nvidia");
	nfd_prove(doctor, found, place_name(config), "has none");
	advise_configure(doctor, found, config);
	return true;
}

static bool is_imported(const struct nfd_runtime_config *config, const char *path)
{
	for (size_t i = 0; i < config->imported_count; i++)
		if (strcmp(config->imported[i], path) == 0)
			return true;
	return false;
}

/* A drop-in of the toolkit that no import covers. */
static bool check_import(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	static const char *const folders[] = { "etc/containerd/conf.d", "etc/containerd/config.d" };
	char drop_in[64];

	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++) {
		struct nfd_diagnosis *found;

		snprintf(drop_in, sizeof(drop_in), "%s/99-nvidia.toml", folders[i]);
		if (config->kind != NFD_RUNTIME_CONTAINERD || is_imported(config, drop_in) ||
		    nfd_root_exists(doctor->options->root, drop_in) <= 0)
			continue;
		found = nfd_find(doctor, "GPU-CRI-NOIMPORT", NFD_VERDICT_CRITICAL,
				 "the toolkit's drop-in /%s is there, but /%s does not import it",
				 drop_in, place_name(config));
		nfd_prove(doctor, found, place_name(config), "no imports entry covers the drop-in");
		nfd_advise(doctor, found,
			   "sed -i '1i imports = [\"/%s/*.toml\"]' /%s    # above every table",
			   folders[i], config->path[0] ? config->path : NFD_CONTAINERD_STOCK);
		nfd_advise(doctor, found, "systemctl restart containerd");
		return true;
	}
	return false;
}

/* Pods get their GPUs by CDI, from the runtime or from an NRI plugin: no nvidia runtime is wanted. */
static bool is_injected(const struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	return doctor->facts.cdi_specs > 0 && (config->is_cdi_on || doctor->facts.has_nri);
}

/* GKE's plugin mounts the library into pods itself; no runtime is wanted there. */
static bool is_mounted_by_plugin(const struct nfd_doctor_facts *facts)
{
	static const char *const folders[] = { "home/kubernetes/bin/nvidia/", "opt/nvidia/" };
	const char *path = facts->libraries.count ? facts->libraries.library[0].path : "";

	for (size_t i = 0; i < NFD_ARRAY_SIZE(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

static void check_missing(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	bool by_cdi = is_injected(doctor, config);
	bool by_plugin = is_mounted_by_plugin(&doctor->facts);
	struct nfd_diagnosis *found;

	if (check_wrong_file(doctor, config) || check_import(doctor, config))
		return;
	found = nfd_find(
		doctor, "GPU-CRI-NORUNTIME",
		by_cdi || by_plugin ? NFD_VERDICT_INFO : NFD_VERDICT_CRITICAL, "%s",
		by_plugin ?
			"the container runtime has no nvidia runtime; the device plugin of this "
			"distribution mounts the library itself" :
		by_cdi ? "the container runtime has no nvidia runtime; GPUs are injected by CDI" :
			 "the container runtime does not know the nvidia runtime: pods that ask "
			 "for it are not started");
	nfd_prove(doctor, found, place_name(config), "no runtimes.nvidia");
	if (config->replaced_by[0])
		nfd_prove(doctor, found, config->replaced_by,
			  "replaces the section that had runtimes.nvidia");
	if (config->misplaced[0])
		nfd_prove(
			doctor, found, config->misplaced,
			"has runtimes.nvidia under the plugin name of another version (the file is "
			"version %d)",
			config->version);
	if (!by_cdi && !by_plugin)
		advise_configure(doctor, found, config);
}

static void check_entry(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	const struct nfd_runtime_entry *entry = &config->nvidia;
	struct nfd_diagnosis *found;

	if (!entry->type[0] && config->kind == NFD_RUNTIME_CONTAINERD) {
		found = nfd_find(doctor, "GPU-CRI-NORTTYPE", NFD_VERDICT_CRITICAL,
				 "the nvidia runtime has no runtime_type: no pod that asks for it "
				 "starts");
		nfd_prove(doctor, found, entry->path, "runtimes.nvidia without runtime_type");
		nfd_advise(doctor, found,
			   "# add runtime_type = \"io.containerd.runc.v2\" there, then: systemctl "
			   "restart containerd");
	}
	if (!entry->binary[0] || entry->binary[0] != '/' ||
	    nfd_root_exists(doctor->options->root, entry->binary + 1) != 0)
		return;
	found = nfd_find(doctor, "GPU-CRI-BINARY", NFD_VERDICT_CRITICAL,
			 "the nvidia runtime's program %s is missing", entry->binary);
	nfd_prove(doctor, found, entry->path, "%s", entry->binary);
	nfd_prove(doctor, found, entry->binary + 1, "is missing");
	nfd_advise(doctor, found,
		   doctor->facts.manager == NFD_MANAGER_APT ?
			   "apt-get install --reinstall nvidia-container-toolkit" :
			   "# install nvidia-container-toolkit again");
	nfd_advise(
		doctor, found,
		"# with the GPU Operator: delete the toolkit's pod on this node; where /usr/local "
		"is read-only set toolkit.installDir");
}

static void check_default(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	struct nfd_diagnosis *found;

	if (strcmp(config->default_runtime, "nvidia") == 0 || is_injected(doctor, config))
		return;
	found = nfd_find(
		doctor, "GPU-CRI-NODEFAULT", NFD_VERDICT_INFO,
		"nvidia is not the default runtime: the device plugin and other pods without "
		"resource need runtimeClassName: nvidia");
	nfd_prove(doctor, found, place_name(config), "default runtime \"%s\"",
		  config->default_runtime[0] ? config->default_runtime : "runc");
}

static int64_t changed_s(const struct nfd_root *root, const char *path)
{
	struct stat st;

	return nfd_root_stat(root, path, &st) == 0 ? st.st_mtim.tv_sec : 0;
}

/* A file that is newer than the process has not been read. */
static void check_restart(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	const struct nfd_process *process =
		&doctor->facts.processes.process[NFD_PROCESS_CONTAINERD];
	const char *path = config->nvidia.path;
	int64_t changed = path[0] ? changed_s(doctor->options->root, path) : 0;
	char since[NFD_TIME_TEXT_SIZE], file[NFD_TIME_TEXT_SIZE];
	struct nfd_diagnosis *found;

	if (config->kind != NFD_RUNTIME_CONTAINERD || !process->start_s || !changed ||
	    changed <= process->start_s + 1)
		return;
	nfd_format_time(process->start_s, since);
	nfd_format_time(changed, file);
	found = nfd_find(doctor, "GPU-CRI-NOTRESTARTED", NFD_VERDICT_WARNING,
			 "containerd runs since before its configuration was changed");
	nfd_prove(doctor, found, path, "changed %s", file);
	nfd_prove(doctor, found, "proc", "containerd (pid %d) started %s", process->pid, since);
	nfd_advise(doctor, found, "systemctl restart containerd");
}

static void check_drop_in(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	struct nfd_diagnosis *found;

	if (!config->drop_in_newer[0])
		return;
	found = nfd_find(
		doctor, "GPU-CRI-DROPINVER", NFD_VERDICT_CRITICAL,
		"the drop-in /%s has version %d, above the main file's %d: containerd does "
		"not start again",
		config->drop_in_newer, config->drop_in_version, config->version);
	nfd_prove(doctor, found, config->drop_in_newer, "version = %d", config->drop_in_version);
	nfd_prove(doctor, found, config->path, "version = %d", config->version);
	nfd_advise(doctor, found, "sed -i 's/^version *=.*/version = %d/' /%s", config->version,
		   config->drop_in_newer);
	nfd_advise(doctor, found, "systemctl restart containerd");
}

void nfd_check_runtime(struct nfd_doctor *doctor)
{
	static const char *const all[] = { "GPU-CRI-DROPINVER",    "GPU-CRI-WRONGFILE",
					   "GPU-CRI-NOIMPORT",     "GPU-CRI-NORUNTIME",
					   "GPU-CRI-NORTTYPE",     "GPU-CRI-BINARY",
					   "GPU-CRI-NOTRESTARTED", "GPU-CRI-NODEFAULT" };
	const struct nfd_runtime_config *config = &doctor->facts.runtime;
	const char *why = NULL;

	if (config->kind == NFD_RUNTIME_NONE)
		why = "no container runtime is found (containerd, CRI-O, Docker)";
	else if (config->error[0])
		why = config->error;
	else if (!config->path[0] && doctor->facts.is_partial)
		why = "its configuration is not below the root, which has only some folders of the "
		      "host";
	for (size_t i = 0; why && i < NFD_ARRAY_SIZE(all); i++)
		nfd_skip(doctor, all[i], "%s", why);
	if (why)
		return;
	check_drop_in(doctor, config);
	if (!config->nvidia.is_there) {
		check_missing(doctor, config);
		return;
	}
	check_entry(doctor, config);
	check_restart(doctor, config);
	check_default(doctor, config);
}
