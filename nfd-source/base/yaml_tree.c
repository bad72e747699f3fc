// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Built from libyaml's events, one by one, so that a text that nests without end is given up at the
 * depth that we take; loading it whole first would cost the library time by the square of it.
 */
#include "config.h"

#include "base/yaml_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define NODES_MAX 20000
#define DEPTH_MAX 32
#define ANCHORS_MAX 64

/* A collection that is open. */
struct level {
	cJSON *node; /* borrowed: it is in the tree already */
	char *key;   /* of a mapping: the key whose value comes next; owned */
};

struct builder {
	cJSON *tree; /* owned */
	struct level level[DEPTH_MAX];
	int depth;
	size_t nodes;
	struct {
		char *name; /* owned */
		const cJSON *node;
	} anchor[ANCHORS_MAX];
	size_t anchors;
	int error;        /* 0, -E2BIG, -EINVAL or -ENOMEM */
	yaml_mark_t mark; /* of the event that is being taken */
	bool done;
};

static void builder_done(struct builder *builder)
{
	cJSON_Delete(builder->tree);
	for (int i = 0; i < builder->depth; i++)
		free(builder->level[i].key);
	for (size_t i = 0; i < builder->anchors; i++)
		free(builder->anchor[i].name);
}

static void fail(struct builder *builder, int error)
{
	if (!builder->error)
		builder->error = error;
}

static void remember(struct builder *builder, const yaml_char_t *name, const cJSON *node)
{
	if (!name || builder->anchors == ANCHORS_MAX)
		return;
	builder->anchor[builder->anchors].node = node;
	builder->anchor[builder->anchors].name = strdup((const char *)name);
	if (!builder->anchor[builder->anchors++].name)
		fail(builder, -ENOMEM);
}

static struct level *top(struct builder *builder)
{
	return builder->depth ? &builder->level[builder->depth - 1] : NULL;
}

static bool wants_key(struct builder *builder)
{
	const struct level *level = top(builder);

	return level && cJSON_IsObject(level->node) && !level->key;
}

/* Puts a node where it belongs; it is the tree's then. */
static void put(struct builder *builder, cJSON *node)
{
	struct level *level = top(builder);
	bool ok = node != NULL;

	if (++builder->nodes > NODES_MAX)
		fail(builder, -E2BIG);
	if (ok && !level)
		builder->tree = node;
	else if (ok && level->key)
		ok = cJSON_AddItemToObject(level->node, level->key, node);
	else if (ok)
		ok = cJSON_AddItemToArray(level->node, node);
	if (!ok) {
		cJSON_Delete(node);
		fail(builder, -ENOMEM);
	}
	if (level) {
		free(level->key);
		level->key = NULL;
	}
}

static cJSON *scalar(const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		if (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
			return cJSON_CreateNull();
		if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)
			return cJSON_CreateBool(text[0] == 't' || text[0] == 'T');
	}
	return cJSON_CreateString(text);
}

static void on_scalar(struct builder *builder, const yaml_event_t *event)
{
	cJSON *node;

	if (wants_key(builder)) {
		top(builder)->key = strdup((const char *)event->data.scalar.value);
		if (!top(builder)->key)
			fail(builder, -ENOMEM);
		return;
	}
	node = scalar(event);
	put(builder, node);
	if (!builder->error)
		remember(builder, event->data.scalar.anchor, node);
}

static void on_open(struct builder *builder, const yaml_char_t *anchor, cJSON *node)
{
	/* A collection as a key means nothing to us. */
	if (wants_key(builder) || builder->depth == DEPTH_MAX) {
		cJSON_Delete(node);
		fail(builder, builder->depth == DEPTH_MAX ? -E2BIG : -EINVAL);
		return;
	}
	put(builder, node);
	if (builder->error)
		return;
	builder->level[builder->depth++] = (struct level){ .node = node };
	remember(builder, anchor, node);
}

/* Nodes below a node; @ret_depth receives the levels, itself included. */
static size_t count(const cJSON *node, int *ret_depth)
{
	const cJSON *child;
	size_t nodes = 0;
	int depth, deepest = 0;

	cJSON_ArrayForEach(child, node) {
		nodes += 1 + count(child, &depth);
		deepest = depth > deepest ? depth : deepest;
	}
	*ret_depth = deepest + (cJSON_IsObject(node) || cJSON_IsArray(node));
	return nodes;
}

/* A copy without the name that the first one has in its mapping. */
static cJSON *nameless_copy(const cJSON *node)
{
	cJSON *copy = cJSON_Duplicate(node, true);

	if (copy && copy->string) {
		cJSON_free(copy->string);
		copy->string = NULL;
	}
	return copy;
}

static void on_alias(struct builder *builder, const char *name)
{
	const cJSON *node = NULL;
	int depth;

	for (size_t i = 0; i < builder->anchors; i++)
		if (strcmp(builder->anchor[i].name, name) == 0)
			node = builder->anchor[i].node;
	for (int i = 0; i < builder->depth; i++)
		if (builder->level[i].node == node)
			node = NULL; /* inside of itself */
	if (!node || wants_key(builder)) {
		fail(builder, -EINVAL);
		return;
	}
	/* What it copies counts, else a few lines make a huge tree. */
	builder->nodes += count(node, &depth);
	if (builder->nodes > NODES_MAX || builder->depth + depth > DEPTH_MAX)
		fail(builder, -E2BIG);
	else
		put(builder, nameless_copy(node));
}

static void on_event(struct builder *builder, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		on_scalar(builder, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		on_open(builder, event->data.sequence_start.anchor, cJSON_CreateArray());
		break;
	case YAML_MAPPING_START_EVENT:
		on_open(builder, event->data.mapping_start.anchor, cJSON_CreateObject());
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		builder->depth--;
		break;
	case YAML_ALIAS_EVENT:
		on_alias(builder, (const char *)event->data.alias.anchor);
		break;
	case YAML_DOCUMENT_END_EVENT:
	case YAML_STREAM_END_EVENT:
		builder->done = true;
		break;
	default:
		break;
	}
}

static int explain(const yaml_parser_t *parser, const struct builder *builder, const char *name,
		   struct nfd_error *err)
{
	int error = builder->error;
	const yaml_mark_t *mark = error ? &builder->mark : &parser->problem_mark;
	const char *why = error == -E2BIG ?
				  "too large or nested too deep" :
				  "a key must be plain text, an alias must name an anchor";

	if (error == -ENOMEM || parser->error == YAML_MEMORY_ERROR)
		return nfd_error_set(err, -ENOMEM, "%s: out of memory", name);
	if (!error)
		why = parser->problem ? parser->problem : "unknown fault";
	return nfd_error_set(err, error ? error : -EINVAL, "%s:%zu:%zu: %s%s", name, mark->line + 1,
			     mark->column + 1, error ? "" : "not YAML: ", why);
}

static int build(struct builder *builder, yaml_parser_t *parser, const char *name,
		 struct nfd_error *err)
{
	yaml_event_t event;

	while (!builder->done && !builder->error) {
		if (!yaml_parser_parse(parser, &event))
			return explain(parser, builder, name, err);
		builder->mark = event.start_mark;
		on_event(builder, &event);
		yaml_event_delete(&event);
	}
	return builder->error ? explain(parser, builder, name, err) : 0;
}

int nfd_yaml_tree_parse(const char *text, size_t len, const char *name, cJSON **ret,
			struct nfd_error *err)
{
	struct builder builder = { 0 };
	yaml_parser_t parser;
	int r;

	if (!yaml_parser_initialize(&parser))
		return nfd_error_set(err, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	r = build(&builder, &parser, name, err);
	yaml_parser_delete(&parser);
	if (r == 0 && !builder.tree)
		builder.tree = cJSON_CreateNull();
	if (r == 0 && !builder.tree)
		r = nfd_error_set(err, -ENOMEM, "out of memory");
	if (r == 0) {
		*ret = builder.tree;
		builder.tree = NULL;
	}
	builder_done(&builder);
	return r;
}
