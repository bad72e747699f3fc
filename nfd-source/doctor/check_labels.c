// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels: what is on the Node, and whether NFD can read what is in features.d (spec nfd.md 1).
 */
#include "config.h"

#include <string.h>

#include "base/json.h"
#include "doctor/doctor.h"
#include "doctor/feature_dir.h"

#define PRESENT NFD_F "pci-10de.present"

/* Any label of an NVIDIA PCI device on the Node; NULL for none. */
static const char *other_form(const struct nfd_doctor *doctor)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, nfd_json_object(doctor->facts.node, "labels"))
		if (strncmp(label->string, NFD_F "pci-", strlen(NFD_F "pci-")) == 0 &&
		    strstr(label->string, "10de"))
			return label->string;
	return NULL;
}

static void check_present(struct nfd_doctor *doctor)
{
	const char *other = other_form(doctor);
	const char *value = nfd_node_label(&doctor->facts, PRESENT);
	bool selected = nfd_node_label(&doctor->facts, NFD_F "pci-0302_10de.present") ||
			nfd_node_label(&doctor->facts, NFD_F "pci-0300_10de.present");
	struct nfd_diagnosis *found;

	if (value && strcmp(value, "true") == 0)
		return;
	if (other) {
		/* The GPU Operator takes these two forms as well; other selectors do not. */
		found = nfd_find(doctor, "GPU-NFD-CLASS",
				 selected ? NFD_VERDICT_INFO : NFD_VERDICT_WARNING,
				 "the Node has %s, but not " PRESENT
				 ": selectors on the plain form "
				 "match nothing",
				 other);
		nfd_prove(doctor, found, "Node metadata.labels", "%s", other);
	} else {
		found = nfd_find(
			doctor, "GPU-NFD-NOLABEL", NFD_VERDICT_CRITICAL,
			"the GPU is on the PCI bus, and the Node has no label of it: operators "
			"deploy nothing");
		nfd_prove(doctor, found, "Node metadata.labels", "no %s", PRESENT);
	}
	nfd_advise(doctor, found,
		   "systemctl enable --now nfd-source-standalone    # or: kubectl apply "
		   "-k deploy/kustomize/overlays/with-nfd");
}

static void check_product(struct nfd_doctor *doctor)
{
	const char *stamp = nfd_node_label(&doctor->facts, "nvidia.com/gfd.timestamp");
	const char *product = nfd_node_label(&doctor->facts, "nvidia.com/gpu.product");
	struct nfd_diagnosis *found;
	const char *model = "";

	if (stamp && !product) {
		found = nfd_find(
			doctor, "GPU-GFD-NOLABEL", NFD_VERDICT_WARNING,
			"gpu-feature-discovery ran and found no GPU: it started before the "
			"driver, or without the nvidia runtime");
		nfd_prove(doctor, found, "Node nvidia.com/gfd.timestamp", "%s", stamp);
		nfd_prove(doctor, found, "Node nvidia.com/gpu.product", "is missing");
		nfd_advise(doctor, found,
			   "kubectl delete pod -A -l app=gpu-feature-discovery --field-selector "
			   "spec.nodeName=%s",
			   nfd_doctor_node(doctor));
	}
	for (size_t i = 0; product && i < doctor->facts.gpu_count; i++) {
		const char *other = doctor->facts.gpu[i].model;

		if (*model && *other && strcmp(model, other) != 0) {
			found = nfd_find(
				doctor, "GPU-GFD-MIXED", NFD_VERDICT_INFO,
				"the node has several GPU models, and one product label that can "
				"name only one of them");
			nfd_prove(doctor, found, "proc/driver/nvidia/gpus", "%s, %s", model, other);
			nfd_prove(doctor, found, "Node nvidia.com/gpu.product", "%s", product);
		}
		model = *other ? other : model;
	}
}

static void take_file(void *cookie, const struct nfd_feature_dir_file *file)
{
	struct nfd_doctor *doctor = cookie;
	struct nfd_diagnosis *found;

	if (file->bad_value[0]) {
		found = nfd_find(doctor, "GPU-GFD-BADVALUE", NFD_VERDICT_WARNING,
				 "%s has a value that is no label value; NFD leaves that label out",
				 file->path);
		nfd_prove(doctor, found, file->path, "%s", file->bad_value);
		nfd_advise(doctor, found,
			   "# a value has at most 63 letters, digits, '-', '_', '.'");
	}
	if (!file->skipped[0])
		return;
	found = nfd_find(doctor, "GPU-NFD-FEATFILE", NFD_VERDICT_WARNING, "NFD skips %s: %s",
			 file->path, file->skipped);
	nfd_prove(doctor, found, file->path, "%s", file->skipped);
	nfd_advise(doctor, found, "%s", file->advice);
}

void nfd_check_labels(struct nfd_doctor *doctor)
{
	static const char *const by_node[] = { "GPU-NFD-NOLABEL", "GPU-NFD-CLASS",
					       "GPU-GFD-NOLABEL", "GPU-GFD-MIXED" };
	const char *dir = doctor->options->outputs->feature_file.dir;

	if (nfd_feature_dir_read(dir, take_file, doctor) < 0) {
		nfd_skip(doctor, "GPU-NFD-FEATFILE", "%s is not there or cannot be read", dir);
		nfd_skip(doctor, "GPU-GFD-BADVALUE", "%s is not there or cannot be read", dir);
	}
	if (!doctor->facts.node) {
		for (size_t i = 0; i < NFD_ARRAY_SIZE(by_node); i++)
			nfd_skip(doctor, by_node[i], "the Node is not known: %s",
				 doctor->facts.node_why);
		return;
	}
	check_present(doctor);
	check_product(doctor);
}
