// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sys/block/<device>/queue/{dax,rotational,nr_zones,zoned}. As in NFD every block device
 * counts, also loop and RAM disks, so that nearly every host has the label.
 */
#include "config.h"

#include "scan/storage.h"

#include <string.h>

#include "scan/instance.h"

#define BLOCK "sys/block"
#define KEY NFD_F "storage-nonrotationaldisk"

enum { ROTATIONAL = 1 };

static const struct nfd_instance_kind block_kind = {
	.feature = "storage.block",
	.dir = BLOCK,
	.file = { "queue/dax", "queue/rotational", "queue/nr_zones", "queue/zoned" },
	.label_files = 1U << ROTATIONAL,
	.prefix = KEY,
};

static void run(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	bool is_found = false;
	int r = nfd_root_list(scan->root, BLOCK, &names);

	if (r < 0) {
		nfd_scan_failed(scan, KEY, BLOCK, r);
		return;
	}
	nfd_scan_feature_set(scan, NFD_INSTANCES, block_kind.feature);
	/* For the label one such device is enough; hosts have dozens of loop devices. */
	for (size_t i = 0; i < names.count && (scan->features || !is_found); i++) {
		struct nfd_instance device;

		nfd_scan_entry(scan, &block_kind, names.name[i], &device);
		if (is_found || !device.has[ROTATIONAL] ||
		    strcmp(device.text[ROTATIONAL], "0") != 0)
			continue;
		is_found = true;
		nfd_scan_entry_label(scan, &block_kind, names.name[i], &device, ROTATIONAL, KEY);
	}
}

static const char *const subsystems[] = { "block", NULL };
static const char *const prefixes[] = { NFD_F "storage-", NULL };
static const char *const features[] = { "storage.block", NULL };

const struct nfd_scanner nfd_storage_scanner = {
	.name = "storage",
	.summary = "block devices",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_STORAGE,
};
