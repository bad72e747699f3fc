// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * containerd before 2.1 replaces a plugin's section whole when an import repeats it, so the last file
 * that has the section decides; that is how it is read here for every version, but for entries of
 * the runtimes map of version 3 files, which are merged.
 */
#include "config.h"

#include "doctor/runtime_config.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "doctor/toml.h"

#define FILE_MAX (1024 * 1024)

/* Name of the CRI plugin's section by version of the file. */
static const struct {
	int version;
	const char *plugin;
} plugins[] = {
	{ 1, "cri" },
	{ 2, "io.containerd.grpc.v1.cri" },
	{ 3, "io.containerd.cri.v1.runtime" },
};

/* Parses a TOML file; NULL when it is missing, or broken (noted). */
static cJSON *read_toml(const struct nfd_root *root, const char *path,
			struct nfd_runtime_config *config)
{
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, path, FILE_MAX, &text);
	struct nfd_error err = { 0 };
	cJSON *document = NULL;

	if (len < 0) {
		if (!nfd_root_is_absent((int)len))
			snprintf(config->error, sizeof(config->error), "cannot read \"%.200s\": %s",
				 path, nfd_errno_text((int)len));
		return NULL;
	}
	if (nfd_toml_parse(text, path, &document, &err) < 0)
		snprintf(config->error, sizeof(config->error), "%.390s", nfd_error_text(&err));
	return document;
}

static int version_of(const cJSON *document)
{
	const cJSON *version = nfd_json_get(document, "version");

	/* containerd takes a file that states none for the first form. */
	return cJSON_IsNumber(version) ? version->valueint : 1;
}

static const cJSON *section(const cJSON *document, int version)
{
	const cJSON *all = nfd_json_get(document, "plugins");
	const char *name = plugins[0].plugin;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(plugins); i++)
		if (version >= plugins[i].version)
			name = plugins[i].plugin;
	return nfd_json_get(all, name);
}

static void copy(char *ret, size_t size, const char *text)
{
	snprintf(ret, size, "%s", text);
}

static void take_entry(const cJSON *runtime, const char *path, struct nfd_runtime_entry *ret)
{
	ret->is_there = true;
	copy(ret->type, sizeof(ret->type), nfd_json_text(runtime, "runtime_type"));
	copy(ret->binary, sizeof(ret->binary),
	     nfd_json_text(nfd_json_get(runtime, "options"), "BinaryName"));
	copy(ret->path, sizeof(ret->path), path);
}

/* An nvidia runtime that stands under the plugin name of another version is not read. */
static void look_for_misplaced(const cJSON *document, int version, const char *path,
			       struct nfd_runtime_config *config)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(plugins); i++) {
		const cJSON *other =
			nfd_json_get(nfd_json_get(document, "plugins"), plugins[i].plugin);
		const cJSON *runtimes = nfd_json_get(nfd_json_get(other, "containerd"), "runtimes");

		if (other != section(document, version) && nfd_json_get(runtimes, "nvidia"))
			copy(config->misplaced, sizeof(config->misplaced), path);
	}
}

static void take_section(const cJSON *plugin, const char *path, bool merge,
			 struct nfd_runtime_config *config)
{
	const cJSON *containerd = nfd_json_get(plugin, "containerd");
	const cJSON *runtime = nfd_json_get(nfd_json_get(containerd, "runtimes"), "nvidia");
	const char *by_default = nfd_json_text(containerd, "default_runtime_name");
	const cJSON *cdi = nfd_json_get(plugin, "enable_cdi");

	if (!plugin)
		return;
	if (!merge) {
		config->nvidia = (struct nfd_runtime_entry){ 0 };
		config->default_runtime[0] = '\0';
	}
	if (runtime)
		take_entry(runtime, path, &config->nvidia);
	if (*by_default)
		copy(config->default_runtime, sizeof(config->default_runtime), by_default);
	if (cJSON_IsBool(cdi)) {
		config->is_cdi_set = true;
		config->is_cdi_on = cJSON_IsTrue(cdi);
	}
}

static void take_import(const struct nfd_root *root, const char *path,
			struct nfd_runtime_config *config)
{
	cJSON *document = read_toml(root, path, config);
	int version;

	if (!document)
		return;
	version = version_of(document);
	if (nfd_json_get(document, "version") && version > config->version) {
		copy(config->drop_in_newer, sizeof(config->drop_in_newer), path);
		config->drop_in_version = version;
	}
	if (config->imported_count < NFD_RUNTIME_DROPINS_MAX)
		copy(config->imported[config->imported_count++], sizeof(config->imported[0]), path);
	take_section(section(document, version), path, version >= 3, config);
	cJSON_Delete(document);
}

/* A pattern of "imports": absolute, or from the main file's folder. */
static void take_pattern(const struct nfd_root *root, const char *main_path, const char *pattern,
			 struct nfd_runtime_config *config)
{
	cleanup_names struct nfd_names names = { 0 };
	char folder[256], path[520];
	const char *base;
	size_t len;

	if (pattern[0] == '/') {
		copy(folder, sizeof(folder), pattern + 1);
	} else {
		base = strrchr(main_path, '/');
		len = base ? (size_t)(base - main_path) + 1 : 0;
		snprintf(folder, sizeof(folder), "%.*s%s", (int)(len < 128 ? len : 128), main_path,
			 pattern);
	}
	base = strrchr(folder, '/');
	if (!base)
		return;
	folder[base - folder] = '\0';
	if (nfd_root_list(root, folder, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		if (fnmatch(base + 1, names.name[i], FNM_PERIOD) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%.250s", folder, names.name[i]);
		take_import(root, path, config);
	}
}

void nfd_containerd_read(const struct nfd_root *root, const char *path,
			 struct nfd_runtime_config *ret)
{
	cJSON *document;
	const cJSON *pattern;

	*ret = (struct nfd_runtime_config){ .kind = NFD_RUNTIME_CONTAINERD };
	document = read_toml(root, path, ret);
	copy(ret->path, sizeof(ret->path), document || ret->error[0] ? path : "");
	if (!document)
		return;
	ret->version = version_of(document);
	/* From containerd 2.0, whose files have version 3, CDI is on unless switched off. */
	ret->is_cdi_on = ret->version >= 3;
	take_section(section(document, ret->version), path, false, ret);
	look_for_misplaced(document, ret->version, path, ret);
	cJSON_ArrayForEach(pattern, nfd_json_get(document, "imports"))
		if (cJSON_IsString(pattern))
			take_pattern(root, path, pattern->valuestring, ret);
	cJSON_Delete(document);
}

static void take_crio(const struct nfd_root *root, const char *path,
		      struct nfd_runtime_config *config)
{
	cJSON *document = read_toml(root, path, config);
	const cJSON *section_runtime = nfd_json_get(nfd_json_get(document, "crio"), "runtime");
	const cJSON *runtime = nfd_json_get(nfd_json_get(section_runtime, "runtimes"), "nvidia");

	if (document && !config->path[0])
		copy(config->path, sizeof(config->path), path);
	if (runtime) {
		config->nvidia.is_there = true;
		copy(config->nvidia.type, sizeof(config->nvidia.type),
		     nfd_json_text(runtime, "runtime_type"));
		copy(config->nvidia.binary, sizeof(config->nvidia.binary),
		     nfd_json_text(runtime, "runtime_path"));
		copy(config->nvidia.path, sizeof(config->nvidia.path), path);
	}
	if (*nfd_json_text(section_runtime, "default_runtime"))
		copy(config->default_runtime, sizeof(config->default_runtime),
		     nfd_json_text(section_runtime, "default_runtime"));
	cJSON_Delete(document);
}

void nfd_crio_read(const struct nfd_root *root, struct nfd_runtime_config *ret)
{
	static const char folder[] = "etc/crio/crio.conf.d";
	cleanup_names struct nfd_names names = { 0 };
	char path[320];

	*ret = (struct nfd_runtime_config){ .kind = NFD_RUNTIME_CRIO, .is_cdi_on = true };
	take_crio(root, "etc/crio/crio.conf", ret);
	if (nfd_root_list(root, folder, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		snprintf(path, sizeof(path), "%s/%.250s", folder, names.name[i]);
		take_crio(root, path, ret);
	}
}

void nfd_docker_read(const struct nfd_root *root, struct nfd_runtime_config *ret)
{
	static const char path[] = "etc/docker/daemon.json";
	cleanup_free char *text = NULL;
	const cJSON *runtime;
	cJSON *document;

	*ret = (struct nfd_runtime_config){ .kind = NFD_RUNTIME_DOCKER };
	if (nfd_root_read_alloc(root, path, FILE_MAX, &text) < 0)
		return;
	copy(ret->path, sizeof(ret->path), path);
	document = cJSON_Parse(text);
	if (!document)
		snprintf(ret->error, sizeof(ret->error), "\"%s\" holds no JSON", path);
	runtime = nfd_json_get(nfd_json_get(document, "runtimes"), "nvidia");
	if (runtime) {
		ret->nvidia.is_there = true;
		copy(ret->nvidia.type, sizeof(ret->nvidia.type), "oci");
		copy(ret->nvidia.binary, sizeof(ret->nvidia.binary),
		     nfd_json_text(runtime, "path"));
		copy(ret->nvidia.path, sizeof(ret->nvidia.path), path);
	}
	copy(ret->default_runtime, sizeof(ret->default_runtime),
	     nfd_json_text(document, "default-runtime"));
	ret->is_cdi_on = nfd_json_is_true(nfd_json_get(document, "features"), "cdi");
	cJSON_Delete(document);
}
