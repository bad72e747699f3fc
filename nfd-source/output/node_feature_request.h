/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the NodeFeature output asks nfd-source-api for (docs/api-protocol.md, node-feature): the objects that
 * an offer comes to, and what earlier runs have found.
 */
#pragma once

#include "output/node_object.h"
#include "output/output.h"

/* What an offer asks for; all owned. */
struct nfd_feature_wanted {
	cJSON *object;  /* our own; NULL when it cannot be made */
	cJSON *workers; /* the one in nfd-worker's place; NULL: we are not there */
	cJSON *keep;    /* key prefixes whose facts are unknown; NULL for none */
};

/* What earlier runs have looked up, as they told it; all owned, NULL: not known. */
struct nfd_feature_found {
	cJSON *worker, *owner, *owners;
	int64_t found_ms; /* monotonic time of the last of them */
};

/**
 * nfd_feature_wish() - the object of an offer.
 * @workers: the one in nfd-worker's place, where the offer is for that; else our own.
 */
struct nfd_object_wish nfd_feature_wish(const struct nfd_output_options *options,
					const struct nfd_offer *offered, bool workers);

/**
 * nfd_feature_wanted_make() - the objects of an offer.
 * @wanted: filled; to be given to nfd_feature_wanted_done() also after a failure.
 * Return: as nfd_node_feature_object().
 */
int nfd_feature_wanted_make(struct nfd_feature_wanted *wanted,
			    const struct nfd_output_options *options,
			    const struct nfd_offer *offered, struct nfd_error *err) nfd_must_check;

/**
 * nfd_feature_wanted_equal() - whether two ask for the same.
 */
bool nfd_feature_wanted_equal(const struct nfd_feature_wanted *a,
			      const struct nfd_feature_wanted *b);

/**
 * nfd_feature_wanted_done() - free; a zeroed one is fine.
 */
void nfd_feature_wanted_done(struct nfd_feature_wanted *wanted);

/**
 * nfd_feature_found_take() - take over what an answer has looked up.
 * @result: loses it.
 */
void nfd_feature_found_take(struct nfd_feature_found *found, cJSON *result, int64_t now_ms);

/**
 * nfd_feature_found_done() - forget; a zeroed one is fine.
 */
void nfd_feature_found_done(struct nfd_feature_found *found);

/**
 * nfd_feature_request() - the request that brings the objects out.
 * Return: owner: caller; NULL when memory ran out.
 */
cJSON *nfd_feature_request(const struct nfd_output_options *options,
			   const struct nfd_feature_wanted *wanted,
			   const struct nfd_feature_found *found);

/**
 * nfd_feature_delete_request() - the request that takes our objects away.
 * Return: owner: caller; NULL when memory ran out.
 */
cJSON *nfd_feature_delete_request(const struct nfd_output_options *options);
