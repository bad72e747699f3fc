// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads etc/os-release, else usr/lib/os-release.
 */
#include "config.h"

#include "scan/os_release.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define STEM NFD_F "system-os_release"

/* Undoes shell quoting up to the end of the line. Returns the length. */
static size_t unquote(const char *text, char *ret, size_t size)
{
	char quote = '\0';
	size_t len = 0;

	for (; *text && *text != '\n' && len + 1 < size; text++) {
		if (quote) {
			if (*text == quote) {
				quote = '\0';
				continue;
			}
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
			continue;
		}
		if (*text == '\\' && quote != '\'' && text[1] && text[1] != '\n')
			text++;
		ret[len++] = *text;
	}
	ret[len] = '\0';
	return len;
}

size_t nfd_os_release_value(const char *text, const char *key, char *ret, size_t size)
{
	size_t key_len = strlen(key);
	char *trimmed;

	ret[0] = '\0';
	while (text) {
		if (strncmp(text, key, key_len) == 0 && text[key_len] == '=')
			unquote(text + key_len + 1, ret, size);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	/* CRLF line ends, blanks behind the value. */
	trimmed = nfd_trim(ret);
	memmove(ret, trimmed, strlen(trimmed) + 1);
	return strlen(ret);
}

static bool ends_or_goes_on(const char *text)
{
	return *text == '\0' || *text == '.';
}

void nfd_os_release_version(const char *text, struct nfd_os_version *ret)
{
	static const char digits[] = "0123456789";
	size_t len = strspn(text, digits);
	const char *second = text + len + 1;

	*ret = (struct nfd_os_version){ "", "" };
	if (len == 0 || !ends_or_goes_on(text + len))
		return;
	snprintf(ret->major, sizeof(ret->major), "%.*s", (int)len, text);
	if (text[len] == '\0')
		return;
	len = strspn(second, digits);
	if (ends_or_goes_on(second + len))
		snprintf(ret->minor, sizeof(ret->minor), "%.*s", (int)len, second);
}

static void add_version_parts(struct nfd_scan *scan, const struct nfd_finding *whole)
{
	struct nfd_finding part = *whole;
	struct nfd_os_version version;

	nfd_os_release_version(whole->value, &version);
	part.value = version.major;
	if (version.major[0])
		nfd_scan_label(scan, &part, STEM ".VERSION_ID.major");
	part.value = version.minor;
	if (version.minor[0])
		nfd_scan_label(scan, &part, STEM ".VERSION_ID.minor");
}

static void run(struct nfd_scan *scan)
{
	static const char *const paths[] = { "etc/os-release", "usr/lib/os-release" };
	char text[16384], value[256];
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .value = value };
	ssize_t len = -1;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(paths) && len < 0; i++) {
		finding.path = paths[i];
		len = nfd_root_read(scan->root, paths[i], text, sizeof(text));
		if (len < 0)
			nfd_scan_failed(scan, STEM ".", paths[i], (int)len);
	}
	if (len < 0)
		return;
	if (nfd_os_release_value(text, "ID", value, sizeof(value)) > 0)
		nfd_scan_label(scan, &finding, STEM ".ID");
	if (nfd_os_release_value(text, "VERSION_ID", value, sizeof(value)) > 0) {
		nfd_scan_label(scan, &finding, STEM ".VERSION_ID");
		add_version_parts(scan, &finding);
	}
}

static const char *const subsystems[] = { NULL };
static const char *const prefixes[] = { STEM ".", NULL };

const struct nfd_scanner nfd_os_release_scanner = {
	.name = "os_release",
	.summary = "distribution and its version",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.source = NFD_SOURCE_SYSTEM,
};
