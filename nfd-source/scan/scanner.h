/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scanner is and what it is given. A scanner reads facts below the root and puts labels,
 * unknown facts and raw features into the scan; it never prints and never fails as a whole.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/root.h"
#include "base/texts.h"
#include "labels/features.h"
#include "labels/filter.h"
#include "labels/key.h"
#include "labels/set.h"
#include "labels/unknown.h"
#include "scan/source.h"
#include "scan/vendor.h"

#define NFD_F NFD_FEATURE_PREFIX

/* Options of a bus: which classes get labels, and of which fields the key is made. */
struct nfd_bus_options {
	struct nfd_texts class_white_list; /* lower-case hexadecimal prefixes of the class */
	unsigned int label_fields;         /* bits by position in the bus's table of fields */
};

/* What the kernel source looks for; as in an nfd-worker.conf. */
struct nfd_kernel_options {
	char *config_file;            /* kernel configuration that is tried first, below the root;
					 NULL or "": none; owned by the settings */
	struct nfd_texts config_opts; /* options that get a label, without "CONFIG_" */
};

/* Which of the processor's flags get a label, by exact name. */
struct nfd_cpu_options {
	struct nfd_texts flag_black_list; /* those without one */
	struct nfd_texts
		flag_white_list; /* if not empty: only these, and the other list is not used */
};

/* Feature files of other programs, not below the root; read in nfd-worker's place alone. */
struct nfd_local_options {
	const char *dir; /* features.d; NULL: they are not read, because nfd-worker reads them */
	const char *own; /* name of our own file in it, which is passed over; NULL: none */
};

struct nfd_scan_options {
	char *label_white_list; /* regular expression, "" for all; owned by the settings */
	struct nfd_bus_options pci;
	struct nfd_bus_options usb;
	struct nfd_cpu_options cpu;
	char *nvidia_library_dir; /* below the root; NULL or "": the known places; owned likewise */
	struct nfd_vendor_options vendor;
	struct nfd_kernel_options kernel;
	struct nfd_source_options source;
	struct nfd_local_options local;
	const char *node_name; /* for the raw feature system.name; NULL: not known */
};

struct nfd_cpu_facts;
struct nfd_nvml;
struct nfd_pci_bus;
struct nfd_pci_function;
struct nfd_scanner;

/* PCI functions that a scanner looks at whatever their class; 0 stands for any. */
struct nfd_pci_match {
	uint16_t vendor, device;
	uint16_t class_code; /* the upper 16 of its 24 bits */
};

struct nfd_scan {
	const struct nfd_root *root;            /* borrowed */
	const struct nfd_scan_options *options; /* borrowed */
	const struct nfd_filter *filter;        /* borrowed, may be NULL */
	struct nfd_set labels;                  /* result */
	struct nfd_unknowns unknowns;           /* facts that could not be decided */
	cJSON *features;                        /* raw features, NULL when nobody asked */
	struct nfd_pci_bus *pci;                /* read once by whichever scanner needs it first */
	/* Of this host's processor, borrowed; NULL: the root is another's. */
	const struct nfd_cpu_facts *cpu;
	const struct nfd_nvml *nvml; /* what NVML said, borrowed; NULL: it was not asked */
	unsigned int vendors_found;  /* bits by enum nfd_vendor: hardware is there */
	/* The scanner that runs, and its position in the table from 1 on; NULL and 0: one on its own. */
	const struct nfd_scanner *scanner;
	unsigned char writer;
	bool stands_in;   /* NFD's raw features are wanted, in nfd-worker's place */
	bool all_devices; /* keep also devices outside the class white lists */
	bool incomplete;  /* something vanished while we looked: scan again */
	int error;        /* -ENOMEM: the result is not to be used */
};

struct nfd_scanner {
	const char *name;
	const char *summary;
	const char *const
		*subsystems; /* udev subsystems whose events concern it, NULL-terminated */
	const char *const *key_prefixes; /* full prefixes of its keys, NULL-terminated */
	const char *const *features;     /* its raw features, NULL-terminated; NULL: it has none */
	void (*run)(struct nfd_scan *scan);
	enum nfd_vendor vendor; /* whose labels they are; NFD_VENDOR_NONE: ours, wherever NFD is */
	enum nfd_source source; /* of nfd-worker that has the same labels; NFD_SOURCE_NONE: none */
	const struct nfd_pci_match *functions; /* array of @function_count that the bus must keep */
	size_t function_count;
	/* Whether its hardware is here; @run is called only then. NULL: it is always run. */
	bool (*is_here)(struct nfd_scan *scan);
};

/* A label as scanners state it; see nfd_scan_label(). */
struct nfd_finding {
	enum nfd_rank rank;
	const char *value;  /* legal value; an illegal one drops the label, as NFD does */
	const char *path;   /* below the root, of the thing that gave it */
	const char *detail; /* content found there, or NULL */
	bool is_stopgap;    /* only where nothing is published while the fact is unknown */
};

/**
 * nfd_scan_label() - add a label; core.labelWhiteList, core.labelSources and core.featureSources are
 * applied here. Of two scanners that state the same key the one behind the other in the table counts.
 * @scan:    changed; -ENOMEM sticks in @scan->error.
 * @finding: borrowed.
 * @fmt:     the full key.
 */
void nfd_scan_label(struct nfd_scan *scan, const struct nfd_finding *finding, const char *fmt, ...)
	nfd_printf_like(3, 4);

/**
 * nfd_scan_stopped() - note a label that a setting of the scanner keeps out (for `explain`).
 * @setting: name of the setting, copied.
 * Other arguments as for nfd_scan_label().
 */
void nfd_scan_stopped(struct nfd_scan *scan, const struct nfd_finding *finding, const char *setting,
		      const char *fmt, ...) nfd_printf_like(4, 5);

/**
 * nfd_scan_count() - add a label with a number as value.
 * @path: see struct nfd_finding.
 */
void nfd_scan_count(struct nfd_scan *scan, enum nfd_rank rank, unsigned int count, const char *path,
		    const char *fmt, ...) nfd_printf_like(5, 6);

/**
 * nfd_scan_failed() - judge a failed read: a thing that is not there needs no word, anything else
 * makes the keys of @prefix unknown.
 * @prefix: full key prefix.
 * @path:   what was read.
 * @code:   negative errno.
 */
void nfd_scan_failed(struct nfd_scan *scan, const char *prefix, const char *path, int code);

/**
 * nfd_scan_doubt() - keys of @prefix are unknown although nothing failed.
 * @reason: in words.
 */
void nfd_scan_doubt(struct nfd_scan *scan, const char *prefix, const char *reason);

/**
 * nfd_scan_unknown() - keys of @prefix are unknown because of something that a person should see to.
 * @reason: in words.
 */
void nfd_scan_unknown(struct nfd_scan *scan, const char *prefix, const char *reason);

/**
 * nfd_scan_pending() - keys of @prefix are being found out: they keep their last value, and nobody is told.
 */
void nfd_scan_pending(struct nfd_scan *scan, const char *prefix, const char *reason);

/**
 * nfd_scan_feature_set() - make a raw feature that may stay empty, when features are wanted.
 * @feature: "<source>.<name>", lower case.
 */
void nfd_scan_feature_set(struct nfd_scan *scan, enum nfd_feature_kind kind, const char *feature);

/**
 * nfd_scan_feature() - add one element to an attribute feature, when features are wanted.
 * @feature: as above; our own begin with "nfd-source.".
 */
void nfd_scan_feature(struct nfd_scan *scan, const char *feature, const char *name,
		      const char *value);

/**
 * nfd_scan_flags() - add flags, when features are wanted; see nfd_features_flags().
 */
void nfd_scan_flags(struct nfd_scan *scan, const char *feature, const char *const *name,
		    size_t count);

/**
 * nfd_scan_attributes() - add many attributes, when features are wanted; see
 * nfd_features_attributes().
 */
void nfd_scan_attributes(struct nfd_scan *scan, const char *feature,
			 const struct nfd_attribute *attribute, size_t count);

/**
 * nfd_scan_instance() - add one instance of a raw feature, when features are wanted.
 * @attribute: array of @count, borrowed.
 */
void nfd_scan_instance(struct nfd_scan *scan, const char *feature,
		       const struct nfd_attribute *attribute, size_t count);
