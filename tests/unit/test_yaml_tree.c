// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/yaml_tree: what becomes of each kind of node, bounds, and places in errors.
 */
#include "config.h"

#include "base/yaml_tree.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

static const struct {
	const char *name, *text, *tree;
} good_rows[] = {
	{ "empty", "", "null" },
	{ "comment", "# nothing\n", "null" },
	{ "end marker", "---\n...\n", "null" },
	{ "text", "hello", "'hello'" },
	{ "no final newline", "a: 1", "{'a':'1'}" },
	{ "null words", "a: ~\nb: null\nc:\nd: \"null\"\ne: '~'\n",
	  "{'a':null,'b':null,'c':null,'d':'null','e':'~'}" },
	{ "bools", "[true, false, \"true\"]", "[true,false,'true']" },
	{ "bools in capitals, and words that are none here", "[True, yes, on, no]",
	  "[true,'yes','on','no']" },
	{ "numbers stay text", "[1, 1.5, 0x10, 1e999, -0]", "['1','1.5','0x10','1e999','-0']" },
	{ "nested", "a:\n  b:\n  - c: d\n  - e\n", "{'a':{'b':[{'c':'d'},'e']}}" },
	{ "empty ones", "a: {}\nb: []\nc: \"\"\n", "{'a':{},'b':[],'c':''}" },
	{ "block text", "a: |\n  one\n  two\nb: >\n  one\n  two\n",
	  "{'a':'one\\ntwo\\n','b':'one two\\n'}" },
	{ "tag is passed over", "a: !!str true\nb: !x {c: d}\n", "{'a':true,'b':{'c':'d'}}" },
	{ "JSON", "{\"a\": {\"b\": [1, true, null, \"x\\ty\"]}}",
	  "{'a':{'b':['1',true,null,'x\\ty']}}" },
	{ "CRLF", "a: 1\r\nb: 2\r\n", "{'a':'1','b':'2'}" },
	{ "byte order mark",
	  "\xef\xbb\xbf"
	  "a: 1\n",
	  "{'a':'1'}" },
	{ "anchor and alias", "a: &x {b: c}\nd: *x\n", "{'a':{'b':'c'},'d':{'b':'c'}}" },
	{ "alias of a text", "[&x y, *x, *x]", "['y','y','y']" },
	{ "number as key", "1: a\ntrue: b\n", "{'1':'a','true':'b'}" },
	{ "key twice", "a: 1\na: 2\n", "{'a':'1','a':'2'}" },
	{ "first document only", "a: 1\n---\nb: 2\n", "{'a':'1'}" },
	{ "NUL in a value ends it", "a: \"x\\0y\"\n", "{'a':'x'}" },
	{ "UTF-8", "a: \xc3\xa4\n", "{'a':'\xc3\xa4'}" },
};

static void reads(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;
	int r = nfd_yaml_tree_parse(row->text, strlen(row->text), "f", &tree, &err);

	if (row->tree) {
		assert_int_equal(r, 0);
		assert_string_equal(json_text(json_keep(tree)), row->tree);
		assert_int_equal(err.code, 0);
	} else {
		assert_int_equal(r, -EINVAL);
	}
}

static const struct {
	const char *name, *text;
	const char *words;
} bad_rows[] = {
	{ "tab", "a:\n\tb: 1\n", "f:2:1: not YAML: " },
	{ "bracket not closed", "a: [1\n", "f:2:1: not YAML: " },
	{ "quote not closed", "a: \"1\n", "f:2:1: not YAML: " },
	{ "unknown alias", "a: *x\n", "a key must be plain text" },
	{ "alias of what it is in", "a: &x [*x]\n", "a key must be plain text" },
	{ "alias as key", "a: &x k\n*x : v\n", "a key must be plain text" },
	{ "list as key", "? [a]\n: 1\n", "a key must be plain text" },
	{ "mapping as key", "? {a: b}\n: 1\n", "a key must be plain text" },
	{ "colon in a value", "a: b: c\n", "f:1:5: not YAML: " },
	{ "wrong indent", "a:\n    b: 1\n  c: 2\n", "f:3:3: not YAML: " },
	{ "not UTF-8", "a: \xff\n", "not YAML: " },
	{ "cut UTF-8", "a: \xc3", "not YAML: " },
	{ "control byte", "a: \001\n", "not YAML: " },
	{ "unknown directive version", "%YAML 9.9\n---\na: 1\n", "f:1:1: not YAML: " },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;

	assert_int_equal(nfd_yaml_tree_parse(row->text, strlen(row->text), "f", &tree, &err),
			 -EINVAL);
	assert_null(tree);
	assert_int_equal(err.code, -EINVAL);
	assert_true(strncmp(err.text, "f:", 2) == 0);
	unit_assert_contains(err.text, row->words);
}

static int parse(const char *text, cJSON **ret, struct nfd_error *err)
{
	int r;

	*ret = NULL;
	r = nfd_yaml_tree_parse(text, strlen(text), "f", ret, err);
	json_keep(*ret);
	return r;
}

static void aliases_are_bounded(void **state)
{
	const char *text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
	struct nfd_error err = { 0 };
	cJSON *tree;

	(void)state;
	for (int i = 1; i < 10; i++)
		text = unit_text("%sa%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
				 text, i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1,
				 i - 1);
	assert_int_equal(parse(text, &tree, &err), -E2BIG);
	assert_null(tree);
	unit_assert_contains(err.text, ": too large or nested too deep");
}

/* Two copies of 15,000 nodes are too many, also when nothing comes behind them. */
static void the_last_alias_counts(void **state)
{
	const char *list = unit_repeat(',', 2 * 15000);
	cJSON *tree;

	(void)state;
	for (char *c = (char *)list; *c; c += 2)
		*c = 'x';
	assert_int_equal(parse(unit_text("[&a [%s], *a]", list), &tree, NULL), -E2BIG);
	assert_null(tree);
}

/* Members of a list have no names, whatever they are called where the anchor stands. */
static void an_alias_in_a_list_has_no_name(void **state)
{
	cJSON *tree;

	(void)state;
	assert_int_equal(parse("a: &x [1]\nb: [*x]\n", &tree, NULL), 0);
	assert_string_equal(json_text(tree), "{'a':['1'],'b':[['1']]}");
	assert_null(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "b"), 0)->string);
}

/* An alias deep inside brings its own depth along. */
static void depth_of_an_alias_counts(void **state)
{
	const char *open = unit_repeat('[', 20), *close = unit_repeat(']', 20);
	cJSON *tree;

	(void)state;
	assert_int_equal(parse(unit_text("a: &a %s%s\nb: %s*a%s\n", open, close, open, close),
			       &tree, NULL),
			 -E2BIG);
	assert_null(tree);
}

static void depth_is_bounded(void **state)
{
	cJSON *tree;

	(void)state;
	assert_int_equal(parse(unit_text("%s%s", unit_repeat('[', 32), unit_repeat(']', 32)), &tree,
			       NULL),
			 0);
	assert_int_equal(parse(unit_text("%s1%s", unit_repeat('[', 32), unit_repeat(']', 32)),
			       &tree, NULL),
			 0);
	assert_int_equal(parse(unit_text("%s%s", unit_repeat('[', 33), unit_repeat(']', 33)), &tree,
			       NULL),
			 -E2BIG);
	assert_null(tree);
	/* Soon: the library would take the square of the depth. */
	assert_true(parse(unit_text("%s%s", unit_repeat('[', 100000), unit_repeat(']', 100000)),
			  &tree, NULL) < 0);
	assert_true(parse(unit_repeat('[', 100000), &tree, NULL) < 0);
	assert_true(parse(unit_repeat('{', 100000), &tree, NULL) < 0);
}

/* 20,000 nodes: the list and 19,999 items. */
static void size_is_bounded(void **state)
{
	char *text = unit_repeat(',', 2 * 20001 + 2);
	cJSON *tree;

	(void)state;
	text[0] = '[';
	for (size_t i = 0; i < 20000; i++)
		text[1 + 2 * i] = 'x';
	text[1 + 2 * 19999] = ']';
	text[2 + 2 * 19999] = '\0';
	assert_int_equal(parse(text, &tree, NULL), 0);
	assert_int_equal(cJSON_GetArraySize(tree), 19999);
	text[1 + 2 * 19999] = 'x';
	text[2 + 2 * 19999] = ']';
	text[3 + 2 * 19999] = '\0';
	assert_int_equal(parse(text, &tree, NULL), -E2BIG);
}

/* The text has a length and no NUL behind it. */
static void reads_only_its_length(void **state)
{
	cJSON *tree = NULL;

	(void)state;
	assert_int_equal(nfd_yaml_tree_parse("a: 1\nb: [", 5, "f", &tree, NULL), 0);
	assert_string_equal(json_text(json_keep(tree)), "{'a':'1'}");
	assert_int_equal(nfd_yaml_tree_parse("a: 1\n\0b: 2", 10, "f", &tree, NULL), -EINVAL);
}

int main(void)
{
	struct unit_suite suite = { .name = "yaml_tree" };

	UNIT_ROWS(&suite, reads, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_CASE(&suite, aliases_are_bounded);
	UNIT_CASE(&suite, the_last_alias_counts);
	UNIT_CASE(&suite, an_alias_in_a_list_has_no_name);
	UNIT_CASE(&suite, depth_of_an_alias_counts);
	UNIT_CASE(&suite, depth_is_bounded);
	UNIT_CASE(&suite, size_is_bounded);
	UNIT_CASE(&suite, reads_only_its_length);
	return unit_run(&suite);
}
