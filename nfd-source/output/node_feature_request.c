// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Beside a worker our raw features keep our own names; the helper sees whether there is one.
 */
#include "config.h"

#include "output/node_feature_request.h"

#include <errno.h>
#include <stdio.h>

#include "base/environment.h"
#include "base/json.h"

/* Our raw features that NFD has a name for, where no nfd-worker says the same (spec nfd.md 4.2). */
static const struct {
	const char *own, *standard;
} standard_features[] = {
	{ "nfd-source.pci", "pci.device" },
	{ "nfd-source.usb", "usb.device" },
};

struct nfd_object_wish nfd_feature_wish(const struct nfd_output_options *options,
					const struct nfd_offer *offered, bool workers)
{
	struct nfd_object_wish wish = {
		.kind = NFD_OBJECT_WHOLE,
		.node = options->api.place->node_name,
		.namespace = "",
		.set = offered->set,
		.features = offered->features,
		.no_features = &options->node_feature.no_features,
	};

	if (!offered->workers)
		return wish;
	wish.kind = workers ? NFD_OBJECT_WORKERS : NFD_OBJECT_OWN;
	wish.set = workers ? offered->workers : offered->own;
	wish.pod_uid = nfd_environment_value(options->api.place->environment, "POD_UID");
	return wish;
}

static int make_object(const struct nfd_output_options *options, const struct nfd_offer *offered,
		       bool workers, cJSON **ret, struct nfd_error *err)
{
	const struct nfd_object_wish wish = nfd_feature_wish(options, offered, workers);

	return nfd_node_feature_object(&wish, ret, err);
}

int nfd_feature_wanted_make(struct nfd_feature_wanted *wanted,
			    const struct nfd_output_options *options,
			    const struct nfd_offer *offered, struct nfd_error *err)
{
	int r;

	*wanted = (struct nfd_feature_wanted){ 0 };
	r = make_object(options, offered, false, &wanted->object, err);
	if (r == 0 && offered->workers)
		r = make_object(options, offered, true, &wanted->workers, err);
	if (r == 0 && nfd_api_prefixes(offered->keep, &wanted->keep) < 0)
		r = nfd_error_set(err, -ENOMEM, "out of memory");
	return r;
}

static bool is_equal(const cJSON *one, const cJSON *other)
{
	return one && other ? nfd_json_is_equal(one, other) : one == other;
}

bool nfd_feature_wanted_equal(const struct nfd_feature_wanted *a,
			      const struct nfd_feature_wanted *b)
{
	return is_equal(a->object, b->object) && is_equal(a->workers, b->workers) &&
	       is_equal(a->keep, b->keep);
}

void nfd_feature_wanted_done(struct nfd_feature_wanted *wanted)
{
	cJSON_Delete(wanted->object);
	cJSON_Delete(wanted->workers);
	cJSON_Delete(wanted->keep);
	*wanted = (struct nfd_feature_wanted){ 0 };
}

static void take(struct nfd_feature_found *found, cJSON *result, const char *field, cJSON **kept,
		 int64_t now_ms)
{
	cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(result, field);

	if (!item)
		return;
	found->found_ms = now_ms;
	cJSON_Delete(*kept);
	*kept = item;
}

void nfd_feature_found_take(struct nfd_feature_found *found, cJSON *result, int64_t now_ms)
{
	take(found, result, "worker", &found->worker, now_ms);
	take(found, result, "owner", &found->owner, now_ms);
	take(found, result, "workerOwners", &found->owners, now_ms);
}

void nfd_feature_found_done(struct nfd_feature_found *found)
{
	cJSON_Delete(found->worker);
	cJSON_Delete(found->owner);
	cJSON_Delete(found->owners);
	*found = (struct nfd_feature_found){ 0 };
}

/* Whether an object has a raw feature by this name. */
static bool has_feature(const cJSON *object, const char *name)
{
	const cJSON *kind;

	cJSON_ArrayForEach(kind, nfd_json_get(nfd_json_get(object, "spec"), "features"))
		if (nfd_json_get(kind, name))
			return true;
	return false;
}

/* Ours take NFD's names only where NFD's own are not among them. */
static bool add_names(cJSON *request, const cJSON *object)
{
	cJSON *names = cJSON_AddObjectToObject(request, "standardFeatures");

	for (size_t i = 0; i < NFD_ARRAY_SIZE(standard_features); i++)
		if (!has_feature(object, standard_features[i].standard) &&
		    !cJSON_AddStringToObject(names, standard_features[i].own,
					     standard_features[i].standard))
			return false;
	return true;
}

/* Words of the settings for the bits of enum nfd_owner. */
static bool add_owners(cJSON *request, const struct nfd_node_feature_options *options)
{
	static const char *const words[] = { "node", "pod", "ds" };
	cJSON *list = cJSON_AddArrayToObject(request, "owners");

	for (size_t i = 0; list && i < NFD_ARRAY_SIZE(words); i++)
		if (options->owners >> i & 1 && !options->no_owners &&
		    !cJSON_AddItemToArray(list, cJSON_CreateString(words[i])))
			return false;
	return list != NULL;
}

static bool add_copy(cJSON *request, const char *field, const cJSON *value)
{
	cJSON *copy = value ? cJSON_Duplicate(value, true) : NULL;

	return !value || (copy && cJSON_AddItemToObject(request, field, copy));
}

static cJSON *make_request(const struct nfd_output_options *options, const char *action)
{
	cJSON *request = cJSON_CreateObject();

	if (!request || !cJSON_AddStringToObject(request, "action", action) ||
	    (options->node_feature.namespace && options->node_feature.namespace[0] &&
	     !cJSON_AddStringToObject(request, "namespace", options->node_feature.namespace))) {
		cJSON_Delete(request);
		return NULL;
	}
	return request;
}

/* A variable of the environment as a field, where it is set. */
static bool add_variable(cJSON *request, const char *field,
			 const struct nfd_output_options *options, const char *variable)
{
	const char *value = nfd_environment_value(options->api.place->environment, variable);

	return !value || !*value || cJSON_AddStringToObject(request, field, value);
}

/* In nfd-worker's place its object is looked at each time. */
static bool add_found(cJSON *request, const struct nfd_feature_wanted *wanted,
		      const struct nfd_feature_found *found)
{
	return (wanted->workers || add_copy(request, "worker", found->worker)) &&
	       add_copy(request, "owner", found->owner) &&
	       add_copy(request, "workerOwners", found->owners);
}

cJSON *nfd_feature_request(const struct nfd_output_options *options,
			   const struct nfd_feature_wanted *wanted,
			   const struct nfd_feature_found *found)
{
	cJSON *request = make_request(options, "node-feature");

	if (request && add_names(request, wanted->object) &&
	    add_copy(request, "object", wanted->object) &&
	    add_copy(request, "workerObject", wanted->workers) &&
	    add_found(request, wanted, found) &&
	    (!wanted->workers || add_owners(request, &options->node_feature)) &&
	    add_copy(request, "keep", wanted->keep) &&
	    add_variable(request, "pod", options, "POD_NAME") &&
	    add_variable(request, "podUid", options, "POD_UID"))
		return request;
	cJSON_Delete(request);
	return NULL;
}

cJSON *nfd_feature_delete_request(const struct nfd_output_options *options)
{
	cJSON *request = make_request(options, "node-feature-delete");
	char name[320];

	snprintf(name, sizeof(name), "%.253s" NFD_NODE_FEATURE_SUFFIX,
		 options->api.place->node_name);
	/* Also the one in nfd-worker's place, where it is ours. */
	if (request && cJSON_AddStringToObject(request, "name", name) &&
	    cJSON_AddTrueToObject(request, "place"))
		return request;
	cJSON_Delete(request);
	return NULL;
}
