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

#include "base/macros.h"
#include "base/strbuf.h"

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

/* Length of digits with single underscores between them; 0 for none. */
static size_t digits_length(const char *text, const char *digits)
{
	size_t len = strspn(text, digits);

	while (len > 0 && text[len] == '_' && text[len + 1] && strchr(digits, text[len + 1]))
		len += 1 + strspn(text + len + 1, digits);
	return len;
}

/* 0x, 0o and 0b; NULL for another number. */
static const char *digits_of(const char *text, int *ret_base)
{
	static const struct {
		const char *start, *digits;
		int base;
	} bases[] = {
		{ "0x", "0123456789abcdefABCDEF", 16 },
		{ "0o", "01234567", 8 },
		{ "0b", "01", 2 },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(bases); i++)
		if (strncmp(text, bases[i].start, 2) == 0) {
			*ret_base = bases[i].base;
			return bases[i].digits;
		}
	return NULL;
}

/* Whether a text is a decimal number as TOML writes it. */
static bool is_decimal(const char *text)
{
	static const char digits[] = "0123456789";
	size_t len;

	text += *text == '+' || *text == '-';
	len = digits_length(text, digits);
	if (len == 0 || (len > 1 && text[0] == '0'))
		return false;
	text += len;
	if (*text == '.') {
		len = digits_length(text + 1, digits);
		if (len == 0)
			return false;
		text += 1 + len;
	}
	if (*text == 'e' || *text == 'E') {
		text += text[1] == '+' || text[1] == '-' ? 2 : 1;
		len = digits_length(text, digits);
		if (len == 0)
			return false;
		text += len;
	}
	return *text == '\0';
}

/* Whether a text begins as @form does, in which "0" stands for any digit; moves behind it. */
static bool take_form(const char **text, const char *form)
{
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)(*text)[i]) : (*text)[i] != form[i])
			return false;
	*text += i;
	return true;
}

/* A date, a time, or both. */
static bool is_time(const char *text)
{
	bool has_date = take_form(&text, "0000-00-00");

	if (has_date && !*text)
		return true;
	if (has_date && !strchr("Tt ", *text++))
		return false;
	if (!take_form(&text, "00:00:00"))
		return false;
	if (take_form(&text, ".0"))
		text += strspn(text, "0123456789");
	if (!has_date || !*text)
		return *text == '\0';
	if (*text == 'Z' || *text == 'z')
		return text[1] == '\0';
	return (take_form(&text, "+00:00") || take_form(&text, "-00:00")) && !*text;
}

/* A number of text that is one. */
static cJSON *new_number(const char *text)
{
	char plain[64];
	size_t used = 0;
	int base = 10;
	bool has_base = digits_of(text, &base) != NULL;

	for (text += has_base ? 2 : 0; *text; text++)
		if (*text != '_')
			plain[used++] = *text;
	plain[used] = '\0';
	return cJSON_CreateNumber(has_base ? (double)strtoull(plain, NULL, base) :
					     strtod(plain, NULL));
}

/* Booleans, numbers, dates and times; infinity and the like stay text as dates do. */
static cJSON *take_bare_value(struct parser *parser)
{
	static const char ends[] = " \t,]}#\r\n";
	size_t len = strcspn(parser->at, ends);
	const char *digits, *after = parser->at;
	char text[64];
	int base;

	/* A blank between date and time belongs to them. */
	if (take_form(&after, "0000-00-00 00:"))
		len = 11 + strcspn(parser->at + 11, ends);
	if (len == 0 || len >= sizeof(text)) {
		fail(parser, -EINVAL, "a value is expected");
		return NULL;
	}
	memcpy(text, parser->at, len);
	text[len] = '\0';
	parser->at += len;
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return cJSON_CreateBool(text[0] == 't');
	digits = digits_of(text, &base);
	if (digits ? len > 2 && digits_length(text + 2, digits) == len - 2 : is_decimal(text))
		return new_number(text);
	after = text + (text[0] == '+' || text[0] == '-');
	if (is_time(text) || strcmp(after, "inf") == 0 || strcmp(after, "nan") == 0)
		return cJSON_CreateString(text);
	fail(parser, -EINVAL, "a value is expected");
	return NULL;
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
