/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of scanners and the run over it.
 */
#pragma once

#include <stdint.h>

#include "scan/scanner.h"

/**
 * nfd_scanners() - the table.
 * @ret_count: number of entries.
 * Return: static array.
 */
const struct nfd_scanner *const *nfd_scanners(size_t *ret_count);

/**
 * nfd_scanner_of() - the scanner that makes keys of this form: the one with the longest prefix.
 * @key: full label key, or a full key prefix.
 * Return: entry of the table; NULL when no scanner makes such keys.
 */
const struct nfd_scanner *nfd_scanner_of(const char *key);

/**
 * nfd_scanner_of_label() - the scanner that has stated a label; where that is not known, the one that makes
 * keys of its form.
 * Return: entry of the table; NULL when there is none.
 */
const struct nfd_scanner *nfd_scanner_of_label(const struct nfd_label *label);

/* Scanners as bits by their position in the table. */
#define NFD_SCANNERS_ALL UINT32_MAX

/**
 * nfd_scanners_for_subsystem() - the scanners that events of a udev subsystem concern.
 * Return: bits; 0 for none.
 */
uint32_t nfd_scanners_for_subsystem(const char *subsystem);

struct nfd_scan_request {
	const struct nfd_root *root;            /* borrowed, must outlive the scan */
	const struct nfd_scan_options *options; /* borrowed, must outlive the scan */
	uint32_t scanners;                      /* which to run; 0 means all */
	const struct nfd_scan *before;     /* results of the others are taken from it; or NULL */
	const struct nfd_vendors *vendors; /* who writes the vendors' labels; NULL: we do */
	const struct nfd_cpu_facts *cpu;   /* of this host, borrowed; NULL: the root is another's */
	const struct nfd_nvml *nvml;       /* what NVML said, borrowed; NULL: it was not asked */
	/* Called before @nvml is looked at, which may not be filled yet; NULL: it is. */
	void (*await_nvml)(void *cookie);
	void *await_cookie;
	bool features;    /* collect raw features */
	bool all_devices; /* see struct nfd_scan */
};

/**
 * nfd_scan_run() - run every scanner once.
 * @scan:    filled; to be given to nfd_scan_done() also after a failure.
 * @request: borrowed.
 * @err:     names the setting that could not be used.
 * Return: 0, also when facts stayed unknown (they are in @scan->unknowns); -EINVAL for a broken
 *         labelWhiteList; -ENOMEM.
 */
int nfd_scan_run(struct nfd_scan *scan, const struct nfd_scan_request *request,
		 struct nfd_error *err) nfd_must_check;

/**
 * nfd_scanners_for_vendor() - the scanners of a vendor's labels, as bits.
 */
uint32_t nfd_scanners_for_vendor(enum nfd_vendor vendor);

/**
 * nfd_scan_done() - free; a zeroed one is fine.
 */
void nfd_scan_done(struct nfd_scan *scan);
