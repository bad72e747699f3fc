// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Built with cJSON: the object nests, and the raw features come as cJSON already.
 */
#include "config.h"

#include "output/node_object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "labels/features.h"
#include "labels/key.h"

#define API_VERSION "nfd.k8s-sigs.io/v1alpha1"
#define NODE_NAME_LABEL "nfd.node.kubernetes.io/node-name"
#define POD_UID "nfd.node.kubernetes.io/worker.pod.uid"
#define OWN_DOMAIN "nfd-source."
#define OUR_VERSION "nfd-source v" PACKAGE_VERSION

static bool add_annotations(cJSON *metadata, const struct nfd_object_wish *wish)
{
	cJSON *annotations;

	if (wish->kind != NFD_OBJECT_WORKERS)
		return true;
	annotations = cJSON_AddObjectToObject(metadata, "annotations");
	return annotations &&
	       cJSON_AddStringToObject(annotations, NFD_WORKER_VERSION, OUR_VERSION) &&
	       (!wish->pod_uid || !*wish->pod_uid ||
		cJSON_AddStringToObject(annotations, POD_UID, wish->pod_uid));
}

/* Adds metadata; false when memory ran out. */
static bool add_metadata(cJSON *object, const struct nfd_object_wish *wish)
{
	char name[NFD_LABEL_VALUE_SIZE + sizeof(NFD_NODE_FEATURE_SUFFIX)];
	cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");
	cJSON *labels;

	snprintf(name, sizeof(name), "%s%s", wish->node,
		 wish->kind == NFD_OBJECT_WORKERS ? "" : NFD_NODE_FEATURE_SUFFIX);
	if (!metadata || !cJSON_AddStringToObject(metadata, "name", name))
		return false;
	if (wish->namespace[0] && !cJSON_AddStringToObject(metadata, "namespace", wish->namespace))
		return false;
	labels = cJSON_AddObjectToObject(metadata, "labels");
	return labels && cJSON_AddStringToObject(labels, NODE_NAME_LABEL, wish->node) &&
	       add_annotations(metadata, wish);
}

/* Kernel.config is most of an object's size: it is there for nfd-worker's place. */
static bool is_of_kind(enum nfd_object_kind kind, const char *feature)
{
	bool own = strncmp(feature, OWN_DOMAIN, strlen(OWN_DOMAIN)) == 0;

	if (kind == NFD_OBJECT_WHOLE)
		return strcmp(feature, "kernel.config") != 0;
	return own == (kind == NFD_OBJECT_OWN);
}

/* core.noPublishFeatures, as nfd-worker reads it: a name, or the beginning of one with "*" behind it. */
static bool is_held_back(const struct nfd_texts *list, const char *feature)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (nfd_label_key_matches(list->text[i], feature))
			return true;
	return false;
}

static bool is_published(const struct nfd_object_wish *wish, const char *feature)
{
	return is_of_kind(wish->kind, feature) && !is_held_back(wish->no_features, feature);
}

static bool copy_features(const struct nfd_object_wish *wish, cJSON *to)
{
	const cJSON *kind, *feature;

	cJSON_ArrayForEach(kind, wish->features)
		cJSON_ArrayForEach(feature, kind) {
			cJSON *copy;

			if (!is_published(wish, feature->string))
				continue;
			copy = cJSON_Duplicate(feature, true);
			if (!cJSON_AddItemToObject(nfd_json_get(to, kind->string), feature->string,
						   copy)) {
				cJSON_Delete(copy);
				return false;
			}
		}
	return true;
}

static bool add_spec(cJSON *object, const struct nfd_object_wish *wish)
{
	const struct nfd_set *set = wish->set;
	cJSON *spec = cJSON_AddObjectToObject(object, "spec");
	cJSON *features = nfd_features_new();
	cJSON *labels;

	if (!spec || !features || !cJSON_AddItemToObject(spec, "features", features)) {
		cJSON_Delete(features);
		return false;
	}
	labels = cJSON_AddObjectToObject(spec, "labels");
	for (size_t i = 0; labels && i < set->count; i++)
		if (!set->label[i].stopped_by &&
		    !cJSON_AddStringToObject(labels, set->label[i].key, set->label[i].value))
			return false;
	return labels && copy_features(wish, features);
}

int nfd_node_feature_object(const struct nfd_object_wish *wish, cJSON **ret, struct nfd_error *err)
{
	cJSON *object;

	if (!wish->node[0] || !nfd_label_value_is_valid(wish->node))
		return nfd_error_set(
			err, -EINVAL,
			"node name \"%.256s\" cannot be a label value (1 to %d bytes of "
			"letters, digits, '-', '_' and '.'), so NFD cannot take a "
			"NodeFeature object for it",
			wish->node, NFD_LABEL_VALUE_MAX);
	object = cJSON_CreateObject();
	if (!object || !cJSON_AddStringToObject(object, "apiVersion", API_VERSION) ||
	    !cJSON_AddStringToObject(object, "kind", "NodeFeature") ||
	    !add_metadata(object, wish) || !add_spec(object, wish)) {
		cJSON_Delete(object);
		return nfd_error_set(err, -ENOMEM, "out of memory");
	}
	*ret = object;
	return 0;
}

static int make_list(const struct nfd_object_wish *wish, size_t count, cJSON **ret,
		     struct nfd_error *err)
{
	cJSON *list = cJSON_CreateObject();
	cJSON *items, *object = NULL;
	int r = 0;

	cJSON_AddStringToObject(list, "apiVersion", "v1");
	cJSON_AddStringToObject(list, "kind", "List");
	items = cJSON_AddArrayToObject(list, "items");
	for (size_t i = 0; r == 0 && i < count; i++) {
		r = nfd_node_feature_object(&wish[i], &object, err);
		if (r == 0 && !cJSON_AddItemToArray(items, object)) {
			cJSON_Delete(object);
			r = nfd_error_set(err, -ENOMEM, "out of memory");
		}
	}
	*ret = list;
	return r;
}

int nfd_node_feature_render(const struct nfd_object_wish *wish, size_t count,
			    struct nfd_strbuf *buf, struct nfd_error *err)
{
	cJSON *object = NULL;
	char *text;
	int r = count == 1 ? nfd_node_feature_object(wish, &object, err) :
			     make_list(wish, count, &object, err);

	text = r == 0 ? cJSON_Print(object) : NULL;
	cJSON_Delete(object);
	if (r < 0)
		return r;
	if (!text)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	nfd_strbuf_puts(buf, text);
	nfd_strbuf_puts(buf, "\n");
	cJSON_free(text);
	return buf->error;
}
