/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an output is, and the table of outputs. An output takes the wanted set of labels and brings
 * it out in its own time; the caller asks it again when it says that something is due.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "labels/key.h"
#include "labels/set.h"
#include "labels/unknown.h"
#include "output/api_access.h"
#include "output/api_run.h"
#include "output/feature_file.h"
#include "output/node_schedule.h"

#define NFD_OUTPUT_TARGET_SIZE 768

/* A fourth mode beside those of enum nfd_mode: also the object that nfd-worker would publish. */
enum { NFD_OBJECT_WORKER = NFD_MODE_OFF + 1 };

/* Owners of an object of ours, as bits, in the order in which NFD writes them. */
enum nfd_owner { NFD_OWNER_NODE = 1 << 0, NFD_OWNER_POD = 1 << 1, NFD_OWNER_DAEMON_SET = 1 << 2 };

struct nfd_node_feature_options {
	int mode; /* enum nfd_mode; auto: on where the cluster has the type, without features.d;
		     or NFD_OBJECT_WORKER */
	char *namespace;     /* "" for the pod's own; owned by the settings */
	unsigned int owners; /* of the object in nfd-worker's place; bits of enum nfd_owner */
	int no_owners;       /* 1: none, whatever @owners says */
	struct nfd_texts
		no_features; /* raw features that are not published: names, or "beginning*" */
};

struct nfd_node_labels_options {
	int mode;          /* enum nfd_label_mode */
	int64_t after_ms;  /* time that NFD has to bring a change */
	int64_t resync_ms; /* time between looks at the Node */
};

struct nfd_output_options {
	struct nfd_feature_file_options feature_file;
	struct nfd_node_feature_options node_feature;
	struct nfd_node_labels_options node_labels;
	struct nfd_api_options api;
	int no_publish; /* 1: no output is on */
};

/* What is to be brought out. */
struct nfd_offer {
	const struct nfd_set *set;
	/* In nfd-worker's place: of the set what goes into its object, and what is ours wherever NFD is.
	   NULL elsewhere. */
	const struct nfd_set *workers, *own;
	const cJSON *features; /* raw features; NULL where no output wants them */
	/* Facts that are unknown, where nothing was read back: what is out of them stays. NULL: none. */
	const struct nfd_unknowns *keep;
	int64_t now_ms; /* nfd_clock_monotonic_ms() */
};

/* What one step of an output did. */
struct nfd_output_event {
	bool published;    /* new content is out */
	bool done;         /* what was offered is out, or NFD's turn: later steps only check */
	size_t labels;     /* labels in it */
	size_t left_out;   /* labels that found no room */
	int64_t expiry_s;  /* seconds since 1970, 0 for none */
	int64_t due_ms;    /* monotonic time of the next step, INT64_MAX for none */
	bool is_idle;      /* it is on, and has nothing to do in this cluster */
	const char *state; /* how things are, for people; "" or valid until the next step */
};

/* Something that is wrong for a while. */
struct nfd_output_fault {
	enum nfd_log_level level;
	char id[NFD_LABEL_KEY_SIZE + 16]; /* stable: what is at fault; "" for the output itself */
	char text[640];
};

struct nfd_output {
	const char *name;
	bool wants_features; /* raw features are to be collected for it */
	/* Whether it is used here, and why (a constant sentence). */
	bool (*is_on)(const struct nfd_output_options *options, const char **ret_why);
	/* Where it publishes, for people: path or object. */
	void (*target)(const struct nfd_output_options *options, char ret[NFD_OUTPUT_TARGET_SIZE]);
	/* Make ready; @options must outlive the state. 0; negative errno. */
	int (*open)(const struct nfd_output_options *options, void **ret_state,
		    struct nfd_error *err);
	void (*close)(void *state);
	/* Take a new wanted state (copied). 1: a step will publish it; 0: it is out already; -errno. */
	int (*offer)(void *state, const struct nfd_offer *offer, struct nfd_error *err);
	/* Do what is due at @now_ms. 0; negative errno: offer anew later. */
	int (*step)(void *state, int64_t now_ms, struct nfd_output_event *ret,
		    struct nfd_error *err);
	/* Descriptor that is readable when a step is due before its time; NULL: there is none. It
	   lives as long as the state. */
	int (*wait_fd)(void *state);
	/* What is wrong with it now; NULL: nothing beside failing steps. Array of the returned
	   length, valid until the next step. */
	size_t (*faults)(void *state, const struct nfd_output_fault **ret);
	/* What its helper did; NULL: it has none. */
	const struct nfd_api_counts *(*counts)(const void *state);
	/* Labels that are out now (for a start after a restart), added to @set. 0; -errno. NULL: that
	   would need the API server, which may hang; the status file tells instead. */
	int (*read_back)(const struct nfd_output_options *options, struct nfd_set *set,
			 struct nfd_error *err);
	/* What a publication would change, as lines; NULL: read_back tells. 0; -errno. */
	int (*preview)(const struct nfd_output_options *options, const struct nfd_offer *offer,
		       struct nfd_strbuf *buf, struct nfd_error *err);
	/* Remove what it wrote. 1: removed; 0: there was nothing; -errno. */
	int (*withdraw)(const struct nfd_output_options *options, struct nfd_error *err);
};

/**
 * nfd_output_is_barred() - whether no output may be on (core.noPublish).
 * @ret_why: the reason, as struct nfd_output.is_on gives it; untouched otherwise.
 */
bool nfd_output_is_barred(const struct nfd_output_options *options, const char **ret_why);

/**
 * nfd_outputs() - the table.
 * @ret_count: number of entries.
 * Return: static array.
 */
const struct nfd_output *const *nfd_outputs(size_t *ret_count);

/**
 * nfd_outputs_hope() - whether an output is on whose labels NFD is to bring.
 */
bool nfd_outputs_hope(const struct nfd_output_options *options);

/**
 * nfd_outputs_want_features() - whether an output is on that wants raw features.
 */
bool nfd_outputs_want_features(const struct nfd_output_options *options);

extern const struct nfd_output nfd_feature_output;
extern const struct nfd_output nfd_node_feature_output;
extern const struct nfd_output nfd_node_labels_output;
