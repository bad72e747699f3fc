// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recursive descent over the text. Where TOML allows more than it means to us (exact integers, dates)
 * the text is kept or a double taken. How a table came to be decides what may still be added to it;
 * that is noted in cJSON's valueint, which objects and arrays do not use.
 */
#include "config.h"

#include "doctor/toml.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "doctor/toml_word.h"

#define VALUES_MAX 20000
#define DEPTH_MAX 32
#define KEY_PARTS_MAX 16

enum origin {
	ORIGIN_PATH,   /* a table named on the way to another; a plain array */
	ORIGIN_HEADER, /* [a] */
	ORIGIN_DOTTED, /* a.b = 1 */
	ORIGIN_INLINE, /* a = {} */
	ORIGIN_ARRAY,  /* [[a]] */
};

struct parser {
	const char *at;
	const char *start; /* for the line of an error */
	int depth;
	size_t values;
	const char *wrong; /* what is wrong; NULL as long as nothing is */
	int error;
};

/* A dotted key, taken apart. */
struct key {
	char *part[KEY_PARTS_MAX]; /* owned */
	size_t count;
};

static bool fail(struct parser *parser, int error, const char *wrong)
{
	if (!parser->error) {
		parser->error = error;
		parser->wrong = wrong;
	}
	return false;
}

static bool no_memory(struct parser *parser)
{
	return fail(parser, -ENOMEM, "out of memory");
}

static void free_key(struct key *key)
{
	for (size_t i = 0; i < key->count; i++)
		free(key->part[i]);
	key->count = 0;
}

/* The whole text is UTF-8 without control bytes; a carriage return only ends a line. */
static bool check_bytes(struct parser *parser)
{
	while (*parser->at) {
		unsigned char c = (unsigned char)*parser->at;
		size_t len = nfd_utf8_length(parser->at);

		if (len == 0)
			return fail(parser, -EINVAL, "it is no UTF-8");
		if (c == 0x7f ||
		    (c < ' ' && c != '\t' && c != '\n' && !(c == '\r' && parser->at[1] == '\n')))
			return fail(parser, -EINVAL, "a control byte");
		parser->at += len;
	}
	parser->at = parser->start;
	return true;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t");
}

static void skip_comment(struct parser *parser)
{
	skip_blanks(parser);
	if (*parser->at == '#')
		parser->at += strcspn(parser->at, "\n");
}

/* White space, line ends and comments. */
static void skip_all(struct parser *parser)
{
	for (;;) {
		parser->at += strspn(parser->at, " \t\r\n");
		if (*parser->at != '#')
			return;
		skip_comment(parser);
	}
}

/* \uXXXX or \UXXXXXXXX, behind the letter. */
static bool take_code(struct parser *parser, size_t digits, struct nfd_strbuf *buf)
{
	char text[9] = "";
	unsigned long code;

	for (size_t i = 0; i < digits; i++) {
		if (!isxdigit((unsigned char)parser->at[i]))
			return fail(parser, -EINVAL, "bad \\u escape");
		text[i] = parser->at[i];
	}
	parser->at += digits;
	code = strtoul(text, NULL, 16);
	if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return fail(parser, -EINVAL, "no such character");
	nfd_strbuf_put_utf8(buf, code);
	return true;
}

/* Behind a backslash in a basic string. */
static bool take_escape(struct parser *parser, bool multiline, struct nfd_strbuf *buf)
{
	static const char letters[] = "btnfre\"\\";
	static const char meanings[] = "\b\t\n\f\r\033\"\\";
	const char *letter;

	if (multiline && strchr("\r\n", parser->at[strspn(parser->at, " \t")])) {
		/* A line that goes on: white space up to the next text is not meant. */
		parser->at += strspn(parser->at, " \t\r\n");
		return true;
	}
	letter = *parser->at ? strchr(letters, *parser->at) : NULL;
	if (letter) {
		parser->at++;
		nfd_strbuf_add(buf, &meanings[letter - letters], 1);
		return true;
	}
	if (*parser->at == 'u' || *parser->at == 'U') {
		size_t digits = *parser->at++ == 'u' ? 4 : 8;

		return take_code(parser, digits, buf);
	}
	return fail(parser, -EINVAL, "bad escape in a string");
}

/* A string of any of the four kinds; owner: caller; NULL after a failure. */
static char *take_string(struct parser *parser)
{
	char quote = *parser->at;
	bool multiline = parser->at[1] == quote && parser->at[2] == quote;
	size_t width = multiline ? 3 : 1;
	char closing[4] = { quote, quote, quote, '\0' };
	struct nfd_strbuf buf = { 0 };

	closing[width] = '\0';
	parser->at += width;
	if (multiline)
		parser->at += parser->at[0] == '\n'               ? 1 :
			      strncmp(parser->at, "\r\n", 2) == 0 ? 2 :
								    0;
	while (strncmp(parser->at, closing, width) != 0) {
		if (!*parser->at || (!multiline && *parser->at == '\n')) {
			fail(parser, -EINVAL, "a string is not closed");
			break;
		}
		if (quote == '"' && *parser->at == '\\') {
			parser->at++;
			if (!take_escape(parser, multiline, &buf))
				break;
			continue;
		}
		nfd_strbuf_add(&buf, parser->at++, 1);
	}
	/* Up to two quotes may stand right before the closing ones. */
	for (int i = 0; i < 2 && multiline && !parser->error && parser->at[3] == quote; i++)
		nfd_strbuf_add(&buf, parser->at++, 1);
	if (!parser->error)
		parser->at += width;
	nfd_strbuf_puts(&buf, "");
	if (!parser->error && (buf.error || !buf.data))
		no_memory(parser);
	if (parser->error) {
		nfd_strbuf_done(&buf);
		return NULL;
	}
	return buf.data;
}

static char *take_bare_key(struct parser *parser)
{
	size_t len = 0;
	char *text;

	while (isalnum((unsigned char)parser->at[len]) || parser->at[len] == '_' ||
	       parser->at[len] == '-')
		len++;
	if (len == 0) {
		fail(parser, -EINVAL, "a key is expected");
		return NULL;
	}
	text = strndup(parser->at, len);
	if (!text)
		no_memory(parser);
	parser->at += len;
	return text;
}

/* a.'b'."c" */
static bool take_key(struct parser *parser, struct key *key)
{
	key->count = 0;
	do {
		char *part;

		if (key->count == KEY_PARTS_MAX)
			return fail(parser, -E2BIG, "a key has too many parts");
		parser->at += key->count > 0;
		skip_blanks(parser);
		if (strncmp(parser->at, "\"\"\"", 3) == 0 || strncmp(parser->at, "'''", 3) == 0)
			return fail(parser, -EINVAL, "a key is one line");
		part = *parser->at == '"' || *parser->at == '\'' ? take_string(parser) :
								   take_bare_key(parser);
		if (!part)
			return false;
		key->part[key->count++] = part;
		skip_blanks(parser);
	} while (*parser->at == '.');
	return true;
}

static cJSON *take_value(struct parser *parser);

static bool add_item(struct parser *parser, cJSON *object, const char *name, cJSON *item)
{
	if (!item)
		return no_memory(parser);
	if (name ? cJSON_AddItemToObject(object, name, item) : cJSON_AddItemToArray(object, item))
		return true;
	cJSON_Delete(item);
	return no_memory(parser);
}

/* The table that a name on the way leads to, made when missing; of [[a]] its last one. */
static cJSON *descend(struct parser *parser, cJSON *table, const char *name, bool dotted)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(table, name);

	if (!child) {
		child = cJSON_CreateObject();
		if (!add_item(parser, table, name, child))
			return NULL;
	}
	if (!dotted && cJSON_IsArray(child) && child->valueint == ORIGIN_ARRAY)
		child = cJSON_GetArrayItem(child, cJSON_GetArraySize(child) - 1);
	if (!cJSON_IsObject(child) || child->valueint == ORIGIN_INLINE) {
		fail(parser, -EINVAL, "a value is used as a table");
		return NULL;
	}
	if (dotted && child->valueint == ORIGIN_HEADER) {
		fail(parser, -EINVAL, "a table that has a header is added to by a dotted key");
		return NULL;
	}
	if (dotted)
		child->valueint = ORIGIN_DOTTED;
	return child;
}

/* key = value, into a table. */
static bool take_pair(struct parser *parser, cJSON *table)
{
	struct key key = { 0 };
	bool ok = take_key(parser, &key);
	cJSON *value;

	if (ok && *parser->at != '=')
		ok = fail(parser, -EINVAL, "'=' is expected");
	for (size_t i = 0; ok && i + 1 < key.count; i++) {
		table = descend(parser, table, key.part[i], true);
		ok = table != NULL;
	}
	if (ok && cJSON_GetObjectItemCaseSensitive(table, key.part[key.count - 1]))
		ok = fail(parser, -EINVAL, "a key is set twice");
	if (ok) {
		parser->at++;
		skip_blanks(parser);
		value = take_value(parser);
		ok = value && add_item(parser, table, key.part[key.count - 1], value);
	}
	free_key(&key);
	return ok;
}

static cJSON *take_inline_table(struct parser *parser)
{
	cJSON *table = cJSON_CreateObject();
	bool more;

	if (!table)
		no_memory(parser);
	parser->at++;
	skip_all(parser);
	more = table && *parser->at != '}';
	while (more && take_pair(parser, table)) {
		skip_all(parser);
		more = *parser->at == ',';
		parser->at += more;
		skip_all(parser);
		if (*parser->at == '}')
			more = false;
	}
	if (!parser->error && *parser->at != '}')
		fail(parser, -EINVAL, "an inline table is not closed");
	if (parser->error) {
		cJSON_Delete(table);
		return NULL;
	}
	parser->at++;
	table->valueint = ORIGIN_INLINE;
	return table;
}

static cJSON *take_array(struct parser *parser)
{
	cJSON *array = cJSON_CreateArray();
	bool more;

	if (!array)
		no_memory(parser);
	parser->at++;
	skip_all(parser);
	more = array && *parser->at != ']';
	while (more) {
		cJSON *item = take_value(parser);

		if (!item || !add_item(parser, array, NULL, item))
			break;
		skip_all(parser);
		more = *parser->at == ',';
		parser->at += more;
		skip_all(parser);
		if (*parser->at == ']')
			more = false;
	}
	if (!parser->error && *parser->at != ']')
		fail(parser, -EINVAL, "an array is not closed");
	if (parser->error) {
		cJSON_Delete(array);
		return NULL;
	}
	parser->at++;
	return array;
}

/* Booleans, numbers, dates and times. */
static cJSON *take_bare_value(struct parser *parser)
{
	char text[NFD_TOML_WORD_SIZE];
	size_t len = nfd_toml_word_length(parser->at);
	cJSON *value = NULL;
	int r = -EINVAL;

	if (len > 0 && len < sizeof(text)) {
		memcpy(text, parser->at, len);
		text[len] = '\0';
		parser->at += len;
		r = nfd_toml_word(text, &value);
	}
	if (r == -ENOMEM)
		no_memory(parser);
	else if (r < 0)
		fail(parser, r, "a value is expected");
	return value;
}

static cJSON *take_value(struct parser *parser)
{
	cJSON *value;
	char *text;

	if (++parser->values > VALUES_MAX || ++parser->depth > DEPTH_MAX) {
		fail(parser, -E2BIG, "too many values, or nested too deep");
		return NULL;
	}
	if (*parser->at == '"' || *parser->at == '\'') {
		text = take_string(parser);
		value = text ? cJSON_CreateString(text) : NULL;
		free(text);
	} else if (*parser->at == '[') {
		value = take_array(parser);
	} else if (*parser->at == '{') {
		value = take_inline_table(parser);
	} else {
		value = take_bare_value(parser);
	}
	parser->depth--;
	if (!value && !parser->error)
		no_memory(parser);
	return value;
}

/* The table of [a.b], given the one of its last part's name. */
static cJSON *open_table(struct parser *parser, cJSON *table, const char *name)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(table, name);

	if (!child) {
		child = cJSON_CreateObject();
		if (!add_item(parser, table, name, child))
			return NULL;
	}
	if (!cJSON_IsObject(child) || child->valueint != ORIGIN_PATH) {
		fail(parser, -EINVAL, "a table is defined twice, or over a value");
		return NULL;
	}
	child->valueint = ORIGIN_HEADER;
	return child;
}

/* A further table of [[a.b]]. */
static cJSON *open_array(struct parser *parser, cJSON *table, const char *name)
{
	cJSON *array = cJSON_GetObjectItemCaseSensitive(table, name);

	if (!array) {
		array = cJSON_CreateArray();
		if (!add_item(parser, table, name, array))
			return NULL;
		array->valueint = ORIGIN_ARRAY;
	}
	if (!cJSON_IsArray(array) || array->valueint != ORIGIN_ARRAY) {
		fail(parser, -EINVAL, "a table or a value is used as an array of tables");
		return NULL;
	}
	table = cJSON_CreateObject();
	if (!add_item(parser, array, NULL, table))
		return NULL;
	table->valueint = ORIGIN_HEADER;
	return table;
}

/* [a.b] or [[a.b]]: the table that the following pairs go into. */
static cJSON *take_header(struct parser *parser, cJSON *root)
{
	bool is_array = parser->at[1] == '[';
	struct key key = { 0 };
	cJSON *table = root;
	bool ok;

	parser->at += is_array ? 2 : 1;
	ok = take_key(parser, &key);
	if (ok && strncmp(parser->at, "]]", is_array ? 2 : 1) != 0)
		ok = fail(parser, -EINVAL, "']' is expected");
	for (size_t i = 0; ok && i + 1 < key.count; i++) {
		table = descend(parser, table, key.part[i], false);
		ok = table != NULL;
	}
	if (ok)
		table = (is_array ? open_array : open_table)(parser, table,
							     key.part[key.count - 1]);
	free_key(&key);
	if (!ok || !table)
		return NULL;
	parser->at += is_array ? 2 : 1;
	return table;
}

static void parse_document(struct parser *parser, cJSON *root)
{
	cJSON *table = root;

	for (skip_all(parser); *parser->at && !parser->error; skip_all(parser)) {
		if (++parser->values > VALUES_MAX) {
			fail(parser, -E2BIG, "too many lines");
		} else if (*parser->at == '[') {
			table = take_header(parser, root);
		} else {
			take_pair(parser, table);
		}
		if (parser->error)
			return;
		skip_comment(parser);
		if (*parser->at && !strchr("\r\n", *parser->at))
			fail(parser, -EINVAL, "the end of the line is expected");
	}
}

static size_t line_of(const struct parser *parser)
{
	size_t line = 1;

	for (const char *c = parser->start; c < parser->at && *c; c++)
		line += *c == '\n';
	return line;
}

int nfd_toml_parse(const char *text, const char *name, cJSON **ret, struct nfd_error *err)
{
	struct parser parser = { .at = text, .start = text };
	cJSON *root = cJSON_CreateObject();

	if (!root)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	/* A mark of the byte order is no part of the text. */
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		parser.at = parser.start = text + 3;
	if (check_bytes(&parser))
		parse_document(&parser, root);
	if (parser.error) {
		cJSON_Delete(root);
		return nfd_error_set(err, parser.error, "%s:%zu: %s", name, line_of(&parser),
				     parser.wrong);
	}
	*ret = root;
	return 0;
}
