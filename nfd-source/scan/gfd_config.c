// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is refused here, gpu-feature-discovery refuses too; to go on with half of a wrong file would
 * write labels that nobody configured.
 */
#include "config.h"

#include "scan/gfd_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/root.h"
#include "base/yaml_tree.h"

#define RESOURCE_PREFIX "nvidia.com/"
#define REPLICAS_MAX 1000000

/* What the parts of one file have in common. */
struct reader {
	const char *name; /* of the file */
	struct nfd_gfd_config *config;
	struct nfd_error *err;
};

static int refuse(const struct reader *reader, const char *what)
{
	return nfd_error_set(reader->err, -EINVAL, "%s: %s", reader->name, what);
}

static int read_version(const struct reader *reader, const cJSON *tree)
{
	const char *version = nfd_json_text(tree, "version");

	if (!*version || strcmp(version, "v1") == 0)
		return 0;
	return nfd_error_set(reader->err, -EINVAL, "%s: version \"%.40s\" is not \"v1\"",
			     reader->name, version);
}

static int read_strategy(const struct reader *reader, const cJSON *flags)
{
	static const char *const names[] = { "", "none", "single", "mixed" };
	const cJSON *item = nfd_json_get(flags, "migStrategy");
	const char *text = cJSON_GetStringValue(item);

	if (!item || cJSON_IsNull(item))
		return 0;
	for (size_t i = NFD_MIG_NONE; text && i < NFD_ARRAY_SIZE(names); i++)
		if (strcmp(text, names[i]) == 0) {
			reader->config->mig_strategy = (enum nfd_mig_strategy)i;
			return 0;
		}
	return refuse(reader, "flags.migStrategy is none of none, single, mixed");
}

/* The file may leave out the part before the slash. */
static int take_name(const struct reader *reader, const char *text, struct nfd_gfd_resource *ret)
{
	static const char prefix[] = RESOURCE_PREFIX;
	size_t len = sizeof(prefix) - 1;
	int size;

	if (strncmp(text, prefix, len) == 0)
		text += len;
	size = snprintf(ret->name, sizeof(ret->name), "%s%s", prefix, text);
	if (!*text || size < 0 || (size_t)size >= sizeof(ret->name) ||
	    nfd_label_key_check(ret->name, NULL) < 0)
		return refuse(reader,
			      "a resource has no name, or one that Kubernetes does not take");
	return 0;
}

static int read_resource(const struct reader *reader, const cJSON *item)
{
	struct nfd_gfd_config *config = reader->config;
	struct nfd_gfd_resource *resource = &config->resource[config->count];
	uint64_t replicas;
	int r;

	if (config->count == NFD_GFD_RESOURCES_MAX)
		return nfd_error_set(reader->err, -E2BIG, "%s: over %d resources are shared",
				     reader->name, NFD_GFD_RESOURCES_MAX);
	r = take_name(reader, nfd_json_text(item, "name"), resource);
	if (r < 0)
		return r;
	if (nfd_parse_uint(nfd_json_text(item, "replicas"), REPLICAS_MAX, &replicas) < 0 ||
	    replicas < 2)
		return nfd_error_set(reader->err, -EINVAL,
				     "%s: replicas of %s are no number of 2 to %d", reader->name,
				     resource->name, REPLICAS_MAX);
	resource->replicas = (unsigned int)replicas;
	if (nfd_json_get(item, "rename") || nfd_json_get(item, "devices"))
		nfd_log(NFD_LOG_DEBUG, "rename and devices of a shared resource mean nothing here",
			"path", reader->name, "resource", resource->name, NULL);
	config->count++;
	return 0;
}

static int read_sharing(const struct reader *reader, const cJSON *sharing)
{
	const cJSON *mps = nfd_json_get(sharing, "mps");
	bool is_mps = mps && !cJSON_IsNull(mps);
	const cJSON *replicated = is_mps ? mps : nfd_json_get(sharing, "timeSlicing");
	const cJSON *resource;
	int r;

	if (!replicated)
		return 0;
	if (nfd_json_length(replicated, "resources") == 0)
		return refuse(reader, is_mps ? "sharing.mps names no resources" :
					       "sharing.timeSlicing names no resources");
	cJSON_ArrayForEach(resource, nfd_json_get(replicated, "resources")) {
		r = read_resource(reader, resource);
		if (r < 0)
			return r;
	}
	reader->config->is_mps = is_mps;
	reader->config->sharing = is_mps ? "mps" : "time-slicing";
	reader->config->is_renamed = nfd_json_is_true(replicated, "renameByDefault");
	return 0;
}

static int read_tree(const struct reader *reader, const cJSON *tree)
{
	int r;

	if (cJSON_IsNull(tree))
		return 0;
	if (!cJSON_IsObject(tree))
		return refuse(reader, "is no mapping");
	r = read_version(reader, tree);
	if (r == 0)
		r = read_strategy(reader, nfd_json_object(tree, "flags"));
	if (r == 0)
		r = read_sharing(reader, nfd_json_object(tree, "sharing"));
	return r;
}

static void clear(struct nfd_gfd_config *config)
{
	*config = (struct nfd_gfd_config){ .sharing = "none" };
}

int nfd_gfd_config_parse(const char *text, size_t len, const char *name, struct nfd_gfd_config *ret,
			 struct nfd_error *err)
{
	const struct reader reader = { .name = name, .config = ret, .err = err };
	cJSON *tree = NULL;
	int r;

	clear(ret);
	r = nfd_yaml_tree_parse(text, len, name, &tree, err);
	if (r == 0)
		r = read_tree(&reader, tree);
	if (r < 0)
		clear(ret);
	cJSON_Delete(tree);
	return r;
}

int nfd_gfd_config_read(const char *path, struct nfd_gfd_config *ret, struct nfd_error *err)
{
	cleanup_free char *text = NULL;
	struct nfd_root root;
	ssize_t len;
	int r;

	clear(ret);
	if (!path || !*path)
		return 0;
	r = nfd_root_open(&root, path[0] == '/' ? "/" : ".", err);
	if (r < 0) {
		nfd_root_close(&root);
		return r;
	}
	len = nfd_root_read_alloc(&root, path + strspn(path, "/"), NFD_GFD_CONFIG_MAX, &text);
	nfd_root_close(&root);
	if (len < 0)
		return nfd_error_set(err, (int)len, "cannot read \"%s\": %s", path,
				     nfd_errno_text((int)len));
	return nfd_gfd_config_parse(text, (size_t)len, path, ret, err);
}

const struct nfd_gfd_resource *nfd_gfd_config_find(const struct nfd_gfd_config *config,
						   const char *name)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->resource[i].name, name) == 0)
			return &config->resource[i];
	return NULL;
}
