// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NVIDIA (Mellanox) network adapters: what their RDMA devices and SR-IOV attributes say. An adapter
 * is a physical function; its RDMA device is the one in the function's own folder, so that those of
 * virtual functions and of other vendors are never looked at.
 */
#include "config.h"

#include "scan/mellanox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/pci_bus.h"
#include "scan/tally.h"
#include "scan/version_labels.h"

#define STEM NFD_F "nic-15b3"
#define DEVICE_NAME_SIZE 64 /* the kernel's IB_DEVICE_NAME_MAX */
#define PATH_SIZE 192
#define VFS_MAX 65535 /* NumVFs and TotalVFs have 16 bits */

/*
 * What is read of an adapter: keys that are published or unknown together. Those of the RDMA device
 * come first, and of these the plain texts.
 */
enum group { FIRMWARE, BOARD, HCA_TYPE, LINK, RDMA, SRIOV, GROUP_COUNT };

static const struct {
	const char *stem;
	const char *attribute; /* of the RDMA device, one text; NULL: see the code */
} groups[GROUP_COUNT] = {
	[FIRMWARE] = { STEM ".firmware", "fw_ver" },
	[BOARD] = { STEM ".board", "board_id" },
	[HCA_TYPE] = { STEM ".hca-type", "hca_type" },
	[LINK] = { STEM ".link", NULL },
	[RDMA] = { STEM ".rdma", NULL },
	[SRIOV] = { STEM ".sriov", NULL },
};

struct adapters {
	struct nfd_scan *scan;
	unsigned int physical_count, virtual_count;
	unsigned int sriov_capable, vfs;
	struct {
		struct nfd_tally kinds;
		char path[PATH_SIZE]; /* of the first adapter that states it */
		bool is_unknown;      /* of one adapter at least */
	} group[GROUP_COUNT];
};

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x15b3, .class_code = 0x0200 },
	{ .vendor = 0x15b3, .class_code = 0x0207 },
};

static bool is_here(struct nfd_scan *scan)
{
	return nfd_pci_count(scan, &nfd_mellanox_scanner, true) > 0;
}

static void fail(struct adapters *adapters, enum group group, const char *path, int code)
{
	if (nfd_root_is_absent(code))
		return;
	adapters->group[group].is_unknown = true;
	nfd_scan_failed(adapters->scan, groups[group].stem, path, code);
}

static void add_kind(struct adapters *adapters, enum group group, const char *path,
		     const char *kind)
{
	if (!adapters->group[group].path[0])
		snprintf(adapters->group[group].path, PATH_SIZE, "%s", path);
	if (nfd_tally_add(&adapters->group[group].kinds, kind) < 0)
		adapters->scan->error = -ENOMEM;
}

static void read_text(struct adapters *adapters, enum group group, const char *device)
{
	char path[PATH_SIZE], text[NFD_LABEL_VALUE_SIZE], kind[NFD_LABEL_VALUE_SIZE];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s", device, groups[group].attribute);
	len = nfd_root_read_line(adapters->scan->root, path, text, sizeof(text));
	if (len < 0)
		fail(adapters, group, path, (int)len);
	else if (nfd_label_value_from_version(text, kind) > 0)
		add_kind(adapters, group, path, kind);
}

/* ConnectX-3 has up to two ports a function, later adapters have one. */
static void read_links(struct adapters *adapters, const char *device)
{
	static const char *const layers[][2] = { { "InfiniBand", "infiniband" },
						 { "Ethernet", "ethernet" } };
	bool has[NFD_ARRAY_SIZE(layers)] = { false };
	char path[PATH_SIZE], text[32];
	ssize_t len;

	for (int port = 1; port <= 2; port++) {
		snprintf(path, sizeof(path), "%s/ports/%d/link_layer", device, port);
		len = nfd_root_read_line(adapters->scan->root, path, text, sizeof(text));
		if (len < 0)
			fail(adapters, LINK, path, (int)len);
		for (size_t i = 0; len >= 0 && i < NFD_ARRAY_SIZE(layers); i++)
			has[i] |= strcmp(text, layers[i][0]) == 0;
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(layers); i++)
		if (has[i])
			add_kind(adapters, LINK, device, layers[i][1]);
}

/* The adapter's RDMA device; of several the first by name, so that an adapter counts once. */
static void read_rdma(struct adapters *adapters, const char *address)
{
	cleanup_names struct nfd_names names = { 0 };
	char folder[PATH_SIZE], device[PATH_SIZE];
	int r;

	snprintf(folder, sizeof(folder), NFD_PCI_DEVICES "/%s/infiniband", address);
	r = nfd_root_list(adapters->scan->root, folder, &names);
	if (r == -ENOMEM)
		adapters->scan->error = r;
	if (r < 0) {
		for (enum group group = FIRMWARE; group <= RDMA; group++)
			fail(adapters, group, folder, r);
		return;
	}
	if (names.count == 0 || strlen(names.name[0]) >= DEVICE_NAME_SIZE)
		return;
	snprintf(device, sizeof(device), NFD_PCI_DEVICES "/%s/infiniband/%s", address,
		 names.name[0]);
	add_kind(adapters, RDMA, device, "capable");
	for (enum group group = FIRMWARE; group <= HCA_TYPE; group++)
		read_text(adapters, group, device);
	read_links(adapters, device);
}

/* Returns whether the number is there. */
static bool read_vfs(struct adapters *adapters, const char *address, const char *attribute,
		     unsigned int *ret)
{
	char path[PATH_SIZE], text[32];
	uint64_t number;
	ssize_t len;

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/%s", address, attribute);
	len = nfd_root_read_line(adapters->scan->root, path, text, sizeof(text));
	if (len >= 0 && nfd_parse_uint(text, VFS_MAX, &number) < 0)
		len = -EBADMSG;
	if (len < 0) {
		fail(adapters, SRIOV, path, (int)len);
		return false;
	}
	*ret = (unsigned int)number;
	return true;
}

static void read_adapter(struct adapters *adapters, const struct nfd_pci_function *function)
{
	char address[NFD_PCI_ADDRESS_SIZE];
	unsigned int total = 0, vfs = 0;

	nfd_pci_format_address(function, address);
	adapters->physical_count++;
	read_rdma(adapters, address);
	if (!read_vfs(adapters, address, "sriov_totalvfs", &total) || total == 0)
		return;
	adapters->sriov_capable++;
	if (read_vfs(adapters, address, "sriov_numvfs", &vfs))
		adapters->vfs += vfs;
}

static void read_adapters(struct adapters *adapters)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(adapters->scan);

	for (size_t i = 0; bus && i < bus->count; i++) {
		const struct nfd_pci_function *function = &bus->function[i];

		if (function->is_unresponsive ||
		    !nfd_pci_matches(functions, NFD_ARRAY_SIZE(functions), function))
			continue;
		if (function->is_virtual)
			adapters->virtual_count++;
		else
			read_adapter(adapters, function);
	}
}

static void add_true(struct nfd_scan *scan, const char *path, const char *key)
{
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = "true",
					     .path = path };

	nfd_scan_label(scan, &finding, "%s", key);
}

/* One text for all adapters that state it, or how many have which. */
static void add_text(struct adapters *adapters, enum group group)
{
	const struct nfd_tally *kinds = &adapters->group[group].kinds;
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = nfd_tally_only(kinds, 1),
					     .path = adapters->group[group].path };

	if (!finding.value)
		nfd_tally_labels(adapters->scan, kinds, NFD_PCI_DEVICES, groups[group].stem);
	else if (group == FIRMWARE)
		nfd_scan_version(adapters->scan, STEM ".firmware.version", finding.path,
				 finding.value);
	else
		nfd_scan_label(adapters->scan, &finding, "%s", groups[group].stem);
}

static void add_rdma(struct adapters *adapters)
{
	const struct nfd_tally *links = &adapters->group[LINK].kinds;

	for (enum group group = FIRMWARE; group <= HCA_TYPE; group++)
		if (!adapters->group[group].is_unknown)
			add_text(adapters, group);
	for (size_t i = 0; i < links->count && !adapters->group[LINK].is_unknown; i++)
		nfd_scan_count(adapters->scan, NFD_RANK_NORMAL, links->entry[i].count,
			       adapters->group[LINK].path, STEM ".link.%s", links->entry[i].key);
	if (adapters->group[RDMA].kinds.count > 0)
		add_true(adapters->scan, adapters->group[RDMA].path, STEM ".rdma.capable");
}

static void add_labels(struct adapters *adapters)
{
	struct nfd_scan *scan = adapters->scan;

	if (adapters->physical_count > 0)
		nfd_scan_count(scan, NFD_RANK_NORMAL, adapters->physical_count, NFD_PCI_DEVICES,
			       STEM ".count");
	if (adapters->virtual_count > 0)
		nfd_scan_count(scan, NFD_RANK_NORMAL, adapters->virtual_count, NFD_PCI_DEVICES,
			       STEM ".vf-count");
	if (adapters->sriov_capable > 0) {
		add_true(scan, NFD_PCI_DEVICES, STEM ".sriov.capable");
		if (!adapters->group[SRIOV].is_unknown)
			nfd_scan_count(scan, NFD_RANK_NORMAL, adapters->vfs, NFD_PCI_DEVICES,
				       STEM ".sriov.vfs");
	}
	add_rdma(adapters);
}

static void run(struct nfd_scan *scan)
{
	struct adapters adapters = { .scan = scan };

	read_adapters(&adapters);
	add_labels(&adapters);
	for (enum group group = 0; group < GROUP_COUNT; group++)
		nfd_tally_done(&adapters.group[group].kinds);
}

static const char *const subsystems[] = { "pci", "infiniband", "module", "drivers", NULL };
static const char *const prefixes[] = { NFD_F "nic-15b3.", NULL };

const struct nfd_scanner nfd_mellanox_scanner = {
	.name = "mellanox",
	.summary = "NVIDIA (Mellanox) network adapters: firmware, board, links, SR-IOV",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_MELLANOX,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
