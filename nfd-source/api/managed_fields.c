// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fieldsV1 nests as "f:metadata" → "f:labels" → "f:<key>"; other members of "f:labels" (".") mean
 * the map itself.
 */
#include "config.h"

#include "api/managed_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text ? text : "";
}

int nfd_managed_find(const cJSON *managed, const char *manager)
{
	const cJSON *entry;
	int at = 0;

	cJSON_ArrayForEach(entry, managed) {
		if (strcmp(text_of(entry, "manager"), manager) == 0 &&
		    strcmp(text_of(entry, "operation"), "Apply") == 0 &&
		    !*text_of(entry, "subresource"))
			return at;
		at++;
	}
	return -ENOENT;
}

const cJSON *nfd_managed_labels(const cJSON *entry)
{
	const cJSON *fields = cJSON_GetObjectItemCaseSensitive(entry, "fieldsV1");
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(fields, "f:metadata");

	return cJSON_GetObjectItemCaseSensitive(metadata, "f:labels");
}

bool nfd_managed_owns(const cJSON *entry, const char *key)
{
	char name[512];

	return snprintf(name, sizeof(name), "f:%s", key) < (int)sizeof(name) &&
	       cJSON_GetObjectItemCaseSensitive(nfd_managed_labels(entry), name);
}

/* Takes a child that has become empty out of its parent. */
static void prune(cJSON *parent, const char *key)
{
	const cJSON *child = cJSON_GetObjectItemCaseSensitive(parent, key);

	if (child && cJSON_GetArraySize(child) == 0)
		cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
}

int nfd_managed_without(const cJSON *entry, const cJSON *keys, cJSON **ret)
{
	cJSON *fields = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(entry, "fieldsV1"), true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(fields, "f:metadata");
	cJSON *labels = cJSON_GetObjectItemCaseSensitive(metadata, "f:labels");
	const cJSON *key;
	char name[512];

	if (!fields)
		return -ENOMEM;
	cJSON_ArrayForEach(key, keys) {
		snprintf(name, sizeof(name), "f:%s", cJSON_GetStringValue(key));
		cJSON_DeleteItemFromObjectCaseSensitive(labels, name);
	}
	prune(metadata, "f:labels");
	prune(fields, "f:metadata");
	if (cJSON_GetArraySize(fields) == 0) {
		cJSON_Delete(fields);
		fields = NULL;
	}
	*ret = fields;
	return 0;
}

int nfd_managed_owners(const cJSON *managed, const char *key, cJSON *list)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, managed) {
		cJSON *owner;

		if (!nfd_managed_owns(entry, key))
			continue;
		owner = cJSON_CreateObject();
		if (!owner ||
		    !cJSON_AddStringToObject(owner, "manager", text_of(entry, "manager")) ||
		    !cJSON_AddStringToObject(owner, "operation", text_of(entry, "operation")) ||
		    !cJSON_AddItemToArray(list, owner)) {
			cJSON_Delete(owner);
			return -ENOMEM;
		}
	}
	return 0;
}
