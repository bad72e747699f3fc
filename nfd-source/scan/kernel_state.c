// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads proc/sys/kernel/osrelease, sys/fs/selinux/enforce and whether
 * sys/devices/virtual/misc/kvm is there.
 */
#include "config.h"

#include "scan/kernel_state.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "scan/kernel.h"

#define FS "sys/fs"
#define ENFORCE FS "/selinux/enforce"
#define KVM "sys/devices/virtual/misc/kvm"
#define SELINUX_KEY NFD_F "kernel-selinux.enabled"
#define VERSION_FEATURE "kernel.version"

/*
 * The release in the characters of a label value, of any length (nfd_label_value_from_version() cuts
 * it). Changed in place; returns where it begins.
 */
static char *sanitize(char *text)
{
	static const char ends[] = "-_.";
	static const char legal[] =
		"-_.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t len = strlen(text);

	for (char *c = text; *c; c++)
		if (!strchr(legal, *c))
			*c = '_';
	while (len > 0 && strchr(ends, text[len - 1]))
		text[--len] = '\0';
	return text + strspn(text, ends);
}

/* All three numbers or none, and an empty one for a part that the release lacks: as in NFD. */
static void add_version(struct nfd_scan *scan)
{
	static const char *const names[] = { "major", "minor", "revision" };
	char text[NFD_KERNEL_RELEASE_SIZE];
	struct nfd_version version;
	const char *full, *rest;

	if (!scan->features || nfd_kernel_release(scan->root, text) < 0)
		return;
	full = sanitize(text);
	nfd_scan_feature(scan, VERSION_FEATURE, "full", full);
	if (nfd_parse_version(full, &version, &rest) < 0 || (*rest && *rest != '-'))
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(names); i++)
		nfd_scan_feature(scan, VERSION_FEATURE, names[i], version.part[i]);
}

/* "1": the policy is enforced. Permissive mode is not told from none. */
static void scan_selinux(struct nfd_scan *scan)
{
	char text[16];
	struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = "true", .path = ENFORCE, .detail = "1"
	};
	ssize_t len = nfd_root_exists(scan->root, FS);
	bool is_on;

	if (len < 0)
		nfd_scan_failed(scan, SELINUX_KEY, FS, (int)len);
	if (len <= 0)
		return;
	len = nfd_root_read(scan->root, ENFORCE, text, sizeof(text));
	if (len < 0 && len != -ENOENT) {
		nfd_scan_failed(scan, SELINUX_KEY, ENFORCE, (int)len);
		return;
	}
	is_on = len > 0 && text[0] == '1';
	nfd_scan_feature(scan, "kernel.selinux", "enabled", is_on ? "true" : "false");
	if (is_on)
		nfd_scan_label(scan, &finding, SELINUX_KEY);
}

static void add_kvm(struct nfd_scan *scan)
{
	int is_there;

	if (!scan->features)
		return;
	is_there = nfd_root_exists(scan->root, KVM);
	if (is_there >= 0)
		nfd_scan_feature(scan, "kernel.kvm", "enabled", is_there ? "true" : "false");
}

static void run(struct nfd_scan *scan)
{
	add_version(scan);
	scan_selinux(scan);
	add_kvm(scan);
}

static const char *const subsystems[] = { "misc", NULL };
static const char *const prefixes[] = { NFD_F "kernel-selinux.", NULL };
static const char *const features[] = { "kernel.version", "kernel.selinux", "kernel.kvm", NULL };

const struct nfd_scanner nfd_kernel_state_scanner = {
	.name = "kernel_state",
	.summary = "SELinux; kernel release and KVM as raw features",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_KERNEL,
};
