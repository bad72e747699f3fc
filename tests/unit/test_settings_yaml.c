// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * settings_yaml: a document as dotted keys with their places, and what is refused.
 */
#include "config.h"

#include "settings_yaml.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

/* Notes each key as "key@line:column" with "{}", "[a,b]", "(odd)" or "=value"; descends always. */
static int note(void *cookie, const struct nfd_yaml_item *item, struct nfd_error *err)
{
	const char **text = cookie;

	(void)err;
	*text = unit_text("%s%s@%zu:%zu", *text, item->key, item->line, item->column);
	if (item->is_mapping)
		*text = unit_text("%s{}", *text);
	else if (item->is_odd)
		*text = unit_text("%s(odd)", *text);
	else if (!item->is_list)
		*text = unit_text("%s%s%s", *text, item->count ? "=" : "",
				  item->count ? item->value[0] : "");
	if (item->is_list && !item->is_odd) {
		*text = unit_text("%s[", *text);
		for (size_t i = 0; i < item->count; i++)
			*text = unit_text("%s%s%s", *text, i ? "," : "", item->value[i]);
		*text = unit_text("%s]", *text);
	}
	*text = unit_text("%s ", *text);
	return NFD_YAML_DESCEND;
}

static const struct {
	const char *name, *text;
	const char *keys;
} good_rows[] = {
	{ "empty", "", "" },
	{ "comment", "# nothing\n", "" },
	{ "explicit null", "---\nnull\n", "" },
	{ "tilde", "~", "" },
	{ "empty mapping", "{}\n", "" },
	{ "one value", "a: 1\n", "a@1:4=1 " },
	{ "no final newline", "a: 1", "a@1:4=1 " },
	{ "nested", "a:\n  b:\n    c: x\n", "a@2:3{} a.b@3:5{} a.b.c@3:8=x " },
	{ "list", "a: [x, \"y z\"]\n", "a@1:4[x,y z] " },
	{ "list in lines", "a:\n  - x\n  - y\n", "a@2:3[x,y] " },
	{ "empty list", "a: []\n", "a@1:4[] " },
	{ "list in a list", "a: [x, [y]]\n", "a@1:8(odd) " },
	{ "mapping in a list", "a: [{b: c}]\n", "a@1:5(odd) " },
	{ "null value", "a:\nb: ~\nc: Null\n", "a@1:3 b@2:4 c@3:4 " },
	{ "quoted null is a text", "a: 'null'\nb: \"\"\n", "a@1:4=null b@2:4= " },
	{ "JSON", "{\"a\": {\"b\": \"x\"}}", "a@1:7{} a.b@1:13=x " },
	{ "CRLF", "a: 1\r\nb: 2\r\n", "a@1:4=1 b@2:4=2 " },
	{ "byte order mark",
	  "\xef\xbb\xbf"
	  "a: 1\n",
	  "a@1:4=1 " },
	{ "alias", "a: &x 1\nb: *x\n", "a@1:4=1 b@1:4=1 " },
	{ "same key in two sections", "a: {x: 1}\nb: {x: 2}\n",
	  "a@1:4{} a.x@1:8=1 b@2:4{} b.x@2:8=2 " },
	{ "end marker", "a: 1\n...\n", "a@1:4=1 " },
	{ "NUL in a value", "a: \"x\\0y\"\n", "a@1:4(odd) " },
	{ "NUL in a list", "a: [\"x\\0y\"]\n", "a@1:5(odd) " },
	{ "depth of eight", "{1: {2: {3: {4: {5: {6: {7: {8: {9: x}}}}}}}}}",
	  "1@1:5{} 1.2@1:9{} 1.2.3@1:13{} 1.2.3.4@1:17{} 1.2.3.4.5@1:21{} 1.2.3.4.5.6@1:25{} "
	  "1.2.3.4.5.6.7@1:29{} 1.2.3.4.5.6.7.8@1:33{} 1.2.3.4.5.6.7.8.9@1:37=x " },
};

static void walks(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	const char *keys = "";
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_yaml_parse(row->text, strlen(row->text), "f", note, &keys, &err), 0);
	assert_string_equal(keys, row->keys);
	assert_int_equal(err.code, 0);
}

static const struct {
	const char *name, *text;
	int result;
	const char *words;
} bad_rows[] = {
	{ "plain text", "hello\n", -EINVAL, "f:1:1: expected keys with values" },
	{ "list at the top", "- a\n", -EINVAL, "f:1:1: expected keys with values" },
	{ "tab", "a:\n\tb: 1\n", -EINVAL, "f:2:1: not YAML" },
	{ "bracket not closed", "a: [1\n", -EINVAL, "f:2:1: not YAML" },
	{ "quote not closed", "a: \"1\n", -EINVAL, "not YAML" },
	{ "unknown alias", "a: *x\n", -EINVAL, "f:1:4: not YAML" },
	{ "key is a list", "? [a]\n: 1\n", -EINVAL, "f:1:3: a key must be plain text" },
	{ "key is a mapping", "? {a: b}\n: 1\n", -EINVAL, "a key must be plain text" },
	{ "NUL in a key", "\"a\\0b\": 1\n", -EINVAL, "f:1:1: a key must be plain text" },
	{ "key twice", "a: 1\na: 2\n", -ENOKEY, "f:2:1: this key stands here twice" },
	{ "key twice, deeper", "a:\n  b: 1\n  b: 2\n", -ENOKEY,
	  "f:3:3: this key stands here twice" },
	{ "second document", "a: 1\n---\nb: 2\n", -EINVAL, "f:3:1: a second document" },
	{ "not UTF-8", "a: \xff\n", -EINVAL, "not YAML" },
	{ "control byte", "a: \001\n", -EINVAL, "not YAML" },
	{ "NUL byte", "a: \\x00\n", 0, "" },
	{ "nested too deep", "{1: {2: {3: {4: {5: {6: {7: {8: {9: {a: x}}}}}}}}}}", -EINVAL,
	  "f:1:37: nested too deep" },
	{ "alias of its own mapping", "a: &x\n  b: *x\n", -EINVAL, "nested too deep" },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	const char *keys = "";
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_yaml_parse(row->text, strlen(row->text), "f", note, &keys, &err),
			 row->result);
	unit_assert_contains(err.text, row->words);
}

static void key_is_limited(void **state)
{
	const char *keys = "";
	const char *text = unit_text("%s: 1\n", unit_repeat('k', 255));
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_yaml_parse(text, strlen(text), "f", note, &keys, &err), 0);
	text = unit_text("%s: 1\n", unit_repeat('k', 256));
	assert_int_equal(nfd_yaml_parse(text, strlen(text), "f", note, &keys, &err), -EINVAL);
	unit_assert_contains(err.text, "f:1:1: this key is too long");
}

static void list_is_limited(void **state)
{
	const char *keys = "";
	const char *text = "a: [0";

	(void)state;
	for (int i = 1; i < NFD_YAML_VALUES_MAX; i++)
		text = unit_text("%s, %d", text, i);
	assert_int_equal(nfd_yaml_parse(unit_text("%s]", text), strlen(text) + 1, "f", note, &keys,
					NULL),
			 0);
	unit_assert_contains(keys, unit_text(",%d] ", NFD_YAML_VALUES_MAX - 1));
	keys = "";
	text = unit_text("%s, %d]", text, NFD_YAML_VALUES_MAX);
	assert_int_equal(nfd_yaml_parse(text, strlen(text), "f", note, &keys, NULL), 0);
	unit_assert_contains(keys, "(odd) ");
}

/* Stops at the second key with the code in the cookie. */
static int stop(void *cookie, const struct nfd_yaml_item *item, struct nfd_error *err)
{
	if (strcmp(item->key, "b") != 0)
		return NFD_YAML_DONE;
	return nfd_error_set(err, *(int *)cookie, "%s: no", item->key);
}

static void visitor_stops_with_a_place(void **state)
{
	static const char text[] = "a: {x: y}\nb:   1\nc: 2\n";
	struct nfd_error err = { 0 };
	int code = -ERANGE;

	(void)state;
	assert_int_equal(nfd_yaml_parse(text, strlen(text), "f", stop, &code, &err), -ERANGE);
	assert_string_equal(err.text, "f:2:6: b: no");
	code = -ENOKEY;
	assert_int_equal(nfd_yaml_parse(text, strlen(text), "f", stop, &code, &err), -ENOKEY);
	assert_string_equal(err.text, "f:2:1: b: no");
}

/* The text has a length and no NUL behind it. */
static void reads_only_its_length(void **state)
{
	const char *keys = "";

	(void)state;
	assert_int_equal(nfd_yaml_parse("a: 1\nb: [", 5, "f", note, &keys, NULL), 0);
	assert_string_equal(keys, "a@1:4=1 ");
}

int main(void)
{
	struct unit_suite suite = { .name = "settings_yaml" };

	UNIT_ROWS(&suite, walks, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_CASE(&suite, key_is_limited);
	UNIT_CASE(&suite, list_is_limited);
	UNIT_CASE(&suite, visitor_stops_with_a_place);
	UNIT_CASE(&suite, reads_only_its_length);
	return unit_run(&suite);
}
