/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of GPUs counted by kind, and AMD's rule of labels from such counts: what a node's GPUs have
 * in common is a value, what differs is a count per value.
 */
#pragma once

#include "scan/scanner.h"

enum nfd_amd_kind {
	NFD_AMD_DEVICE_ID,
	NFD_AMD_PRODUCT_NAME,
	NFD_AMD_FIRMWARE,
	NFD_AMD_PARTITION,
	/* From the topology: one that cannot be read leaves these and the following in doubt. */
	NFD_AMD_VRAM,
	NFD_AMD_SIMD_COUNT,
	NFD_AMD_CU_COUNT,
	NFD_AMD_FAMILY,
	NFD_AMD_KIND_COUNT,
};

struct nfd_amd_counts {
	struct {
		struct nfd_amd_value {
			char text[NFD_LABEL_VALUE_SIZE];
			unsigned int count;
		} * value; /* array of @count, owned */
		size_t count;
		bool is_unknown; /* a value could not be read: none of the kind is written */
	} of[NFD_AMD_KIND_COUNT];
};

/**
 * nfd_amd_count() - one more GPU has a value.
 * @scan: receives -ENOMEM.
 * @text: what the device says; made legal (FC-D1), and nothing is counted where nothing is left.
 */
void nfd_amd_count(struct nfd_scan *scan, struct nfd_amd_counts *counts, enum nfd_amd_kind kind,
		   const char *text);

/**
 * nfd_amd_failed() - judge a failed read as nfd_scan_failed() does, for kinds @first to @last.
 */
void nfd_amd_failed(struct nfd_scan *scan, struct nfd_amd_counts *counts, enum nfd_amd_kind first,
		    enum nfd_amd_kind last, const char *path, int code);

/**
 * nfd_amd_counts_write() - the labels of all kinds that are known.
 */
void nfd_amd_counts_write(struct nfd_scan *scan, const struct nfd_amd_counts *counts);

/**
 * nfd_amd_counts_done() - free; a zeroed one is fine.
 */
void nfd_amd_counts_done(struct nfd_amd_counts *counts);
