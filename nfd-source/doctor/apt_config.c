// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements "Key value;" and "Key { … };", nested; keys join by "::". Comments are //, # and slash
 * star; "#clear Key;" empties. Unknown text up to the next ";" is passed over.
 */
#include "config.h"

#include "doctor/apt_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_MAX (256 * 1024)
#define KEY_SIZE 256
#define DEPTH_MAX 16

struct parser {
	struct nfd_apt_config *config;
	const char *at;
	char key[DEPTH_MAX][KEY_SIZE]; /* prefix of each open brace */
	int depth;
};

void nfd_apt_config_done(struct nfd_apt_config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		free(config->value[i].key);
		free(config->value[i].value);
	}
	free(config->value);
	*config = (struct nfd_apt_config){ 0 };
}

static int add(struct nfd_apt_config *config, const char *key, const char *value)
{
	struct nfd_apt_value added = { strdup(key), strdup(value) };
	struct nfd_apt_value *bigger = NULL;

	if (added.key && added.value && config->count < NFD_APT_VALUES_MAX)
		bigger = realloc(config->value, (config->count + 1) * sizeof(*bigger));
	if (!bigger) {
		bool full = config->count == NFD_APT_VALUES_MAX;

		free(added.key);
		free(added.value);
		return full ? 0 : -ENOMEM;
	}
	config->value = bigger;
	config->value[config->count++] = added;
	return 0;
}

/* Drops a key and all below it. */
static void clear(struct nfd_apt_config *config, const char *key)
{
	size_t kept = 0, len = strlen(key);

	for (size_t i = 0; i < config->count; i++) {
		struct nfd_apt_value *value = &config->value[i];

		if (strncasecmp(value->key, key, len) == 0 &&
		    (!value->key[len] || strncmp(value->key + len, "::", 2) == 0)) {
			free(value->key);
			free(value->value);
		} else {
			config->value[kept++] = *value;
		}
	}
	config->count = kept;
}

static const char *line_end(const char *at)
{
	return at + strcspn(at, "\n");
}

/* "#clear X;" at @at; other lines with # are comments. */
static void take_hash(struct parser *parser)
{
	char key[KEY_SIZE];

	if (sscanf(parser->at, "#clear %255[A-Za-z0-9_:./-]", key) == 1)
		clear(parser->config, key);
	parser->at = line_end(parser->at);
}

static void skip_space(struct parser *parser)
{
	for (;;) {
		parser->at += strspn(parser->at, " \t\r\n");
		if (strncmp(parser->at, "//", 2) == 0) {
			parser->at = line_end(parser->at);
		} else if (strncmp(parser->at, "/*", 2) == 0) {
			const char *end = strstr(parser->at + 2, "*/");

			parser->at = end ? end + 2 : parser->at + strlen(parser->at);
		} else if (*parser->at == '#') {
			take_hash(parser);
		} else {
			return;
		}
	}
}

/* A word in quotes, or up to white space or a sign. */
static void take_word(struct parser *parser, char ret[KEY_SIZE])
{
	size_t len;

	if (*parser->at == '"') {
		parser->at++;
		len = strcspn(parser->at, "\"");
		snprintf(ret, KEY_SIZE, "%.*s", (int)(len < KEY_SIZE ? len : KEY_SIZE - 1),
			 parser->at);
		parser->at += len + (parser->at[len] == '"');
		return;
	}
	len = strcspn(parser->at, " \t\r\n{};\"");
	snprintf(ret, KEY_SIZE, "%.*s", (int)(len < KEY_SIZE ? len : KEY_SIZE - 1), parser->at);
	parser->at += len;
}

static void join(char ret[KEY_SIZE], const char *prefix, const char *name)
{
	size_t len = strlen(name);

	/* "Key:: value" adds to a list. */
	if (len > 2 && strcmp(name + len - 2, "::") == 0)
		len -= 2;
	snprintf(ret, KEY_SIZE, "%.*s%s%.*s", KEY_SIZE / 2, prefix, *prefix ? "::" : "",
		 (int)(len < KEY_SIZE / 2 - 3 ? len : KEY_SIZE / 2 - 3), name);
}

/* One statement at @parser->at, which is no space and no brace. */
static int take_statement(struct parser *parser)
{
	const char *prefix = parser->key[parser->depth];
	bool quoted = *parser->at == '"';
	char name[KEY_SIZE], key[KEY_SIZE], value[KEY_SIZE];
	const char *before = parser->at;
	int r;

	take_word(parser, name);
	skip_space(parser);
	if (*parser->at == ';' || *parser->at == '}' || !*parser->at) {
		/* An entry of the list that is open. */
		r = *prefix ? add(parser->config, prefix, name) : 0;
	} else if (*parser->at == '{' && !quoted && parser->depth < DEPTH_MAX - 1) {
		join(key, prefix, name);
		parser->at++;
		parser->depth++;
		memcpy(parser->key[parser->depth], key, sizeof(key));
		return 0;
	} else {
		take_word(parser, value);
		join(key, prefix, name);
		r = add(parser->config, key, value);
	}
	parser->at += *parser->at == ';';
	/* Whatever it was, go on. */
	parser->at += parser->at == before;
	return r;
}

int nfd_apt_config_parse(struct nfd_apt_config *config, const char *text)
{
	struct parser parser = { .config = config, .at = text };
	int r = 0;

	while (r == 0) {
		skip_space(&parser);
		if (!*parser.at)
			break;
		if (*parser.at == '}') {
			parser.at++;
			parser.depth -= parser.depth > 0;
		} else if (*parser.at == ';') {
			parser.at++;
		} else {
			r = take_statement(&parser);
		}
	}
	return r;
}

static int read_file(const struct nfd_root *root, const char *path, struct nfd_apt_config *config)
{
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, path, FILE_MAX, &text);

	if (len < 0) {
		if (!nfd_root_is_absent((int)len))
			config->error = (int)len;
		return 0;
	}
	return nfd_apt_config_parse(config, text);
}

/* apt takes names of plain characters without extension, or with .conf. */
static bool is_taken(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_.";
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && !name[strspn(name, plain)] && (!dot || strcmp(dot, ".conf") == 0);
}

int nfd_apt_config_read(const struct nfd_root *root, struct nfd_apt_config *config)
{
	static const char folder[] = "etc/apt/apt.conf.d";
	cleanup_names struct nfd_names names = { 0 };
	char path[320];
	int r;

	*config = (struct nfd_apt_config){ 0 };
	r = nfd_root_list(root, folder, &names);
	if (r == -ENOMEM)
		return r;
	if (r < 0 && !nfd_root_is_absent(r))
		config->error = r;
	for (size_t i = 0; i < names.count; i++) {
		if (!is_taken(names.name[i]))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names.name[i]);
		if (read_file(root, path, config) < 0)
			return -ENOMEM;
	}
	return read_file(root, "etc/apt/apt.conf", config);
}

const char *nfd_apt_config_next(const struct nfd_apt_config *config, const char *key,
				size_t *cursor)
{
	while (*cursor < config->count) {
		const struct nfd_apt_value *value = &config->value[(*cursor)++];

		if (strcasecmp(value->key, key) == 0)
			return value->value;
	}
	return NULL;
}

const char *nfd_apt_config_get(const struct nfd_apt_config *config, const char *key,
			       const char *otherwise)
{
	const char *value, *last = otherwise;
	size_t cursor = 0;

	while ((value = nfd_apt_config_next(config, key, &cursor)) != NULL)
		last = value;
	return last;
}
