// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels as lines, or with sources, raw features and unknown facts as one JSON document.
 */
#include "config.h"

#include "output/render.h"

#include <errno.h>
#include <stdbool.h>

void nfd_render_text(const struct nfd_set *set, struct nfd_strbuf *buf)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->label[i].stopped_by)
			nfd_strbuf_printf(buf, "%s=%s\n", set->label[i].key, set->label[i].value);
}

/* The set as one object of texts. */
static cJSON *texts_of(const struct nfd_set *set, bool sources)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; object && i < set->count; i++) {
		const struct nfd_label *label = &set->label[i];
		const char *text = sources ? label->source : label->value;

		if (!label->stopped_by && text &&
		    !cJSON_AddStringToObject(object, label->key, text)) {
			cJSON_Delete(object);
			return NULL;
		}
	}
	return object;
}

static cJSON *list_of(const struct nfd_unknowns *unknowns)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; list && i < unknowns->count; i++) {
		cJSON *entry;

		if (unknowns->unknown[i].doubt)
			continue;
		entry = cJSON_CreateObject();
		if (!entry || !cJSON_AddItemToArray(list, entry) ||
		    !cJSON_AddStringToObject(entry, "keys", unknowns->unknown[i].prefix) ||
		    !cJSON_AddStringToObject(entry, "reason", unknowns->unknown[i].reason)) {
			cJSON_Delete(list);
			return NULL;
		}
	}
	return list;
}

/* Adds an item, which may be NULL when memory ran out; one that cannot be added is freed. */
static bool add_item(cJSON *object, const char *name, cJSON *item)
{
	if (item && cJSON_AddItemToObject(object, name, item))
		return true;
	cJSON_Delete(item);
	return false;
}

void nfd_render_json(const struct nfd_set *set, const struct nfd_unknowns *unknowns,
		     const cJSON *features, struct nfd_strbuf *buf)
{
	cJSON *object = cJSON_CreateObject();
	char *text = NULL;

	if (cJSON_AddNumberToObject(object, "schema", 1) &&
	    add_item(object, "labels", texts_of(set, false)) &&
	    add_item(object, "sources", texts_of(set, true)) &&
	    add_item(object, "features", cJSON_CreateObjectReference(features->child)) &&
	    add_item(object, "unknown", list_of(unknowns)))
		text = cJSON_Print(object);
	if (!text)
		buf->error = -ENOMEM;
	nfd_strbuf_puts(buf, text ? text : "");
	nfd_strbuf_puts(buf, "\n");
	cJSON_free(text);
	cJSON_Delete(object);
}
