// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The story that this program exists for: a library of another version than the loaded module (spec
 * gpu-stack.md 2.4). The kernel compares the two version texts for equality.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "doctor/doctor.h"
#include "doctor/holds.h"

static void prove_versions(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;

	nfd_prove(doctor, found, facts->module.path, "%s (loaded)", facts->module.version);
	nfd_prove(doctor, found, facts->libraries.library[0].path, "%s",
		  facts->libraries.library[0].version);
	if (facts->disk_module.version[0])
		nfd_prove(doctor, found, facts->disk_module.path, "%s (on disk)",
			  facts->disk_module.version);
}

/* Which package moved, when, and by whom; and that nothing held it. */
static void prove_upgrade(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	struct nfd_upgrade upgrade;
	char when[NFD_TIME_TEXT_SIZE];

	if (!nfd_packages_upgrade(doctor->options->root, &upgrade))
		return;
	nfd_prove(doctor, found, upgrade.path, "%s %s -> %s on %s by %s", upgrade.package,
		  upgrade.before, upgrade.after, upgrade.when,
		  upgrade.command[0] ? upgrade.command : "an unnamed command");
	if (!doctor->facts.boot_s)
		return;
	nfd_format_time(doctor->facts.boot_s, when);
	nfd_prove(doctor, found, "proc/stat", "booted %s", when);
}

/* The coupled packages, as words for a command; "" when they are not known. */
static void list_packages(const struct nfd_doctor *doctor, bool only_free, char *ret, size_t size)
{
	const struct nfd_packages *packages = &doctor->facts.packages;
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < packages->count && used < size; i++)
		if (packages->package[i].is_coupled && !(only_free && packages->package[i].is_held))
			used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? " " : "",
						 packages->package[i].name);
}

static void prove_hold(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	const struct nfd_packages *packages = &doctor->facts.packages;
	char path[64 + 96];
	struct nfd_holds holds;

	if (nfd_holds_read(doctor->options->root, &holds) < 0) {
		doctor->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < packages->count; i++) {
		const struct nfd_package *package = &packages->package[i];
		const struct nfd_hold_rule *rule = nfd_holds_find(&holds, package->name);

		if (!package->is_coupled || strncmp(package->name, "libnvidia-", 10) != 0)
			continue;
		snprintf(path, sizeof(path), "var/lib/dpkg/status: %s", package->name);
		nfd_prove(doctor, found, path, "%s, %s", package->version,
			  package->is_held ? "held" :
			  rule             ? "kept back by a rule" :
					     "not held");
		break;
	}
	if (holds.is_automatic)
		nfd_prove(doctor, found, holds.automatic, "%s; origins: %s", holds.automatic_value,
			  holds.origins[0] ? holds.origins : "all");
}

static void advise_hold(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	char list[2048];

	list_packages(doctor, true, list, sizeof(list));
	if (doctor->facts.manager == NFD_MANAGER_APT && list[0])
		nfd_advise(doctor, found, "apt-mark hold %s", list);
	else if (doctor->facts.manager == NFD_MANAGER_DNF)
		nfd_advise(doctor, found,
			   "dnf versionlock add 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*' "
			   "'cuda-drivers*'");
	else if (doctor->facts.manager == NFD_MANAGER_ZYPPER)
		nfd_advise(doctor, found, "zypper addlock 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*'");
}

/* What the mismatch does to the cluster, in one line of evidence. */
static void prove_consequence(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	nfd_prove(
		doctor, found, "consequence",
		"nvidia-smi fails -> the operator's validator waits (\"No pre-installed driver "
		"detected\") -> the device plugin ends -> nvidia.com/gpu: 0 -> pods stay Pending");
}

static void found_reload_pending(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-DRV-MISMATCH", NFD_VERDICT_CRITICAL,
			 "the loaded module is %s and the library %s: the driver packages were "
			 "upgraded behind the loaded module, which must be reloaded",
			 facts->module.version, facts->libraries.library[0].version);
	prove_versions(doctor, found);
	prove_upgrade(doctor, found);
	prove_hold(doctor, found);
	prove_consequence(doctor, found);
	nfd_advise_drain(doctor, found);
	nfd_advise_reload(doctor, found);
	advise_hold(doctor, found);
	nfd_advise_undrain(doctor, found);
}

/* The module on disk is what is loaded: a reload would change nothing. */
static void found_lag(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-DRV-KMODLAG", NFD_VERDICT_CRITICAL,
		"the library is %s, but module %s is both loaded and the newest on disk for "
		"this kernel: its package lags behind, and a reboot does not help",
		facts->libraries.library[0].version, facts->module.version);
	prove_versions(doctor, found);
	prove_upgrade(doctor, found);
	prove_consequence(doctor, found);
	if (facts->manager == NFD_MANAGER_APT)
		nfd_advise(doctor, found,
			   "apt-get install \"linux-modules-nvidia-%.*s-$(uname -r)\" || dkms "
			   "autoinstall",
			   (int)strcspn(facts->libraries.library[0].version, "."),
			   facts->libraries.library[0].version);
	else
		nfd_advise(doctor, found, "dkms autoinstall");
	nfd_advise_drain(doctor, found);
	nfd_advise_reload(doctor, found);
	advise_hold(doctor, found);
}

static void check_two(struct nfd_doctor *doctor)
{
	const struct nfd_nvidia_libraries *libraries = &doctor->facts.libraries;
	bool container = doctor->facts.has_driver_container;
	bool fits = libraries->count > 0 &&
		    strcmp(libraries->library[0].version, doctor->facts.module.version) == 0;
	struct nfd_diagnosis *found;

	if (libraries->count < 2)
		return;
	/* A driver container beside leftovers of a host driver works. */
	found = nfd_find(doctor, "GPU-DRV-TWOLIBS",
			 container && fits ? NFD_VERDICT_INFO : NFD_VERDICT_WARNING,
			 "%zu versions of the NVIDIA library are installed: containers can get "
			 "another one than the host",
			 libraries->count);
	for (size_t i = 0; i < libraries->count; i++)
		nfd_prove(doctor, found, libraries->library[i].path, "%s%s",
			  libraries->library[i].version, i == 0 ? " (in force)" : "");
	if (nfd_root_exists(doctor->options->root, "usr/bin/nvidia-uninstall") > 0)
		nfd_advise(doctor, found, "nvidia-uninstall    # removes the one of the .run file");
	else
		nfd_advise(doctor, found, "# purge the packages of one of them, keep the other");
}

static void check_pending(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	struct nfd_diagnosis *found;

	if (!facts->disk_module.version[0] || facts->has_driver_container ||
	    strcmp(facts->disk_module.version, facts->module.version) == 0)
		return;
	found = nfd_find(
		doctor, "GPU-DRV-RELOAD-PENDING", NFD_VERDICT_WARNING,
		"the module on disk is %s and the loaded one %s: when the libraries follow, "
		"the node loses its GPUs",
		facts->disk_module.version, facts->module.version);
	prove_versions(doctor, found);
	nfd_advise_drain(doctor, found);
	nfd_advise_reload(doctor, found);
}

static void check_missing(struct nfd_doctor *doctor)
{
	const struct nfd_nvidia_libraries *libraries = &doctor->facts.libraries;
	struct nfd_diagnosis *found;

	if (libraries->error) {
		nfd_skip(doctor, "GPU-LIB-MISSING", "cannot read %s: %s", libraries->error_path,
			 nfd_errno_text(libraries->error));
		return;
	}
	found = nfd_find(
		doctor, "GPU-LIB-MISSING", NFD_VERDICT_CRITICAL,
		"the nvidia module is loaded but libnvidia-ml.so.1 is in none of the known "
		"places");
	nfd_prove(doctor, found, doctor->facts.module.path, "%s", doctor->facts.module.version);
	nfd_prove(doctor, found, "libnvidia-ml.so.1", "not found");
	nfd_advise(doctor, found,
		   doctor->facts.manager == NFD_MANAGER_APT ?
			   "apt-get install libnvidia-compute-%.*s" :
			   "# install the libraries of driver %.*s",
		   (int)strcspn(doctor->facts.module.version, "."), doctor->facts.module.version);
}

void nfd_check_library(struct nfd_doctor *doctor)
{
	static const char *const all[] = { "GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG",
					   "GPU-DRV-RELOAD-PENDING", "GPU-LIB-MISSING" };
	const struct nfd_doctor_facts *facts = &doctor->facts;

	check_two(doctor);
	if (!facts->module.version[0]) {
		for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
			nfd_skip(doctor, all[i], "the version of the loaded module is not known");
		return;
	}
	if (facts->libraries.count == 0)
		check_missing(doctor);
	else if (strcmp(facts->module.version, facts->libraries.library[0].version) == 0)
		check_pending(doctor);
	else if (facts->disk_module.version[0] &&
		 strcmp(facts->disk_module.version, facts->module.version) == 0)
		found_lag(doctor);
	else
		found_reload_pending(doctor);
}
