// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads proc/sys/kernel/osrelease. Where NFD gives a value ours is the same text; where its pattern
 * fails (6.1.0~rc4) it gives no numbers and we give those at the start (field case D3).
 */
#include "config.h"

#include "scan/kernel.h"

#include "base/parse.h"
#include "scan/version_labels.h"

#define OSRELEASE "proc/sys/kernel/osrelease"
#define STEM NFD_F "kernel-version"

/* NFD writes an empty revision for "6.8-x"; equal values are worth more than a tidy one. */
static void add_empty_parts(struct nfd_scan *scan, const char *text)
{
	struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = "", .path = OSRELEASE, .detail = text
	};
	char full[NFD_LABEL_VALUE_SIZE];
	struct nfd_version version;
	const char *rest;

	nfd_label_value_from_version(text, full);
	if (nfd_parse_version(full, &version, &rest) < 0 || (*rest && *rest != '-'))
		return;
	if (!version.part[1][0])
		nfd_scan_label(scan, &finding, STEM ".minor");
	if (!version.part[2][0])
		nfd_scan_label(scan, &finding, STEM ".revision");
}

ssize_t nfd_kernel_release(const struct nfd_root *root, char ret[NFD_KERNEL_RELEASE_SIZE])
{
	return nfd_root_read_line(root, OSRELEASE, ret, NFD_KERNEL_RELEASE_SIZE);
}

static void run(struct nfd_scan *scan)
{
	char text[NFD_KERNEL_RELEASE_SIZE];
	ssize_t len = nfd_kernel_release(scan->root, text);

	if (len < 0)
		nfd_scan_failed(scan, STEM ".", OSRELEASE, (int)len);
	if (len <= 0)
		return;
	nfd_scan_version(scan, STEM, OSRELEASE, text);
	add_empty_parts(scan, text);
}

static const char *const subsystems[] = { NULL };
static const char *const prefixes[] = { STEM ".", NULL };

const struct nfd_scanner nfd_kernel_scanner = {
	.name = "kernel",
	.summary = "kernel release",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.source = NFD_SOURCE_KERNEL,
};
