/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vendors whose own labels we can write, and who else may write them: a node needs one writer of
 * a vendor's keys, and the vendor's own program comes first (setting sources.vendor.<name>.labels).
 * NFD is one of them: labels of its built-in sources are nfd-worker's (setting sources.mode).
 */
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/* The zero is no vendor, so that a scanner without one says nothing. */
enum nfd_vendor {
	NFD_VENDOR_NONE,
	NFD_VENDOR_NFD,
	NFD_VENDOR_NVIDIA,
	NFD_VENDOR_AMD,
	NFD_VENDOR_INTEL,
	NFD_VENDOR_GAUDI,
	NFD_VENDOR_MELLANOX,
	NFD_VENDOR_NEURON,
	NFD_VENDOR_TPU,
	NFD_VENDOR_QUALCOMM,
	NFD_VENDOR_ASCEND,
	NFD_VENDOR_ALVEO,
	NFD_VENDOR_COUNT,
};

enum nfd_vendor_mode { NFD_VENDOR_AUTO, NFD_VENDOR_ON, NFD_VENDOR_OFF };

/* MIG strategies of gpu-feature-discovery; "": what its configuration file says, else none. */
enum nfd_mig_strategy { NFD_MIG_FROM_FILE, NFD_MIG_NONE, NFD_MIG_SINGLE, NFD_MIG_MIXED };

struct nfd_vendor_options {
	int labels[NFD_VENDOR_COUNT]; /* enum nfd_vendor_mode */
	int nvml;                     /* 0: ask NVML; 1: NVIDIA's labels from files alone */
	int mig_strategy;             /* enum nfd_mig_strategy */
	char *nvidia_config; /* gpu-feature-discovery's configuration file, not below the root;
					 NULL or "": none; owned by the settings */
};

/* Who else writes a vendor's labels, and how that shows. */
struct nfd_labeller {
	const char *name;           /* of the vendor in status: "nvidia" */
	const char *setting;        /* "sources.vendor.nvidia.labels" */
	const char *program;        /* "gpu-feature-discovery"; NULL: nobody else writes them */
	const char *const *files;   /* its files in features.d, NULL-terminated */
	const char *const *objects; /* beginnings of its NodeFeature objects' names, likewise */
	const char *const *keys;    /* keys that it puts on a Node, see nfd_label_key_matches() */
	bool has_node_object;       /* the NodeFeature object with the Node's own name is its */
};

/**
 * nfd_labeller() - the entry of a vendor.
 * @vendor: not NFD_VENDOR_NONE.
 */
const struct nfd_labeller *nfd_labeller(enum nfd_vendor vendor);

/**
 * nfd_vendor_is_sign() - whether a vendor's own program is recognised by a label key.
 */
bool nfd_vendor_is_sign(const char *key);

enum nfd_vendor_verdict {
	NFD_VENDOR_WRITE, /* its labels are ours to write */
	NFD_VENDOR_WAIT,  /* not known yet: what is published stays, nothing is added */
	NFD_VENDOR_LEAVE, /* they are not written */
};

/**
 * nfd_vendor_words() - a verdict as people read it: "written", "not written yet", "not written".
 */
const char *nfd_vendor_words(enum nfd_vendor_verdict verdict);

struct nfd_vendor_state {
	enum nfd_vendor_verdict verdict;
	char why[256]; /* in words */
};

struct nfd_vendors {
	struct nfd_vendor_state of[NFD_VENDOR_COUNT];
};

/* What is known of the cluster's side. */
struct nfd_vendor_view {
	const cJSON *
		seen; /* object: vendor's name → in words what its program has brought; may be NULL */
	const cJSON *coming; /* likewise what it has published and nobody has brought yet */
	bool is_pending;     /* the API server is being asked for the first time */
	int worker_pid;      /* of an nfd-worker on this host; 0: none is seen */
	bool file_alone; /* all that is published is a feature file, which an nfd-worker reads */
};

/**
 * nfd_vendors_decide() - who writes which vendor's labels.
 * @options:  borrowed.
 * @dir:      features.d; its files are looked for.
 * @view:     borrowed; NULL: the cluster is not known, files decide.
 * @ret:      filled.
 */
void nfd_vendors_decide(const struct nfd_vendor_options *options, const char *dir,
			const struct nfd_vendor_view *view, struct nfd_vendors *ret);

/**
 * nfd_vendors_ask() - what the API helper is to look for, for the vendors that a scan found and whose
 * mode is auto.
 * @found: bits by enum nfd_vendor.
 * @ret:   receives an array of {"name","objects","keys"}, with "nodeObject" for
 *         struct nfd_labeller.has_node_object; NULL when there is nothing to look for.
 *         Owner: caller.
 * Return: 0; -ENOMEM.
 */
int nfd_vendors_ask(const struct nfd_vendor_options *options, unsigned int found, cJSON **ret)
	nfd_must_check;
