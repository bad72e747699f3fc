// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the spec.features tree in the shape that the NodeFeature CRD wants: "elements" and
 * "attributes" are required even when empty.
 */
#include "config.h"

#include "labels/features.h"

#include <errno.h>
#include <stdbool.h>

cJSON *nfd_features_new(void)
{
	cJSON *features = cJSON_CreateObject();

	if (features && cJSON_AddObjectToObject(features, "flags") &&
	    cJSON_AddObjectToObject(features, "attributes") &&
	    cJSON_AddObjectToObject(features, "instances"))
		return features;
	cJSON_Delete(features);
	return NULL;
}

/* The "elements" of a feature, made when missing: an object, or an array for instances. */
static cJSON *elements(cJSON *features, const char *kind, const char *feature, bool array)
{
	cJSON *kinds = cJSON_GetObjectItemCaseSensitive(features, kind);
	cJSON *entry = cJSON_GetObjectItemCaseSensitive(kinds, feature);

	if (entry)
		return cJSON_GetObjectItemCaseSensitive(entry, "elements");
	entry = cJSON_AddObjectToObject(kinds, feature);
	if (!entry)
		return NULL;
	return array ? cJSON_AddArrayToObject(entry, "elements") :
		       cJSON_AddObjectToObject(entry, "elements");
}

int nfd_features_put(cJSON *attributes, const char *name, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(attributes, name);
	return cJSON_AddStringToObject(attributes, name, value) ? 0 : -ENOMEM;
}

int nfd_features_attribute(cJSON *features, const char *feature, const char *name,
			   const char *value)
{
	cJSON *target;

	if (!features)
		return 0;
	target = elements(features, "attributes", feature, false);
	return target ? nfd_features_put(target, name, value) : -ENOMEM;
}

cJSON *nfd_features_instance(cJSON *features, const char *feature)
{
	cJSON *list = elements(features, "instances", feature, true);
	cJSON *instance = list ? cJSON_CreateObject() : NULL;

	if (!instance)
		return NULL;
	if (!cJSON_AddItemToArray(list, instance)) {
		cJSON_Delete(instance);
		return NULL;
	}
	return cJSON_AddObjectToObject(instance, "attributes");
}
