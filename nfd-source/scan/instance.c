// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads <directory>/<entry>/<file>.
 */
#include "config.h"

#include "scan/instance.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 512

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_file(struct nfd_scan *scan, const struct nfd_instance_kind *kind, const char *name,
		      size_t file, struct nfd_instance *ret)
{
	char path[PATH_SIZE];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s/%s", kind->dir, name, kind->file[file]);
	len = nfd_root_read_line(scan->root, path, ret->text[file], sizeof(ret->text[file]));
	ret->has[file] = len >= 0;
	if (len < 0 && kind->label_files >> file & 1)
		nfd_scan_failed(scan, kind->prefix, path, (int)len);
}

void nfd_scan_entry(struct nfd_scan *scan, const struct nfd_instance_kind *kind, const char *name,
		    struct nfd_instance *ret)
{
	struct nfd_attribute attribute[NFD_INSTANCE_FILES + 1] = { { "name", name } };
	size_t count = 1;

	for (size_t i = 0; i < NFD_INSTANCE_FILES && kind->file[i]; i++) {
		ret->has[i] = false;
		if (scan->features || kind->label_files >> i & 1)
			read_file(scan, kind, name, i, ret);
		if (ret->has[i])
			attribute[count++] =
				(struct nfd_attribute){ last_part(kind->file[i]), ret->text[i] };
	}
	nfd_scan_instance(scan, kind->feature, attribute, count);
}

void nfd_scan_entry_label(struct nfd_scan *scan, const struct nfd_instance_kind *kind,
			  const char *name, const struct nfd_instance *entry, size_t file,
			  const char *key)
{
	char path[PATH_SIZE];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL,
		.value = "true",
		.path = path,
		.detail = entry->text[file],
	};

	snprintf(path, sizeof(path), "%s/%s/%s", kind->dir, name, kind->file[file]);
	nfd_scan_label(scan, &finding, "%s", key);
}
