// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the packages that must move together with the loaded module can move by themselves.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/holds.h"

static const char *const all[] = { "GPU-DRV-UNPINNED", "GPU-DRV-PINPARTIAL" };

static void skip(struct nfd_doctor *doctor, const char *why)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
		nfd_skip(doctor, all[i], "%s", why);
}

struct tally {
	char free_list[1600], held_list[400];
	const char *free_name, *held_name;
	size_t free_count, held_count;
};

static void append(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? " " : "", name);
}

static void count(const struct nfd_packages *packages, const struct nfd_holds *holds,
		  struct tally *ret)
{
	*ret = (struct tally){ 0 };
	for (size_t i = 0; i < packages->count; i++) {
		const struct nfd_package *package = &packages->package[i];

		if (!package->is_coupled)
			continue;
		if (package->is_held || nfd_holds_find(holds, package->name)) {
			ret->held_count++;
			ret->held_name = package->name;
			append(ret->held_list, sizeof(ret->held_list), package->name);
		} else {
			ret->free_count++;
			ret->free_name = package->name;
			append(ret->free_list, sizeof(ret->free_list), package->name);
		}
	}
}

static void prove_state(struct nfd_doctor *doctor, struct nfd_diagnosis *found, const char *name,
			const char *state)
{
	char path[160];

	snprintf(path, sizeof(path), "var/lib/dpkg/status: %s", name);
	nfd_prove(doctor, found, path, "%s", state);
}

static void found_partial(struct nfd_doctor *doctor, const struct tally *tally)
{
	struct nfd_diagnosis *found;

	found = nfd_find(doctor, "GPU-DRV-PINPARTIAL", NFD_VERDICT_WARNING,
			 "%zu driver packages are held and %zu are not: an upgrade moves a part of "
			 "the driver",
			 tally->held_count, tally->free_count);
	prove_state(doctor, found, tally->held_name, "held");
	prove_state(doctor, found, tally->free_name, "not held");
	nfd_advise(doctor, found, "apt-mark hold %s", tally->free_list);
}

static void found_unpinned(struct nfd_doctor *doctor, const struct tally *tally,
			   const struct nfd_holds *holds)
{
	struct nfd_diagnosis *found;

	found = nfd_find(
		doctor, "GPU-DRV-UNPINNED", NFD_VERDICT_WARNING,
		"an automatic upgrade can move the driver packages behind the loaded module, "
		"and then the node loses its GPUs");
	prove_state(doctor, found, tally->free_name, "not held");
	nfd_prove(doctor, found, holds->automatic, "%s; origins: %s", holds->automatic_value,
		  holds->origins[0] ? holds->origins : "all");
	nfd_advise(doctor, found, "apt-mark hold %s", tally->free_list);
	nfd_advise(
		doctor, found,
		"printf 'Unattended-Upgrade::Package-Blacklist { \"nvidia-\"; \"libnvidia-\"; "
		"\"linux-modules-nvidia-\"; \"cuda-drivers\"; };\\n' > "
		"/etc/apt/apt.conf.d/51nvidia-hold    # instead, against unattended-upgrades only");
}

/* Names and versions are in a database that is no text; the rules alone tell enough. */
static void check_rpm(struct nfd_doctor *doctor, const struct nfd_holds *holds)
{
	static const char *const names[] = { "nvidia-driver", "kmod-nvidia-open-dkms",
					     "libnvidia-ml", "cuda-drivers" };
	bool zypper = doctor->facts.manager == NFD_MANAGER_ZYPPER;
	struct nfd_diagnosis *found;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		if (nfd_holds_find(holds, names[i]))
			return;
	if (!holds->is_automatic) {
		skip(doctor, "the database of rpm is no text; nothing upgrades packages by itself");
		return;
	}
	found = nfd_find(doctor, "GPU-DRV-UNPINNED", NFD_VERDICT_WARNING,
			 "an automatic upgrade is on, and no rule keeps NVIDIA's packages back");
	nfd_prove(doctor, found, holds->automatic, "%s", holds->automatic_value);
	if (zypper)
		nfd_advise(
			doctor, found,
			"zypper addlock 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*' 'cuda-drivers*'");
	else
		nfd_advise(doctor, found,
			   "dnf versionlock add 'nvidia-*' 'kmod-nvidia*' 'libnvidia-*' "
			   "'cuda-drivers*'");
}

void nfd_check_pins(struct nfd_doctor *doctor)
{
	const struct nfd_packages *packages = &doctor->facts.packages;
	struct nfd_holds holds;
	struct tally tally;

	if (nfd_holds_read(doctor->options->root, &holds) < 0) {
		doctor->error = -ENOMEM;
		return;
	}
	if (packages->error) {
		skip(doctor, "var/lib/dpkg/status cannot be read");
		return;
	}
	if (!packages->is_read && packages->is_rpm) {
		check_rpm(doctor, &holds);
		return;
	}
	count(packages, &holds, &tally);
	if (!packages->is_read)
		skip(doctor, "no database of packages is known here");
	else if (tally.free_count + tally.held_count == 0)
		skip(doctor, "no package of the driver is installed: it came from a .run file, an "
			     "image, or a driver container");
	else if (tally.held_count && tally.free_count)
		found_partial(doctor, &tally);
	else if (tally.free_count && holds.is_automatic)
		found_unpinned(doctor, &tally, &holds);
}
