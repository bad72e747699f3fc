/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of nfd-worker, by the names that its configuration has for them (spec nfd.md 2 and 6.1:
 * core.labelSources, core.featureSources).
 *
 * Quirks of nfd-worker v0.19.0 that are kept, because equal labels are worth more than right ones. This is
 * the one list; tests/e2e/test_sources.py and test_cpu_parity.py hold us to them.
 *  - cpu: XSAVE and OSXSAVE follow the SSE3 bit, AMXFP8 the PKU bit, FXSROPT the SSE bit; TSA_L1_NO and
 *    TSA_SQ_NO are stated for old AMD families (all in scan/cpuid-flags.tsv).
 *  - cpu: the model of x86 families other than 6 and 15 lacks its upper half (scan/cpuid_model.c).
 *  - cpu: one CPU without its topology folder, as offline ones are, hides hardware_multithreading
 *    (scan/cpu_topology.c).
 *  - cpu: lines of misc.capacity are told by their beginning, sev_es may pass for sev (scan/cpu_security.c).
 *  - cpu: CPUID leaves above the highest are read for the frequency and for RDT (scan/cpuid.c).
 *  - kernel: a release such as 6.8-x has labels of empty value for minor or revision (scan/kernel.c); of one
 *    that NFD's pattern does not know the raw feature has no numbers (scan/kernel_state.c).
 *  - kernel: SELinux that does not enforce is not told from none (scan/kernel_state.c).
 *  - kernel: a module that is built in has the name of its file, '-' and all (scan/kernel_modules.c).
 *  - kernel: quotes are cut off both ends of a value, whatever is inside (scan/kernel_config.c).
 *  - memory: pages that cannot be counted are "" and not left out (scan/memory.c).
 *  - storage: loop and RAM disks count as disks that do not rotate (scan/storage.c).
 *  - system: the raw feature does not undo the escapes of os-release (scan/system.c).
 *  - usb: interfaces of one class are as many instances (scan/usb.c).
 * Not kept: cpu-cpu_atom and cpu-cpu_core, which a doubled "sys" in a path keeps off every real host.
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
