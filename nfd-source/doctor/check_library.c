// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The story that this program exists for: a library of another version than the loaded module (spec
 * gpu-stack.md 2.4). The kernel compares the two version texts for equality.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "doctor/doctor.h"

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

/* The kernel's own words, where a program has tried since. */
static void prove_refusal(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	const struct nfd_log_line *line =
		nfd_kernel_log_find(&doctor->facts.log, NFD_KERNEL_API_MISMATCH, 0);

	if (line && strstr(line->text, doctor->facts.libraries.library[0].version))
		nfd_prove(doctor, found, doctor->facts.log.path, "%s", line->text);
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

static void prove_hold(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	const struct nfd_packages *packages = &doctor->facts.packages;
	const struct nfd_holds *holds = &doctor->facts.holds;
	char path[64 + 96];

	for (size_t i = 0; i < packages->count; i++) {
		const struct nfd_package *package = &packages->package[i];
		const struct nfd_hold_rule *rule = nfd_holds_find(holds, package->name);

		if (!package->is_coupled || strncmp(package->name, "libnvidia-", 10) != 0)
			continue;
		snprintf(path, sizeof(path), "var/lib/dpkg/status: %s", package->name);
		nfd_prove(doctor, found, path, "%s, %s", package->version,
			  package->is_held ? "held" :
			  rule             ? "kept back by a rule" :
					     "not held");
		break;
	}
	if (holds->is_automatic)
		nfd_prove(doctor, found, holds->automatic, "%s; origins: %s",
			  holds->automatic_value, holds->origins[0] ? holds->origins : "all");
}

static void advise_hold(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	cleanup_strbuf struct nfd_strbuf list = { 0 };

	nfd_holds_list_free(&doctor->facts.holds, &doctor->facts.packages, &list);
	if (doctor->facts.manager == NFD_MANAGER_APT && list.len)
		nfd_advise(doctor, found, "apt-mark hold %s", nfd_strbuf_text(&list));
	else if (doctor->facts.manager == NFD_MANAGER_DNF)
		nfd_advise(doctor, found,
			   "dnf versionlock add 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*' "
			   "'cuda-drivers*'");
	else if (doctor->facts.manager == NFD_MANAGER_ZYPPER)
		nfd_advise(doctor, found, "zypper addlock 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*'");
}

/* Order of two dotted versions by their numbers, as strcmp(3). */
static int compare(const char *a, const char *b)
{
	struct nfd_version first, second;

	if (nfd_parse_version(a, &first, NULL) < 0 || nfd_parse_version(b, &second, NULL) < 0)
		return strcmp(a, b);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(first.part); i++) {
		long difference =
			strtol(first.part[i], NULL, 10) - strtol(second.part[i], NULL, 10);

		if (difference)
			return difference < 0 ? -1 : 1;
	}
	return 0;
}

/* The command that brings the library's packages to the newest version. */
static void advise_library(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	const char *package = nfd_packages_library(&doctor->facts.packages);

	if (package)
		nfd_advise(doctor, found, "apt-get install --allow-change-held-packages %s",
			   package);
	else
		nfd_advise(doctor, found, "# install the libraries of driver %s",
			   doctor->facts.module.version);
}

/* The command that brings the module on disk to the newest version. */
static void advise_module(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	char package[160];

	nfd_packages_module(&doctor->facts.packages, doctor->facts.kernel, package,
			    sizeof(package));
	if (package[0])
		nfd_advise(doctor, found, "apt-get install --allow-change-held-packages \"%s\"",
			   package);
	else
		nfd_advise(doctor, found, "dkms autoinstall");
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
	prove_refusal(doctor, found);
	prove_upgrade(doctor, found);
	prove_hold(doctor, found);
	prove_consequence(doctor, found);
	/* Where the module on disk is of a third version, loading it mends nothing. */
	if (facts->disk_module.version[0] &&
	    strcmp(facts->disk_module.version, facts->libraries.library[0].version) != 0) {
		advise_library(doctor, found);
		advise_module(doctor, found);
	}
	nfd_advise_drain(doctor, found);
	nfd_advise_reload(doctor, found);
	advise_hold(doctor, found);
	nfd_advise_undrain(doctor, found);
}

/* The module on disk is what is loaded: a reload would change nothing. */
static void found_lag(struct nfd_doctor *doctor)
{
	const struct nfd_doctor_facts *facts = &doctor->facts;
	const char *library = facts->libraries.library[0].version;
	bool is_older = compare(library, facts->module.version) < 0;
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-DRV-KMODLAG", NFD_VERDICT_CRITICAL,
		is_older ? "the library is %s, older than module %s, which is both loaded and "
			   "on disk: the library's packages lag behind, and a reboot does not "
			   "help" :
			   "the library is %s, but module %s is both loaded and the newest on "
			   "disk for this kernel: its package lags behind, and a reboot does "
			   "not help",
		library, facts->module.version);
	prove_versions(doctor, found);
	prove_refusal(doctor, found);
	prove_upgrade(doctor, found);
	prove_consequence(doctor, found);
	if (is_older) {
		advise_library(doctor, found);
	} else {
		advise_module(doctor, found);
		nfd_advise_drain(doctor, found);
		nfd_advise_reload(doctor, found);
	}
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
	if (doctor->facts.is_partial) {
		nfd_skip(doctor, "GPU-LIB-MISSING",
			 "it is in none of the folders of the host that are below the root");
		return;
	}
	found = nfd_find(
		doctor, "GPU-LIB-MISSING", NFD_VERDICT_CRITICAL,
		"the nvidia module is loaded but libnvidia-ml.so.1 is in none of the known "
		"places");
	nfd_prove(doctor, found, doctor->facts.module.path, "%s", doctor->facts.module.version);
	nfd_prove(doctor, found, "libnvidia-ml.so.1", "not found");
	if (nfd_packages_library(&doctor->facts.packages))
		nfd_advise(doctor, found, "apt-get install %s --reinstall",
			   nfd_packages_library(&doctor->facts.packages));
	else
		nfd_advise(doctor, found,
			   strcmp(doctor->facts.distro, "ubuntu") == 0 ?
				   "apt-get install libnvidia-compute-%.*s" :
				   "# install the libraries of driver %.*s",
			   (int)strcspn(doctor->facts.module.version, "."),
			   doctor->facts.module.version);
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
