/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the cpu scanner share: an element of a raw feature "cpu.<feature>" and the label
 * that goes with it.
 */
#pragma once

#include "scan/cpu_facts.h"
#include "scan/scanner.h"

#define NFD_CPU_KEY NFD_F "cpu-"
#define NFD_CPU_DEVICES "sys/bus/cpu/devices"

struct nfd_cpu_element {
	const char *feature; /* "model" */
	const char *name;    /* "vendor_id" */
	const char *label;   /* what follows NFD_CPU_KEY, "model.vendor_id"; NULL: it has none */
};

/**
 * nfd_cpu_put() - add an element and its label.
 * @value: text; one that is no legal label value gives no label, as with NFD.
 * @path:  see struct nfd_finding.
 */
void nfd_cpu_put(struct nfd_scan *scan, const struct nfd_cpu_element *element, const char *value,
		 const char *path);

/**
 * nfd_cpu_put_number() - the same with a number.
 */
void nfd_cpu_put_number(struct nfd_scan *scan, const struct nfd_cpu_element *element,
			uint64_t value, const char *path);

/**
 * nfd_cpu_failed() - a read for an element failed: judged as nfd_scan_failed() does.
 * @code: negative errno.
 */
void nfd_cpu_failed(struct nfd_scan *scan, const struct nfd_cpu_element *element, const char *path,
		    int code);

/**
 * nfd_cpu_may_be() - whether the host can be of an architecture; true when it is not known.
 */
bool nfd_cpu_may_be(const struct nfd_scan *scan, enum nfd_cpu_arch arch);
