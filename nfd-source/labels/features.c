// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the spec.features tree in the shape that the NodeFeature CRD wants: "elements" and
 * "attributes" are required even when empty.
 */
#include "config.h"

#include "labels/features.h"

#include <errno.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/strbuf.h"

/* By enum nfd_feature_kind. */
static const char *const kinds[] = { "flags", "attributes", "instances" };

cJSON *nfd_features_new(void)
{
	cJSON *features = cJSON_CreateObject();
	bool ok = features != NULL;

	for (size_t i = 0; ok && i < NFD_ARRAY_SIZE(kinds); i++)
		ok = cJSON_AddObjectToObject(features, kinds[i]) != NULL;
	if (ok)
		return features;
	cJSON_Delete(features);
	return NULL;
}

/* The "elements" of a feature, made when missing: an object, or an array for instances. */
static cJSON *elements(cJSON *features, enum nfd_feature_kind kind, const char *feature)
{
	cJSON *of_kind = nfd_json_get(features, kinds[kind]);
	cJSON *entry = nfd_json_get(of_kind, feature);

	if (entry)
		return nfd_json_get(entry, "elements");
	entry = cJSON_AddObjectToObject(of_kind, feature);
	if (!entry)
		return NULL;
	return kind == NFD_INSTANCES ? cJSON_AddArrayToObject(entry, "elements") :
				       cJSON_AddObjectToObject(entry, "elements");
}

int nfd_features_add(cJSON *features, enum nfd_feature_kind kind, const char *feature)
{
	return !features || elements(features, kind, feature) ? 0 : -ENOMEM;
}

/* Makes a text the "elements" of a feature. */
static int put_written(cJSON *features, enum nfd_feature_kind kind, const char *feature,
		       const struct nfd_strbuf *text)
{
	cJSON *entry, *raw;

	if (text->error || !elements(features, kind, feature))
		return -ENOMEM;
	entry = nfd_json_get(nfd_json_get(features, kinds[kind]), feature);
	raw = cJSON_CreateRaw(nfd_strbuf_text(text));
	if (raw && cJSON_ReplaceItemInObjectCaseSensitive(entry, "elements", raw))
		return 0;
	cJSON_Delete(raw);
	return -ENOMEM;
}

int nfd_features_flags(cJSON *features, const char *feature, const char *const *name, size_t count)
{
	cleanup_strbuf struct nfd_strbuf text = { 0 };

	if (!features)
		return 0;
	nfd_strbuf_add(&text, "{", 1);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			nfd_strbuf_add(&text, ",", 1);
		nfd_strbuf_put_quoted(&text, name[i]);
		nfd_strbuf_puts(&text, ":{}");
	}
	nfd_strbuf_add(&text, "}", 1);
	return put_written(features, NFD_FLAGS, feature, &text);
}

int nfd_features_attributes(cJSON *features, const char *feature,
			    const struct nfd_attribute *attribute, size_t count)
{
	cleanup_strbuf struct nfd_strbuf text = { 0 };

	if (!features)
		return 0;
	nfd_strbuf_add(&text, "{", 1);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			nfd_strbuf_add(&text, ",", 1);
		nfd_strbuf_put_member(&text, attribute[i].name, attribute[i].value);
	}
	nfd_strbuf_add(&text, "}", 1);
	return put_written(features, NFD_ATTRIBUTES, feature, &text);
}

int nfd_features_put(cJSON *attributes, const char *name, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(attributes, name);
	return nfd_json_add_text(attributes, name, value) ? 0 : -ENOMEM;
}

int nfd_features_attribute(cJSON *features, const char *feature, const char *name,
			   const char *value)
{
	cJSON *target;

	if (!features)
		return 0;
	target = elements(features, NFD_ATTRIBUTES, feature);
	return target ? nfd_features_put(target, name, value) : -ENOMEM;
}

cJSON *nfd_features_instance(cJSON *features, const char *feature)
{
	cJSON *list = elements(features, NFD_INSTANCES, feature);
	cJSON *instance = list ? cJSON_CreateObject() : NULL;

	if (!instance)
		return NULL;
	if (!cJSON_AddItemToArray(list, instance)) {
		cJSON_Delete(instance);
		return NULL;
	}
	return cJSON_AddObjectToObject(instance, "attributes");
}

int nfd_features_copy(const cJSON *from, const char *feature, cJSON *to)
{
	for (size_t i = 0; to && i < NFD_ARRAY_SIZE(kinds); i++) {
		const cJSON *entry = nfd_json_get(nfd_json_get(from, kinds[i]), feature);
		cJSON *copy = entry ? cJSON_Duplicate(entry, true) : NULL;

		if (entry && !cJSON_AddItemToObject(nfd_json_get(to, kinds[i]), feature, copy)) {
			cJSON_Delete(copy);
			return -ENOMEM;
		}
	}
	return 0;
}
