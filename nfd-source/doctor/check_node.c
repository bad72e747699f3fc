// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the Node object says: capacity, the operator's labels, MIG, IMEX, vGPU.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"
#include "doctor/doctor.h"

#define GRIDD "etc/nvidia/gridd.conf"
#define N "nvidia.com/"

static long amount(const struct nfd_doctor *doctor, const char *field, const char *resource)
{
	const char *text = nfd_json_text(nfd_json_get(doctor->facts.node, field), resource);

	return *text ? strtol(text, NULL, 10) : -1;
}

/* Sum of a kind of resource over its names ("nvidia.com/mig-1g.5gb", …). */
static long sum(const struct nfd_doctor *doctor, const char *field, const char *prefix)
{
	const cJSON *resource;
	long total = 0;

	cJSON_ArrayForEach(resource, nfd_json_object(doctor->facts.node, field))
		if (strncmp(resource->string, prefix, strlen(prefix)) == 0 &&
		    cJSON_IsString(resource))
			total += strtol(resource->valuestring, NULL, 10);
	return total;
}

/* GPUs that the driver has for containers. */
static long usable_gpus(const struct nfd_doctor_facts *facts)
{
	long count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++)
		count += strcmp(facts->gpu[i].driver, "nvidia") == 0 && !facts->gpu[i].is_excluded;
	return count;
}

/* Shared GPUs have names of their own ("nvidia.com/gpu.shared"), and are more than there are cards. */
static void check_capacity(struct nfd_doctor *doctor)
{
	long offered = sum(doctor, "capacity", N "gpu");
	long usable = sum(doctor, "allocatable", N "gpu") + sum(doctor, "allocatable", N "mig-");
	bool has_mig = sum(doctor, "capacity", N "mig-") > 0;
	long there = usable_gpus(&doctor->facts);
	struct nfd_diagnosis *found;

	if (usable > 0 && (has_mig || offered >= there))
		return;
	found = nfd_find(doctor, "GPU-NODE-CAPACITY",
			 usable > 0 ? NFD_VERDICT_WARNING : NFD_VERDICT_CRITICAL,
			 usable > 0 ? "the Node advertises fewer GPUs than the driver holds" :
				      "the Node advertises no GPU, so pods that ask for one stay "
				      "Pending");
	if (amount(doctor, "allocatable", N "gpu") < 0)
		nfd_prove(doctor, found, "Node status.allocatable", N "gpu: (missing)");
	else
		nfd_prove(doctor, found, "Node status.allocatable", N "gpu: %ld",
			  amount(doctor, "allocatable", N "gpu"));
	nfd_prove(doctor, found, NFD_PCI_DEVICES, "%ld NVIDIA GPUs of the nvidia driver", there);
	nfd_advise(
		doctor, found,
		"# the finding before this one is the reason; if there is none, delete the device "
		"plugin's pod on this node");
}

static void check_leftover(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found;

	if (amount(doctor, "capacity", N "gpu") != 0 || sum(doctor, "capacity", N "mig-") == 0)
		return;
	found = nfd_find(doctor, "GPU-DP-LEFTOVER", NFD_VERDICT_INFO,
			 "the Node lists " N
			 "gpu: 0 beside MIG resources: the kubelet keeps names that "
			 "are gone; harmless");
	nfd_prove(doctor, found, "Node status.capacity", N "gpu: 0");
	nfd_advise(doctor, found, "systemctl restart kubelet");
}

static void check_disabled(struct nfd_doctor *doctor)
{
	struct nfd_diagnosis *found, *last = NULL;
	const cJSON *label;

	cJSON_ArrayForEach(label, nfd_json_object(doctor->facts.node, "labels")) {
		const char *value = cJSON_GetStringValue(label);
		bool paused = value && strcmp(value, "paused-for-driver-upgrade") == 0;

		if (!value || strncmp(label->string, N "gpu.deploy.", 22) != 0 ||
		    (!paused && strcmp(value, "false") != 0))
			continue;
		if (paused)
			found = nfd_find(
				doctor, "GPU-OP-PAUSED", NFD_VERDICT_CRITICAL,
				"a driver upgrade has paused the operator's pods on this node, "
				"and was broken off");
		else
			found = nfd_find(
				doctor, "GPU-OP-DISABLED", NFD_VERDICT_WARNING,
				"a label switches a part of the GPU Operator off for this node");
		nfd_prove(doctor, found, label->string, "%s", value);
		if (paused)
			nfd_advise(doctor, found, "# mend the driver pod first");
		nfd_advise(doctor, found, "kubectl label node %s %s%s", nfd_doctor_node(doctor),
			   label->string, paused ? "=true --overwrite" : "-");
		last = paused ? found : last;
	}
	if (last)
		nfd_advise_undrain(doctor, last);
}

static void check_upgrade(struct nfd_doctor *doctor)
{
	const char *state = nfd_node_label(&doctor->facts, N "gpu-driver-upgrade-state");
	struct nfd_diagnosis *found;

	if (!state || strcmp(state, "upgrade-done") == 0)
		return;
	found = nfd_find(doctor, "GPU-OP-UPGRADESTUCK",
			 strcmp(state, "upgrade-failed") == 0 ? NFD_VERDICT_CRITICAL :
								NFD_VERDICT_WARNING,
			 "the operator's driver upgrade of this node is not done: %s", state);
	nfd_prove(doctor, found, "Node " N "gpu-driver-upgrade-state", "%s", state);
	nfd_advise(doctor, found,
		   "# allow pod deletion or drain in the driver's upgradePolicy, or: reboot");
}

static void check_system_labels(struct nfd_doctor *doctor)
{
	static const char *const keys[] = { NFD_F "kernel-version.full",
					    NFD_F "system-os_release.ID",
					    NFD_F "system-os_release.VERSION_ID" };
	struct nfd_diagnosis *found = NULL;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(keys); i++) {
		/* A rolling release has no VERSION_ID. */
		if (nfd_node_label(&doctor->facts, keys[i]) ||
		    (i == 2 && !doctor->facts.distro_version[0]))
			continue;
		if (!found)
			found = nfd_find(
				doctor, "GPU-OP-NOOSLABEL", NFD_VERDICT_WARNING,
				"the Node lacks labels of kernel and system, which the GPU "
				"Operator needs to choose a driver");
		nfd_prove(doctor, found, keys[i], "is missing on the Node");
	}
	if (found)
		nfd_advise(doctor, found,
			   "systemctl enable --now nfd-source    # it writes them; or "
			   "mend NFD's worker on this node");
}

static void check_mig(struct nfd_doctor *doctor)
{
	const char *product = nfd_node_label(&doctor->facts, N "gpu.product");
	const char *state = nfd_node_label(&doctor->facts, N "mig.config.state");
	const cJSON *device;
	struct nfd_diagnosis *found;

	if (product && strstr(product, "MIG-INVALID")) {
		found = nfd_find(
			doctor, "GPU-MIG-INVALID", NFD_VERDICT_CRITICAL,
			"the MIG layout is not uniform, as the strategy \"single\" wants it: no "
			"GPU is offered");
		nfd_prove(doctor, found, "Node " N "gpu.product", "%s", product);
		nfd_advise(doctor, found,
			   "kubectl label node %s " N "mig.config=all-1g.10gb --overwrite    # one "
			   "profile on all cards, or use the strategy \"mixed\"",
			   nfd_doctor_node(doctor));
	}
	cJSON_ArrayForEach(device, nfd_json_get(doctor->facts.nvml.report, "devices")) {
		const cJSON *current = nfd_json_get(device, "migMode");
		const cJSON *pending = nfd_json_get(device, "migPending");

		if (!cJSON_IsNumber(current) || !cJSON_IsNumber(pending) ||
		    current->valueint == pending->valueint)
			continue;
		found = nfd_find(doctor, "GPU-MIG-PENDING", NFD_VERDICT_WARNING,
				 "a change of the MIG mode waits for a reset of the GPU");
		nfd_prove(doctor, found, "nvmlDeviceGetMigMode", "%s: current %d, pending %d",
			  nfd_json_text(device, "busId"), current->valueint, pending->valueint);
		nfd_advise_drain(doctor, found);
		nfd_advise(doctor, found, "nvidia-smi --gpu-reset    # or: reboot");
	}
	if (!state || strcmp(state, "failed") != 0)
		return;
	found = nfd_find(doctor, "GPU-MIG-PENDING", NFD_VERDICT_WARNING,
			 "the MIG manager failed to set the layout: processes hold the GPU");
	nfd_prove(doctor, found, "Node " N "mig.config.state", "%s", state);
	nfd_advise_drain(doctor, found);
	nfd_advise(doctor, found, "nvidia-smi --gpu-reset    # or: reboot");
}

static void check_imex(struct nfd_doctor *doctor)
{
	static const char folder[] = "dev/nvidia-caps-imex-channels";
	const char *clique = nfd_node_label(&doctor->facts, N "gpu.clique");
	cleanup_names struct nfd_names names = { 0 };
	struct nfd_diagnosis *found;

	if (!clique || (nfd_root_list(doctor->options->root, folder, &names) == 0 && names.count))
		return;
	found = nfd_find(
		doctor, "GPU-IMEX-CHANNEL", NFD_VERDICT_WARNING,
		"the GPUs are in an NVLink clique, and there is no IMEX channel: jobs over "
		"several nodes fail");
	nfd_prove(doctor, found, folder, "is empty or missing");
	nfd_prove(doctor, found, "Node " N "gpu.clique", "%s", clique);
	nfd_advise(doctor, found,
		   "echo 'options nvidia NVreg_CreateImexChannel0=1' > "
		   "/etc/modprobe.d/nvidia-imex.conf    # then reload the module");
}

/* An older licence server is named in the configuration and needs no token. */
static bool names_license_server(const struct nfd_root *root)
{
	static const char key[] = "ServerAddress=";
	cleanup_free char *text = NULL;
	char *rest, *line;

	if (nfd_root_read_alloc(root, GRIDD, 64 * 1024, &text) < 0)
		return false;
	for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
		if (strncmp(nfd_trim(line), key, strlen(key)) == 0 && nfd_trim(line)[strlen(key)])
			return true;
	return false;
}

static void check_license(struct nfd_doctor *doctor)
{
	const char *vgpu = nfd_node_label(&doctor->facts, N "vgpu.present");
	const struct nfd_root *root = doctor->options->root;
	cleanup_names struct nfd_names names = { 0 };
	struct nfd_diagnosis *found;

	if (!vgpu || strcmp(vgpu, "true") != 0 ||
	    (nfd_root_list(root, "etc/nvidia/ClientConfigToken", &names) == 0 && names.count) ||
	    names_license_server(root))
		return;
	found = nfd_find(
		doctor, "GPU-VGPU-LICENSE", NFD_VERDICT_WARNING,
		"the GPU is virtual, and there is no licence token: CUDA gets slow or fails");
	nfd_prove(doctor, found, "etc/nvidia/ClientConfigToken", "is empty or missing");
	nfd_prove(doctor, found, GRIDD, "names no ServerAddress");
	nfd_advise(doctor, found,
		   "# put the client configuration token there, then: systemctl restart "
		   "nvidia-gridd");
}

void nfd_check_node(struct nfd_doctor *doctor)
{
	static const char *const all[] = {
		"GPU-OP-DISABLED",  "GPU-OP-PAUSED",    "GPU-OP-UPGRADESTUCK",
		"GPU-OP-NOOSLABEL", "GPU-DP-LEFTOVER",  "GPU-MIG-INVALID",
		"GPU-IMEX-CHANNEL", "GPU-VGPU-LICENSE", "GPU-NODE-CAPACITY",
	};

	check_mig(doctor);
	if (!doctor->facts.node) {
		for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
			nfd_skip(doctor, all[i], "the Node is not known: %s",
				 doctor->facts.node_why);
		return;
	}
	check_disabled(doctor);
	check_upgrade(doctor);
	check_system_labels(doctor);
	check_leftover(doctor);
	check_imex(doctor);
	check_license(doctor);
	check_capacity(doctor);
}
