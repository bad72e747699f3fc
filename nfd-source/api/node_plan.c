// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A label that is on the Node with our value and is not ours is left alone, whoever set it: it has
 * arrived. One that we own stays in every apply until it is handed over, because an apply without it
 * takes it away.
 */
#include "config.h"

#include "api/node_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/managed_fields.h"
#include "base/json.h"

#define FEATURE_PREFIX "feature.node.kubernetes.io/"
#define NFD_ANNOTATION "nfd.node.kubernetes.io/feature-labels"

/* NFD's annotation, also that of an instance ("x.nfd.node.kubernetes.io/feature-labels"). */
static bool is_nfd_annotation(const cJSON *annotation)
{
	size_t len = strlen(annotation->string);
	size_t own = strlen(NFD_ANNOTATION);

	return len >= own && strcmp(annotation->string + len - own, NFD_ANNOTATION) == 0 &&
	       (len == own || annotation->string[len - own - 1] == '.');
}

/* Whether a list "a,b,c" has a name. */
static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list) {
		size_t part = strcspn(list, ",");

		if (part == len && memcmp(list, name, len) == 0)
			return true;
		list += part + (list[part] == ',');
	}
	return false;
}

bool nfd_node_is_listed(const cJSON *metadata, const char *key)
{
	const cJSON *annotations = nfd_json_object(metadata, "annotations");
	bool bare = strncmp(key, FEATURE_PREFIX, strlen(FEATURE_PREFIX)) == 0;
	const cJSON *annotation;

	cJSON_ArrayForEach(annotation, annotations) {
		const char *list = cJSON_GetStringValue(annotation);

		if (list && is_nfd_annotation(annotation) &&
		    (has_name(list, key) || (bare && has_name(list, key + strlen(FEATURE_PREFIX)))))
			return true;
	}
	return false;
}

bool nfd_node_has_nfd(const cJSON *metadata)
{
	const cJSON *annotations = nfd_json_object(metadata, "annotations");
	const cJSON *annotation;

	cJSON_ArrayForEach(annotation, annotations)
		if (is_nfd_annotation(annotation))
			return true;
	return false;
}

static bool has_text(const cJSON *array, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, array)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

static int add_text(cJSON *array, const char *text)
{
	cJSON *item = cJSON_CreateString(text);

	if (!item || !cJSON_AddItemToArray(array, item)) {
		cJSON_Delete(item);
		return -ENOMEM;
	}
	return 0;
}

/* The Node, and what we own of it. */
struct view {
	const cJSON *metadata, *labels, *entry;
	const struct nfd_node_wish *wish;
};

static bool is_listed(const struct view *view, const char *key)
{
	return !view->wish->nfd_gone && nfd_node_is_listed(view->metadata, key);
}

/*
 * Notes a conflict where another manager owns the label with another value: an apply would be refused
 * as a whole. 1 when there is one, 0, -ENOMEM.
 */
static int add_conflict(struct nfd_node_plan *plan, const struct view *view, const char *key,
			const char *value)
{
	const cJSON *managed = nfd_json_get(view->metadata, "managedFields");
	const cJSON *entry;
	char text[400];
	cJSON *item;

	cJSON_ArrayForEach(entry, managed) {
		const char *manager = cJSON_GetStringValue(nfd_json_get(entry, "manager"));

		if (entry == view->entry || !manager || !nfd_managed_owns(entry, key))
			continue;
		snprintf(text, sizeof(text), "\"%.128s\" owns it with the value \"%.64s\"", manager,
			 value);
		item = cJSON_CreateObject();
		if (item && cJSON_AddStringToObject(item, "key", key) &&
		    cJSON_AddStringToObject(item, "message", text) &&
		    cJSON_AddItemToArray(plan->conflicts, item))
			return 1;
		cJSON_Delete(item);
		return -ENOMEM;
	}
	return 0;
}

/* Where one wanted label belongs. */
static int place(struct nfd_node_plan *plan, const struct view *view, const cJSON *label)
{
	const char *key = label->string;
	const char *value = cJSON_GetStringValue(nfd_json_get(view->labels, key));
	bool arrived = value && strcmp(value, cJSON_GetStringValue(label)) == 0;
	bool owned = nfd_managed_owns(view->entry, key);
	int r;

	if (has_text(view->wish->leave, key))
		return 0;
	if (is_listed(view, key))
		return arrived ? 0 : add_text(plan->left, key);
	if (!owned && arrived)
		return 0;
	if (!owned && !view->wish->bring)
		return add_text(plan->missing, key);
	r = value && !arrived ? add_conflict(plan, view, key, value) : 0;
	if (r)
		return r < 0 ? r : 0;
	if (!cJSON_AddStringToObject(plan->want, key, cJSON_GetStringValue(label)))
		return -ENOMEM;
	return arrived ? 0 : add_text(plan->changed, key);
}

bool nfd_has_prefix(const cJSON *prefixes, const char *key)
{
	const cJSON *prefix;

	cJSON_ArrayForEach(prefix, prefixes)
		if (cJSON_IsString(prefix) &&
		    strncmp(key, prefix->valuestring, strlen(prefix->valuestring)) == 0)
			return true;
	return false;
}

/*
 * A label that we own and that is not wanted: away with it, unless nobody knows whether it should be
 * there; then it stays as it is.
 */
static int place_unwanted(struct nfd_node_plan *plan, const struct view *view, const char *key)
{
	const char *value = cJSON_GetStringValue(nfd_json_get(view->labels, key));

	if (!value || !nfd_has_prefix(view->wish->keep, key))
		return add_text(plan->withdrawn, key);
	return cJSON_AddStringToObject(plan->want, key, value) ? 0 : -ENOMEM;
}

/* What becomes of the labels that we own. */
static int place_owned(struct nfd_node_plan *plan, const struct view *view)
{
	const cJSON *field;
	int r = 0;

	cJSON_ArrayForEach(field, nfd_managed_labels(view->entry)) {
		const char *key = field->string + 2;

		if (strncmp(field->string, "f:", 2) != 0)
			continue;
		if (r == 0)
			r = add_text(plan->owned, key);
		if (r == 0 && is_listed(view, key))
			r = add_text(plan->hand_over, key);
		else if (r == 0 && !nfd_json_get(plan->want, key))
			r = place_unwanted(plan, view, key);
	}
	return r;
}

int nfd_node_plan_make(struct nfd_node_plan *plan, const cJSON *metadata,
		       const struct nfd_node_wish *wish, const char *manager)
{
	const cJSON *managed = nfd_json_get(metadata, "managedFields");
	int at = nfd_managed_find(managed, manager);
	struct view view = {
		.metadata = metadata,
		.labels = nfd_json_object(metadata, "labels"),
		.entry = at < 0 ? NULL : cJSON_GetArrayItem(managed, at),
		.wish = wish,
	};
	const cJSON *label;
	int r = 0;

	*plan = (struct nfd_node_plan){
		.want = cJSON_CreateObject(),
		.hand_over = cJSON_CreateArray(),
		.changed = cJSON_CreateArray(),
		.withdrawn = cJSON_CreateArray(),
		.missing = cJSON_CreateArray(),
		.left = cJSON_CreateArray(),
		.conflicts = cJSON_CreateArray(),
		.owned = cJSON_CreateArray(),
	};
	if (!plan->want || !plan->hand_over || !plan->changed || !plan->withdrawn ||
	    !plan->missing || !plan->left || !plan->conflicts || !plan->owned)
		return -ENOMEM;
	cJSON_ArrayForEach(label, wish->labels)
		if (r == 0)
			r = place(plan, &view, label);
	return r < 0 ? r : place_owned(plan, &view);
}

bool nfd_node_plan_is_apply(const struct nfd_node_plan *plan)
{
	return cJSON_GetArraySize(plan->changed) > 0 || cJSON_GetArraySize(plan->withdrawn) > 0;
}

void nfd_node_plan_done(struct nfd_node_plan *plan)
{
	cJSON_Delete(plan->want);
	cJSON_Delete(plan->hand_over);
	cJSON_Delete(plan->changed);
	cJSON_Delete(plan->withdrawn);
	cJSON_Delete(plan->missing);
	cJSON_Delete(plan->left);
	cJSON_Delete(plan->conflicts);
	cJSON_Delete(plan->owned);
	*plan = (struct nfd_node_plan){ 0 };
}
