// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recursive descent over the text. Where TOML allows more than it means to us (exact integers, dates)
 * the text is kept or a double taken.
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

#define VALUES_MAX 20000
#define DEPTH_MAX 32
#define KEY_PARTS_MAX 16

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

static void put_utf8(struct nfd_strbuf *buf, unsigned long code)
{
	char bytes[4];
	size_t len = 0;

	if (code < 0x80) {
		bytes[len++] = (char)code;
	} else if (code < 0x800) {
		bytes[len++] = (char)(0xc0 | code >> 6);
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		bytes[len++] = (char)(0xe0 | code >> 12);
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	} else {
		bytes[len++] = (char)(0xf0 | code >> 18);
		bytes[len++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[len++] = (char)(0x80 | (code & 0x3f));
	}
	nfd_strbuf_add(buf, bytes, len);
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
	put_utf8(buf, code);
	return true;
}

/* Behind a backslash in a basic string. */
static bool take_escape(struct parser *parser, bool multiline, struct nfd_strbuf *buf)
{
	static const char letters[] = "btnfre\"\\";
	static const char meanings[] = "\b\t\n\f\r\033\"\\";
	const char *letter;

	if (multiline && strchr(" \t\r\n", *parser->at)) {
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
	while (multiline && !parser->error && parser->at[3] == quote)
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

/* The table that a name leads to, made when missing; of an array of tables its last one. */
static cJSON *descend(struct parser *parser, cJSON *table, const char *name)
{
	cJSON *child = cJSON_GetObjectItemCaseSensitive(table, name);

	if (!child) {
		child = cJSON_CreateObject();
		return add_item(parser, table, name, child) ? child : NULL;
	}
	if (cJSON_IsArray(child))
		child = cJSON_GetArrayItem(child, cJSON_GetArraySize(child) - 1);
	if (!cJSON_IsObject(child)) {
		fail(parser, -EINVAL, "a value is used as a table");
		return NULL;
	}
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
		table = descend(parser, table, key.part[i]);
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

/* Booleans, numbers, dates: what is neither of the first two stays text. */
static cJSON *take_bare_value(struct parser *parser)
{
	size_t len = strcspn(parser->at, ",]}#\r\n");
	char text[64], plain[64];
	size_t used = 0;
	char *end;
	double number;

	while (len > 0 && (parser->at[len - 1] == ' ' || parser->at[len - 1] == '\t'))
		len--;
	if (len == 0 || len >= sizeof(text)) {
		fail(parser, -EINVAL, "a value is expected");
		return NULL;
	}
	memcpy(text, parser->at, len);
	text[len] = '\0';
	parser->at += len;
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return cJSON_CreateBool(text[0] == 't');
	if (!isdigit((unsigned char)text[0]) && !strchr("+-.", text[0]) &&
	    strcmp(text, "inf") != 0 && strcmp(text, "nan") != 0) {
		fail(parser, -EINVAL, "a value is expected");
		return NULL;
	}
	for (size_t i = 0; i < len; i++)
		if (text[i] != '_')
			plain[used++] = text[i];
	plain[used] = '\0';
	number = strtod(plain, &end);
	return *end || number != number ? cJSON_CreateString(text) : cJSON_CreateNumber(number);
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

/* [a.b] or [[a.b]]: the table that the following pairs go into. */
static cJSON *take_header(struct parser *parser, cJSON *root)
{
	bool is_array = parser->at[1] == '[';
	struct key key = { 0 };
	cJSON *table = root;
	bool ok;

	parser->at += is_array ? 2 : 1;
	ok = take_key(parser, &key);
	for (size_t i = 0; ok && i + is_array < key.count; i++) {
		table = descend(parser, table, key.part[i]);
		ok = table != NULL;
	}
	if (ok && is_array) {
		const char *name = key.part[key.count - 1];
		cJSON *array = cJSON_GetObjectItemCaseSensitive(table, name);

		if (!array) {
			array = cJSON_CreateArray();
			ok = add_item(parser, table, name, array);
		}
		if (ok && !cJSON_IsArray(array))
			ok = fail(parser, -EINVAL, "a table is used as an array of tables");
		table = ok ? cJSON_CreateObject() : NULL;
		ok = ok && add_item(parser, array, NULL, table);
	}
	free_key(&key);
	if (ok && strncmp(parser->at, "]]", is_array ? 2 : 1) != 0)
		ok = fail(parser, -EINVAL, "']' is expected");
	if (!ok)
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
	parse_document(&parser, root);
	if (parser.error) {
		cJSON_Delete(root);
		return nfd_error_set(err, parser.error, "%s:%zu: %s", name, line_of(&parser),
				     parser.wrong);
	}
	*ret = root;
	return 0;
}
