// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of links and rows, and the rules of the verdict (spec gpu-stack.md 6.1): the first
 * broken link is the cause, what is broken behind it is blocked by it.
 */
#include "config.h"

#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum link {
	LINK_PRESENCE,
	LINK_DRIVER,
	LINK_START,
	LINK_DEVICES,
	LINK_LIBRARY,
	LINK_NVML,
	LINK_FABRIC,
	LINK_RUNTIME,
	LINK_CDI,
	LINK_OPERATOR,
	LINK_PLUGIN,
	LINK_NODE,
	LINK_DCGM,
	LINK_LABELS,
	LINK_PINS,
	LINK_LEFTOVERS,
};

/* clang-format off */
static const struct nfd_link links[] = {
	[LINK_PRESENCE] = { "presence", "a GPU is on the PCI bus", false, true, nfd_check_presence },
	[LINK_DRIVER] = { "driver", "the nvidia driver is loaded and holds every GPU", false, false, nfd_check_driver },
	[LINK_START] = { "start", "every GPU has started and works", false, false, nfd_check_start },
	[LINK_DEVICES] = { "devices", "the device nodes are there", false, false, nfd_check_devices },
	[LINK_LIBRARY] = { "library", "the user-space library fits the loaded module", false, false, nfd_check_library },
	[LINK_NVML] = { "nvml", "NVML starts and sees every GPU", false, false, nfd_check_nvml },
	[LINK_FABRIC] = { "fabric", "fabric manager and persistence daemon run where they are needed", false, false, nfd_check_fabric },
	[LINK_RUNTIME] = { "runtime", "the container runtime knows the nvidia runtime", false, false, nfd_check_runtime },
	[LINK_CDI] = { "cdi", "CDI specifications fit the driver", false, false, nfd_check_cdi },
	[LINK_OPERATOR] = { "operator", "the GPU Operator's validations have passed", false, false, nfd_check_operator },
	[LINK_PLUGIN] = { "plugin", "the device plugin is registered with the kubelet", false, false, nfd_check_plugin },
	[LINK_NODE] = { "node", "the Node advertises its GPUs", false, false, nfd_check_node },
	[LINK_DCGM] = { "dcgm", "dcgm-exporter answers", false, false, nfd_check_dcgm },
	[LINK_LABELS] = { "labels", "the labels that operators select on are on the Node", true, false, nfd_check_labels },
	[LINK_PINS] = { "pins", "driver packages cannot move by themselves", true, false, nfd_check_pins },
	[LINK_LEFTOVERS] = { "leftovers", "no old hooks and no two writers of one label", true, true, nfd_check_leftovers },
};

static const struct nfd_row rows[] = {
	{ "GPU-PCI-NONE", LINK_PRESENCE, "no NVIDIA GPU on the PCI bus" },

	{ "GPU-DRV-NOUVEAU", LINK_DRIVER, "the nouveau driver holds a GPU" },
	{ "GPU-DRV-NOVA", LINK_DRIVER, "the nova_core driver holds a GPU" },
	{ "GPU-DRV-VFIO", LINK_DRIVER, "GPUs are reserved for virtual machines" },
	{ "GPU-DRV-ABSENT", LINK_DRIVER, "no NVIDIA driver is installed" },
	{ "GPU-DRV-NOMODULE", LINK_DRIVER, "no nvidia module for the running kernel" },
	{ "GPU-DRV-SECUREBOOT", LINK_DRIVER, "Secure Boot rejects the module" },
	{ "GPU-DRV-NOTLOADED", LINK_DRIVER, "the nvidia module is installed but not loaded" },
	{ "GPU-DRV-UVMWEDGED", LINK_DRIVER, "nvidia_uvm hangs while it is unloaded" },

	{ "GPU-HW-XID79", LINK_START, "a GPU fell off the bus" },
	{ "GPU-DRV-LEGACY", LINK_START, "the driver branch has dropped this GPU" },
	{ "GPU-DRV-FLAVOUR", LINK_START, "the module's flavour does not fit the GPU" },
	{ "GPU-DRV-GSPFW", LINK_START, "the GPU firmware of this driver version is missing" },
	{ "GPU-HW-EXCLUDED", LINK_START, "a GPU is excluded by an option" },
	{ "GPU-DRV-INIT", LINK_START, "a GPU did not start" },
	{ "GPU-HW-XID", LINK_START, "a GPU reported a hardware fault" },

	{ "GPU-DEV-NODES", LINK_DEVICES, "device nodes are missing or wrong" },
	{ "GPU-DEV-CHARLINK", LINK_DEVICES, "links in /dev/char are missing" },

	{ "GPU-DRV-TWOLIBS", LINK_LIBRARY, "two versions of the library are installed" },
	{ "GPU-DRV-MISMATCH", LINK_LIBRARY, "library and loaded module differ" },
	{ "GPU-DRV-KMODLAG", LINK_LIBRARY, "library differs; the module on disk is the loaded one" },
	{ "GPU-LIB-MISSING", LINK_LIBRARY, "the NVIDIA library is not found" },
	{ "GPU-DRV-RELOAD-PENDING", LINK_LIBRARY, "the module on disk is newer than the loaded one" },

	{ "GPU-NVML-HANG", LINK_NVML, "NVML does not answer" },
	{ "GPU-NVML-INIT", LINK_NVML, "NVML does not start" },

	{ "GPU-FM-MISSING", LINK_FABRIC, "fabric manager is needed and does not run" },
	{ "GPU-FM-MISMATCH", LINK_FABRIC, "fabric manager has another version than the driver" },
	{ "GPU-PERSISTD-SOCK", LINK_FABRIC, "a CDI specification wants the persistence daemon's socket" },

	{ "GPU-CRI-DROPINVER", LINK_RUNTIME, "a containerd drop-in has a higher version than the main file" },
	{ "GPU-CRI-WRONGFILE", LINK_RUNTIME, "the nvidia runtime is in a file that is not read" },
	{ "GPU-CRI-NOIMPORT", LINK_RUNTIME, "a containerd drop-in is not imported" },
	{ "GPU-CRI-NORUNTIME", LINK_RUNTIME, "the container runtime does not know the nvidia runtime" },
	{ "GPU-CRI-NORTTYPE", LINK_RUNTIME, "the nvidia runtime has no runtime_type" },
	{ "GPU-CRI-BINARY", LINK_RUNTIME, "the nvidia runtime's program is missing" },
	{ "GPU-CRI-NOTRESTARTED", LINK_RUNTIME, "containerd runs with an older configuration" },
	{ "GPU-CRI-NODEFAULT", LINK_RUNTIME, "nvidia is not the default runtime" },

	{ "GPU-CDI-STALE", LINK_CDI, "a CDI specification is of another driver version" },
	{ "GPU-CDI-UNRESOLVED", LINK_CDI, "no CDI specification of NVIDIA is there" },
	{ "GPU-CDI-OFF", LINK_CDI, "the container runtime has CDI switched off" },

	{ "GPU-OP-HOSTMISREAD", LINK_OPERATOR, "the validator takes a broken host driver for none" },
	{ "GPU-OP-DRVCTR-WAIT", LINK_OPERATOR, "the driver container is not ready" },
	{ "GPU-OP-STALEMOUNT", LINK_OPERATOR, "a validator looks at a directory that was replaced" },
	{ "GPU-OP-DRVMGR-BUSY", LINK_OPERATOR, "something holds the driver that is to be replaced" },
	{ "GPU-TK-NOTREADY", LINK_OPERATOR, "the toolkit validation has not passed" },
	{ "GPU-VAL-CUDA", LINK_OPERATOR, "the CUDA validation has not passed" },
	{ "GPU-MOFED-WAIT", LINK_OPERATOR, "the driver waits for the network driver" },
	{ "GPU-MPS-DAEMON", LINK_OPERATOR, "the MPS control daemon is missing" },

	{ "GPU-DP-WRONGDIR", LINK_PLUGIN, "the kubelet uses another device-plugins directory" },
	{ "GPU-DP-NOTREG", LINK_PLUGIN, "no NVIDIA device plugin is registered" },
	{ "GPU-DP-DEADSOCK", LINK_PLUGIN, "the device plugin is gone or missed a kubelet restart" },
	{ "GPU-DP-NODEV", LINK_PLUGIN, "the device plugin runs and offers no GPU" },
	{ "GPU-DP-UNHEALTHY", LINK_PLUGIN, "the device plugin holds GPUs for unhealthy" },
	{ "GPU-DP-REBOOTADMIT", LINK_PLUGIN, "pods were admitted before the plugin registered" },

	{ "GPU-OP-DISABLED", LINK_NODE, "the GPU Operator is switched off for this node" },
	{ "GPU-OP-PAUSED", LINK_NODE, "a driver upgrade has paused the operands" },
	{ "GPU-OP-UPGRADESTUCK", LINK_NODE, "a driver upgrade is stuck" },
	{ "GPU-OP-NOOSLABEL", LINK_NODE, "the Node lacks kernel or system labels" },
	{ "GPU-DP-LEFTOVER", LINK_NODE, "the Node advertises resources that are gone" },
	{ "GPU-MIG-INVALID", LINK_NODE, "the MIG layout is not valid for the strategy" },
	{ "GPU-MIG-PENDING", LINK_NODE, "a MIG change waits for a reset" },
	{ "GPU-IMEX-CHANNEL", LINK_NODE, "there is no IMEX channel" },
	{ "GPU-VGPU-LICENSE", LINK_NODE, "the vGPU guest has no licence" },
	{ "GPU-NODE-CAPACITY", LINK_NODE, "the Node advertises fewer GPUs than it has" },

	{ "GPU-DCGM-DOWN", LINK_DCGM, "dcgm-exporter answers with an error" },
	{ "GPU-DCGM-EMPTY", LINK_DCGM, "dcgm-exporter has no data of some GPUs" },

	{ "GPU-NFD-NOLABEL", LINK_LABELS, "the Node lacks the NVIDIA PCI label" },
	{ "GPU-NFD-CLASS", LINK_LABELS, "the Node has the NVIDIA PCI label in another form only" },
	{ "GPU-NFD-FEATFILE", LINK_LABELS, "NFD skips a feature file" },
	{ "GPU-GFD-NOLABEL", LINK_LABELS, "gpu-feature-discovery gives no product label" },
	{ "GPU-GFD-BADVALUE", LINK_LABELS, "a feature file has a value that is no label value" },
	{ "GPU-GFD-MIXED", LINK_LABELS, "GPUs of several models share one product label" },

	{ "GPU-DRV-UNPINNED", LINK_PINS, "driver packages can be upgraded automatically" },
	{ "GPU-DRV-PINPARTIAL", LINK_PINS, "only a part of the driver packages is held" },

	{ "GPU-NFD-HOOKS", LINK_LEFTOVERS, "hooks that NFD no longer runs" },
	{ "GPU-NFD-TWOWRITERS", LINK_LEFTOVERS, "two feature files set one label" },
	{ "GPU-NFD-ACTIVE", LINK_LEFTOVERS, "the patcher is always on beside an NFD" },
};
/* clang-format on */

static const char *const verdict_names[] = {
	[NFD_VERDICT_OK] = "ok",
	[NFD_VERDICT_NOT_CHECKED] = "not-checked",
	[NFD_VERDICT_INFO] = "info",
	[NFD_VERDICT_WARNING] = "warning",
	[NFD_VERDICT_CRITICAL] = "critical",
};

const struct nfd_link *nfd_links(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(links);
	return links;
}

const struct nfd_row *nfd_rows(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(rows);
	return rows;
}

const char *nfd_verdict_name(enum nfd_verdict verdict)
{
	return verdict_names[verdict];
}

static size_t position_of(const char *id)
{
	size_t i = 0;

	while (i < NFD_ARRAY_SIZE(rows) && strcmp(rows[i].id, id) != 0)
		i++;
	return i;
}

static void empty(struct nfd_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->evidence_count; i++) {
		free(diagnosis->evidence[i].path);
		free(diagnosis->evidence[i].value);
	}
	for (size_t i = 0; i < diagnosis->fix_count; i++)
		free(diagnosis->fix[i]);
	free(diagnosis->evidence);
	free(diagnosis->fix);
	free(diagnosis->cause);
	*diagnosis = (struct nfd_diagnosis){ 0 };
}

/*
 * Where a row's words go: its own place, emptied of what was less bad; as it is when the same verdict
 * was found before, to add to it; the scratch place (behind the last row) when a worse one stands.
 */
static struct nfd_diagnosis *place(struct nfd_doctor *doctor, const char *id,
				   enum nfd_verdict verdict)
{
	size_t at = position_of(id);

	if (at < NFD_ARRAY_SIZE(rows) && doctor->diagnosis[at].verdict > verdict)
		at = NFD_ARRAY_SIZE(rows);
	if (at == NFD_ARRAY_SIZE(rows) || doctor->diagnosis[at].verdict != verdict)
		empty(&doctor->diagnosis[at]);
	doctor->diagnosis[at].verdict = verdict;
	return &doctor->diagnosis[at];
}

static char *format(struct nfd_doctor *doctor, const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0) {
		doctor->error = -ENOMEM;
		return NULL;
	}
	return text;
}

struct nfd_diagnosis *nfd_find(struct nfd_doctor *doctor, const char *id, enum nfd_verdict verdict,
			       const char *fmt, ...)
{
	struct nfd_diagnosis *diagnosis = place(doctor, id, verdict);
	va_list args;

	if (diagnosis->cause)
		return diagnosis;
	va_start(args, fmt);
	diagnosis->cause = format(doctor, fmt, args);
	va_end(args);
	return diagnosis;
}

void nfd_skip(struct nfd_doctor *doctor, const char *id, const char *fmt, ...)
{
	struct nfd_diagnosis *diagnosis = place(doctor, id, NFD_VERDICT_NOT_CHECKED);
	va_list args;

	if (diagnosis->cause)
		return;
	va_start(args, fmt);
	diagnosis->cause = format(doctor, fmt, args);
	va_end(args);
}

void nfd_skip_link(struct nfd_doctor *doctor, size_t link, const char *reason)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++)
		if (rows[i].link == link)
			nfd_skip(doctor, rows[i].id, "%s", reason);
}

bool nfd_found(const struct nfd_doctor *doctor, const char *id, enum nfd_verdict least)
{
	return doctor->diagnosis[position_of(id)].verdict >= least;
}

void nfd_prove(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis, const char *path,
	       const char *fmt, ...)
{
	struct nfd_evidence added = { .path = strdup(path) };
	struct nfd_evidence *bigger = NULL;
	va_list args;
	bool known = false;

	va_start(args, fmt);
	added.value = format(doctor, fmt, args);
	va_end(args);
	for (size_t i = 0; added.path && added.value && i < diagnosis->evidence_count; i++)
		known |= strcmp(diagnosis->evidence[i].path, added.path) == 0 &&
			 strcmp(diagnosis->evidence[i].value, added.value) == 0;
	if (added.path && added.value && !known)
		bigger = realloc(diagnosis->evidence,
				 (diagnosis->evidence_count + 1) * sizeof(*bigger));
	if (!bigger) {
		doctor->error = known ? doctor->error : -ENOMEM;
		free(added.path);
		free(added.value);
		return;
	}
	diagnosis->evidence = bigger;
	bigger[diagnosis->evidence_count++] = added;
}

void nfd_advise(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis, const char *fmt, ...)
{
	char **bigger = NULL, *added;
	va_list args;
	bool known = false;

	va_start(args, fmt);
	added = format(doctor, fmt, args);
	va_end(args);
	for (size_t i = 0; added && i < diagnosis->fix_count; i++)
		known |= strcmp(diagnosis->fix[i], added) == 0;
	if (added && !known)
		bigger = realloc(diagnosis->fix, (diagnosis->fix_count + 1) * sizeof(*bigger));
	if (!bigger) {
		doctor->error = known ? doctor->error : -ENOMEM;
		free(added);
		return;
	}
	diagnosis->fix = bigger;
	bigger[diagnosis->fix_count++] = added;
}

const char *nfd_doctor_node(const struct nfd_doctor *doctor)
{
	const struct nfd_api_place *place = doctor->options->outputs->api.place;

	/* Below another root this host's own name is not that of the node. */
	if (!place || !place->node_name[0] ||
	    (strcmp(doctor->options->root->path, "/") != 0 && place->node_origin &&
	     strcmp(place->node_origin, "host name") == 0))
		return "<node>";
	return place->node_name;
}

void nfd_advise_drain(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis)
{
	nfd_advise(doctor, diagnosis, "kubectl drain %s --ignore-daemonsets --delete-emptydir-data",
		   nfd_doctor_node(doctor));
}

void nfd_advise_undrain(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis)
{
	nfd_advise(doctor, diagnosis, "kubectl uncordon %s", nfd_doctor_node(doctor));
}

void nfd_advise_reload(struct nfd_doctor *doctor, struct nfd_diagnosis *diagnosis)
{
	nfd_advise(doctor, diagnosis,
		   "rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia && modprobe -a nvidia "
		   "nvidia_uvm    # or: reboot");
}

/* The first broken link of the chain explains what is broken behind it. */
static void judge(struct nfd_doctor *doctor)
{
	size_t broken = NFD_ARRAY_SIZE(links);

	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++) {
		struct nfd_diagnosis *diagnosis = &doctor->diagnosis[i];

		if (links[rows[i].link].apart || diagnosis->verdict < NFD_VERDICT_WARNING)
			continue;
		if (doctor->cause && rows[i].link > broken) {
			diagnosis->blocked_by = doctor->cause;
		} else if (!doctor->cause && diagnosis->verdict == NFD_VERDICT_CRITICAL) {
			doctor->cause = rows[i].id;
			broken = rows[i].link;
		}
	}
}

/* Every GPU given to virtual machines: the driver's part of the chain is the guests'. */
static bool is_passthrough(const struct nfd_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (strcmp(facts->gpu[i].driver, "vfio-pci") != 0 &&
		    strcmp(facts->gpu[i].driver, "nvgrace_gpu_vfio_pci") != 0)
			return false;
	return facts->gpu_count > 0;
}

/* Why a link is not looked at; NULL when it is. */
static const char *why_not(const struct nfd_doctor *doctor, size_t link)
{
	/* A pod without folders of the host (deploy/): missing devices and libraries are no finding. */
	if (link > LINK_PRESENCE && doctor->facts.is_foreign)
		return "etc/os-release names no system: the files below the root are not a host's";
	if (links[link].always)
		return NULL;
	if (doctor->facts.gpu_count == 0)
		return "there is no NVIDIA GPU";
	if (link > LINK_DRIVER && link < LINK_LABELS && is_passthrough(&doctor->facts))
		return "every GPU is reserved for virtual machines";
	return NULL;
}

int nfd_doctor_run(struct nfd_doctor *doctor, const struct nfd_doctor_options *options,
		   struct nfd_error *err)
{
	*doctor = (struct nfd_doctor){ .options = options };
	doctor->diagnosis = calloc(NFD_ARRAY_SIZE(rows) + 1, sizeof(*doctor->diagnosis));
	if (!doctor->diagnosis || nfd_doctor_facts_read(&doctor->facts, options) < 0)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(links); i++) {
		const char *why = why_not(doctor, i);

		if (why)
			nfd_skip_link(doctor, i, why);
		else
			links[i].run(doctor);
	}
	empty(&doctor->diagnosis[NFD_ARRAY_SIZE(rows)]);
	judge(doctor);
	return doctor->error ? nfd_error_set(err, doctor->error, "out of memory") : 0;
}

void nfd_doctor_done(struct nfd_doctor *doctor)
{
	for (size_t i = 0; doctor->diagnosis && i <= NFD_ARRAY_SIZE(rows); i++)
		empty(&doctor->diagnosis[i]);
	free(doctor->diagnosis);
	doctor->diagnosis = NULL;
	nfd_doctor_facts_done(&doctor->facts);
}

enum nfd_verdict nfd_doctor_worst(const struct nfd_doctor *doctor)
{
	enum nfd_verdict worst = NFD_VERDICT_OK;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(rows); i++)
		if (doctor->diagnosis[i].verdict > worst &&
		    doctor->diagnosis[i].verdict != NFD_VERDICT_NOT_CHECKED)
			worst = doctor->diagnosis[i].verdict;
	return worst == NFD_VERDICT_OK && nfd_doctor_is_undecided(doctor) ?
		       NFD_VERDICT_NOT_CHECKED :
		       worst;
}

bool nfd_doctor_is_undecided(const struct nfd_doctor *doctor)
{
	return doctor->diagnosis[position_of("GPU-PCI-NONE")].verdict == NFD_VERDICT_NOT_CHECKED;
}
