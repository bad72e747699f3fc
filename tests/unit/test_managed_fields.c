// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/managed_fields: who owns which label, from lists that may be anything.
 */
#include "config.h"

#include "api/managed_fields.h"

#include <errno.h>

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

#define ENTRY(manager, operation, fields) \
	"{'manager':'" manager "','operation':'" operation "','fieldsV1':" fields "}"
#define LABELS(labels) "{'f:metadata':{'f:labels':" labels "}}"

static const struct {
	const char *name, *managed; /* NULL: none */
	int at;
} find_rows[] = {
	{ "none", NULL, -ENOENT },
	{ "empty", "[]", -ENOENT },
	{ "ours", "[" ENTRY("us", "Apply", "{}") "]", 0 },
	{ "ours is the second",
	  "[" ENTRY("kubelet", "Update", "{}") "," ENTRY("us", "Apply", "{}") "]", 1 },
	{ "by update", "[" ENTRY("us", "Update", "{}") "]", -ENOENT },
	{ "by both", "[" ENTRY("us", "Update", "{}") "," ENTRY("us", "Apply", "{}") "]", 1 },
	{ "of a subresource", "[{'manager':'us','operation':'Apply','subresource':'status'}]",
	  -ENOENT },
	{ "empty subresource", "[{'manager':'us','operation':'Apply','subresource':''}]", 0 },
	{ "name begins so", "[" ENTRY("us2", "Apply", "{}") "]", -ENOENT },
	{ "other case", "[" ENTRY("US", "apply", "{}") "]", -ENOENT },
	{ "odd entries are counted", "[7,null,'us',[],{}," ENTRY("us", "Apply", "{}") "]", 5 },
	{ "numbers for texts", "[{'manager':7,'operation':true}]", -ENOENT },
	{ "a text", "'us'", -ENOENT },
	{ "null", "null", -ENOENT },
};

static void finds_ours(void **state)
{
	const __typeof__(find_rows[0]) *row = *state;

	assert_int_equal(nfd_managed_find(row->managed ? json_new(row->managed) : NULL, "us"),
			 row->at);
}

static const struct {
	const char *name, *entry; /* NULL: none */
	const char *labels;
	bool owns; /* "a/b" */
} label_rows[] = {
	{ "no entry", NULL, "nothing", false },
	{ "no fields", "{}", "nothing", false },
	{ "null fields", "{'fieldsV1':null}", "nothing", false },
	{ "no metadata", "{'fieldsV1':{}}", "nothing", false },
	{ "no labels", "{'fieldsV1':{'f:metadata':{}}}", "nothing", false },
	{ "empty labels", "{'fieldsV1':" LABELS("{}") "}", "{}", false },
	{ "the map itself", "{'fieldsV1':" LABELS("{'.':{}}") "}", "{'.':{}}", false },
	{ "owned", "{'fieldsV1':" LABELS("{'.':{},'f:a/b':{}}") "}", "{'.':{},'f:a/b':{}}", true },
	{ "another", "{'fieldsV1':" LABELS("{'f:a/bc':{},'f:a':{}}") "}", "{'f:a/bc':{},'f:a':{}}",
	  false },
	{ "without the mark", "{'fieldsV1':" LABELS("{'a/b':{}}") "}", "{'a/b':{}}", false },
	{ "list of labels", "{'fieldsV1':" LABELS("['f:a/b']") "}", "nothing", false },
	{ "text of labels", "{'fieldsV1':" LABELS("'f:a/b'") "}", "nothing", false },
	{ "fields as text", "{'fieldsV1':'f:metadata'}", "nothing", false },
	{ "entry is a number", "7", "nothing", false },
	{ "entry is a list", "[" ENTRY("us", "Apply", "{}") "]", "nothing", false },
};

static void reads_labels(void **state)
{
	const __typeof__(label_rows[0]) *row = *state;
	const cJSON *entry = row->entry ? json_new(row->entry) : NULL;

	assert_string_equal(json_text(nfd_managed_labels(entry)), row->labels);
	assert_int_equal(nfd_managed_owns(entry, "a/b"), row->owns);
}

static void a_huge_key_is_not_owned(void **state)
{
	const char *key = unit_repeat('k', 100000);

	(void)state;
	assert_false(
		nfd_managed_owns(json_new(unit_text("{'fieldsV1':" LABELS("{'f:%s':{}}") "}", key)),
				 key));
}

static const struct {
	const char *name, *fields, *keys, *rest;
} without_rows[] = {
	{ "one of two", LABELS("{'f:a':{},'f:b':{}}"), "['a']", LABELS("{'f:b':{}}") },
	{ "the last one", LABELS("{'f:a':{}}"), "['a']", "nothing" },
	{ "all of them", LABELS("{'f:a':{},'f:b':{}}"), "['b','a']", "nothing" },
	{ "the map stays", LABELS("{'.':{},'f:a':{}}"), "['a']", LABELS("{'.':{}}") },
	{ "other metadata stays",
	  "{'f:metadata':{'f:labels':{'f:a':{}},'f:annotations':{'f:x':{}}}}", "['a']",
	  "{'f:metadata':{'f:annotations':{'f:x':{}}}}" },
	{ "other fields stay", "{'f:metadata':{'f:labels':{'f:a':{}}},'f:spec':{'f:taints':{}}}",
	  "['a']", "{'f:spec':{'f:taints':{}}}" },
	{ "none", LABELS("{'f:a':{}}"), "[]", LABELS("{'f:a':{}}") },
	{ "one that is not there", LABELS("{'f:a':{}}"), "['b','A','f:a']", LABELS("{'f:a':{}}") },
	{ "empty fields", "{}", "['a']", "nothing" },
	{ "labels are a list", LABELS("['f:a']"), "['a']", LABELS("['f:a']") },
	{ "labels are null", LABELS("null"), "['a']", "nothing" },
	{ "a key that is no text", LABELS("{'f:a':{}}"), "[7,'a']", "nothing" },
};

static void leaves_out(void **state)
{
	const __typeof__(without_rows[0]) *row = *state;
	const char *text = unit_text("{'manager':'us','fieldsV1':%s}", row->fields);
	const cJSON *entry = json_new(text);
	cJSON *rest = NULL;

	assert_int_equal(nfd_managed_without(entry, json_new(row->keys), &rest), 0);
	assert_string_equal(json_text(json_keep(rest)), row->rest);
	/* A copy: the entry is as it was. */
	assert_string_equal(json_text(entry), text);
}

static const struct {
	const char *name, *managed, *owners;
} owner_rows[] = {
	{ "none", "[]", "[]" },
	{ "one", "[" ENTRY("kubectl", "Update", LABELS("{'f:a/b':{}}")) "]",
	  "[{'manager':'kubectl','operation':'Update'}]" },
	{ "two of three",
	  "[" ENTRY("x", "Update", LABELS("{'f:a/b':{}}")) "," ENTRY(
		  "y", "Apply", LABELS("{'f:a/c':{}}")) "," ENTRY("z", "Apply",
								  LABELS("{'f:a/b':{}}")) "]",
	  "[{'manager':'x','operation':'Update'},{'manager':'z','operation':'Apply'}]" },
	{ "without names", "[{'fieldsV1':" LABELS("{'f:a/b':{}}") "}]",
	  "[{'manager':'','operation':''}]" },
	{ "odd entries", "[7,null,'x',[],{},{'fieldsV1':[]}]", "[]" },
	{ "a text", "'x'", "[]" },
};

static void tells_owners(void **state)
{
	const __typeof__(owner_rows[0]) *row = *state;
	cJSON *list = json_new("[]");

	assert_int_equal(nfd_managed_owners(json_new(row->managed), "a/b", list), 0);
	assert_string_equal(json_text(list), row->owners);
}

int main(void)
{
	struct unit_suite suite = { .name = "managed_fields" };

	UNIT_ROWS(&suite, finds_ours, find_rows, name);
	UNIT_ROWS(&suite, reads_labels, label_rows, name);
	UNIT_CASE(&suite, a_huge_key_is_not_owned);
	UNIT_ROWS(&suite, leaves_out, without_rows, name);
	UNIT_ROWS(&suite, tells_owners, owner_rows, name);
	return unit_run(&suite);
}
