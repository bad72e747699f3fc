// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads etc/os-release and sys/devices/virtual/dmi/id. Serial numbers and UUIDs there are for root
 * alone and are no features.
 */
#include "config.h"

#include "scan/system.h"

#include <stdio.h>
#include <string.h>

#include "scan/os_release.h"

#define OS_RELEASE "etc/os-release"
#define DMI "sys/devices/virtual/dmi/id"
#define PATH_SIZE 128
#define OSRELEASE_FEATURE "system.osrelease"

static const char *const dmi_files[] = {
	"bios_date",    "bios_vendor",    "bios_version",    "board_asset_tag",
	"board_name",   "board_vendor",   "board_version",   "chassis_asset_tag",
	"chassis_type", "chassis_vendor", "chassis_version", "product_family",
	"product_name", "product_sku",    "product_version", "sys_vendor",
};

/*
 * Cuts quotes off both ends, whatever their number and kind. NFD knows no escapes; the label of the
 * same name has them undone (scan/os_release).
 */
static char *trim_quotes(char *text)
{
	static const char quotes[] = "\"'";
	size_t len;

	text += strspn(text, quotes);
	len = strlen(text);
	while (len > 0 && strchr(quotes, text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* Splits "KEY=value" in place. Returns the value; NULL when the line is of another form. */
static char *split_line(char *line)
{
	static const char word[] =
		"0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t len = strspn(line, word), end = strlen(line);

	if (end > 0 && line[end - 1] == '\r')
		line[--end] = '\0';
	if (len == 0 || line[len] != '=' || len + 1 == end)
		return NULL;
	line[len] = '\0';
	return trim_quotes(line + len + 1);
}

static void add_version(struct nfd_scan *scan, const char *text)
{
	struct nfd_os_version version;

	nfd_os_release_version(text, &version);
	if (version.major[0])
		nfd_scan_feature(scan, OSRELEASE_FEATURE, "VERSION_ID.major", version.major);
	if (version.minor[0])
		nfd_scan_feature(scan, OSRELEASE_FEATURE, "VERSION_ID.minor", version.minor);
}

static void add_os_release(struct nfd_scan *scan)
{
	char text[16384], *next = text, *line;
	const char *version = NULL;

	if (nfd_root_read(scan->root, OS_RELEASE, text, sizeof(text)) < 0)
		return;
	nfd_scan_feature_set(scan, NFD_ATTRIBUTES, OSRELEASE_FEATURE);
	while ((line = strsep(&next, "\n"))) {
		const char *value = split_line(line);

		if (!value)
			continue;
		nfd_scan_feature(scan, OSRELEASE_FEATURE, line, value);
		if (strcmp(line, "VERSION_ID") == 0)
			version = value;
	}
	if (version)
		add_version(scan, version);
}

static void add_dmi(struct nfd_scan *scan)
{
	char path[PATH_SIZE], text[4097];

	for (size_t i = 0; i < NFD_ARRAY_SIZE(dmi_files); i++) {
		snprintf(path, sizeof(path), DMI "/%s", dmi_files[i]);
		if (nfd_root_read_line(scan->root, path, text, sizeof(text)) >= 0)
			nfd_scan_feature(scan, "system.dmiid", dmi_files[i], text);
	}
}

static void run(struct nfd_scan *scan)
{
	if (!scan->features)
		return;
	nfd_scan_feature(scan, "system.name", "nodename",
			 scan->options->node_name ? scan->options->node_name : "");
	add_os_release(scan);
	add_dmi(scan);
}

static const char *const nothing[] = { NULL };
static const char *const features[] = { "system.name", "system.osrelease", "system.dmiid", NULL };

const struct nfd_scanner nfd_system_scanner = {
	.name = "system",
	.summary = "node name, os-release and DMI as raw features",
	.subsystems = nothing,
	.key_prefixes = nothing,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_SYSTEM,
};
