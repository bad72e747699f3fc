// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether each GPU has started: what the driver shows of it, and what the kernel's log says.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

/* Xids that mean hardware, in brief; others are the programs' own. */
static const struct {
	unsigned int number;
	const char *meaning;
} xids[] = {
	{ 48, "double-bit ECC error" },        { 63, "memory row remapping" },
	{ 64, "memory row remapping failed" }, { 74, "NVLink error" },
	{ 94, "contained ECC error" },         { 95, "uncontained ECC error" },
	{ 119, "GSP does not answer" },        { 120, "GSP error" },
	{ 140, "unrecovered ECC error" },
};

/* Names of packages differ between distributions, also where apt has them. */
static bool is_ubuntu(const struct nfd_doctor *doctor)
{
	return strcmp(doctor->facts.distro, "ubuntu") == 0;
}

static void prove_log(struct nfd_doctor *doctor, struct nfd_diagnosis *found,
		      const struct nfd_log_line *line)
{
	if (line)
		nfd_prove(doctor, found, doctor->facts.log.path, "%s", line->text);
}

static void check_bus(struct nfd_doctor *doctor)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_XID, 79);
	struct nfd_diagnosis *found;
	const char *address = line ? line->address : NULL;

	for (size_t i = 0; i < doctor->facts.gpu_count; i++)
		if (doctor->facts.gpu[i].is_unresponsive)
			address = doctor->facts.gpu[i].address;
	if (!address)
		return;
	found = nfd_find(doctor, "GPU-HW-XID79", NFD_VERDICT_CRITICAL,
			 "GPU %s fell off the bus; every GPU pod of the node can fail by it",
			 address);
	prove_log(doctor, found, line);
	if (!line)
		nfd_prove(doctor, found, NFD_PCI_DEVICES, "%s does not answer", address);
	nfd_advise_drain(doctor, found);
	nfd_advise(doctor, found,
		   "poweroff    # power cycle; when it comes again, service the card");
}

static void check_faults(struct nfd_doctor *doctor)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(xids); i++) {
		const struct nfd_log_line *line =
			nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_XID, xids[i].number);
		struct nfd_diagnosis *found;

		if (!line)
			continue;
		found = nfd_find(doctor, "GPU-HW-XID", NFD_VERDICT_WARNING,
				 "GPU %s reported Xid %u (%s)", line->address, xids[i].number,
				 xids[i].meaning);
		prove_log(doctor, found, line);
		nfd_advise_drain(doctor, found);
		nfd_advise(doctor, found, "nvidia-smi --gpu-reset -i %s", line->address);
		return;
	}
}

/* Device ids from 2900 are Blackwell and newer, below 1e00 Volta and older (spec 2.1). */
static void check_flavor(struct nfd_doctor *doctor)
{
	const char *flavor = doctor->facts.module.flavor;

	for (size_t i = 0; flavor && i < doctor->facts.gpu_count; i++) {
		uint16_t device = doctor->facts.gpu[i].device;
		bool needs_open = device >= 0x2900 && device < 0x3200;
		bool needs_closed = device < 0x1e00;
		struct nfd_diagnosis *found;

		if (doctor->facts.gpu[i].has_information ||
		    !(needs_open ? strcmp(flavor, "open") != 0 :
				   needs_closed && strcmp(flavor, "open") == 0))
			continue;
		found = nfd_find(doctor, "GPU-DRV-FLAVOUR", NFD_VERDICT_CRITICAL,
				 "GPU %s (10de:%04x) needs the %s kernel modules, and the %s ones "
				 "are loaded",
				 doctor->facts.gpu[i].address, device,
				 needs_open ? "open" : "proprietary", flavor);
		nfd_prove(doctor, found, "proc/driver/nvidia/version", "%s %s", flavor,
			  doctor->facts.module.version);
		nfd_advise(
			doctor, found,
			is_ubuntu(doctor) ?
				"apt-get install nvidia-driver-580%s    # the branch that you use" :
				"# install the nvidia%s flavour of the driver",
			needs_open ? "-open" : "");
		nfd_advise(doctor, found,
			   "# in the GPU Operator's chart: driver.kernelModuleType=%s",
			   needs_open ? "open" : "proprietary");
	}
}

static void check_firmware(struct nfd_doctor *doctor)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_FIRMWARE, 0);
	const char *version = doctor->facts.module.version;
	struct nfd_diagnosis *found;
	char path[128];

	snprintf(path, sizeof(path), "lib/firmware/nvidia/%s", version);
	/* The line may be of the driver that was loaded before this one. */
	if (!line || !version[0] ||
	    (!strstr(line->text, version) && nfd_root_exists(doctor->options->root, path) > 0))
		return;
	found = nfd_find(doctor, "GPU-DRV-GSPFW", NFD_VERDICT_CRITICAL,
			 "the GPU firmware of driver %s is missing or of another version", version);
	prove_log(doctor, found, line);
	nfd_prove(doctor, found, path, "%s",
		  nfd_root_exists(doctor->options->root, path) > 0 ? "is there" : "is missing");
	nfd_advise(doctor, found,
		   is_ubuntu(doctor) ? "apt-get install --reinstall 'nvidia-firmware-*-%s'" :
				       "# install the driver's firmware package of version %s",
		   version);
	nfd_advise_reload(doctor, found);
}

static void check_legacy(struct nfd_doctor *doctor)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_LEGACY, 0);
	struct nfd_diagnosis *found;

	if (!line)
		return;
	found = nfd_find(doctor, "GPU-DRV-LEGACY", NFD_VERDICT_CRITICAL,
			 "driver %s no longer supports GPU %s: 580 is the last branch for Maxwell, "
			 "Pascal and Volta",
			 doctor->facts.module.version, line->address);
	prove_log(doctor, found, line);
	nfd_advise(doctor, found,
		   is_ubuntu(doctor) ? "apt-get install nvidia-driver-580-server" :
				       "# install the driver of branch 580");
}

static void check_excluded(struct nfd_doctor *doctor)
{
	for (size_t i = 0; i < doctor->facts.gpu_count; i++) {
		struct nfd_diagnosis *found;
		char path[96];

		if (!doctor->facts.gpu[i].is_excluded)
			continue;
		found = nfd_find(doctor, "GPU-HW-EXCLUDED", NFD_VERDICT_WARNING,
				 "GPU %s is excluded by an option of the module or by the fabric "
				 "manager",
				 doctor->facts.gpu[i].address);
		snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information",
			 doctor->facts.gpu[i].address);
		nfd_prove(doctor, found, path, "GPU Excluded: Yes");
		nfd_advise(doctor, found,
			   "grep -rn ExcludedGpus /etc/modprobe.d    # remove the option, then "
			   "reload the module");
	}
}

/* A GPU that is bound, and of which the driver shows nothing. */
static void check_started(struct nfd_doctor *doctor)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_INIT_FAILED, 0);
	const char *address = NULL;
	struct nfd_diagnosis *found;
	char path[96];

	if (nfd_root_exists(doctor->options->root, "proc/driver/nvidia/gpus") <= 0 && !line) {
		nfd_skip(doctor, "GPU-DRV-INIT", "proc/driver/nvidia/gpus is not there");
		return;
	}
	for (size_t i = 0; i < doctor->facts.gpu_count; i++)
		if (strcmp(doctor->facts.gpu[i].driver, "nvidia") == 0 &&
		    !doctor->facts.gpu[i].has_information && !doctor->facts.gpu[i].is_virtual)
			address = doctor->facts.gpu[i].address;
	if (!address && !line)
		return;
	found = nfd_find(doctor, "GPU-DRV-INIT", NFD_VERDICT_CRITICAL,
			 "GPU %s did not start: firmware, BAR space, power, or the card itself",
			 address ? address : line->address);
	if (address) {
		snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", address);
		nfd_prove(doctor, found, path, "is missing");
	}
	prove_log(doctor, found, line);
	nfd_advise(doctor, found, "dmesg | grep -i nvrm    # the codes say what failed");
	nfd_advise_drain(doctor, found);
	nfd_advise(doctor, found,
		   "reboot    # then: pci=realloc on the kernel command line, reseat, "
		   "swap the card");
}

void nfd_check_start(struct nfd_doctor *doctor)
{
	static const char *const by_log[] = { "GPU-HW-XID79", "GPU-HW-XID", "GPU-DRV-GSPFW",
					      "GPU-DRV-LEGACY" };
	const struct nfd_kernel_log *log = &doctor->facts.log;

	if (!log->is_read)
		for (size_t i = 0; i < NFD_ARRAY_SIZE(by_log); i++)
			nfd_skip(doctor, by_log[i], "the kernel's log could not be read: %s",
				 log->error ? nfd_errno_text(log->error) :
					      "there is no log file below the root");
	check_bus(doctor);
	check_excluded(doctor);
	if (!doctor->facts.is_loaded) {
		nfd_skip(doctor, "GPU-DRV-INIT", "the nvidia module is not loaded");
		return;
	}
	check_faults(doctor);
	check_legacy(doctor);
	check_flavor(doctor);
	check_firmware(doctor);
	check_started(doctor);
}
