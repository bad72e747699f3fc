// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The GPUs of the stand-in, read from a fixture root (nvml_standin.c says from where).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml_standin.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

ssize_t read_below(const char *path, char *ret, size_t size)
{
	const char *root = secure_getenv("NFD_STANDIN_ROOT");
	char full[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", root ? root : "", path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Small files: one read, as the benches compare programs and not this. */
	len = read(fd, ret, size - 1);
	close(fd);
	if (len < 0)
		return -1;
	while (len && strchr(" \t\r\n", ret[len - 1]))
		len--;
	ret[len] = '\0';
	return len;
}

static unsigned int hex_below(const char *address, const char *attribute)
{
	char path[PATH_MAX], text[64];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", address, attribute);
	return read_below(path, text, sizeof(text)) < 0 ? 0 : (unsigned int)strtoul(text, NULL, 16);
}

/* Value behind "Key:" of an information file. */
static void information(const char *text, const char *key, char *ret, size_t size)
{
	const char *at = strstr(text, key);

	if (!at)
		return;
	at += strlen(key);
	at += strspn(at, ": \t");
	snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void set_memory(struct device *device, const char *value)
{
	device->memory_mb = (unsigned int)strtoul(value, NULL, 10);
}

static void set_compute(struct device *device, const char *value)
{
	sscanf(value, "%d.%d", &device->compute_major, &device->compute_minor);
}

static void set_mig(struct device *device, const char *value)
{
	int fields = sscanf(value, "%u/%u", &device->mig_current, &device->mig_pending);

	device->has_mig = fields >= 1;
	if (fields == 1)
		device->mig_pending = device->mig_current;
}

static void set_virtualization(struct device *device, const char *value)
{
	device->virtualization = (int)strtol(value, NULL, 10);
}

static void set_fabric(struct device *device, const char *value)
{
	struct fabric *fabric = &device->fabric;
	unsigned int state = 0;

	for (size_t i = 0;
	     i < sizeof(fabric->uuid) && sscanf(value, "%2hhx", &fabric->uuid[i]) == 1; i++) {
		value += 2;
		value += *value == '-';
	}
	device->has_fabric =
		sscanf(value, "/%u/%u/%d", &fabric->clique, &state, &fabric->status) == 3;
	fabric->state = (unsigned char)state;
}

static void add_mig(struct device *device, const char *value)
{
	struct mig *mig = &device->mig[device->mig_count];

	if (device->mig_count == MIG_MAX)
		return;
	device->mig_count++;
	*mig = (struct mig){ .parent = device, .is_empty = strcmp(value, "-") == 0 };
	sscanf(value, "%u:%u:%u:%u:%u:%u:%u:%u:%u", &mig->gpu_profile, &mig->compute_profile,
	       &mig->memory_mb, &mig->multiprocessors, &mig->copy, &mig->decoder, &mig->encoder,
	       &mig->jpeg, &mig->ofa);
}

static void add_fail(struct device *device, const char *value)
{
	if (device->fail_count < FAILS_MAX &&
	    sscanf(value, "%63[^:]:%d", device->fail[device->fail_count].call,
		   &device->fail[device->fail_count].code) == 2)
		device->fail_count++;
}

static void set_property(struct device *device, const char *word)
{
	static const struct {
		const char *key;
		void (*set)(struct device *device, const char *value);
	} keys[] = {
		{ "memory=", set_memory }, { "compute=", set_compute },
		{ "mig=", set_mig },       { "virtualization=", set_virtualization },
		{ "fabric=", set_fabric }, { "migdev=", add_mig },
		{ "fail=", add_fail },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strncmp(word, keys[i].key, strlen(keys[i].key)) == 0) {
			keys[i].set(device, word + strlen(keys[i].key));
			return;
		}
	fprintf(stderr, "stand-in: no property \"%s\"\n", word);
	abort();
}

/* The lines of standin/devices about a GPU. */
static void read_properties(struct device *device)
{
	char text[16384], *line, *word, *lines, *words;

	if (read_below("standin/devices", text, sizeof(text)) < 0)
		return;
	for (line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		word = strtok_r(line, " ", &words);
		if (!word || (strcmp(word, "*") != 0 && strcmp(word, device->address) != 0))
			continue;
		while ((word = strtok_r(NULL, " ", &words)))
			set_property(device, word);
	}
}

static void read_information(struct device *device)
{
	char path[PATH_MAX], text[4096], minor[16] = "";

	snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", device->address);
	if (read_below(path, text, sizeof(text)) < 0)
		return;
	information(text, "Model", device->name, sizeof(device->name));
	information(text, "GPU UUID", device->uuid, sizeof(device->uuid));
	information(text, "Device Minor", minor, sizeof(minor));
	if (minor[0])
		device->minor = (unsigned int)strtoul(minor, NULL, 10);
}

static void add_device(const char *address)
{
	struct device *device = &state.device[state.count];

	*device = (struct device){ .minor = state.count,
				   .memory_mb = 23028,
				   .compute_major = 8,
				   .compute_minor = 9,
				   .virtualization = -1 };
	snprintf(device->address, sizeof(device->address), "%.15s", address);
	device->ids = hex_below(address, "device") << 16 | 0x10de;
	device->subsystem = hex_below(address, "subsystem_device") << 16 |
			    hex_below(address, "subsystem_vendor");
	snprintf(device->name, sizeof(device->name), "NVIDIA Stand-in");
	snprintf(device->uuid, sizeof(device->uuid), "GPU-00000000-0000-0000-0000-%012x",
		 state.count);
	read_information(device);
	read_properties(device);
	if (has_fault("bytes"))
		snprintf(device->name, sizeof(device->name), "NVIDIA \377\033[2J\"\\");
	state.count++;
}

static int by_address(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

void find_devices(void)
{
	const char *root = secure_getenv("NFD_STANDIN_ROOT");
	char path[PATH_MAX];
	struct dirent **entry;
	int count;

	state.count = 0;
	if (has_fault("nodevices"))
		return;
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root ? root : "");
	count = scandir(path, &entry, NULL, by_address);
	for (int i = 0; i < count; i++) {
		unsigned int class =
			entry[i]->d_name[0] == '.' ? 0 : hex_below(entry[i]->d_name, "class") >> 8;

		if ((class == 0x0300 || class == 0x0302) &&
		    hex_below(entry[i]->d_name, "vendor") == 0x10de && state.count < DEVICES_MAX)
			add_device(entry[i]->d_name);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
}
