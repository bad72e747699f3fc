// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The capability and its records, and the labels. A read of config can wake a card that sleeps, so it
 * is kept to virtual machines, where alone a vGPU can be, and to cards that are awake.
 */
#include "config.h"

#include "scan/nvidia_vgpu.h"

#include <stdio.h>
#include <string.h>

#include "labels/key.h"
#include "scan/nvidia.h"

#define CPUINFO "proc/cpuinfo"
#define PREFIX "nvidia.com/vgpu."

#define STATUS 0x06
#define STATUS_HAS_CAPABILITIES 0x10
#define FIRST_CAPABILITY 0x34
#define VENDOR_SPECIFIC 0x09
#define VGPU_RECORDS 5 /* behind id, next, length, 'V' and 'F' */
#define DRIVER_TEXT 10

/* Capabilities lie behind the header of 64 bytes and take 4 bytes at least. */
#define CAPABILITIES_MAX ((NFD_PCI_CONFIG_SIZE - 64) / 4)

/* The first vendor-specific capability; @ret_len is cut to what there is. NULL without one. */
static const uint8_t *vendor_capability(const uint8_t *config, size_t *ret_len)
{
	size_t at = config[FIRST_CAPABILITY];

	if (!(config[STATUS] & STATUS_HAS_CAPABILITIES))
		return NULL;
	for (int i = 0; i < CAPABILITIES_MAX && at != 0 && at <= NFD_PCI_CONFIG_SIZE - 4; i++) {
		if (config[at] == 0xff)
			return NULL;
		if (config[at] == VENDOR_SPECIFIC) {
			*ret_len = config[at + 2];
			if (*ret_len > NFD_PCI_CONFIG_SIZE - at)
				*ret_len = NFD_PCI_CONFIG_SIZE - at;
			return config + at;
		}
		at = config[at + 1];
	}
	return NULL;
}

/* Ten bytes, filled up with NUL at either end. */
static void take_text(const uint8_t *from, char ret[DRIVER_TEXT + 1])
{
	size_t start = 0;

	while (start < DRIVER_TEXT && !from[start])
		start++;
	memcpy(ret, from + start, DRIVER_TEXT - start);
	ret[DRIVER_TEXT - start] = '\0';
}

/* Records of id and length; the one of id 0 is the last. */
static void take_records(const uint8_t *capability, size_t len, struct nfd_vgpu *ret)
{
	size_t at = VGPU_RECORDS;

	while (at + 1 < len && capability[at] != 0) {
		/* A record that does not get on would never end. */
		if (capability[at + 1] < 2)
			return;
		at += capability[at + 1];
	}
	if (at + 2 + 2 * DRIVER_TEXT > len)
		return;
	take_text(capability + at + 2, ret->version);
	take_text(capability + at + 2 + DRIVER_TEXT, ret->branch);
}

void nfd_vgpu_parse(const uint8_t config[NFD_PCI_CONFIG_SIZE], struct nfd_vgpu *ret)
{
	size_t len = 0;
	const uint8_t *capability = vendor_capability(config, &len);

	*ret = (struct nfd_vgpu){ 0 };
	if (!capability || len < VGPU_RECORDS || capability[3] != 'V' || capability[4] != 'F')
		return;
	ret->is_vgpu = true;
	take_records(capability, len, ret);
}

/* Whether a word stands behind a blank in a line. */
static bool has_word(const char *line, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	for (size_t i = 1; i + word_len <= len; i++)
		if (memcmp(line + i, word, word_len) == 0 && line[i - 1] == ' ' &&
		    (i + word_len == len || line[i + word_len] == ' '))
			return true;
	return false;
}

/*
 * Certain of x86 alone, whose first processor has a line of flags near the beginning. Others say
 * nothing there; of them a guest is assumed, which only costs the reading.
 */
static bool is_hardware(const struct nfd_root *root)
{
	char text[16384];
	const char *flags;
	ssize_t len = nfd_root_read_start(root, CPUINFO, text, sizeof(text) - 1);

	if (len <= 0)
		return false;
	text[len] = '\0';
	flags = strstr(text, "\nflags\t");
	if (!flags)
		return false;
	flags++;
	/* A line that is cut says nothing. */
	return strchr(flags, '\n') && !has_word(flags, strcspn(flags, "\n"), "hypervisor");
}

/* What is known of the GPUs so far. */
struct view {
	struct nfd_vgpu vgpu; /* of the last one that is */
	bool is_undecided;
	char why[200]; /* the first GPU of which NVML had to tell, and why */
};

static int ask_nvml(const struct nfd_nvidia_report *report, const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < report->count; i++)
		if (nfd_nvidia_same_address(&report->gpu[i].address, function))
			return report->gpu[i].virtualization;
	return -1;
}

/* Reads config. Returns whether @ret is filled; else @why says why not. */
static bool read_config(struct nfd_scan *scan, const struct nfd_pci_function *function,
			struct nfd_vgpu *ret, char *why, size_t size)
{
	uint8_t config[NFD_PCI_CONFIG_SIZE];
	char address[NFD_PCI_ADDRESS_SIZE], path[96], state[32];
	ssize_t len;

	nfd_pci_format_address(function, address);
	if (nfd_pci_read_line(scan->root, function, "power/runtime_status", state, sizeof(state)) >=
		    0 &&
	    strncmp(state, "suspend", strlen("suspend")) == 0) {
		snprintf(why, size, "%s sleeps", address);
		return false;
	}
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/config", address);
	len = nfd_root_read_start(scan->root, path, config, sizeof(config));
	if (len == NFD_PCI_CONFIG_SIZE)
		nfd_vgpu_parse(config, ret);
	/* What is not there has no capability: the card went, or this is a recording of hardware. */
	if (len == NFD_PCI_CONFIG_SIZE || (len < 0 && nfd_root_is_absent((int)len)))
		return true;
	if (len < 0)
		snprintf(why, size, "cannot read \"%s\": %s", path, nfd_errno_text((int)len));
	else
		snprintf(why, size, "\"%s\" shows %zd of %d bytes: needs CAP_SYS_ADMIN", path, len,
			 NFD_PCI_CONFIG_SIZE);
	return false;
}

static void look_at(struct nfd_scan *scan, const struct nfd_nvidia_report *report,
		    const struct nfd_pci_function *function, struct view *view)
{
	struct nfd_vgpu vgpu = { 0 };
	char why[sizeof(view->why)];
	int mode;

	if (read_config(scan, function, &vgpu, why, sizeof(why))) {
		if (vgpu.is_vgpu)
			view->vgpu = vgpu;
		return;
	}
	mode = ask_nvml(report, function);
	view->is_undecided |= mode < 0;
	if (mode == 2)
		view->vgpu.is_vgpu = true;
	if (!view->why[0] && (mode < 0 || mode == 2))
		memcpy(view->why, why, sizeof(why));
}

static void put(struct nfd_scan *scan, const char *suffix, const char *text, const char *path)
{
	char value[NFD_LABEL_VALUE_SIZE];
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = value, .path = path };

	if (nfd_label_value_from_version(text, value) > 0)
		nfd_scan_label(scan, &finding, PREFIX "%s", suffix);
}

void nfd_nvidia_vgpu_labels(struct nfd_scan *scan, const struct nfd_nvidia_report *report)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	struct view view = { 0 };
	const char *path = NFD_PCI_DEVICES;

	if (is_hardware(scan->root))
		path = CPUINFO;
	else
		for (size_t i = 0; bus && i < bus->count; i++)
			if (nfd_nvidia_is_gpu(&bus->function[i]))
				look_at(scan, report, &bus->function[i], &view);
	if (!view.vgpu.is_vgpu && view.is_undecided) {
		nfd_scan_doubt(scan, PREFIX, view.why);
		return;
	}
	put(scan, "present", view.vgpu.is_vgpu ? "true" : "false", path);
	put(scan, "host-driver-version", view.vgpu.version, path);
	put(scan, "host-driver-branch", view.vgpu.branch, path);
	if (view.vgpu.is_vgpu && !view.vgpu.version[0] && view.why[0])
		nfd_scan_doubt(scan, PREFIX "host-driver-", view.why);
}
