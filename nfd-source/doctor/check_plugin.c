// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device plugin as the kubelet sees it: its socket, and the kubelet's checkpoint (spec
 * gpu-stack.md 4.4).
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "doctor/doctor.h"

#define FOLDER "var/lib/kubelet/device-plugins"
#define CHECKPOINT FOLDER "/kubelet_internal_checkpoint"

struct sockets {
	char path[300];    /* of the plugin's newest socket; "" for none */
	int64_t changed_s; /* its time */
	int64_t kubelet_s; /* time of kubelet.sock; 0: there is none */
};

static int64_t changed_s(const struct nfd_root *root, const char *path)
{
	struct stat st;

	return nfd_root_stat(root, path, &st) == 0 ? st.st_mtim.tv_sec : 0;
}

static bool is_plugin_socket(const char *name)
{
	size_t len = strlen(name);

	return strncmp(name, "nvidia", 6) == 0 && len > 5 && strcmp(name + len - 5, ".sock") == 0;
}

static bool read_sockets(const struct nfd_root *root, struct sockets *ret)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[300];

	*ret = (struct sockets){ 0 };
	if (nfd_root_list(root, FOLDER, &names) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		int64_t changed;

		snprintf(path, sizeof(path), FOLDER "/%.200s", names.name[i]);
		changed = changed_s(root, path);
		if (strcmp(names.name[i], "kubelet.sock") == 0)
			ret->kubelet_s = changed;
		if (is_plugin_socket(names.name[i]) && changed >= ret->changed_s) {
			ret->changed_s = changed;
			snprintf(ret->path, sizeof(ret->path), "%s", path);
		}
	}
	return true;
}

static void advise_restart(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	nfd_advise(doctor, found,
		   "kubectl delete pod -A -l app=nvidia-device-plugin-daemonset --field-selector "
		   "spec.nodeName=%s    # or: app.kubernetes.io/name=nvidia-device-plugin",
		   nfd_doctor_node(doctor));
}

static void found_not_registered(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-DP-NOTREG", NFD_VERDICT_CRITICAL,
		"no NVIDIA device plugin is registered with the kubelet, so the node has no "
		"nvidia.com/gpu");
	nfd_prove(doctor, found, FOLDER, "kubelet.sock, and no nvidia-*.sock");
	advise_restart(doctor, found);
}

static void check_sockets(struct nfd_doctor *doctor, const struct sockets *sockets)
{
	char plugin[NFD_TIME_TEXT_SIZE], kubelet[NFD_TIME_TEXT_SIZE];
	struct nfd_diagnosis *found;

	if (!sockets->path[0]) {
		found_not_registered(doctor);
		return;
	}
	if (!sockets->kubelet_s || sockets->changed_s >= sockets->kubelet_s)
		return;
	nfd_format_time(sockets->changed_s, plugin);
	nfd_format_time(sockets->kubelet_s, kubelet);
	found = nfd_find(doctor, "GPU-DP-DEADSOCK", NFD_VERDICT_WARNING,
			 "the device plugin's socket is older than the kubelet's: it may not have "
			 "registered since the kubelet was restarted");
	nfd_prove(doctor, found, sockets->path, "%s", plugin);
	nfd_prove(doctor, found, FOLDER "/kubelet.sock", "%s", kubelet);
	advise_restart(doctor, found);
}

/* Devices of a resource in the checkpoint: by NUMA node in a list each, or one list. */
static size_t registered(const cJSON *resources, const char *prefix)
{
	const cJSON *resource;
	size_t count = 0;

	cJSON_ArrayForEach(resource, resources)
		if (strncmp(resource->string, prefix, strlen(prefix)) == 0)
			count += (size_t)cJSON_GetArraySize(resource);
	return count;
}

/* A kubelet that was told of a GPU less than there are. */
static void check_devices(struct nfd_doctor *doctor, const cJSON *resources)
{
	size_t whole = registered(resources, "nvidia.com/gpu");
	size_t mig = registered(resources, "nvidia.com/mig-");
	bool running = doctor->facts.processes.process[NFD_PROCESS_DEVICE_PLUGIN].pid > 0;
	struct nfd_diagnosis *found;

	if (whole + mig > 0)
		return;
	found = nfd_find(
		doctor, running ? "GPU-DP-NODEV" : "GPU-DP-NOTREG", NFD_VERDICT_CRITICAL,
		running ? "the device plugin runs and offers no GPU: it started before the "
			  "driver was ready, and gave up" :
			  "the kubelet knows no NVIDIA device: the plugin is not registered");
	nfd_prove(doctor, found, CHECKPOINT, "RegisteredDevices without nvidia.com/gpu");
	if (running)
		nfd_prove(doctor, found, "proc", "nvidia-device-plugin (pid %d)",
			  doctor->facts.processes.process[NFD_PROCESS_DEVICE_PLUGIN].pid);
	advise_restart(doctor, found);
}

static void check_boot(struct nfd_doctor *doctor, const cJSON *resources)
{
	int64_t changed = changed_s(doctor->options->root, CHECKPOINT);
	char when[NFD_TIME_TEXT_SIZE];
	struct nfd_diagnosis *found;

	if (!doctor->facts.boot_s || changed >= doctor->facts.boot_s ||
	    registered(resources, "nvidia.com/") == 0)
		return;
	nfd_format_time(changed, when);
	found = nfd_find(
		doctor, "GPU-DP-REBOOTADMIT", NFD_VERDICT_WARNING,
		"the kubelet's record of devices is older than the last boot: pods may have "
		"been admitted before the plugin registered");
	nfd_prove(doctor, found, CHECKPOINT, "%s", when);
	nfd_advise(doctor, found,
		   "kubectl delete pod -A --field-selector status.phase=Failed,spec.nodeName=%s",
		   nfd_doctor_node(doctor));
}

static void check_checkpoint(struct nfd_doctor *doctor)
{
	cleanup_free char *text = NULL;
	ssize_t len =
		nfd_root_read_alloc(doctor->options->root, CHECKPOINT, 16 * 1024 * 1024, &text);
	const cJSON *resources;
	cJSON *document;

	if (len < 0) {
		nfd_skip(doctor, "GPU-DP-NODEV", "cannot read " CHECKPOINT ": %s",
			 nfd_errno_text((int)len));
		return;
	}
	document = cJSON_Parse(text);
	resources = nfd_json_object(nfd_json_get(document, "Data"), "RegisteredDevices");
	if (resources) {
		check_devices(doctor, resources);
		check_boot(doctor, resources);
	} else {
		nfd_skip(doctor, "GPU-DP-NODEV", CHECKPOINT " holds no RegisteredDevices");
	}
	cJSON_Delete(document);
}

/* A kubelet with a root of its own: the plugin's pod must mount the folder of the live socket. */
static void check_other_folder(struct nfd_doctor *doctor)
{
	static const char *const others[] = {
		"var/lib/k0s/kubelet/device-plugins",
		"var/snap/microk8s/common/var/lib/kubelet/device-plugins"
	};
	const struct nfd_root *root = doctor->options->root;
	char one[PATH_MAX], other[PATH_MAX];
	struct nfd_diagnosis *found;

	if (nfd_root_resolve(root, FOLDER, one, sizeof(one)) < 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(others); i++) {
		if (nfd_root_resolve(root, others[i], other, sizeof(other)) < 0 ||
		    strcmp(one, other) == 0)
			continue;
		found = nfd_find(
			doctor, "GPU-DP-WRONGDIR", NFD_VERDICT_WARNING,
			"there are two device-plugins folders; a plugin that registers in the "
			"wrong one is not seen");
		nfd_prove(doctor, found, FOLDER, "is there");
		nfd_prove(doctor, found, others[i], "is there");
		nfd_advise(
			doctor, found,
			"# mount the folder that holds the live kubelet.sock into the plugin's pod");
	}
}

static void check_faults(struct nfd_doctor *doctor)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_XID, 0);
	const cJSON *allocatable = nfd_json_get(doctor->facts.node, "allocatable");
	const cJSON *capacity = nfd_json_get(doctor->facts.node, "capacity");
	const char *usable = nfd_json_text(allocatable, "nvidia.com/gpu");
	const char *all = nfd_json_text(capacity, "nvidia.com/gpu");
	struct nfd_diagnosis *found;

	if (!*all || strcmp(usable, all) == 0 || strcmp(usable, "0") == 0)
		return;
	found = nfd_find(doctor, "GPU-DP-UNHEALTHY", NFD_VERDICT_WARNING,
			 "the device plugin holds GPUs for unhealthy: %s of %s can be used", usable,
			 all);
	nfd_prove(doctor, found, "Node status.allocatable", "nvidia.com/gpu: %s", usable);
	nfd_prove(doctor, found, "Node status.capacity", "nvidia.com/gpu: %s", all);
	if (line)
		nfd_prove(doctor, found, doctor->facts.log.path, "%s", line->text);
	advise_restart(doctor, found);
}

void nfd_check_plugin(struct nfd_doctor *doctor)
{
	static const char *const all[] = { "GPU-DP-NOTREG", "GPU-DP-DEADSOCK", "GPU-DP-NODEV",
					   "GPU-DP-REBOOTADMIT" };
	struct sockets sockets;

	check_faults(doctor);
	check_other_folder(doctor);
	if (!read_sockets(doctor->options->root, &sockets)) {
		for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
			nfd_skip(doctor, all[i],
				 FOLDER " cannot be read: no kubelet here, or not mounted");
		return;
	}
	check_sockets(doctor, &sockets);
	if (sockets.path[0])
		check_checkpoint(doctor);
}
