// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sys/class/net/<interface>/{operstate,speed,mtu} and, of an interface that is a device,
 * device/{sriov_numvfs,sriov_totalvfs}. Interfaces are those of the network namespace in which that
 * sysfs was mounted.
 */
#include "config.h"

#include "scan/network.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/instance.h"

#define INTERFACES "sys/class/net"
#define PREFIX NFD_F "network-sriov."
#define PATH_SIZE 512

enum { NUMVFS = 2, TOTALVFS };

static const struct nfd_instance_kind device_kind = {
	.feature = "network.device",
	.dir = INTERFACES,
	.file = { "operstate", "speed", "device/sriov_numvfs", "device/sriov_totalvfs", "mtu" },
	.label_files = 1U << NUMVFS | 1U << TOTALVFS,
	.prefix = PREFIX,
};

static const struct nfd_instance_kind virtual_kind = {
	.feature = "network.virtual",
	.dir = INTERFACES,
	.file = { "operstate", "speed", "mtu" },
};

/* A label where the count of virtual functions in a file of the interface is over 0. */
static void add_count(struct nfd_scan *scan, const char *name, const struct nfd_instance *device,
		      size_t file, const char *key)
{
	uint64_t count;

	if (device->has[file] && nfd_parse_uint(device->text[file], INT64_MAX, &count) == 0 &&
	    count > 0)
		nfd_scan_entry_label(scan, &device_kind, name, device, file, key);
}

static void add_interface(struct nfd_scan *scan, const char *name)
{
	struct nfd_instance interface;
	char path[PATH_SIZE];
	int is_device;

	snprintf(path, sizeof(path), INTERFACES "/%s/device", name);
	is_device = nfd_root_exists(scan->root, path);
	if (is_device < 0)
		nfd_scan_failed(scan, PREFIX, path, is_device);
	if (is_device <= 0) {
		nfd_scan_entry(scan, &virtual_kind, name, &interface);
		return;
	}
	nfd_scan_entry(scan, &device_kind, name, &interface);
	add_count(scan, name, &interface, TOTALVFS, PREFIX "capable");
	add_count(scan, name, &interface, NUMVFS, PREFIX "configured");
}

static void run(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	int r = nfd_root_list(scan->root, INTERFACES, &names);

	if (r < 0) {
		nfd_scan_failed(scan, PREFIX, INTERFACES, r);
		return;
	}
	nfd_scan_feature_set(scan, NFD_INSTANCES, device_kind.feature);
	nfd_scan_feature_set(scan, NFD_INSTANCES, virtual_kind.feature);
	for (size_t i = 0; i < names.count; i++)
		/* A file that the bonding driver puts among the interfaces. */
		if (strcmp(names.name[i], "bonding_masters") != 0)
			add_interface(scan, names.name[i]);
}

/* Not "net": each pod brings and takes an interface, which would be an event for nobody. */
static const char *const subsystems[] = { "pci", NULL };
static const char *const prefixes[] = { NFD_F "network-", NULL };
static const char *const features[] = { "network.device", "network.virtual", NULL };

const struct nfd_scanner nfd_network_scanner = {
	.name = "network",
	.summary = "network interfaces and their virtual functions",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_NETWORK,
};
