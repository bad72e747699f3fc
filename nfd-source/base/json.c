// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cJSON's own names are long; these are asked for a hundred times.
 */
#include "config.h"

#include "base/json.h"

#include <string.h>

#include "base/strbuf.h"

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

cJSON *nfd_json_new_text(const char *text)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	if (nfd_utf8_is_valid(text))
		return cJSON_CreateString(text);
	while (*text) {
		size_t len = nfd_utf8_length(text);

		nfd_strbuf_add(&buf, len ? text : "\xef\xbf\xbd", len ? len : 3);
		text += len ? len : 1;
	}
	return buf.error ? NULL : cJSON_CreateString(nfd_strbuf_text(&buf));
}

bool nfd_json_add_text(cJSON *object, const char *key, const char *text)
{
	cJSON *item = nfd_json_new_text(text);

	if (item && cJSON_AddItemToObject(object, key, item))
		return true;
	cJSON_Delete(item);
	return false;
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

/* The member of that name, which is the one at @guess where both objects have the same order. */
static const cJSON *find_member(const cJSON *object, const cJSON *guess, const char *name)
{
	return guess && strcmp(guess->string, name) == 0 ? guess : nfd_json_get(object, name);
}

/* Whether each member of an object is in another: its name, or name and value. */
static bool has_members(const cJSON *object, const cJSON *members, bool values)
{
	const cJSON *guess = object->child, *member;

	cJSON_ArrayForEach(member, members) {
		const cJSON *found = find_member(object, guess, member->string);

		if (!found || (values && !nfd_json_is_equal(found, member)))
			return false;
		guess = found->next;
	}
	return true;
}

static bool has_items(const cJSON *array, const cJSON *items)
{
	const cJSON *x = array->child, *y = items->child;

	while (x && y && nfd_json_is_equal(x, y)) {
		x = x->next;
		y = y->next;
	}
	return !x && !y;
}

bool nfd_json_is_equal(const cJSON *a, const cJSON *b)
{
	if (cJSON_IsObject(a) && cJSON_IsObject(b))
		return has_members(a, b, true) && has_members(b, a, false);
	if (cJSON_IsArray(a) && cJSON_IsArray(b))
		return has_items(a, b);
	return cJSON_Compare(a, b, true);
}
