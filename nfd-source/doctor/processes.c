// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * comm is cut at 15 bytes by the kernel, so the names here are too.
 */
#include "config.h"

#include "doctor/processes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* The unit of starttime in proc/PID/stat: USER_HZ, which is 100 on every architecture of Linux. */
#define TICKS_A_SECOND 100

static const struct {
	const char *comm;
	enum nfd_process_kind kind;
} names[] = {
	{ "containerd", NFD_PROCESS_CONTAINERD },
	{ "crio", NFD_PROCESS_CRIO },
	{ "dockerd", NFD_PROCESS_DOCKERD },
	{ "kubelet", NFD_PROCESS_KUBELET },
	{ "nvidia-persiste", NFD_PROCESS_PERSISTENCED },
	{ "nv-fabricmanage", NFD_PROCESS_FABRICMANAGER },
	{ "nvidia-device-p", NFD_PROCESS_DEVICE_PLUGIN },
	{ "dcgm-exporter", NFD_PROCESS_DCGM_EXPORTER },
	{ "nvidia-validato", NFD_PROCESS_VALIDATOR },
	{ "nfd-worker", NFD_PROCESS_NFD_WORKER },
};

static int kind_of(const char *comm)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		if (strcmp(names[i].comm, comm) == 0)
			return (int)names[i].kind;
	return -1;
}

/* Arguments are separated by NUL. */
static void find_config(const char *args, size_t len, char ret[256])
{
	const char *end = args + len;
	bool next = false;

	for (const char *word = args; word < end; word += strlen(word) + 1) {
		if (next) {
			snprintf(ret, 256, "%s", word);
			return;
		}
		next = strcmp(word, "-c") == 0 || strcmp(word, "--config") == 0;
		if (strncmp(word, "--config=", 9) == 0) {
			snprintf(ret, 256, "%s", word + 9);
			return;
		}
	}
}

/* Field 22 of proc/PID/stat; the name in field 2 may hold anything, so count from its end. */
static int64_t start_time(const struct nfd_root *root, const char *pid, int64_t boot_s)
{
	char path[64], text[1024];
	const char *at;
	int64_t start_s;

	snprintf(path, sizeof(path), "proc/%s/stat", pid);
	if (!boot_s || nfd_root_read(root, path, text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && !__builtin_add_overflow(boot_s, strtoll(at, NULL, 10) / TICKS_A_SECOND,
					     &start_s) ?
		       start_s :
		       0;
}

/* The containerd of the system's own containers is not the kubelet's. */
static bool is_of_system(const char *args, size_t len)
{
	static const char *const signs[] = { "host-containerd", "/system/run/containerd",
					     "/var/run/docker/", "/run/docker/" };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(signs); i++)
		if (memmem(args, len, signs[i], strlen(signs[i])))
			return true;
	return false;
}

/*
 * A distribution of Kubernetes starts its containerd with a configuration of its own; one without is then
 * the host's, for Docker. Else the first that was started.
 */
static bool is_preferred(const struct nfd_process *process, const struct nfd_process *other)
{
	if (!process->config[0] != !other->config[0])
		return process->config[0];
	return process->pid < other->pid;
}

static void take(const struct nfd_root *root, const char *pid, int64_t boot_s,
		 struct nfd_processes *ret)
{
	char path[64], text[4096];
	struct nfd_process found = { 0 }, *process;
	ssize_t len;
	int kind;

	snprintf(path, sizeof(path), "proc/%s/comm", pid);
	if (nfd_root_read_line(root, path, text, sizeof(text)) <= 0)
		return;
	ret->is_read = true;
	kind = kind_of(text);
	if (kind < 0)
		return;
	snprintf(path, sizeof(path), "proc/%s/cmdline", pid);
	len = nfd_root_read(root, path, text, sizeof(text));
	if (len > 0 && is_of_system(text, (size_t)len))
		return;
	if (len > 0)
		find_config(text, (size_t)len, found.config);
	found.pid = (int)strtol(pid, NULL, 10);
	process = &ret->process[kind];
	if (process->pid && !is_preferred(&found, process))
		return;
	found.start_s = start_time(root, pid, boot_s);
	*process = found;
}

void nfd_processes_read(const struct nfd_root *root, int64_t boot_s, struct nfd_processes *ret)
{
	cleanup_names struct nfd_names entries = { 0 };

	*ret = (struct nfd_processes){ 0 };
	if (nfd_root_list(root, "proc", &entries) < 0)
		return;
	for (size_t i = 0; i < entries.count; i++)
		if (isdigit((unsigned char)entries.name[i][0]))
			take(root, entries.name[i], boot_s, ret);
}
