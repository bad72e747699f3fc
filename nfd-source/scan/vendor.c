// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of vendors' own programs, and the verdict for each vendor.
 */
#include "config.h"

#include "scan/vendor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/macros.h"
#include "labels/key.h"

#define F NFD_FEATURE_PREFIX
#define I "intel.feature.node.kubernetes.io/"

static const char *const none[] = { NULL };

static const char *const nfd_keys[] = {
	F "cpu-*",     F "kernel-config.*", F "kernel-selinux.*", F "memory-*",
	F "network-*", F "storage-*",       F "rdma.*",           NULL
};
static const char *const gfd_files[] = { "gfd", NULL };
static const char *const gfd_objects[] = { "nvidia-features-for-", NULL };
static const char *const gfd_keys[] = { "nvidia.com/gfd.timestamp", "nvidia.com/gpu.product",
					"nvidia.com/gpu.count", "nvidia.com/cuda.*", NULL };
static const char *const amd_keys[] = { "amd.com/gpu.*", "beta.amd.com/gpu.*", NULL };
static const char *const intel_keys[] = { "gpu.intel.com/*", I "gpu",          I "npu",
					  I "qat",           I "dsa",          I "iaa",
					  I "dlb",           I "fpga-arria10", NULL };
static const char *const gaudi_keys[] = { I "gaudi", NULL };
static const char *const neuron_keys[] = { F "aws-neuron", NULL };

#define LABELS(name) "sources.vendor." name ".labels"

/* A new vendor is one value of enum nfd_vendor and one line here. */
/* clang-format off */
static const struct nfd_labeller table[NFD_VENDOR_COUNT] = {
	[NFD_VENDOR_NONE] = { "none", "", NULL, none, none, none, false },
	[NFD_VENDOR_NFD] = { "nfd", "sources.mode", "nfd-worker", none, none, nfd_keys, true },
	[NFD_VENDOR_NVIDIA] = { "nvidia", LABELS("nvidia"), "gpu-feature-discovery",
				gfd_files, gfd_objects, gfd_keys, false },
	[NFD_VENDOR_AMD] = { "amd", LABELS("amd"), "AMD's node labeller",
			     none, none, amd_keys, false },
	[NFD_VENDOR_INTEL] = { "intel", LABELS("intel"), "a rule of Intel's device plugins",
			       none, none, intel_keys, false },
	[NFD_VENDOR_GAUDI] = { "gaudi", LABELS("gaudi"), "a rule of Intel's Gaudi operator",
			       none, none, gaudi_keys, false },
	[NFD_VENDOR_MELLANOX] = { "mellanox", LABELS("mellanox"), NULL, none, none, none, false },
	[NFD_VENDOR_NEURON] = { "neuron", LABELS("neuron"), "a rule of the AWS Neuron operator",
				none, none, neuron_keys, false },
	[NFD_VENDOR_TPU] = { "tpu", LABELS("tpu"), NULL, none, none, none, false },
	[NFD_VENDOR_QUALCOMM] = { "qualcomm", LABELS("qualcomm"), NULL, none, none, none, false },
	[NFD_VENDOR_ASCEND] = { "ascend", LABELS("ascend"), NULL, none, none, none, false },
	[NFD_VENDOR_ALVEO] = { "alveo", LABELS("alveo"), NULL, none, none, none, false },
};
/* clang-format on */

const struct nfd_labeller *nfd_labeller(enum nfd_vendor vendor)
{
	return &table[vendor];
}

bool nfd_vendor_is_sign(const char *key)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++)
		for (const char *const *sign = table[i].keys; *sign; sign++)
			if (nfd_label_key_matches(*sign, key))
				return true;
	return false;
}

const char *nfd_vendor_words(enum nfd_vendor_verdict verdict)
{
	static const char *const words[] = { "written", "not written yet", "not written" };

	return words[verdict];
}

static void say(struct nfd_vendor_state *state, enum nfd_vendor_verdict verdict,
		const char *program, const char *what, const char *detail)
{
	state->verdict = verdict;
	snprintf(state->why, sizeof(state->why), "%s%s%.180s", program, what, detail);
}

/* Its file in features.d, by name; an unreadable folder tells nothing. */
static bool has_file(const struct nfd_labeller *labeller, const char *dir,
		     struct nfd_vendor_state *state)
{
	for (const char *const *name = labeller->files; *name; name++) {
		char path[PATH_MAX];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", dir, *name);
		if (stat(path, &status) < 0)
			continue;
		say(state, NFD_VENDOR_LEAVE, labeller->program, " writes them: ", path);
		return true;
	}
	return false;
}

/* Left to nfd-worker unless a person wants them: told with what is seen of one. */
static void leave_to_worker(const struct nfd_vendor_view *view, struct nfd_vendor_state *state)
{
	char pid[32] = "";

	if (view && view->worker_pid)
		snprintf(pid, sizeof(pid), "%d", view->worker_pid);
	say(state, NFD_VENDOR_LEAVE, "sources.mode is own",
	    *pid ? ", and nfd-worker runs here: process " : "", pid);
}

/* An nfd-worker that runs here, or that must be there for what we write to be of use. */
static bool has_worker(const struct nfd_labeller *labeller, const struct nfd_vendor_view *view,
		       struct nfd_vendor_state *state)
{
	char pid[32];

	if (labeller != &table[NFD_VENDOR_NFD] || !view)
		return false;
	if (view->worker_pid) {
		snprintf(pid, sizeof(pid), "%d", view->worker_pid);
		say(state, NFD_VENDOR_LEAVE, labeller->program, " writes them: process ", pid);
	} else if (view->file_alone) {
		say(state, NFD_VENDOR_LEAVE, "only a feature file is written, for ",
		    labeller->program, ", which has them");
	}
	return view->worker_pid || view->file_alone;
}

static void decide(const struct nfd_labeller *labeller, int mode, const char *dir,
		   const struct nfd_vendor_view *view, struct nfd_vendor_state *state)
{
	const char *seen = view ? nfd_json_text(view->seen, labeller->name) : "";
	const char *coming = view ? nfd_json_text(view->coming, labeller->name) : "";

	if (mode == NFD_VENDOR_OFF && labeller == &table[NFD_VENDOR_NFD])
		leave_to_worker(view, state);
	else if (mode == NFD_VENDOR_OFF)
		say(state, NFD_VENDOR_LEAVE, "", "the setting is off", "");
	else if (mode == NFD_VENDOR_ON && labeller == &table[NFD_VENDOR_NFD])
		say(state, NFD_VENDOR_WRITE, "", "sources.mode is all", "");
	else if (mode == NFD_VENDOR_ON)
		say(state, NFD_VENDOR_WRITE, "", "the setting is on", "");
	else if (!labeller->program)
		say(state, NFD_VENDOR_WRITE, "", "no other program writes them", "");
	else if (has_file(labeller, dir, state) || has_worker(labeller, view, state))
		return;
	else if (*seen)
		say(state, NFD_VENDOR_LEAVE, labeller->program, " writes them: ", seen);
	else if (*coming)
		say(state, NFD_VENDOR_WAIT, labeller->program,
		    " is about to, and NFD has not brought them yet: ", coming);
	else if (view && view->is_pending)
		say(state, NFD_VENDOR_WAIT, "the API server is asked for ", labeller->program, "");
	else
		say(state, NFD_VENDOR_WRITE, labeller->program, " is not here", "");
}

void nfd_vendors_decide(const struct nfd_vendor_options *options, const char *dir,
			const struct nfd_vendor_view *view, struct nfd_vendors *ret)
{
	*ret = (struct nfd_vendors){ 0 };
	for (size_t i = NFD_VENDOR_NONE + 1; i < NFD_VENDOR_COUNT; i++)
		decide(&table[i], options->labels[i], dir, view, &ret->of[i]);
}

static int add_entry(cJSON *list, const struct nfd_labeller *labeller)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON *objects = cJSON_AddArrayToObject(entry, "objects");
	cJSON *keys = cJSON_AddArrayToObject(entry, "keys");

	if (!keys || !objects || !cJSON_AddStringToObject(entry, "name", labeller->name) ||
	    (labeller->has_node_object && !cJSON_AddTrueToObject(entry, "nodeObject")) ||
	    !cJSON_AddItemToArray(list, entry)) {
		cJSON_Delete(entry);
		return -ENOMEM;
	}
	for (const char *const *text = labeller->objects; *text; text++)
		if (!cJSON_AddItemToArray(objects, cJSON_CreateString(*text)))
			return -ENOMEM;
	for (const char *const *text = labeller->keys; *text; text++)
		if (!cJSON_AddItemToArray(keys, cJSON_CreateString(*text)))
			return -ENOMEM;
	return 0;
}

int nfd_vendors_ask(const struct nfd_vendor_options *options, unsigned int found, cJSON **ret)
{
	cJSON *list = cJSON_CreateArray();
	int r = list ? 0 : -ENOMEM;

	for (size_t i = NFD_VENDOR_NONE + 1; r == 0 && i < NFD_VENDOR_COUNT; i++)
		if (found >> i & 1 && table[i].program && options->labels[i] == NFD_VENDOR_AUTO)
			r = add_entry(list, &table[i]);
	if (r < 0 || cJSON_GetArraySize(list) == 0) {
		cJSON_Delete(list);
		list = NULL;
	}
	*ret = list;
	return r;
}
