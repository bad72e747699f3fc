// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stanzas of "Field: value" lines, separated by empty lines. Only a handful of fields counts.
 */
#include "config.h"

#include "doctor/packages.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MAX (64 * 1024 * 1024)
#define HISTORY_MAX (8 * 1024 * 1024)
#define HISTORY "var/log/apt/history.log"

/* First match decides; names of Debian, Ubuntu, NVIDIA's repository and the rpm families. */
static const struct {
	const char *glob;
	bool is_driver, is_coupled;
} set[] = {
	{ "libnvidia-container*", true, false },
	{ "nvidia-container-toolkit*", true, false },
	{ "datacenter-gpu-manager*", true, false },
	/* EGL's external platforms: projects of their own, with versions of their own. */
	{ "libnvidia-egl-*", true, false },
	{ "nvidia-driver-pinning-*", false, false },
	{ "nvidia-driver*", true, true },
	{ "nvidia-headless-*", true, true },
	{ "nvidia-utils-*", true, true },
	{ "nvidia-compute-utils-*", true, true },
	{ "libnvidia-*", true, true },
	{ "libcuda1", true, true },
	{ "nvidia-kernel-*", true, true },
	{ "nvidia-dkms-*", true, true },
	{ "nvidia-open*", true, true },
	{ "linux-modules-nvidia-*", true, true },
	{ "linux-objects-nvidia-*", true, true },
	{ "linux-signatures-nvidia-*", true, true },
	{ "nvidia-firmware-*", true, true },
	{ "cuda-drivers*", true, true },
	{ "nvidia-fabricmanager*", true, true },
	{ "nvidia-imex*", true, true },
	{ "nvidia-persistenced", true, true },
	{ "xserver-xorg-video-nvidia-*", true, true },
	{ "kmod-nvidia*", true, true },
	{ "nvidia-kmod-common", true, true },
};

bool nfd_package_is_driver(const char *name, bool *ret_coupled)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(set); i++) {
		if (fnmatch(set[i].glob, name, 0) != 0)
			continue;
		if (ret_coupled)
			*ret_coupled = set[i].is_coupled;
		return set[i].is_driver;
	}
	return false;
}

/* Value of "Field: value" when @line is of that field; else NULL. */
static const char *value_of(const char *line, const char *field)
{
	size_t len = strlen(field);

	if (strncmp(line, field, len) != 0 || line[len] != ':')
		return NULL;
	line += len + 1;
	return line + strspn(line, " ");
}

struct stanza {
	const char *name, *status, *version, *architecture;
};

static void take_line(struct stanza *stanza, const char *line)
{
	const struct {
		const char *field;
		const char **value;
	} fields[] = {
		{ "Package", &stanza->name },
		{ "Status", &stanza->status },
		{ "Version", &stanza->version },
		{ "Architecture", &stanza->architecture },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(fields); i++) {
		const char *value = value_of(line, fields[i].field);

		if (value)
			*fields[i].value = value;
	}
}

static void take_stanza(struct nfd_packages *packages, const struct stanza *stanza)
{
	static const char installed[] = " ok installed";
	struct nfd_package package = { 0 };
	size_t len = stanza->status ? strlen(stanza->status) : 0;

	if (!stanza->name || !stanza->version || len < strlen(installed) ||
	    strcmp(stanza->status + len - strlen(installed), installed) != 0 ||
	    (stanza->architecture && strcmp(stanza->architecture, "i386") == 0) ||
	    !nfd_package_is_driver(stanza->name, &package.is_coupled) ||
	    packages->count == NFD_PACKAGES_MAX)
		return;
	snprintf(package.name, sizeof(package.name), "%s", stanza->name);
	snprintf(package.version, sizeof(package.version), "%s", stanza->version);
	package.is_held = strncmp(stanza->status, "hold ", 5) == 0;
	packages->package[packages->count++] = package;
}

void nfd_packages_parse(char *text, struct nfd_packages *ret)
{
	struct stanza stanza = { 0 };
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		if (*line) {
			take_line(&stanza, line);
			continue;
		}
		take_stanza(ret, &stanza);
		stanza = (struct stanza){ 0 };
	}
	take_stanza(ret, &stanza);
}

void nfd_packages_read(const struct nfd_root *root, struct nfd_packages *ret)
{
	static const char *const rpm[] = { "var/lib/rpm/rpmdb.sqlite", "var/lib/rpm/Packages",
					   "usr/lib/sysimage/rpm/rpmdb.sqlite",
					   "usr/lib/sysimage/rpm/Packages.db" };
	cleanup_free char *text = NULL;
	ssize_t len;

	*ret = (struct nfd_packages){ 0 };
	for (size_t i = 0; i < NFD_ARRAY_SIZE(rpm) && !ret->is_rpm; i++)
		ret->is_rpm = nfd_root_exists(root, rpm[i]) > 0;
	len = nfd_root_read_alloc(root, "var/lib/dpkg/status", STATUS_MAX, &text);
	if (len < 0) {
		ret->error = nfd_root_is_absent((int)len) ? 0 : (int)len;
		return;
	}
	ret->is_read = true;
	nfd_packages_parse(text, ret);
}

const char *nfd_packages_library(const struct nfd_packages *packages)
{
	static const char *const globs[] = { "libnvidia-compute*", "libnvidia-ml*" };

	for (size_t g = 0; g < NFD_ARRAY_SIZE(globs); g++)
		for (size_t i = 0; i < packages->count; i++)
			if (fnmatch(globs[g], packages->package[i].name, 0) == 0)
				return packages->package[i].name;
	return NULL;
}

void nfd_packages_module(const struct nfd_packages *packages, const char *release, char *ret,
			 size_t size)
{
	static const char start[] = "linux-modules-nvidia-";
	size_t tail = strlen(release);

	ret[0] = '\0';
	for (size_t i = 0; i < packages->count && tail; i++) {
		const char *name = packages->package[i].name;
		size_t len = strlen(name);

		if (strncmp(name, start, strlen(start)) == 0 && len > tail &&
		    strcmp(name + len - tail, release) == 0)
			snprintf(ret, size, "%.*s$(uname -r)", (int)(len - tail), name);
	}
}

/* "libnvidia-compute-580:amd64 (old, new)": the next entry of a list; false at its end. */
static bool next_entry(char **list, struct nfd_upgrade *ret)
{
	char *entry = *list, *open, *comma, *close;

	open = strchr(entry, '(');
	close = open ? strchr(open, ')') : NULL;
	if (!close)
		return false;
	*list = close + 1 + strspn(close + 1, ", ");
	*close = '\0';
	comma = strstr(open, ", ");
	snprintf(ret->package, sizeof(ret->package), "%.*s", (int)strcspn(entry, ": ("), entry);
	snprintf(ret->before, sizeof(ret->before), "%.*s",
		 comma ? (int)(comma - open - 1) : (int)strlen(open + 1), open + 1);
	snprintf(ret->after, sizeof(ret->after), "%s", comma ? comma + 2 : "");
	return true;
}

/* A coupled package of the set in the list of one transaction. The library's own package first. */
static bool take_upgrades(char *list, struct nfd_upgrade *upgrade)
{
	struct nfd_upgrade found = { 0 }, entry;
	bool coupled, is_library;

	while (next_entry(&list, &entry)) {
		coupled = false;
		if (!nfd_package_is_driver(entry.package, &coupled) || !coupled)
			continue;
		is_library = strncmp(entry.package, "libnvidia-", 10) == 0;
		if (!found.package[0] || is_library)
			found = entry;
		if (is_library)
			break;
	}
	if (!found.package[0])
		return false;
	memcpy(upgrade->package, found.package, sizeof(found.package));
	memcpy(upgrade->before, found.before, sizeof(found.before));
	memcpy(upgrade->after, found.after, sizeof(found.after));
	return true;
}

bool nfd_packages_find_upgrade(char *text, struct nfd_upgrade *ret)
{
	struct nfd_upgrade current = { 0 };
	bool any = false, has = false;
	char *line;

	*ret = (struct nfd_upgrade){ 0 };
	while ((line = strsep(&text, "\n")) != NULL) {
		const char *start = value_of(line, "Start-Date");
		const char *command = value_of(line, "Commandline");
		const char *upgrade = value_of(line, "Upgrade");

		if (start) {
			current = (struct nfd_upgrade){ 0 };
			has = false;
			snprintf(current.when, sizeof(current.when), "%s", start);
		} else if (command) {
			snprintf(current.command, sizeof(current.command), "%s", command);
		} else if (upgrade) {
			has = take_upgrades(line + (upgrade - line), &current);
		}
		/* The newest transaction stands last. */
		if (has) {
			*ret = current;
			any = true;
			has = false;
		}
	}
	return any;
}

bool nfd_packages_upgrade(const struct nfd_root *root, struct nfd_upgrade *ret)
{
	cleanup_free char *text = NULL;

	*ret = (struct nfd_upgrade){ 0 };
	if (nfd_root_read_alloc(root, HISTORY, HISTORY_MAX, &text) < 0 ||
	    !nfd_packages_find_upgrade(text, ret))
		return false;
	snprintf(ret->path, sizeof(ret->path), HISTORY);
	return true;
}
