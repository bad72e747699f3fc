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

#include "base/json.h"

int nfd_managed_find(const cJSON *managed, const char *manager)
{
	const cJSON *entry;
	int at = 0;

	cJSON_ArrayForEach(entry, managed) {
		if (strcmp(nfd_json_text(entry, "manager"), manager) == 0 &&
		    strcmp(nfd_json_text(entry, "operation"), "Apply") == 0 &&
		    !*nfd_json_text(entry, "subresource"))
			return at;
		at++;
	}
	return -ENOENT;
}

const cJSON *nfd_managed_labels(const cJSON *entry)
{
	const cJSON *fields = nfd_json_get(entry, "fieldsV1");
	const cJSON *metadata = nfd_json_get(fields, "f:metadata");

	return nfd_json_object(metadata, "f:labels");
}

bool nfd_managed_owns(const cJSON *entry, const char *key)
{
	char name[512];

	return snprintf(name, sizeof(name), "f:%s", key) < (int)sizeof(name) &&
	       nfd_json_get(nfd_managed_labels(entry), name);
}

/* Takes a child that has become empty out of its parent. */
static void prune(cJSON *parent, const char *key)
{
	const cJSON *child = nfd_json_get(parent, key);

	if (child && cJSON_GetArraySize(child) == 0)
		cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
}

int nfd_managed_without(const cJSON *entry, const cJSON *keys, cJSON **ret)
{
	cJSON *fields = cJSON_Duplicate(nfd_json_get(entry, "fieldsV1"), true);
	cJSON *metadata = nfd_json_get(fields, "f:metadata");
	cJSON *labels = nfd_json_object(metadata, "f:labels");
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
		    !cJSON_AddStringToObject(owner, "manager", nfd_json_text(entry, "manager")) ||
		    !cJSON_AddStringToObject(owner, "operation",
					     nfd_json_text(entry, "operation")) ||
		    !cJSON_AddItemToArray(list, owner)) {
			cJSON_Delete(owner);
			return -ENOMEM;
		}
	}
	return 0;
}
