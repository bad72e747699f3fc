// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/json: what is missing or of another type reads as empty; what is equal.
 */
#include "config.h"

#include "base/json.h"

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name, *json; /* NULL: no document */
	const char *key, *text;
	bool exists, is_true;
	size_t length;
	bool is_object;
} rows[] = {
	{ "text", "{'a':'x'}", "a", "x", true, false, 0 },
	{ "empty text", "{'a':''}", "a", "", true, false, 0 },
	{ "number", "{'a':7}", "a", "", true, false, 0 },
	{ "null", "{'a':null}", "a", "", true, false, 0 },
	{ "true", "{'a':true}", "a", "", true, true, 0 },
	{ "false", "{'a':false}", "a", "", true, false, 0 },
	{ "text of a truth", "{'a':'true'}", "a", "true", true, false, 0 },
	{ "array", "{'a':[1,'x']}", "a", "", true, false, 2 },
	{ "empty array", "{'a':[]}", "a", "", true, false, 0 },
	{ "object has no length", "{'a':{'b':1}}", "a", "", true, false, 0, true },
	{ "missing", "{'a':'x'}", "b", "", false, false, 0 },
	{ "other case", "{'A':'x'}", "a", "", false, false, 0 },
	{ "first of two", "{'a':'x','a':'y'}", "a", "x", true, false, 0 },
	{ "empty key", "{'':'x'}", "", "x", true, false, 0 },
	{ "member of an array", "['a']", "a", "", false, false, 0 },
	{ "member of a text", "'a'", "a", "", false, false, 0 },
	{ "member of null", "null", "a", "", false, false, 0 },
	{ "no document", NULL, "a", "", false, false, 0 },
};

static void reads(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const cJSON *json = row->json ? json_new(row->json) : NULL;

	assert_int_equal(nfd_json_get(json, row->key) != NULL, row->exists);
	assert_string_equal(nfd_json_text(json, row->key), row->text);
	assert_int_equal(nfd_json_is_true(json, row->key), row->is_true);
	assert_int_equal(nfd_json_length(json, row->key), row->length);
	assert_int_equal(nfd_json_object(json, row->key) != NULL, row->is_object);
}

static const struct {
	const char *name, *a, *b; /* NULL: no document */
	bool is_equal;
} pairs[] = {
	{ "texts", "'x'", "'x'", true },
	{ "other text", "'x'", "'X'", false },
	{ "text and number", "'1'", "1", false },
	{ "empty objects", "{}", "{}", true },
	{ "object and array", "{}", "[]", false },
	{ "same order", "{'a':1,'b':{'c':[1,2]}}", "{'a':1,'b':{'c':[1,2]}}", true },
	{ "other order", "{'a':1,'b':2,'c':3}", "{'a':1,'c':3,'b':2}", true },
	{ "other order below", "[{'a':1,'b':2}]", "[{'b':2,'a':1}]", true },
	{ "other order, other value", "{'a':1,'b':2}", "{'b':1,'a':2}", false },
	{ "other value at the end", "{'a':1,'b':{'c':[1,2]}}", "{'a':1,'b':{'c':[1,3]}}", false },
	{ "one more in the first", "{'a':1,'b':2}", "{'a':1}", false },
	{ "one more in the second", "{'a':1}", "{'a':1,'b':2}", false },
	{ "other name", "{'a':1,'b':2}", "{'a':1,'c':2}", false },
	{ "a name twice", "{'a':1,'a':1}", "{'a':1,'b':2}", false },
	{ "name in other case", "{'a':1}", "{'A':1}", false },
	{ "order counts in arrays", "[1,2]", "[2,1]", false },
	{ "longer array", "[1,2]", "[1]", false },
	{ "no document", NULL, NULL, false },
	{ "one document", "{}", NULL, false },
};

static void compares(void **state)
{
	const __typeof__(pairs[0]) *row = *state;
	const cJSON *a = row->a ? json_new(row->a) : NULL, *b = row->b ? json_new(row->b) : NULL;

	assert_int_equal(nfd_json_is_equal(a, b), row->is_equal);
	assert_int_equal(nfd_json_is_equal(b, a), row->is_equal);
}

int main(void)
{
	struct unit_suite suite = { .name = "json" };

	UNIT_ROWS(&suite, reads, rows, name);
	UNIT_ROWS(&suite, compares, pairs, name);
	return unit_run(&suite);
}
