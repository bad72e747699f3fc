/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A NodeFeature object at the API server (spec nfd.md 4).
 */
#pragma once

#include "api/client.h"

/* Where an object is; all borrowed. */
struct nfd_feature_place {
	struct nfd_client *client;
	const char *namespace, *name;
	struct nfd_api_error *err;
};

/**
 * nfd_feature_get() - GET.
 * @accept:     NFD_ACCEPT_JSON, or NFD_ACCEPT_METADATA for the metadata alone.
 * @ret:        receives the object; NULL when there is none. Owner: caller.
 * @ret_served: receives whether the cluster has the resource type; NULL: not of interest.
 * Return: 1; 0 when there is none; negative errno with @place->err.
 */
int nfd_feature_get(const struct nfd_feature_place *place, const char *accept, cJSON **ret,
		    bool *ret_served) nfd_must_check;

/**
 * nfd_feature_apply() - server-side apply, by force: only fields of objects that are ours are sent. Maps that
 * become empty are emptied by a JSON patch before.
 * @now:    as read; NULL: there is none.
 * @object: with namespace; a resourceVersion in it must be the one at the server, and follows the patch.
 * Return: 0; negative errno with @place->err.
 */
int nfd_feature_apply(const struct nfd_feature_place *place, const cJSON *now, cJSON *object)
	nfd_must_check;

/**
 * nfd_feature_delete() - DELETE.
 * @version: resourceVersion that it must have; NULL or "": any.
 * @ret_served: as above.
 * Return: 1; 0 when there was none; negative errno with @place->err.
 */
int nfd_feature_delete(const struct nfd_feature_place *place, const char *version, bool *ret_served)
	nfd_must_check;

/**
 * nfd_feature_is_ours() - whether we have written an object that stands in nfd-worker's place: the version
 * in its annotation is ours.
 * @object: as read; NULL is nobody's.
 */
bool nfd_feature_is_ours(const cJSON *object);

/**
 * nfd_feature_is_same() - whether everything that we would apply is there already, and nothing of ours beside
 * it: labels, annotations and owners of ours, and the whole spec.
 */
bool nfd_feature_is_same(const cJSON *now, const cJSON *wanted);

/**
 * nfd_feature_keep_labels() - add the labels of the object at the server whose facts are unknown.
 * @now:      NULL for none.
 * @prefixes: array of key prefixes; NULL for none.
 * @wanted:   changed.
 * Return: 0; -ENOMEM.
 */
int nfd_feature_keep_labels(const cJSON *now, const cJSON *prefixes, cJSON *wanted) nfd_must_check;

/**
 * nfd_feature_rename() - give raw features of an object other names.
 * @names: object: name → new name, which the object does not have yet; NULL for none.
 * Return: 0; -ENOMEM.
 */
int nfd_feature_rename(cJSON *object, const cJSON *names) nfd_must_check;

/**
 * nfd_feature_keep_own() - drop the raw features that are not of our own domain: beside a worker they are
 * its, and instances would be there twice.
 */
void nfd_feature_keep_own(cJSON *object);

/**
 * nfd_feature_merge() - add the labels and raw features of one object to another that does not have them.
 * Return: 0; -ENOMEM.
 */
int nfd_feature_merge(const cJSON *from, cJSON *to) nfd_must_check;
