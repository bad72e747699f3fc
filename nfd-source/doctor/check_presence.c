// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is there a GPU at all? Without one, and without a sign that there should be one, that is no fault.
 */
#include "config.h"

#include <string.h>

#include "doctor/doctor.h"

/* The module does not stay loaded, nor the label on the Node, where there never was a GPU. */
static const char *expectation(const struct nfd_doctor_facts *facts)
{
	const char *label = nfd_node_label(facts, NFD_F "pci-10de.present");

	if (facts->is_loaded)
		return "the nvidia module is loaded";
	return label && strcmp(label, "true") == 0 ? "the Node is labelled as a GPU node" : NULL;
}

/* An image with the driver also runs on machines without a GPU, so its packages prove nothing. */
static const char *words_of_none(const struct nfd_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->packages.count; i++)
		if (facts->packages.package[i].is_coupled)
			return "there is no NVIDIA GPU on this node, though the driver's packages are "
			       "installed";
	return facts->other_gpus ?
		       "there is no NVIDIA GPU; the GPUs of other vendors are not checked "
		       "here" :
		       "there is no NVIDIA GPU on this node";
}

static void found_other_kind(struct nfd_doctor *doctor)
{
	bool is_wsl = doctor->facts.is_wsl;
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-PCI-NONE", NFD_VERDICT_INFO,
		is_wsl ? "the GPU is WSL2's paravirtual one: it is no PCI device, and most of "
			 "this chain does not apply" :
			 "the GPU is inside a Tegra chip: it is no PCI device, and most of "
			 "this chain does not apply");
	nfd_prove(doctor, found, "source", "%s", doctor->facts.platform_source);
}

void nfd_check_presence(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	const char *why = expectation(facts);
	struct nfd_diagnosis *found;

	if (facts->gpu_count > 0)
		return;
	if (facts->is_tegra || facts->is_wsl) {
		found_other_kind(doctor);
		return;
	}
	if (facts->pci_reason[0]) {
		nfd_skip(doctor, "GPU-PCI-NONE", "%s", facts->pci_reason);
		return;
	}
	if (!why) {
		found = nfd_find(doctor, "GPU-PCI-NONE", NFD_VERDICT_INFO, "%s",
				 words_of_none(facts));
		nfd_prove(doctor, found, NFD_PCI_DEVICES,
			  "no function of vendor 10de and class 0300 or 0302");
		return;
	}
	found = nfd_find(doctor, "GPU-PCI-NONE", NFD_VERDICT_CRITICAL,
			 "%s, but no NVIDIA GPU is on the PCI bus: it is not attached, off in the "
			 "firmware, or fell off the bus",
			 why);
	nfd_prove(doctor, found, NFD_PCI_DEVICES,
		  "no function of vendor 10de and class 0300 or 0302");
	nfd_advise(doctor, found, "echo 1 > /sys/bus/pci/rescan");
	nfd_advise(doctor, found, "poweroff    # then power on: a reboot may leave the card off");
}
