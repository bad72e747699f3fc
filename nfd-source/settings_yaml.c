// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The only file that includes <yaml.h>. libyaml loads the document as a graph of nodes; only nodes
 * that the visitor asks for are followed, so aliases cannot make the walk grow.
 */
#include "config.h"

#include "settings_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define KEY_SIZE 256
#define DEPTH_MAX 8

struct walk {
	yaml_document_t *document;
	const char *name;
	nfd_yaml_visitor *visitor;
	void *cookie;
	struct nfd_error *err;
};

static int fail(const struct walk *walk, size_t line, size_t column, int code, const char *text)
{
	return nfd_error_set(walk->err, code, "%s:%zu:%zu: %s", walk->name, line, column, text);
}

static int fail_at(const struct walk *walk, const yaml_mark_t *mark, int code, const char *text)
{
	return fail(walk, mark->line + 1, mark->column + 1, code, text);
}

/* A plain (unquoted) null, ~ or nothing is no value. */
static bool is_null(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*text || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
}

/* The library ends scalars with a NUL but lets them hold others; such a text is no value of ours. */
static bool holds_nul(const yaml_node_t *node)
{
	return strlen((const char *)node->data.scalar.value) != node->data.scalar.length;
}

static void take_list(const struct walk *walk, const yaml_node_t *node, struct nfd_yaml_item *item)
{
	const yaml_node_item_t *at;

	item->is_list = true;
	for (at = node->data.sequence.items.start; at < node->data.sequence.items.top; at++) {
		const yaml_node_t *entry = yaml_document_get_node(walk->document, *at);

		if (!entry || entry->type != YAML_SCALAR_NODE || holds_nul(entry) ||
		    item->count == NFD_YAML_VALUES_MAX) {
			item->is_odd = true;
			item->line = entry ? entry->start_mark.line + 1 : item->line;
			item->column = entry ? entry->start_mark.column + 1 : item->column;
			return;
		}
		item->value[item->count++] = (const char *)entry->data.scalar.value;
	}
}

static void take_value(const struct walk *walk, const yaml_node_t *node, struct nfd_yaml_item *item)
{
	if (node->type == YAML_MAPPING_NODE) {
		item->is_mapping = true;
	} else if (node->type == YAML_SEQUENCE_NODE) {
		take_list(walk, node, item);
	} else if (holds_nul(node)) {
		item->is_odd = true;
	} else if (!is_null(node)) {
		item->value[item->count++] = (const char *)node->data.scalar.value;
	}
}

static int walk_mapping(const struct walk *walk, const yaml_node_t *node, const char *prefix,
			int depth);

static int visit_pair(const struct walk *walk, const yaml_node_t *key, const yaml_node_t *value,
		      const char *prefix, int depth)
{
	struct nfd_yaml_item item = { 0 };
	struct nfd_error err = { 0 };
	char path[KEY_SIZE];
	int r;

	if (key->type != YAML_SCALAR_NODE || holds_nul(key))
		return fail_at(walk, &key->start_mark, -EINVAL, "a key must be plain text");
	if (snprintf(path, sizeof(path), "%s%s%s", prefix, prefix[0] ? "." : "",
		     (const char *)key->data.scalar.value) >= (int)sizeof(path))
		return fail_at(walk, &key->start_mark, -EINVAL, "this key is too long");
	item.key = path;
	item.line = value->start_mark.line + 1;
	item.column = value->start_mark.column + 1;
	take_value(walk, value, &item);
	r = walk->visitor(walk->cookie, &item, &err);
	if (r == -ENOKEY)
		return fail_at(walk, &key->start_mark, r, nfd_error_text(&err));
	if (r < 0)
		return fail(walk, item.line, item.column, r, nfd_error_text(&err));
	if (r == NFD_YAML_DESCEND && item.is_mapping)
		return walk_mapping(walk, value, path, depth + 1);
	return 0;
}

/* Every key before this one was accepted by the visitor, so there are few. */
static bool is_repeated(const struct walk *walk, const yaml_node_t *mapping,
			const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = yaml_document_get_node(walk->document, pair->key);
	const yaml_node_pair_t *before;

	for (before = mapping->data.mapping.pairs.start; before < pair; before++) {
		const yaml_node_t *other = yaml_document_get_node(walk->document, before->key);

		if (key->type == YAML_SCALAR_NODE && other && other->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)key->data.scalar.value,
			   (const char *)other->data.scalar.value) == 0)
			return true;
	}
	return false;
}

static int walk_mapping(const struct walk *walk, const yaml_node_t *node, const char *prefix,
			int depth)
{
	const yaml_node_pair_t *pair;
	int r;

	if (depth > DEPTH_MAX)
		return fail_at(walk, &node->start_mark, -EINVAL, "nested too deep");
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(walk->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(walk->document, pair->value);

		if (!key || !value)
			return fail_at(walk, &node->start_mark, -EINVAL, "broken document");
		if (is_repeated(walk, node, pair))
			return fail_at(walk, &key->start_mark, -ENOKEY,
				       "this key stands here twice");
		r = visit_pair(walk, key, value, prefix, depth);
		if (r < 0)
			return r;
	}
	return 0;
}

static int walk_document(const struct walk *walk)
{
	const yaml_node_t *top = yaml_document_get_root_node(walk->document);

	if (!top || (top->type == YAML_SCALAR_NODE && is_null(top)))
		return 0;
	if (top->type != YAML_MAPPING_NODE)
		return fail_at(walk, &top->start_mark, -EINVAL,
			       "expected keys with values, such as \"core:\"");
	return walk_mapping(walk, top, "", 0);
}

static int parser_error(const struct walk *walk, const yaml_parser_t *parser)
{
	const yaml_mark_t *mark = &parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		return nfd_error_set(walk->err, -ENOMEM, "out of memory");
	return nfd_error_set(walk->err, -EINVAL, "%s:%zu:%zu: not YAML: %s", walk->name,
			     mark->line + 1, mark->column + 1,
			     parser->problem ? parser->problem : "unknown fault");
}

/* A second document would be ignored silently. */
static int expect_end(const struct walk *walk, yaml_parser_t *parser)
{
	yaml_document_t more;
	const yaml_node_t *top;
	int r = 0;

	if (!yaml_parser_load(parser, &more))
		return parser_error(walk, parser);
	top = yaml_document_get_root_node(&more);
	if (top)
		r = fail_at(walk, &top->start_mark, -EINVAL, "a second document is not allowed");
	yaml_document_delete(&more);
	return r;
}

int nfd_yaml_parse(const char *text, size_t len, const char *name, nfd_yaml_visitor *visitor,
		   void *cookie, struct nfd_error *err)
{
	yaml_document_t document;
	yaml_parser_t parser;
	struct walk walk = { .document = &document,
			     .name = name,
			     .visitor = visitor,
			     .cookie = cookie,
			     .err = err };
	int r;

	if (!yaml_parser_initialize(&parser))
		return nfd_error_set(err, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &document)) {
		r = parser_error(&walk, &parser);
	} else {
		r = walk_document(&walk);
		yaml_document_delete(&document);
		if (r == 0)
			r = expect_end(&walk, &parser);
	}
	yaml_parser_delete(&parser);
	return r;
}
