// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is there a GPU at all? Without one, and without a sign that there should be one, that is no fault.
 */
#include "config.h"

#include <string.h>

#include "doctor/doctor.h"

/* A label of the Node, a driver or its packages: somebody expects a GPU here. */
static const char *expectation(const struct nfd_doctor_facts *facts)
{
	if (facts->is_loaded)
		return "the nvidia module is loaded";
	for (size_t i = 0; i < facts->packages.count; i++)
		if (facts->packages.package[i].is_coupled)
			return "packages of the NVIDIA driver are installed";
	return NULL;
}

void nfd_check_presence(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	const char *why = expectation(facts);
	struct nfd_diagnosis *found;

	if (facts->gpu_count > 0)
		return;
	if (facts->pci_reason[0]) {
		nfd_skip(doctor, "GPU-PCI-NONE", "%s", facts->pci_reason);
		return;
	}
	if (facts->is_tegra || facts->is_wsl) {
		found = nfd_find(doctor, "GPU-PCI-NONE", NFD_VERDICT_INFO,
				 facts->is_wsl ?
					 "the GPU is WSL2's paravirtual one: it is no PCI "
					 "device, and most of this chain does not apply" :
					 "the GPU is inside a Tegra chip: it is no PCI device, "
					 "and most of this chain does not apply");
		nfd_prove(doctor, found, facts->is_wsl ? "dev/dxg" : "sys/devices/soc0/family",
			  "is there");
		return;
	}
	if (!why) {
		found = nfd_find(doctor, "GPU-PCI-NONE", NFD_VERDICT_INFO,
				 facts->other_gpus ? "there is no NVIDIA GPU; the GPUs of other "
						     "vendors are not checked here" :
						     "there is no NVIDIA GPU on this node");
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
