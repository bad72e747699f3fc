/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scanner's whole result as one text, for rows "tree -> text".
 */
#pragma once

#include "scan/nvml.h"
#include "scan/scan.h"
#include "scan/scanner.h"
#include "tests/unit/tree.h"

/* A row of a scanner's table. */
struct scan_row {
	const char *name;
	struct tree_entry tree[24]; /* ends with a zeroed entry */
	const char *text;           /* see scan_text() */
	unsigned int fields;        /* label fields of PCI and USB; 0 for the defaults */
	bool all_devices;
	const char *features; /* see scan_features(); NULL: not looked at */
};

/**
 * scan_options() - the default options of design 7.
 * @fields: label fields of PCI and USB; 0 for the defaults.
 */
struct nfd_scan_options scan_options(unsigned int fields);

/**
 * scan_text() - run one scanner.
 * @scanner: NULL runs nfd_scan_run() with all of them.
 * Return: lines "key=value" without "feature.node.kubernetes.io/", sorted; then "stopped KEY SETTING",
 *         "unknown PREFIX", "doubt PREFIX", "incomplete". Lives until the end of the test.
 */
const char *scan_text(const struct nfd_scanner *scanner, const struct nfd_root *root,
		      const struct nfd_scan_options *options, bool all_devices);

/**
 * scan_text_nvml() - the same with what NVML said.
 * @nvml: NULL: it was not asked.
 */
const char *scan_text_nvml(const struct nfd_scanner *scanner, const struct nfd_root *root,
			   const struct nfd_scan_options *options, const struct nfd_nvml *nvml);

/**
 * scan_features() - run one scanner with raw features wanted.
 * Return: lines "flags NAME ELEMENT...", "attributes NAME KEY=VALUE...", "instance NAME KEY=VALUE...",
 *         "instances NAME" for an empty list; in the order in which they were made. Lives until the
 *         end of the test.
 */
const char *scan_features(const struct nfd_scanner *scanner, const struct nfd_root *root,
			  const struct nfd_scan_options *options);

/**
 * scan_text_request() - the same for any request.
 * Return: as scan_text(), followed by what scan_features() gives when the request wants them.
 */
const char *scan_text_request(const struct nfd_scanner *scanner,
			      const struct nfd_scan_request *request);

/**
 * scan_check_row() - make the row's tree and compare, with openat2 and without it. With features the
 * scanner runs again with and without them, and the labels are the same.
 */
void scan_check_row(const struct nfd_scanner *scanner, const struct scan_row *row);
