// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The container runtime's effective configuration: which file counts depends on the distribution.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "doctor/doctor.h"
#include "doctor/runtime_config.h"

/* Where a containerd keeps its configuration, the special ones first. */
static const struct {
	const char *path;
	const char *folder;   /* its presence means that this distribution is here */
	const char *template; /* what a person edits instead */
} places[] = {
	{ "var/lib/rancher/k3s/agent/etc/containerd/config.toml", "var/lib/rancher/k3s/agent",
	  "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl" },
	{ "var/lib/rancher/rke2/agent/etc/containerd/config.toml", "var/lib/rancher/rke2/agent",
	  "/var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl" },
	{ "var/snap/microk8s/current/args/containerd.toml", "var/snap/microk8s/current",
	  "/var/snap/microk8s/current/args/containerd-template.toml" },
	{ "etc/k0s/containerd.toml", "etc/k0s", "/etc/k0s/containerd.d/" },
	{ "etc/containerd/config.toml", "etc/containerd", NULL },
};

#define STOCK "etc/containerd/config.toml"

/* The file that the running containerd was told, else the one of this distribution. */
static const char *find_path(const struct nfd_doctor *doctor, const char **ret_template)
{
	const char *told = doctor->facts.processes.process[NFD_PROCESS_CONTAINERD].config;

	*ret_template = NULL;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(places); i++) {
		bool is_told = told[0] == '/' && strcmp(told + 1, places[i].path) == 0;

		if (is_told ||
		    (!told[0] && nfd_root_exists(doctor->options->root, places[i].folder) > 0)) {
			*ret_template = places[i].template;
			return places[i].path;
		}
	}
	return told[0] == '/' ? told + 1 : NULL;
}

static void advise_configure(struct nfd_doctor *doctor, struct nfd_diagnosis *found,
			     const struct nfd_runtime_config *config, const char *template)
{
	static const char *const names[] = { "containerd", "containerd", "crio", "docker" };
	const char *name = names[config->kind];

	if (template) {
		nfd_advise(doctor, found,
			   "# edit %s, which the distribution makes the file from, and restart it; "
			   "in the GPU Operator: toolkit env CONTAINERD_CONFIG and "
			   "CONTAINERD_SOCKET",
			   template);
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
static bool check_wrong_file(struct nfd_doctor *doctor, const struct nfd_runtime_config *config,
			     const char *template)
{
	struct nfd_runtime_config stock;
	struct nfd_diagnosis *found;

	if (config->kind != NFD_RUNTIME_CONTAINERD || strcmp(config->path, STOCK) == 0)
		return false;
	nfd_containerd_read(doctor->options->root, STOCK, &stock);
	if (!stock.nvidia.is_there)
		return false;
	found = nfd_find(doctor, "GPU-CRI-WRONGFILE", NFD_VERDICT_CRITICAL,
			 "the nvidia runtime is in /%s, but the containerd of this node reads /%s",
			 STOCK, place_name(config));
	nfd_prove(doctor, found, STOCK, "has runtimes.nvidia");
	nfd_prove(doctor, found, place_name(config), "has none");
	advise_configure(doctor, found, config, template);
	return true;
}

/* A drop-in of the toolkit that no import covers. */
static bool check_import(struct nfd_doctor *doctor, const struct nfd_runtime_config *config)
{
	static const char *const drop_ins[] = { "etc/containerd/conf.d/99-nvidia.toml",
						"etc/containerd/config.d/99-nvidia.toml" };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(drop_ins); i++) {
		struct nfd_diagnosis *found;

		if (config->kind != NFD_RUNTIME_CONTAINERD ||
		    nfd_root_exists(doctor->options->root, drop_ins[i]) <= 0)
			continue;
		found = nfd_find(doctor, "GPU-CRI-NOIMPORT", NFD_VERDICT_CRITICAL,
				 "the toolkit's drop-in /%s is there, but /%s does not import it",
				 drop_ins[i], place_name(config));
		nfd_prove(doctor, found, place_name(config), "no imports entry covers the drop-in");
		nfd_advise(doctor, found,
			   "sed -i '1i imports = [\"/etc/containerd/conf.d/*.toml\"]' /%s    # "
			   "above every table",
			   config->path[0] ? config->path : STOCK);
		nfd_advise(doctor, found, "systemctl restart containerd");
		return true;
	}
	return false;
}

static bool has_cdi_spec(const struct nfd_root *root)
{
	return nfd_root_exists(root, "etc/cdi/nvidia.yaml") > 0 ||
	       nfd_root_exists(root, "var/run/cdi/nvidia.yaml") > 0 ||
	       nfd_root_exists(root, "run/cdi/nvidia.yaml") > 0;
}

static void check_missing(struct nfd_doctor *doctor, const struct nfd_runtime_config *config,
			  const char *template)
{
	bool by_cdi = config->is_cdi_on && has_cdi_spec(doctor->options->root);
	struct nfd_diagnosis *found;

	if (check_wrong_file(doctor, config, template) || check_import(doctor, config))
		return;
	found = nfd_find(
		doctor, "GPU-CRI-NORUNTIME", by_cdi ? NFD_VERDICT_INFO : NFD_VERDICT_CRITICAL,
		by_cdi ? "the container runtime has no nvidia runtime; GPUs are injected by "
			 "CDI" :
			 "the container runtime does not know the nvidia runtime: pods that "
			 "ask for it are not started");
	nfd_prove(doctor, found, place_name(config), "no runtimes.nvidia");
	if (config->misplaced[0])
		nfd_prove(
			doctor, found, config->misplaced,
			"has runtimes.nvidia under the plugin name of another version (the file is "
			"version %d)",
			config->version);
	if (!by_cdi)
		advise_configure(doctor, found, config, template);
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

	if (strcmp(config->default_runtime, "nvidia") == 0 ||
	    (config->is_cdi_on && has_cdi_spec(doctor->options->root)))
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

	return fstatat(root->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtim.tv_sec : 0;
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

/* The runtime of this node; false when none can be told. */
static bool read_config(struct nfd_doctor *doctor, struct nfd_runtime_config *config,
			const char **ret_template)
{
	const struct nfd_root *root = doctor->options->root;
	const struct nfd_process *process = doctor->facts.processes.process;
	const char *path = find_path(doctor, ret_template);
	bool has_crio = nfd_root_exists(root, "etc/crio") > 0;

	if (process[NFD_PROCESS_CRIO].pid || (has_crio && !process[NFD_PROCESS_CONTAINERD].pid)) {
		*ret_template = NULL;
		nfd_crio_read(root, config);
		return true;
	}
	if (path || process[NFD_PROCESS_CONTAINERD].pid) {
		nfd_containerd_read(root, path ? path : STOCK, config);
		return true;
	}
	if (nfd_root_exists(root, "etc/docker/daemon.json") > 0 ||
	    process[NFD_PROCESS_DOCKERD].pid) {
		nfd_docker_read(root, config);
		return true;
	}
	return false;
}

void nfd_check_runtime(struct nfd_doctor *doctor)
{
	static const char *const all[] = { "GPU-CRI-DROPINVER",    "GPU-CRI-WRONGFILE",
					   "GPU-CRI-NOIMPORT",     "GPU-CRI-NORUNTIME",
					   "GPU-CRI-NORTTYPE",     "GPU-CRI-BINARY",
					   "GPU-CRI-NOTRESTARTED", "GPU-CRI-NODEFAULT" };
	struct nfd_runtime_config config;
	const char *template, *why = NULL;

	if (!read_config(doctor, &config, &template))
		why = "no container runtime is found (containerd, CRI-O, Docker)";
	else if (config.error[0])
		why = config.error;
	for (size_t i = 0; why && i < NFD_ARRAY_SIZE(all); i++)
		nfd_skip(doctor, all[i], "%s", why);
	if (why)
		return;
	check_drop_in(doctor, &config);
	if (!config.nvidia.is_there) {
		check_missing(doctor, &config, template);
		return;
	}
	check_entry(doctor, &config);
	check_restart(doctor, &config);
	check_default(doctor, &config);
}
