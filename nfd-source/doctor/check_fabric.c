// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fabric manager, where NVSwitches are, and the persistence daemon, where somebody counts on it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

#define SWITCHES "proc/driver/nvidia-nvswitch/devices"
#define LOG "var/log/fabricmanager.log"

/* NVSwitches of the driver, or the management side of NVLink 5. */
static bool needs_fabric_manager(const struct nfd_root *root, char *ret_path, size_t size)
{
	cleanup_names struct nfd_names names = { 0 };
	char text[4096];

	if (nfd_root_list(root, SWITCHES, &names) == 0 && names.count > 0) {
		snprintf(ret_path, size, SWITCHES "/%.100s", names.name[0]);
		return true;
	}
	nfd_names_done(&names);
	if (nfd_root_list(root, "sys/class/infiniband", &names) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		ssize_t len;

		snprintf(ret_path, size, "sys/class/infiniband/%.60s/device/vpd", names.name[i]);
		len = nfd_root_read_start(root, ret_path, text, sizeof(text));
		if (len > 0 && memmem(text, (size_t)len, "SW_MNG", 6))
			return true;
	}
	return false;
}

static void check_running(struct nfd_doctor *doctor, const char *path)
{
	const char *version = doctor->facts.module.version;
	struct nfd_diagnosis *found;

	if (doctor->facts.processes.process[NFD_PROCESS_FABRICMANAGER].pid)
		return;
	if (!doctor->facts.processes.is_read) {
		nfd_skip(doctor, "GPU-FM-MISSING",
			 "the processes of the host are not visible here");
		return;
	}
	found = nfd_find(
		doctor, "GPU-FM-MISSING", NFD_VERDICT_CRITICAL,
		"the GPUs are connected by NVSwitch, and fabric manager does not run: CUDA "
		"fails with error 802 though nvidia-smi looks well");
	nfd_prove(doctor, found, path, "is there");
	nfd_prove(doctor, found, "proc", "no process nv-fabricmanager");
	nfd_advise(doctor, found,
		   doctor->facts.manager == NFD_MANAGER_APT ?
			   "apt-get install nvidia-fabricmanager-%.*s" :
			   "# install nvidia-fabricmanager of driver %.*s, in the same version",
		   (int)strcspn(version, "."), version);
	nfd_advise(doctor, found, "systemctl enable --now nvidia-fabricmanager");
}

/* "libnvidia-ml"-like versions inside a package's version: "580.126.09-1" begins with the driver's. */
static bool begins_with(const char *text, const char *version)
{
	size_t len = strlen(version);

	return strncmp(text, version, len) == 0 && (text[len] == '-' || !text[len]);
}

static void check_version(struct nfd_doctor *doctor)
{
	const struct nfd_packages *packages = &doctor->facts.packages;
	const char *version = doctor->facts.module.version;
	struct nfd_diagnosis *found;
	char path[160];

	for (size_t i = 0; version[0] && i < packages->count; i++) {
		const struct nfd_package *package = &packages->package[i];

		if (strncmp(package->name, "nvidia-fabricmanager", 20) != 0 ||
		    begins_with(package->version, version))
			continue;
		found = nfd_find(
			doctor, "GPU-FM-MISMATCH", NFD_VERDICT_CRITICAL,
			"fabric manager is %s and the loaded driver %s: they must have the "
			"same version",
			package->version, version);
		snprintf(path, sizeof(path), "var/lib/dpkg/status: %s", package->name);
		nfd_prove(doctor, found, path, "%s", package->version);
		nfd_prove(doctor, found, doctor->facts.module.path, "%s", version);
		nfd_advise(doctor, found, "apt-get install '%s=%s-*'", package->name, version);
		nfd_advise(doctor, found, "systemctl restart nvidia-fabricmanager");
		nfd_advise(doctor, found, "apt-mark hold %s", package->name);
	}
}

static void check_log(struct nfd_doctor *doctor)
{
	static const char words[] = "interface version";
	cleanup_free char *text = NULL;
	struct nfd_diagnosis *found;
	char *at, *line = NULL;

	if (nfd_root_read_alloc(doctor->options->root, LOG, 8 * 1024 * 1024, &text) <= 0)
		return;
	/* The newest such line. */
	for (at = text; (at = strstr(at, words)) != NULL; at++)
		line = at;
	if (!line || !memmem(line, strcspn(line, "\n"), "don't match", 11))
		return;
	/* A log of an older driver's time says nothing of now. */
	if (!memmem(line, strcspn(line, "\n"), doctor->facts.module.version,
		    strlen(doctor->facts.module.version)))
		return;
	found = nfd_find(doctor, "GPU-FM-MISMATCH", NFD_VERDICT_CRITICAL,
			 "fabric manager says that its version does not fit the driver's");
	nfd_prove(doctor, found, LOG, "%.*s", (int)strcspn(line, "\n"), line);
	nfd_advise(doctor, found, "# install nvidia-fabricmanager in version %s, and hold it too",
		   doctor->facts.module.version);
	nfd_advise(doctor, found, "systemctl restart nvidia-fabricmanager");
}

/* A CDI specification that mounts a socket which is not there lets no container start. */
static void check_socket(struct nfd_doctor *doctor)
{
	static const char *const specs[] = { "etc/cdi/nvidia.yaml", "var/run/cdi/nvidia.yaml",
					     "run/cdi/nvidia.yaml" };
	static const char socket[] = "nvidia-persistenced/socket";
	const struct nfd_root *root = doctor->options->root;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(specs); i++) {
		cleanup_free char *text = NULL;
		struct nfd_diagnosis *found;

		if (nfd_root_read_alloc(root, specs[i], 4 * 1024 * 1024, &text) <= 0 ||
		    !strstr(text, socket) ||
		    nfd_root_exists(root, "run/nvidia-persistenced/socket") > 0)
			continue;
		found = nfd_find(
			doctor, "GPU-PERSISTD-SOCK", NFD_VERDICT_CRITICAL,
			"a CDI specification mounts the persistence daemon's socket, which is "
			"not there: no container with a GPU starts");
		nfd_prove(doctor, found, specs[i], "names %s", socket);
		nfd_prove(doctor, found, "run/nvidia-persistenced/socket", "is missing");
		nfd_advise(doctor, found, "systemctl enable --now nvidia-persistenced");
		nfd_advise(doctor, found, "nvidia-ctk cdi generate --output=/%s", specs[i]);
		return;
	}
}

void nfd_check_fabric(struct nfd_doctor *doctor)
{
	char path[160];

	check_socket(doctor);
	if (!needs_fabric_manager(doctor->options->root, path, sizeof(path)))
		return;
	check_running(doctor, path);
	check_version(doctor);
	check_log(doctor);
}
