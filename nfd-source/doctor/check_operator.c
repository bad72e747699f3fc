// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The GPU Operator's traces on the node: its validation files, its driver container, its validator.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

#define VALIDATIONS "run/nvidia/validations"

static bool has_stage(const struct nfd_doctor *doctor, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), VALIDATIONS "/%s", name);
	return nfd_root_exists(doctor->options->root, path) > 0;
}

/* One stage has passed, the next one has not. */
static void check_stage(struct nfd_doctor *doctor, const char *id, const char *before,
			const char *stage, const char *cause, const char *advice)
{
	struct nfd_diagnosis *found;
	char path[96];

	if (!has_stage(doctor, before) || has_stage(doctor, stage))
		return;
	found = nfd_find(doctor, id, NFD_VERDICT_WARNING, "%s", cause);
	snprintf(path, sizeof(path), VALIDATIONS "/%s", before);
	nfd_prove(doctor, found, path, "is there");
	snprintf(path, sizeof(path), VALIDATIONS "/%s", stage);
	nfd_prove(doctor, found, path, "is missing");
	nfd_advise(doctor, found, "%s", advice);
}

/* The trap: with a broken host driver nvidia-smi fails, and the validator takes that for none. */
static void check_misread(struct nfd_doctor *doctor)
{
	bool broken = nfd_found(doctor, "GPU-DRV-MISMATCH", NFD_VERDICT_CRITICAL) ||
		      nfd_found(doctor, "GPU-DRV-KMODLAG", NFD_VERDICT_CRITICAL) ||
		      nfd_found(doctor, "GPU-NVML-INIT", NFD_VERDICT_CRITICAL);
	struct nfd_diagnosis *found;

	if (!broken || doctor->facts.has_driver_container || has_stage(doctor, "driver-ready"))
		return;
	found = nfd_find(
		doctor, "GPU-OP-HOSTMISREAD", NFD_VERDICT_WARNING,
		"the operator's validator says \"No pre-installed driver detected\" and waits, "
		"although the host has a driver: nvidia-smi fails on the host");
	nfd_prove(doctor, found, VALIDATIONS "/driver-ready", "is missing");
	nfd_advise(doctor, found, "# mend the host's driver, not the operator");
}

static void check_driver_container(struct nfd_doctor *doctor)
{
	const char *deploy = nfd_node_label(&doctor->facts, "nvidia.com/gpu.deploy.driver");
	bool meant = (deploy && strcmp(deploy, "true") == 0) ||
		     nfd_root_exists(doctor->options->root, "run/nvidia/nvidia-driver.pid") > 0;
	struct nfd_diagnosis *found;

	if (!meant || has_stage(doctor, ".driver-ctr-ready"))
		return;
	found = nfd_find(doctor, "GPU-OP-DRVCTR-WAIT", NFD_VERDICT_WARNING,
			 "the driver container is not ready: it compiles, or it failed");
	nfd_prove(doctor, found, VALIDATIONS "/.driver-ctr-ready", "is missing");
	nfd_advise(doctor, found,
		   "kubectl logs -n gpu-operator -l app=nvidia-driver-daemonset --field-selector "
		   "spec.nodeName=%s --tail=50",
		   nfd_doctor_node(doctor));
}

/* A validator that runs since before the driver's directory was replaced. */
static void check_stale_mount(struct nfd_doctor *doctor)
{
	int pid = doctor->facts.processes.process[NFD_PROCESS_VALIDATOR].pid;
	cleanup_free char *text = NULL;
	struct nfd_diagnosis *found;
	char path[64];
	const char *at;

	snprintf(path, sizeof(path), "proc/%d/mountinfo", pid);
	if (!pid || nfd_root_read_alloc(doctor->options->root, path, 1024 * 1024, &text) <= 0)
		return;
	at = strstr(text, "//deleted /run/nvidia/driver");
	if (!at)
		return;
	found = nfd_find(doctor, "GPU-OP-STALEMOUNT", NFD_VERDICT_CRITICAL,
			 "a validator looks at a driver directory that was replaced under it, and "
			 "waits for ever");
	nfd_prove(doctor, found, path, "%.*s", (int)strcspn(at, "\n"), at);
	nfd_advise(doctor, found,
		   "kubectl delete pod -n gpu-operator -l app=nvidia-operator-validator "
		   "--field-selector spec.nodeName=%s",
		   nfd_doctor_node(doctor));
}

/* Modules that hold nvidia beside its own parts. */
static void check_busy(struct nfd_doctor *doctor)
{
	static const char *const holders[] = { "gdrdrv", "nvidia_peermem", "nvidia_fs" };
	const char *state = nfd_node_label(&doctor->facts, "nvidia.com/gpu-driver-upgrade-state");
	struct nfd_diagnosis *found;
	char path[64];

	/* Only where the driver is to be replaced is a holder a fault. */
	if (!state || strcmp(state, "upgrade-done") == 0)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(holders); i++) {
		snprintf(path, sizeof(path), "sys/module/%s", holders[i]);
		if (nfd_root_exists(doctor->options->root, path) <= 0)
			continue;
		found = nfd_find(
			doctor, "GPU-OP-DRVMGR-BUSY", NFD_VERDICT_WARNING,
			"the driver is to be replaced, and the module %s holds the loaded one",
			holders[i]);
		nfd_prove(doctor, found, path, "is there");
		nfd_prove(doctor, found, "Node nvidia.com/gpu-driver-upgrade-state", "%s", state);
		nfd_advise_drain(doctor, found);
		nfd_advise(doctor, found, "systemctl disable --now nvidia-persistenced");
		nfd_advise(doctor, found, "rmmod %s", holders[i]);
	}
}

static void check_mofed(struct nfd_doctor *doctor)
{
	const char *wait = nfd_node_label(&doctor->facts, "network.nvidia.com/operator.mofed.wait");
	struct nfd_diagnosis *found;

	if (!wait || strcmp(wait, "true") != 0 ||
	    nfd_root_exists(doctor->options->root, "run/mellanox/drivers/.driver-ready") > 0)
		return;
	found = nfd_find(doctor, "GPU-MOFED-WAIT", NFD_VERDICT_WARNING,
			 "the driver waits for the network operator's driver");
	nfd_prove(doctor, found, "Node network.nvidia.com/operator.mofed.wait", "%s", wait);
	nfd_prove(doctor, found, "run/mellanox/drivers/.driver-ready", "is missing");
	nfd_advise(
		doctor, found,
		"# mend the network operator, or set driver.rdma.useHostMofed=true in the chart");
}

static void check_mps(struct nfd_doctor *doctor)
{
	const char *strategy = nfd_node_label(&doctor->facts, "nvidia.com/gpu.sharing-strategy");
	struct nfd_diagnosis *found;

	if (!strategy || strcmp(strategy, "mps") != 0 ||
	    nfd_root_exists(doctor->options->root, "run/nvidia/mps/.ready") > 0)
		return;
	found = nfd_find(doctor, "GPU-MPS-DAEMON", NFD_VERDICT_WARNING,
			 "GPUs are shared by MPS, and its control daemon is not ready");
	nfd_prove(doctor, found, "Node nvidia.com/gpu.sharing-strategy", "%s", strategy);
	nfd_prove(doctor, found, "run/nvidia/mps/.ready", "is missing");
	nfd_advise(doctor, found, "kubectl label node %s nvidia.com/mps.capable=true --overwrite",
		   nfd_doctor_node(doctor));
}

void nfd_check_operator(struct nfd_doctor *doctor)
{
	static const char *const all[] = { "GPU-OP-HOSTMISREAD", "GPU-OP-DRVCTR-WAIT",
					   "GPU-TK-NOTREADY", "GPU-VAL-CUDA" };

	check_mofed(doctor);
	check_mps(doctor);
	check_busy(doctor);
	if (nfd_root_exists(doctor->options->root, VALIDATIONS) <= 0) {
		for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
			nfd_skip(doctor, all[i],
				 VALIDATIONS " is not there: no GPU Operator on this node");
		return;
	}
	check_misread(doctor);
	check_driver_container(doctor);
	check_stale_mount(doctor);
	check_stage(doctor, "GPU-TK-NOTREADY", "driver-ready", "toolkit-ready",
		    "the toolkit validation has not passed: nvidia-smi was not injected into its "
		    "container; the device plugin and the exporters wait for it",
		    "# see the findings of the container runtime and of CDI; else delete the "
		    "toolkit's pod on this node");
	check_stage(doctor, "GPU-VAL-CUDA", "toolkit-ready", "cuda-ready",
		    "the CUDA validation has not passed: the driver is too old for its image, "
		    "nvidia_uvm is missing, or the fabric is not ready",
		    "kubectl logs -n gpu-operator -l app=nvidia-cuda-validator --tail=50");
}
