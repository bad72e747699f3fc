// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Built with cJSON: the object nests, and the raw features come as cJSON already.
 */
#include "config.h"

#include "output/node_object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "labels/features.h"
#include "labels/key.h"

#define API_VERSION "nfd.k8s-sigs.io/v1alpha1"
#define NODE_NAME_LABEL "nfd.node.kubernetes.io/node-name"

/* Adds metadata; false when memory ran out. */
static bool add_metadata(cJSON *object, const char *node, const char *namespace)
{
	char name[NFD_LABEL_VALUE_SIZE + sizeof(NFD_NODE_FEATURE_SUFFIX)];
	cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");
	cJSON *labels;

	snprintf(name, sizeof(name), "%s" NFD_NODE_FEATURE_SUFFIX, node);
	if (!metadata || !cJSON_AddStringToObject(metadata, "name", name))
		return false;
	if (namespace[0] && !cJSON_AddStringToObject(metadata, "namespace", namespace))
		return false;
	labels = cJSON_AddObjectToObject(metadata, "labels");
	return labels && cJSON_AddStringToObject(labels, NODE_NAME_LABEL, node);
}

static bool add_spec(cJSON *object, const struct nfd_set *set, const cJSON *features)
{
	cJSON *spec = cJSON_AddObjectToObject(object, "spec");
	cJSON *copy = features ? cJSON_Duplicate(features, 1) : nfd_features_new();
	cJSON *labels;

	if (!spec || !copy || !cJSON_AddItemToObject(spec, "features", copy)) {
		cJSON_Delete(copy);
		return false;
	}
	labels = cJSON_AddObjectToObject(spec, "labels");
	for (size_t i = 0; labels && i < set->count; i++)
		if (!set->label[i].stopped_by &&
		    !cJSON_AddStringToObject(labels, set->label[i].key, set->label[i].value))
			return false;
	return labels != NULL;
}

int nfd_node_feature_object(const char *node, const char *namespace, const struct nfd_set *set,
			    const cJSON *features, cJSON **ret, struct nfd_error *err)
{
	cJSON *object;

	if (!node[0] || !nfd_label_value_is_valid(node))
		return nfd_error_set(
			err, -EINVAL,
			"node name \"%.256s\" cannot be a label value (1 to %d bytes of "
			"letters, digits, '-', '_' and '.'), so NFD cannot take a "
			"NodeFeature object for it",
			node, NFD_LABEL_VALUE_MAX);
	object = cJSON_CreateObject();
	if (!object || !cJSON_AddStringToObject(object, "apiVersion", API_VERSION) ||
	    !cJSON_AddStringToObject(object, "kind", "NodeFeature") ||
	    !add_metadata(object, node, namespace) || !add_spec(object, set, features)) {
		cJSON_Delete(object);
		return nfd_error_set(err, -ENOMEM, "out of memory");
	}
	*ret = object;
	return 0;
}

int nfd_node_feature_render(const char *node, const char *namespace, const struct nfd_set *set,
			    const cJSON *features, struct nfd_strbuf *buf, struct nfd_error *err)
{
	cJSON *object = NULL;
	char *text;
	int r;

	r = nfd_node_feature_object(node, namespace, set, features, &object, err);
	if (r < 0)
		return r;
	text = cJSON_Print(object);
	cJSON_Delete(object);
	if (!text)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	nfd_strbuf_printf(buf, "%s\n", text);
	cJSON_free(text);
	return buf->error;
}
