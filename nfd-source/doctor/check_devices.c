// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Device nodes: character devices of the right numbers. Only their inodes are looked at.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "doctor/doctor.h"

#define MAJOR_NVIDIA 195
#define MINOR_CONTROL 255

/* Major number of a driver in proc/devices; 0 when it has none. */
static unsigned int major_of(const struct nfd_root *root, const char *name)
{
	char text[16384], *rest = text, *line;

	if (nfd_root_read(root, "proc/devices", text, sizeof(text)) <= 0)
		return 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *end;
		unsigned long number = strtoul(line, &end, 10);

		if (end != line && strcmp(end + strspn(end, " "), name) == 0)
			return (unsigned int)number;
	}
	return 0;
}

/* NULL when the node is as it should be; else what is wrong. */
static const char *judge_node(const struct nfd_root *root, const char *path, unsigned int major,
			      int minor)
{
	struct stat st;
	int r = nfd_root_stat(root, path, &st);

	if (r < 0)
		return nfd_root_is_absent(r) ? "is missing" : NULL;
	if (!S_ISCHR(st.st_mode))
		return "is no character device";
	if (major && major(st.st_rdev) != major)
		return "has another major number than the driver";
	if (minor >= 0 && (int)minor(st.st_rdev) != minor)
		return "has another minor number than the GPU";
	return NULL;
}

static void check_node(struct nfd_doctor *doctor, const char *path, unsigned int number, int minor)
{
	const char *wrong = judge_node(doctor->options->root, path, number, minor);
	bool is_uvm = strcmp(path, "dev/nvidia-uvm") == 0;
	struct nfd_diagnosis *found;

	if (!wrong || nfd_found(doctor, "GPU-DEV-NODES", NFD_VERDICT_CRITICAL))
		return;
	found = nfd_find(doctor, "GPU-DEV-NODES", NFD_VERDICT_CRITICAL,
			 "the device node /%s %s: CUDA fails in pods though nvidia-smi may work",
			 path, wrong);
	nfd_prove(doctor, found, path, "%s", wrong);
	if (is_uvm)
		nfd_advise(doctor, found, "modprobe nvidia_uvm");
	nfd_advise(doctor, found,
		   "nvidia-modprobe -u -c 0    # also at boot: enable "
		   "nvidia-persistenced, or a udev rule");
}

static void check_links(struct nfd_doctor *doctor)
{
	const struct nfd_root *root = doctor->options->root;
	struct nfd_diagnosis *found;

	if (nfd_root_exists(root, "dev/char") <= 0 || nfd_root_exists(root, "dev/char/195:255") > 0)
		return;
	/* Only the systemd cgroup driver looks the devices up by these links. */
	if (nfd_root_exists(root, "run/systemd/system") <= 0)
		return;
	found = nfd_find(doctor, "GPU-DEV-CHARLINK", NFD_VERDICT_INFO,
			 "links to the NVIDIA devices in /dev/char are missing: with the systemd "
			 "cgroup driver and without CDI, running pods lose their GPUs at "
			 "\"systemctl daemon-reload\"");
	nfd_prove(doctor, found, "dev/char/195:255", "is missing");
	nfd_advise(doctor, found, "nvidia-ctk system create-dev-char-symlinks --create-all");
}

void nfd_check_devices(struct nfd_doctor *doctor)
{
	const struct nfd_root *root = doctor->options->root;
	char path[48];

	if (!doctor->facts.is_loaded) {
		nfd_skip(doctor, "GPU-DEV-NODES", "the nvidia module is not loaded");
		nfd_skip(doctor, "GPU-DEV-CHARLINK", "the nvidia module is not loaded");
		return;
	}
	if (nfd_root_exists(root, "dev") <= 0) {
		nfd_skip(doctor, "GPU-DEV-NODES", "there is no dev below the root");
		nfd_skip(doctor, "GPU-DEV-CHARLINK", "there is no dev below the root");
		return;
	}
	check_node(doctor, "dev/nvidiactl", MAJOR_NVIDIA, MINOR_CONTROL);
	for (size_t i = 0; i < doctor->facts.gpu_count; i++) {
		if (doctor->facts.gpu[i].minor < 0)
			continue;
		snprintf(path, sizeof(path), "dev/nvidia%d", doctor->facts.gpu[i].minor);
		check_node(doctor, path, MAJOR_NVIDIA, doctor->facts.gpu[i].minor);
	}
	check_node(doctor, "dev/nvidia-uvm", major_of(root, "nvidia-uvm"), 0);
	check_links(doctor);
}
