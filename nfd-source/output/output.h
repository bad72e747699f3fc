/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an output is, and the table of outputs. An output takes the wanted set of labels and brings
 * it out in its own time; the caller asks it again when it says that something is due.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "labels/set.h"
#include "output/feature_file.h"

#define NFD_OUTPUT_TARGET_SIZE 512

struct nfd_output_options {
	struct nfd_feature_file_options feature_file;
};

/* What one step of an output did. */
struct nfd_output_event {
	bool published;   /* new content is out */
	size_t labels;    /* labels in it */
	size_t left_out;  /* labels that found no room */
	int64_t expiry_s; /* seconds since 1970, 0 for none */
	int64_t due_ms;   /* monotonic time of the next step, INT64_MAX for none */
};

struct nfd_output {
	const char *name;
	/* Whether it is used here, and why (a constant sentence). */
	bool (*is_on)(const struct nfd_output_options *options, const char **ret_why);
	/* Where it publishes, for people: path or object. */
	void (*target)(const struct nfd_output_options *options, char ret[NFD_OUTPUT_TARGET_SIZE]);
	/* Make ready; @options must outlive the state. 0; negative errno. */
	int (*open)(const struct nfd_output_options *options, void **ret_state,
		    struct nfd_error *err);
	void (*close)(void *state);
	/* Take a new wanted set (copied). 1: a step will publish it; 0: it is out already; -errno. */
	int (*offer)(void *state, const struct nfd_set *set, int64_t now_ms, struct nfd_error *err);
	/* Do what is due at @now_ms. 0; negative errno: try again later. */
	int (*step)(void *state, int64_t now_ms, struct nfd_output_event *ret,
		    struct nfd_error *err);
	/* Labels that are out now (for a start after a restart), added to @set. 0; -errno. */
	int (*read_back)(const struct nfd_output_options *options, struct nfd_set *set,
			 struct nfd_error *err);
	/* Remove what it wrote. 1: removed; 0: there was nothing; -errno. */
	int (*withdraw)(const struct nfd_output_options *options, struct nfd_error *err);
};

/**
 * nfd_outputs() - the table.
 * @ret_count: number of entries.
 * Return: static array.
 */
const struct nfd_output *const *nfd_outputs(size_t *ret_count);

extern const struct nfd_output nfd_feature_output;
