// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/toml: every kind of value of TOML 1.0 as JSON, what is no TOML, and the bounds. The rows follow
 * the examples of the specification (toml.io/en/v1.0.0); in the expected JSON ' stands for ".
 */
#include "config.h"

#include "doctor/toml.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

#define FILE_NAME "etc/file.toml"

static const struct {
	const char *name, *text, *json;
} good_rows[] = {
	{ "empty", "", "{}" },
	{ "blank lines", "\n\r\n \t\n", "{}" },
	{ "comments", "# one\n  # two\na = 1 # three\n#four", "{'a':1}" },
	{ "comment in a string", "a = \"# no\" # yes", "{'a':'# no'}" },
	{ "missing newline", "a = 1", "{'a':1}" },
	{ "carriage returns", "a = 1\r\nb = 2\r\n", "{'a':1,'b':2}" },
	{ "no blanks", "a=1\nb=2", "{'a':1,'b':2}" },
	{ "indented", "  a\t=\t1", "{'a':1}" },

	{ "bare keys", "key = 1\nbare_key = 2\nbare-key = 3\n1234 = 4",
	  "{'key':1,'bare_key':2,'bare-key':3,'1234':4}" },
	{ "quoted keys",
	  "\"127.0.0.1\" = 1\n\"character encoding\" = 2\n\"\xca\x8e\xc7\x9d\xca\x9e\" = 3",
	  "{'127.0.0.1':1,'character encoding':2,'\xca\x8e\xc7\x9d\xca\x9e':3}" },
	{ "literal keys", "'key2' = 1\n'quoted \"value\"' = 2",
	  "{'key2':1,'quoted \\'value\\'':2}" },
	{ "empty quoted key", "\"\" = 1", "{'':1}" },
	{ "empty literal key", "'' = 1", "{'':1}" },
	{ "dotted keys",
	  "name = 1\nphysical.color = 2\nphysical.shape = 3\nsite.\"google.com\" = 4",
	  "{'name':1,'physical':{'color':2,'shape':3},'site':{'google.com':4}}" },
	{ "blanks around dots", "fruit.name = 1\nfruit. color = 2\nfruit . flavor = 3",
	  "{'fruit':{'name':1,'color':2,'flavor':3}}" },
	{ "dotted keys out of order",
	  "apple.type = 1\norange.type = 2\napple.skin = 3\norange.skin = 4",
	  "{'apple':{'type':1,'skin':3},'orange':{'type':2,'skin':4}}" },
	{ "a dotted key of digits", "3.14159 = 1", "{'3':{'14159':1}}" },
	{ "keys differ by case", "a = 1\nA = 2", "{'a':1,'A':2}" },
	{ "a key named like a boolean", "true = false", "{'true':false}" },
	{ "16 parts", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1",
	  "{'a':{'b':{'c':{'d':{'e':{'f':{'g':{'h':{'i':{'j':{'k':{'l':{'m':{'n':{'o':{'p':1}}}}}}}}"
	  "}}}}}}}}" },

	{ "basic string", "a = \"I'm a string. Name\\tJos\\u00E9\\nLocation\\tSF.\"",
	  "{'a':'I\\u0027m a string. Name\\tJos\xc3\xa9\\nLocation\\tSF.'}" },
	{ "empty strings", "a = \"\"\nb = ''", "{'a':'','b':''}" },
	{ "every escape", "a = \"\\b\\t\\n\\f\\r\\\"\\\\\"", "{'a':'\\b\\t\\n\\f\\r\\'\\\\'}" },
	{ "codes of each length", "a = \"\\u0041\\u00e9\\u20AC\\U0001F600\"",
	  "{'a':'A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80'}" },
	{ "first and last codes", "a = \"\\u0001\\uD7FF\\uE000\\U0010FFFF\"",
	  "{'a':'\\u0001\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf'}" },
	{ "literal string", "a = 'C:\\Users\\nodejs'\nb = '<\\i\\c*\\s*>'",
	  "{'a':'C:\\\\Users\\\\nodejs','b':'<\\\\i\\\\c*\\\\s*>'}" },
	{ "multi-line", "a = \"\"\"\nRoses are red\nViolets are blue\"\"\"",
	  "{'a':'Roses are red\\nViolets are blue'}" },
	{ "multi-line, first line break CR LF", "a = \"\"\"\r\nRoses\"\"\"", "{'a':'Roses'}" },
	{ "multi-line, first line not empty", "a = \"\"\"Roses\n\"\"\"", "{'a':'Roses\\n'}" },
	{ "multi-line on one line", "a = \"\"\"one\"\"\"", "{'a':'one'}" },
	{ "multi-line, empty", "a = \"\"\"\"\"\"\nb = ''''''", "{'a':'','b':''}" },
	{ "line ending backslash",
	  "a = \"\"\"\nThe quick brown \\\n\n\n  fox jumps over \\\n    the lazy dog.\"\"\"",
	  "{'a':'The quick brown fox jumps over the lazy dog.'}" },
	{ "line ending backslash at both ends", "a = \"\"\"\\\n   The fox.\\\n   \"\"\"",
	  "{'a':'The fox.'}" },
	{ "blanks behind a line ending backslash", "a = \"\"\"one \\ \t \n two\"\"\"",
	  "{'a':'one two'}" },
	{ "two quotes inside", "a = \"\"\"Here are two quotation marks: \"\". Enough.\"\"\"",
	  "{'a':'Here are two quotation marks: \\'\\'. Enough.'}" },
	{ "one quote at the end", "a = \"\"\"\"This,\" she said, \"is pointless.\"\"\"\"",
	  "{'a':'\\'This,\\' she said, \\'is pointless.\\''}" },
	{ "two quotes at the end", "a = \"\"\"x\"\"\"\"\"", "{'a':'x\\'\\''}" },
	{ "escaped quotes inside", "a = \"\"\"x\\\"\"\"\\\"\"\"\"", "{'a':'x\\'\\'\\'\\''}" },
	{ "multi-line literal", "a = '''\nThe first newline is\ntrimmed in \\raw strings.\n'''",
	  "{'a':'The first newline is\\ntrimmed in \\\\raw strings.\\n'}" },
	{ "literal with quotes", "a = '''I [dw]on't need \\d{2} ''apples'''''",
	  "{'a':'I [dw]on\\u0027t need \\\\d{2} \\u0027\\u0027apples\\u0027\\u0027'}" },

	{ "integers", "a = +99\nb = 42\nc = 0\nd = -17\ne = 1_000\nf = 5_349_221",
	  "{'a':99,'b':42,'c':0,'d':-17,'e':1000,'f':5349221}" },
	{ "signed zeros", "a = -0\nb = +0", "{'a':0,'b':0}" },
	{ "hexadecimal", "a = 0xDEADBEEF\nb = 0xdeadbeef\nc = 0xdead_beef",
	  "{'a':3735928559,'b':3735928559,'c':3735928559}" },
	{ "octal", "a = 0o01234567\nb = 0o755", "{'a':342391,'b':493}" },
	{ "binary", "a = 0b11010110", "{'a':214}" },
	{ "largest integers", "a = 9223372036854775807\nb = -9223372036854775808",
	  "{'a':9223372036854775807,'b':-9223372036854775808}" },
	{ "floats", "a = +1.0\nb = 3.1415\nc = -0.01\nd = 224_617.445_991_228",
	  "{'a':1,'b':3.1415,'c':-0.01,'d':224617.445991228}" },
	{ "exponents", "a = 5e+22\nb = 1e06\nc = -2E-2\nd = 6.626e-34",
	  "{'a':5e+22,'b':1000000,'c':-0.02,'d':6.626e-34}" },
	{ "booleans", "a = true\nb = false", "{'a':true,'b':false}" },
	{ "offset date and time",
	  "a = 1979-05-27T07:32:00Z\nb = 1979-05-27T00:32:00.999999-07:00\nc = 1979-05-27 07:32:00Z",
	  "{'a':'1979-05-27T07:32:00Z','b':'1979-05-27T00:32:00.999999-07:00',"
	  "'c':'1979-05-27 07:32:00Z'}" },
	{ "local date and time", "a = 1979-05-27T07:32:00\nb = 1979-05-27\nc = 07:32:00.999999",
	  "{'a':'1979-05-27T07:32:00','b':'1979-05-27','c':'07:32:00.999999'}" },

	{ "arrays", "a = [ 1, 2, 3 ]\nb = [ \"red\", 'green' ]\nc = [ [ 1, 2 ], [3.5] ]\nd = []",
	  "{'a':[1,2,3],'b':['red','green'],'c':[[1,2],[3.5]],'d':[]}" },
	{ "array of mixed kinds", "a = [ 0.5, true, \"x\", 1979-05-27, { k = 1 } ]",
	  "{'a':[0.5,true,'x','1979-05-27',{'k':1}]}" },
	{ "array on several lines", "a = [\n 1, # one\n 2\n , # two\n\n 3,\n]\nb = 1",
	  "{'a':[1,2,3],'b':1}" },
	{ "brackets in strings", "a = [ \"]\", '}', \",\" ]", "{'a':[']','}',',']}" },
	{ "tables", "[table-1]\nkey1 = \"x\"\nkey2 = 123\n\n[table-2]\nkey1 = \"y\"",
	  "{'table-1':{'key1':'x','key2':123},'table-2':{'key1':'y'}}" },
	{ "quoted table", "[dog.\"tater.man\"]\ntype.name = \"pug\"",
	  "{'dog':{'tater.man':{'type':{'name':'pug'}}}}" },
	{ "blanks in headers", "[ d.e.f ]\n[ g . h . i ] # x\n[ j . \"k\" . 'l' ]",
	  "{'d':{'e':{'f':{}}},'g':{'h':{'i':{}}},'j':{'k':{'l':{}}}}" },
	{ "super table afterwards", "[x.y.z.w]\n[x]\na = 1", "{'x':{'y':{'z':{'w':{}}},'a':1}}" },
	{ "tables out of order", "[fruit.apple]\n[animal]\n[fruit.orange]",
	  "{'fruit':{'apple':{},'orange':{}},'animal':{}}" },
	{ "sub table of dotted keys",
	  "[fruit]\napple.color = 1\n[fruit.apple.texture]\nsmooth = true",
	  "{'fruit':{'apple':{'color':1,'texture':{'smooth':true}}}}" },
	{ "inline tables",
	  "name = { first = \"Tom\", last = \"P\" }\nempty = {}\nanimal = { type.name = 1 }",
	  "{'name':{'first':'Tom','last':'P'},'empty':{},'animal':{'type':{'name':1}}}" },
	{ "array of inline tables", "points = [ { x = 1, y = 2 },\n { x = 7 } ]",
	  "{'points':[{'x':1,'y':2},{'x':7}]}" },
	{ "array of tables",
	  "[[products]]\nname = \"Hammer\"\n\n[[products]]  # empty\n\n[[products]]\nname = \"Nail\"",
	  "{'products':[{'name':'Hammer'},{},{'name':'Nail'}]}" },
	{ "tables below arrays of tables",
	  "[[fruits]]\nname = \"apple\"\n[fruits.physical]\ncolor = \"red\"\n[[fruits.varieties]]\n"
	  "name = \"red\"\n[[fruits.varieties]]\nname = \"granny\"\n[[fruits]]\nname = \"banana\"\n"
	  "[[fruits.varieties]]\nname = \"plantain\"",
	  "{'fruits':[{'name':'apple','physical':{'color':'red'},'varieties':[{'name':'red'},"
	  "{'name':'granny'}]},{'name':'banana','varieties':[{'name':'plantain'}]}]}" },

	{ "containerd, version 2",
	  "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"
	  "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n"
	  "  runtime_type = \"io.containerd.runc.v2\"\n"
	  "  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n"
	  "    BinaryName = \"/usr/bin/nvidia-container-runtime\"\n",
	  "{'version':2,'imports':['/etc/containerd/conf.d/*.toml'],'plugins':{"
	  "'io.containerd.grpc.v1.cri':{'containerd':{'runtimes':{'nvidia':{"
	  "'runtime_type':'io.containerd.runc.v2',"
	  "'options':{'BinaryName':'/usr/bin/nvidia-container-runtime'}}}}}}}" },
	{ "dnf 5",
	  "version = \"1.0\"\n[[packages]]\nname = \"nvidia-driver\"\n[[packages.conditions]]\n"
	  "key = \"evr\"\ncomparator = \"=\"\nvalue = \"3:580.126.09-1.fc42\"\n",
	  "{'version':'1.0','packages':[{'name':'nvidia-driver','conditions':[{'key':'evr',"
	  "'comparator':'=','value':'3:580.126.09-1.fc42'}]}]}" },
};

/* Compared as trees: numbers are printed in more than one way. */
static void check_json(const cJSON *tree, const char *json)
{
	char *printed = cJSON_PrintUnformatted(tree);
	const char *text = unit_text("%s", printed);

	cJSON_free(printed);
	if (cJSON_Compare(tree, json_new(json), true))
		return;
	print_error("%s\nis not\n%s\n", text, json);
	fail();
}

static void reads(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;
	int r = nfd_toml_parse(row->text, FILE_NAME, &tree, &err);

	json_keep(tree);
	assert_string_equal(err.text, "");
	assert_int_equal(r, 0);
	check_json(tree, row->json);
}

static const struct {
	const char *name, *text;
	int line;
	const char *words; /* of the message; NULL for any */
} bad_rows[] = {
	{ "key without value", "key = # INVALID", 1, NULL },
	{ "key without equals", "a = 1\nkey\n", 2, "'='" },
	{ "value on the next line", "key =\n1", 1, NULL },
	{ "equals on the next line", "key\n= 1", 1, NULL },
	{ "no key", "= \"no key name\"", 1, NULL },
	{ "two pairs on a line", "first = \"Tom\" last = \"Preston-Werner\"", 1, NULL },
	{ "garbage behind a string", "a = \"x\" y", 1, NULL },
	{ "garbage behind a number", "a = 1 2", 1, NULL },
	{ "letters behind a number", "a = 12x", 1, NULL },
	{ "garbage behind a boolean", "a = true false", 1, NULL },
	{ "garbage behind a date", "a = 1979-05-27 x", 1, NULL },
	{ "garbage behind an array", "a = [1] x", 1, NULL },
	{ "garbage behind an inline table", "a = {} x", 1, NULL },
	{ "garbage behind a header", "[a] b = 1", 1, NULL },
	{ "bare word", "a = hello", 1, NULL },
	{ "boolean in capitals", "a = True", 1, NULL },
	{ "sign alone", "a = +", 1, NULL },
	{ "dot alone", "a = .", 1, NULL },
	{ "dot at the end", "a = 7.", 1, NULL },
	{ "dot at the start", "a = .7", 1, NULL },
	{ "dot before an exponent", "a = 3.e+20", 1, NULL },
	{ "leading zero", "a = 01", 1, NULL },
	{ "double underscore", "a = 1__0", 1, NULL },
	{ "underscore at the end", "a = 10_", 1, NULL },
	{ "hexadecimal without digits", "a = 0x", 1, NULL },
	{ "sign before hexadecimal", "a = -0x1F", 1, NULL },
	{ "hexadecimal float", "a = 0x1.8p3", 1, NULL },
	{ "digit that is not octal", "a = 0o8", 1, NULL },
	{ "infinity in words", "a = infinity", 1, NULL },
	{ "two dots", "a = 1.2.3", 1, NULL },
	{ "value of 64 bytes that is no string",
	  "a = 0.00000000000000000000000000000000000000000000000000000000000000", 1, NULL },

	{ "key twice", "name = \"Tom\"\nname = \"Pradyun\"", 2, "twice" },
	{ "key twice, once quoted", "spelling = 1\n\"spelling\" = 2", 2, "twice" },
	{ "dotted key twice", "a.b = 1\na.b = 2", 2, "twice" },
	{ "value used as table", "fruit.apple = 1\nfruit.apple.smooth = true", 2, NULL },
	{ "table over a value", "[fruit]\napple = \"red\"\n[fruit.apple]\ntexture = 1", 3, NULL },
	{ "table twice", "[fruit]\napple = 1\n\n[fruit]\norange = 2", 4, NULL },
	{ "table over dotted keys", "[fruit]\napple.color = 1\n[fruit.apple]", 3, NULL },
	{ "pair twice in a table", "[a]\nb = 1\nb = 2", 3, "twice" },
	{ "key twice in an inline table", "a = { b = 1, b = 2 }", 1, "twice" },
	{ "inline table extended by a header", "type = { name = 1 }\n[type.edible]", 2, NULL },
	{ "inline table extended by a key", "type = { name = 1 }\ntype.edible = false", 2, NULL },
	{ "inline table over a table", "[product]\ntype.name = 1\ntype = { edible = false }", 3,
	  "twice" },
	{ "array of tables over an array", "fruits = []\n[[fruits]]", 2, NULL },
	{ "table over an array of tables", "[[fruits]]\nname = 1\n[fruits]", 3, NULL },
	{ "array of tables over a table", "[a]\n[[a]]", 2, NULL },
	{ "array of tables after its sub table", "[fruit.physical]\n[[fruit]]", 2, NULL },
	{ "array of values used as table", "a = [1]\n[a.b]", 2, NULL },
	{ "empty array used as table", "a = []\n[a.b]", 2, NULL },

	{ "string not closed", "a = \"x\nb = 1", 1, "not closed" },
	{ "literal not closed", "a = 'x\n", 1, "not closed" },
	{ "string not closed at the end", "a = \"", 1, "not closed" },
	{ "escape at the end", "a = \"\\", 1, NULL },
	{ "multi-line not closed", "a = \"\"\"x\ny\"\"\n", 3, "not closed" },
	{ "multi-line literal not closed", "a = '''x''", 1, "not closed" },
	{ "three quotes inside", "a = \"\"\"Here are three: \"\"\".\"\"\"", 1, NULL },
	{ "six quotes at the end", "a = \"\"\"x\"\"\"\"\"\"", 1, NULL },
	{ "multi-line key", "\"\"\"a\"\"\" = 1", 1, NULL },
	{ "unknown escape", "a = \"\\q\"", 1, "escape" },
	{ "backslash before a blank", "a = \"x\\ y\"", 1, "escape" },
	{ "backslash before text", "a = \"\"\"x \\ y\"\"\"", 1, "escape" },
	{ "code too short", "a = \"\\u00E\"", 1, NULL },
	{ "code too short at the end", "a = \"\\U0001F60", 1, NULL },
	{ "surrogate", "a = \"\\uD800\"", 1, NULL },
	{ "last surrogate", "a = \"\\uDFFF\"", 1, NULL },
	{ "code too large", "a = \"\\U00110000\"", 1, NULL },
	{ "control byte in a string", "a = \"x\001y\"", 1, NULL },
	{ "DEL in a string", "a = \"x\177y\"", 1, NULL },
	{ "carriage return in a string", "a = \"x\ry\"", 1, NULL },
	{ "string is not UTF-8", "a = \"x\xffy\"", 1, NULL },
	{ "overlong UTF-8", "a = \"\xc0\xaf\"", 1, NULL },
	{ "carriage return ends no line", "a = 1\rb = 2", 1, NULL },
	{ "control byte in a comment", "# x\001y\na = 1", 1, NULL },

	{ "array not closed", "a = [1, 2", 1, "not closed" },
	{ "array without commas", "a = [1 2]", 1, NULL },
	{ "strings in an array without commas", "a = [\"x\" \"y\"]", 1, NULL },
	{ "two commas", "a = [1,,2]", 1, NULL },
	{ "comma alone", "a = [,]", 1, NULL },
	{ "inline table not closed", "a = { b = 1", 1, NULL },
	{ "inline table without commas", "a = { b = 1 c = 2 }", 1, NULL },
	{ "inline table without pairs", "a = { b }", 1, NULL },
	{ "comma alone in an inline table", "a = { , }", 1, NULL },
	{ "header not closed", "[a", 1, NULL },
	{ "header closed on the next line", "[a\n]", 1, NULL },
	{ "empty header", "[]", 1, NULL },
	{ "empty array header", "[[]]", 1, NULL },
	{ "array header half closed", "[[a]", 1, NULL },
	{ "array header with a blank", "[[a] ]", 1, NULL },
	{ "header closed twice", "[a]]", 1, NULL },
	{ "dot at the end of a header", "[a.]", 1, NULL },
	{ "dot at the start of a key", ".a = 1", 1, NULL },
	{ "two dots in a key", "a..b = 1", 1, NULL },
	{ "letters outside ASCII in a bare key", "\xc3\xa9 = 1", 1, NULL },
	{ "JSON", "{\"a\": 1}", 1, NULL },
	{ "YAML", "a: 1\n", 1, NULL },
	{ "hostile bytes", "\xff\xfe\001\033[2J", 1, NULL },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	struct nfd_error err = { 0 };
	cJSON *tree = NULL;
	int r = nfd_toml_parse(row->text, FILE_NAME, &tree, &err);

	json_keep(tree);
	if (r == 0)
		print_error("taken as %s\n", json_text(tree));
	assert_int_equal(r, -EINVAL);
	assert_null(tree);
	assert_int_equal(err.code, -EINVAL);
	unit_assert_contains(err.text, unit_text(FILE_NAME ":%d: ", row->line));
	if (row->words)
		unit_assert_contains(err.text, row->words);
}

static int parse(const char *text)
{
	cJSON *tree = NULL;
	int r = nfd_toml_parse(text, FILE_NAME, &tree, NULL);

	assert_int_equal(tree != NULL, r == 0);
	cJSON_Delete(tree);
	return r;
}

/* @open as often as @depth, a value, @close as often. */
static const char *nested(const char *open, const char *close, int depth)
{
	struct nfd_strbuf buf = { 0 };
	const char *text;

	nfd_strbuf_puts(&buf, "a = ");
	for (int i = 0; i < depth; i++)
		nfd_strbuf_puts(&buf, open);
	nfd_strbuf_puts(&buf, "1");
	for (int i = 0; i < depth; i++)
		nfd_strbuf_puts(&buf, close);
	text = unit_text("%s", nfd_strbuf_text(&buf));
	nfd_strbuf_done(&buf);
	return text;
}

static void depth_is_bounded(void **state)
{
	(void)state;
	/* The value in the middle is a level too. */
	assert_int_equal(parse(nested("[", "]", 31)), 0);
	assert_int_equal(parse(nested("[", "]", 32)), -E2BIG);
	assert_int_equal(parse(nested("{a=", "}", 31)), 0);
	assert_int_equal(parse(nested("{a=", "}", 32)), -E2BIG);
	assert_int_equal(parse(nested("[", "", 100000)), -E2BIG);
	assert_int_equal(parse(nested("{a=", "", 100000)), -E2BIG);
	assert_int_equal(parse(nested("{a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p=", "}", 31)), 0);
}

static const char *repeated(const char *head, const char *part, int count, const char *tail)
{
	struct nfd_strbuf buf = { 0 };
	const char *text;

	nfd_strbuf_puts(&buf, head);
	for (int i = 0; i < count; i++)
		nfd_strbuf_puts(&buf, part);
	nfd_strbuf_puts(&buf, tail);
	text = unit_text("%s", nfd_strbuf_text(&buf));
	nfd_strbuf_done(&buf);
	return text;
}

static void number_is_bounded(void **state)
{
	(void)state;
	/* A line and its array count as well. */
	assert_int_equal(parse(repeated("a = [", "1,", 19998, "]")), 0);
	assert_int_equal(parse(repeated("a = [", "1,", 20000, "]")), -E2BIG);
	assert_int_equal(parse(repeated("", "[[a]]\n", 20000, "")), 0);
	assert_int_equal(parse(repeated("", "[[a]]\n", 20001, "")), -E2BIG);
	assert_int_equal(parse(repeated("a = \"", "x", 1000000, "\"")), 0);
}

static void many_keys(void **state)
{
	struct nfd_strbuf buf = { 0 };

	(void)state;
	for (int i = 0; i < 9999; i++)
		nfd_strbuf_printf(&buf, "k%d = %d\n", i, i);
	assert_int_equal(parse(nfd_strbuf_text(&buf)), 0);
	nfd_strbuf_puts(&buf, "k0 = 1\n");
	assert_int_equal(parse(nfd_strbuf_text(&buf)), -EINVAL);
	nfd_strbuf_done(&buf);
}

static void parts_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(parse("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q = 1"), -E2BIG);
	assert_int_equal(parse("[a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q]"), -E2BIG);
	assert_int_equal(parse(repeated("", "a.", 100000, "a = 1")), -E2BIG);
}

/* Every start of a document ends in an answer, and behind its NUL nothing is read. */
static void every_start(void **state)
{
	static const char text[] = "a.'b' = [1, {c = \"x\\u00e9\"}, '''y'''] # z\r\n[[d.\"e\"]]\n"
				   "f = \"\"\"g\\\n  h\"\"\"\ni = 1979-05-27T07:32:00Z\n";

	(void)state;
	for (size_t len = 0; len <= strlen(text); len++) {
		char *exact = strndup(text, len);
		int r;

		assert_non_null(exact);
		r = parse(exact);
		free(exact);
		assert_true(r == 0 || r == -EINVAL);
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "toml" };

	UNIT_ROWS(&suite, reads, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_CASE(&suite, depth_is_bounded);
	UNIT_CASE(&suite, number_is_bounded);
	UNIT_CASE(&suite, many_keys);
	UNIT_CASE(&suite, parts_are_bounded);
	UNIT_CASE(&suite, every_start);
	return unit_run(&suite);
}
