// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the packages that must move together with the loaded module can move by themselves.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

static const char *const all[] = { "GPU-DRV-UNPINNED", "GPU-DRV-PINPARTIAL" };

static void skip(struct nfd_doctor *doctor, const char *why)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(all); i++)
		nfd_skip(doctor, all[i], "%s", why);
}

struct tally {
	const char *free_name, *held_name;
	size_t free_count, held_count;
	size_t vendor_count; /* free ones that came from NVIDIA's own repository */
};

/*
 * dpkg does not keep where a package came from, but NVIDIA's repository has revisions of its own:
 * "580.126.09-1ubuntu1" for Ubuntu (which itself begins with 0), "580.126.09-1" for Debian (whose stable
 * releases append "~deb12u1").
 */
static bool is_from_vendor(const char *version)
{
	const char *revision = strrchr(version, '-');

	return revision && (strcmp(revision, "-1ubuntu1") == 0 || strcmp(revision, "-1") == 0);
}

/* Whether the automatic upgrade takes packages from NVIDIA's repository; no list is a guess: yes. */
static bool takes_vendor(const struct nfd_holds *holds)
{
	return !holds->origins[0] || strcasestr(holds->origins, "nvidia") ||
	       strchr(holds->origins, '*') || strstr(holds->origins, "site=");
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
		} else {
			ret->free_count++;
			ret->free_name = package->name;
			ret->vendor_count += is_from_vendor(package->version);
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

static void advise_hold(struct nfd_doctor *doctor, struct nfd_diagnosis *found)
{
	cleanup_strbuf struct nfd_strbuf list = { 0 };

	nfd_holds_list_free(&doctor->facts.holds, &doctor->facts.packages, &list);
	nfd_advise(doctor, found, "apt-mark hold %s", nfd_strbuf_text(&list));
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
	advise_hold(doctor, found);
}

static void found_unpinned(struct nfd_doctor *doctor, const struct tally *tally,
			   const struct nfd_holds *holds)
{
	struct nfd_diagnosis *found;

	bool by_hand = tally->vendor_count == tally->free_count && !takes_vendor(holds);

	found = nfd_find(
		doctor, "GPU-DRV-UNPINNED", by_hand ? NFD_VERDICT_INFO : NFD_VERDICT_WARNING, "%s",
		by_hand ? "the driver packages are not held; the automatic upgrade does not take "
			  "packages from NVIDIA's repository, but an upgrade by hand moves them" :
			  "an automatic upgrade can move the driver packages behind the loaded "
			  "module, and then the node loses its GPUs");
	prove_state(doctor, found, tally->free_name, "not held");
	nfd_prove(doctor, found, holds->automatic, "%s; origins: %s", holds->automatic_value,
		  holds->origins[0] ? holds->origins : "all");
	advise_hold(doctor, found);
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
	const struct nfd_holds *holds = &doctor->facts.holds;
	struct tally tally;

	if (packages->error) {
		skip(doctor, "var/lib/dpkg/status cannot be read");
		return;
	}
	if (!packages->is_read && packages->is_rpm) {
		check_rpm(doctor, holds);
		return;
	}
	count(packages, holds, &tally);
	if (!packages->is_read)
		skip(doctor, "no database of packages is known here");
	else if (tally.free_count + tally.held_count == 0)
		skip(doctor, "no package of the driver is installed: it came from a .run file, an "
			     "image, or a driver container");
	else if (tally.held_count && tally.free_count)
		found_partial(doctor, &tally);
	else if (tally.free_count && holds->is_automatic)
		found_unpinned(doctor, &tally, holds);
}
