// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libyaml gives a graph of nodes; the walk over it is bounded, because aliases can make a small text
 * a huge tree.
 */
#include "config.h"

#include "base/yaml_tree.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#define NODES_MAX 20000
#define DEPTH_MAX 32

struct walk {
	yaml_document_t *document;
	size_t nodes;
	int error; /* 0, -E2BIG or -ENOMEM */
};

static cJSON *convert(struct walk *walk, const yaml_node_t *node, int depth);

static cJSON *convert_scalar(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		if (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
			return cJSON_CreateNull();
		if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
			return cJSON_CreateBool(text[0] == 't');
	}
	return cJSON_CreateString(text);
}

static cJSON *convert_sequence(struct walk *walk, const yaml_node_t *node, int depth)
{
	cJSON *array = cJSON_CreateArray();
	const yaml_node_item_t *at;

	for (at = node->data.sequence.items.start;
	     array && !walk->error && at < node->data.sequence.items.top; at++) {
		const yaml_node_t *entry = yaml_document_get_node(walk->document, *at);
		cJSON *item = convert(walk, entry, depth + 1);

		if (item && !cJSON_AddItemToArray(array, item)) {
			cJSON_Delete(item);
			walk->error = -ENOMEM;
		}
	}
	return array;
}

static cJSON *convert_mapping(struct walk *walk, const yaml_node_t *node, int depth)
{
	cJSON *object = cJSON_CreateObject();
	const yaml_node_pair_t *pair;

	for (pair = node->data.mapping.pairs.start;
	     object && !walk->error && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(walk->document, pair->key);
		cJSON *item;

		if (!key || key->type != YAML_SCALAR_NODE)
			continue;
		item = convert(walk, yaml_document_get_node(walk->document, pair->value),
			       depth + 1);
		if (item &&
		    !cJSON_AddItemToObject(object, (const char *)key->data.scalar.value, item)) {
			cJSON_Delete(item);
			walk->error = -ENOMEM;
		}
	}
	return object;
}

/* NULL after a failure, which is in walk->error. */
static cJSON *convert(struct walk *walk, const yaml_node_t *node, int depth)
{
	cJSON *item;

	if (++walk->nodes > NODES_MAX || depth > DEPTH_MAX) {
		walk->error = -E2BIG;
		return NULL;
	}
	if (!node)
		item = cJSON_CreateNull();
	else if (node->type == YAML_MAPPING_NODE)
		item = convert_mapping(walk, node, depth);
	else if (node->type == YAML_SEQUENCE_NODE)
		item = convert_sequence(walk, node, depth);
	else
		item = convert_scalar(node);
	if (!item)
		walk->error = -ENOMEM;
	return item;
}

static int convert_document(yaml_document_t *document, const char *name, cJSON **ret,
			    struct nfd_error *err)
{
	struct walk walk = { .document = document };
	cJSON *tree = convert(&walk, yaml_document_get_root_node(document), 0);

	if (walk.error) {
		cJSON_Delete(tree);
		return nfd_error_set(err, walk.error,
				     walk.error == -E2BIG ? "%s: too large or nested too deep" :
							    "%s: out of memory",
				     name);
	}
	*ret = tree;
	return 0;
}

int nfd_yaml_tree_parse(const char *text, size_t len, const char *name, cJSON **ret,
			struct nfd_error *err)
{
	yaml_document_t document;
	yaml_parser_t parser;
	int r;

	if (!yaml_parser_initialize(&parser))
		return nfd_error_set(err, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (yaml_parser_load(&parser, &document)) {
		r = convert_document(&document, name, ret, err);
		yaml_document_delete(&document);
	} else {
		r = nfd_error_set(err, parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL,
				  "%s:%zu:%zu: not YAML: %s", name, parser.problem_mark.line + 1,
				  parser.problem_mark.column + 1,
				  parser.problem ? parser.problem : "unknown fault");
	}
	yaml_parser_delete(&parser);
	return r;
}
