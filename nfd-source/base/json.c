// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cJSON's own names are long; these are asked for a hundred times.
 */
#include "config.h"

#include "base/json.h"

cJSON *nfd_json_get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

cJSON *nfd_json_object(const cJSON *object, const char *key)
{
	cJSON *member = nfd_json_get(object, key);

	return cJSON_IsObject(member) ? member : NULL;
}

const char *nfd_json_text(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(nfd_json_get(object, key));

	return text ? text : "";
}

bool nfd_json_is_true(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(nfd_json_get(object, key));
}

size_t nfd_json_length(const cJSON *object, const char *key)
{
	const cJSON *array = nfd_json_get(object, key);

	return cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
}
