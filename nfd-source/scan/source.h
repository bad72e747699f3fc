/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of nfd-worker, by the names that its configuration has for them (spec nfd.md 2 and 6.1:
 * core.labelSources, core.featureSources).
 */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"

/* The zero is none of them: a scanner whose labels are our own. */
enum nfd_source {
	NFD_SOURCE_NONE,
	NFD_SOURCE_CPU,
	NFD_SOURCE_CUSTOM,
	NFD_SOURCE_FAKE, /* labels for NFD's own tests; we have none */
	NFD_SOURCE_KERNEL,
	NFD_SOURCE_LOCAL,
	NFD_SOURCE_MEMORY,
	NFD_SOURCE_NETWORK,
	NFD_SOURCE_PCI,
	NFD_SOURCE_STORAGE,
	NFD_SOURCE_SYSTEM,
	NFD_SOURCE_USB,
	NFD_SOURCE_COUNT,
};

struct nfd_source_options {
	/* Sources that are left out, as bits by enum nfd_source: of labels, of raw features. */
	unsigned int labels_off, features_off;
};

/**
 * nfd_source_name() - "cpu".
 * @source: not NFD_SOURCE_NONE.
 */
const char *nfd_source_name(enum nfd_source source);

/**
 * nfd_sources_parse() - a list of sources as nfd-worker reads it: from none on, "all" adds all but fake, a
 * name adds one, "-name" takes one out; the order counts.
 * @text:    array of @count.
 * @ret_off: receives the sources that are left out, as bits.
 * @err:     names what is wrong and what is allowed.
 * Return: 0; -EINVAL.
 */
int nfd_sources_parse(const char *const *text, size_t count, unsigned int *ret_off,
		      struct nfd_error *err) nfd_must_check;

/**
 * nfd_sources_format() - such a list, as short as it can be, joined by commas: "all,-cpu", "pci,usb".
 * @off: sources that are left out, as bits.
 * @buf: receives it.
 */
void nfd_sources_format(unsigned int off, struct nfd_strbuf *buf);
