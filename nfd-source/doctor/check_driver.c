// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who holds the GPUs, and whether the nvidia module is there for this kernel and loaded.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "doctor/doctor.h"

#define SECURE_BOOT "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* Number of GPUs that a driver holds, and the address of the first. */
static size_t held_by(const struct nfd_doctor_facts *facts, const char *driver,
		      const char **ret_address)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		if (strcmp(facts->gpu[i].driver, driver) != 0)
			continue;
		if (count++ == 0)
			*ret_address = facts->gpu[i].address;
	}
	return count;
}

static void prove_driver(struct nfd_doctor *doctor, struct nfd_diagnosis *found,
			 const char *address, const char *driver)
{
	char path[96];

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/driver", address);
	nfd_prove(doctor, found, path, "%s", driver);
}

/* In-tree drivers that take the card away. */
static void check_rivals(struct nfd_doctor *doctor)
{
	static const struct {
		const char *id, *driver;
	} rivals[] = { { "GPU-DRV-NOUVEAU", "nouveau" }, { "GPU-DRV-NOVA", "nova_core" } };
	bool is_dracut = doctor->facts.manager != NFD_MANAGER_APT;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(rivals); i++) {
		const char *address = "";
		size_t count = held_by(&doctor->facts, rivals[i].driver, &address);
		struct nfd_diagnosis *found;

		if (count == 0)
			continue;
		found = nfd_find(doctor, rivals[i].id, NFD_VERDICT_CRITICAL,
				 "the %s driver holds %zu of %zu GPUs, so the nvidia driver cannot",
				 rivals[i].driver, count, doctor->facts.gpu_count);
		prove_driver(doctor, found, address, rivals[i].driver);
		nfd_advise(doctor, found,
			   "printf 'blacklist %s\\noptions %s modeset=0\\n' > "
			   "/etc/modprobe.d/blacklist-%s.conf",
			   rivals[i].driver, rivals[i].driver, rivals[i].driver);
		nfd_advise(doctor, found, is_dracut ? "dracut -f" : "update-initramfs -u");
		nfd_advise(doctor, found, "reboot");
	}
}

static void check_vfio(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	const char *workload = nfd_node_label(facts, "nvidia.com/gpu.workload.config");
	const char *driver = "vfio-pci", *address = "";
	size_t count = held_by(facts, driver, &address);
	bool meant = !workload || strcmp(workload, "vm-passthrough") == 0;
	struct nfd_diagnosis *found;

	if (count == 0) {
		driver = "nvgrace_gpu_vfio_pci";
		count = held_by(facts, driver, &address);
	}
	if (count == 0)
		return;
	/* Only the Node says what is meant; without it this is no more than worth knowing. */
	found = nfd_find(doctor, "GPU-DRV-VFIO", meant ? NFD_VERDICT_INFO : NFD_VERDICT_CRITICAL,
			 "%zu of %zu GPUs are reserved for virtual machines (%s)%s", count,
			 facts->gpu_count, driver,
			 meant ? "" : ", but the Node is meant for another workload");
	prove_driver(doctor, found, address, driver);
	if (workload)
		nfd_prove(doctor, found, "Node nvidia.com/gpu.workload.config", "%s", workload);
	if (!meant)
		nfd_advise(doctor, found,
			   "kubectl label node %s nvidia.com/gpu.workload.config=vm-passthrough "
			   "--overwrite    # or unbind the GPUs from vfio-pci",
			   nfd_doctor_node(doctor));
}

static void advise_install(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	static const char *const commands[] = {
		[NFD_MANAGER_UNKNOWN] = "# install the NVIDIA driver for this system",
		[NFD_MANAGER_APT] =
			"apt-get install nvidia-driver    # Debian's, or NVIDIA's repository",
		[NFD_MANAGER_DNF] = "dnf install nvidia-open    # from NVIDIA's repository",
		[NFD_MANAGER_ZYPPER] = "zypper install nvidia-open    # from NVIDIA's repository",
	};
	bool is_ubuntu = strcmp(doctor->facts.distro, "ubuntu") == 0;

	nfd_advise(
		doctor, found, "%s",
		is_ubuntu ?
			"apt-get install nvidia-driver-580-server    # or the branch that you use" :
			commands[doctor->facts.manager]);
	nfd_advise(doctor, found,
		   "# or let the GPU Operator install it: driver.enabled=true in its chart");
}

/* "blacklist nvidia" or "install nvidia /bin/false" in modprobe's configuration. */
static bool find_blacklist(const struct nfd_root *root, char *ret_path, size_t size, char line[128])
{
	static const char *const folders[] = { "etc/modprobe.d", "lib/modprobe.d",
					       "usr/lib/modprobe.d" };

	for (size_t f = 0; f < NFD_ARRAY_SIZE(folders); f++) {
		cleanup_names struct nfd_names names = { 0 };

		if (nfd_root_list(root, folders[f], &names) < 0)
			continue;
		for (size_t i = 0; i < names.count; i++) {
			char text[16384], *rest = text, *one;

			snprintf(ret_path, size, "%s/%.200s", folders[f], names.name[i]);
			if (nfd_root_read(root, ret_path, text, sizeof(text)) <= 0)
				continue;
			while ((one = strsep(&rest, "\n")) != NULL) {
				one[strcspn(one, "#")] = '\0';
				one = nfd_trim(one);
				if (strcmp(one, "blacklist nvidia") != 0 &&
				    strncmp(one, "install nvidia /bin/", 20) != 0)
					continue;
				snprintf(line, 128, "%s", one);
				return true;
			}
		}
	}
	return false;
}

static void found_not_loaded(struct nfd_doctor *doctor)
{
	const struct nfd_disk_module *module = &doctor->facts.disk_module;
	const struct nfd_log_line *rejected =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_SIGNATURE, 0);
	struct nfd_diagnosis *found;
	char path[256], line[128], secure[16];

	if (rejected) {
		found = nfd_find(doctor, "GPU-DRV-SECUREBOOT", NFD_VERDICT_CRITICAL,
				 "Secure Boot rejects the nvidia module: it is not signed by a key "
				 "that this machine trusts");
		nfd_prove(doctor, found, doctor->facts.log.path, "%s", rejected->text);
		if (nfd_root_read(doctor->options->root, SECURE_BOOT, secure, sizeof(secure)) >= 5)
			nfd_prove(doctor, found, SECURE_BOOT, "%s", secure[4] ? "on" : "off");
		nfd_advise(doctor, found,
			   "mokutil --import /var/lib/shim-signed/mok/MOK.der    # then reboot and "
			   "enrol the key; or use signed modules, or switch Secure Boot off");
	}
	found = nfd_find(doctor, "GPU-DRV-NOTLOADED", NFD_VERDICT_CRITICAL,
			 "the nvidia module is installed for this kernel but not loaded");
	nfd_prove(doctor, found, module->path, "is there");
	nfd_prove(doctor, found, "sys/module/nvidia", "is missing");
	if (find_blacklist(doctor->options->root, path, sizeof(path), line)) {
		nfd_prove(doctor, found, path, "%s", line);
		nfd_advise(doctor, found, "sed -i '/^%s/d' /%s",
			   line[0] == 'b' ? "blacklist nvidia$" : "install nvidia ", path);
	}
	nfd_advise(doctor, found, "modprobe -a nvidia nvidia_uvm");
}

static void found_no_module(struct nfd_doctor *doctor)
{
	static const char *const headers[] = {
		[NFD_MANAGER_UNKNOWN] = "# install the headers of the running kernel",
		[NFD_MANAGER_APT] = "apt-get install linux-headers-$(uname -r)",
		[NFD_MANAGER_DNF] = "dnf install kernel-devel-$(uname -r)",
		[NFD_MANAGER_ZYPPER] = "zypper install kernel-default-devel",
	};
	const struct nfd_disk_module *module = &doctor->facts.disk_module;
	struct nfd_diagnosis *found;
	char path[200];

	found = nfd_find(doctor, "GPU-DRV-NOMODULE", NFD_VERDICT_CRITICAL,
			 "there is no nvidia module for the running kernel %s%s%s",
			 doctor->facts.kernel, module->other_kernel[0] ? ", only for " : "",
			 module->other_kernel);
	snprintf(path, sizeof(path), "lib/modules/%s/modules.dep", doctor->facts.kernel);
	nfd_prove(doctor, found, path, "no nvidia.ko");
	if (module->other_kernel[0]) {
		snprintf(path, sizeof(path), "lib/modules/%s/modules.dep", module->other_kernel);
		nfd_prove(doctor, found, path, "has nvidia.ko");
	}
	nfd_advise(doctor, found, "%s", headers[doctor->facts.manager]);
	nfd_advise(doctor, found, "dkms autoinstall && modprobe -a nvidia nvidia_uvm");
}

/* A module that is in no modules.dep may still be a driver container's, which is loaded then. */
static void check_module(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	const struct nfd_disk_module *module = &facts->disk_module;
	const char *deploy = nfd_node_label(facts, "nvidia.com/gpu.deploy.driver");
	bool is_coming = deploy && strcmp(deploy, "true") == 0;
	struct nfd_diagnosis *found;

	if (facts->is_loaded || nfd_found(doctor, "GPU-DRV-NOUVEAU", NFD_VERDICT_CRITICAL) ||
	    nfd_found(doctor, "GPU-DRV-NOVA", NFD_VERDICT_CRITICAL))
		return;
	if (module->is_there) {
		found_not_loaded(doctor);
	} else if (module->error && module->error != -ENOENT) {
		nfd_skip(doctor, "GPU-DRV-NOMODULE", "cannot read lib/modules/%s/modules.dep: %s",
			 facts->kernel, nfd_errno_text(module->error));
	} else if (facts->libraries.count > 0 || module->other_kernel[0]) {
		found_no_module(doctor);
	} else {
		found = nfd_find(
			doctor, "GPU-DRV-ABSENT",
			is_coming ? NFD_VERDICT_INFO : NFD_VERDICT_CRITICAL,
			is_coming ? "no NVIDIA driver is installed yet; the GPU Operator is to "
				    "bring one in a container" :
				    "no NVIDIA driver is installed: neither a module nor a "
				    "library, on the host or in a driver container");
		nfd_prove(doctor, found, "sys/module/nvidia", "is missing");
		nfd_prove(doctor, found, "libnvidia-ml.so.1", "in none of the known places");
		advise_install(doctor, found);
	}
}

/* The state column of proc/modules. */
static void check_unloading(struct nfd_doctor *doctor)
{
	cleanup_free char *text = NULL;
	struct nfd_diagnosis *found;
	const char *line;

	if (nfd_root_read_alloc(doctor->options->root, "proc/modules", 1024 * 1024, &text) < 0)
		return;
	line = strstr(text, "nvidia_uvm ");
	if (!line || !memmem(line, strcspn(line, "\n"), " Unloading ", 11))
		return;
	found = nfd_find(doctor, "GPU-DRV-UVMWEDGED", NFD_VERDICT_CRITICAL,
			 "the module nvidia_uvm hangs while it is unloaded; only a reboot helps");
	nfd_prove(doctor, found, "proc/modules", "%.*s", (int)strcspn(line, "\n"), line);
	nfd_advise_drain(doctor, found);
	nfd_advise(doctor, found, "reboot");
}

void nfd_check_driver(struct nfd_doctor *doctor)
{
	check_rivals(doctor);
	check_vfio(doctor);
	check_unloading(doctor);
	if (nfd_found(doctor, "GPU-DRV-VFIO", NFD_VERDICT_INFO) && !doctor->facts.is_loaded)
		return;
	check_module(doctor);
}
