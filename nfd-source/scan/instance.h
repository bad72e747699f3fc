/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instances of a raw feature that are entries of a directory: the name of the entry, and the
 * content of small files below it. Shared by scanners of network, storage and memory devices.
 */
#pragma once

#include <stdbool.h>

#include "scan/scanner.h"

#define NFD_INSTANCE_FILES 5
#define NFD_INSTANCE_TEXT \
	512 /* such attributes are words and numbers; what is longer is left out */

struct nfd_instance_kind {
	const char *feature;                  /* "storage.block" */
	const char *dir;                      /* below the root: "sys/block" */
	const char *file[NFD_INSTANCE_FILES]; /* below an entry: "queue/rotational" gives the
						 attribute "rotational"; NULL behind the last */
	unsigned int label_files; /* bits by position: what labels need, which is read always; the
				     others are read only when features are wanted */
	const char *prefix;       /* full prefix of those labels */
};

/* What the files of one entry hold. */
struct nfd_instance {
	bool has[NFD_INSTANCE_FILES];                     /* was read */
	char text[NFD_INSTANCE_FILES][NFD_INSTANCE_TEXT]; /* trimmed, NUL-terminated */
};

/**
 * nfd_scan_entry() - read one entry, and add it as an instance when features are wanted. A file that
 * is not there, or that the kernel refuses to show (the speed of a link that is down), gives no
 * attribute.
 * @scan: labels of @kind->prefix become unknown when a file that they need could not be read.
 * @name: the entry; the attribute "name".
 * @ret:  filled.
 */
void nfd_scan_entry(struct nfd_scan *scan, const struct nfd_instance_kind *kind, const char *name,
		    struct nfd_instance *ret);

/**
 * nfd_scan_entry_label() - add a label with the value "true" that a file of an entry has proved.
 * @name:  the entry.
 * @file:  position of the file.
 * @entry: its text there is the detail of the source.
 * @key:   full key.
 */
void nfd_scan_entry_label(struct nfd_scan *scan, const struct nfd_instance_kind *kind,
			  const char *name, const struct nfd_instance *entry, size_t file,
			  const char *key);
