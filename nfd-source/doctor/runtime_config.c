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
#define GLOB_DEPTH_MAX 16

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

/* Adds a file to the list of what imports bring in; each file counts once, as containerd has it. */
static void add_import(struct nfd_runtime_config *config, const char *path)
{
	if (strcmp(path, config->path) == 0 || config->imported_count == NFD_RUNTIME_DROPINS_MAX)
		return;
	for (size_t i = 0; i < config->imported_count; i++)
		if (strcmp(config->imported[i], path) == 0)
			return;
	copy(config->imported[config->imported_count++], sizeof(config->imported[0]), path);
}

/*
 * The files that a pattern stands for, part by part as glob(3) does it, below the root. A '*' takes
 * hidden names too, as in Go.
 */
static void expand(const struct nfd_root *root, const char *done, const char *pattern,
		   struct nfd_runtime_config *config, int depth)
{
	size_t len = strcspn(pattern, "/");
	cleanup_names struct nfd_names names = { 0 };
	char part[256], path[512];

	if (len == 0 || len >= sizeof(part) || depth == GLOB_DEPTH_MAX ||
	    nfd_root_list(root, *done ? done : ".", &names) < 0)
		return;
	snprintf(part, sizeof(part), "%.*s", (int)len, pattern);
	for (size_t i = 0; i < names.count; i++) {
		if (fnmatch(part, names.name[i], 0) != 0)
			continue;
		snprintf(path, sizeof(path), "%.250s%s%.250s", done, *done ? "/" : "",
			 names.name[i]);
		if (pattern[len] == '/')
			expand(root, path, pattern + len + strspn(pattern + len, "/"), config,
			       depth + 1);
		else if (strlen(path) < sizeof(config->imported[0]))
			add_import(config, path);
	}
}

/* The patterns of a file's "imports": absolute, or from that file's folder. */
static void take_imports(const struct nfd_root *root, const char *path, const cJSON *document,
			 struct nfd_runtime_config *config)
{
	const char *base = strrchr(path, '/');
	int folder = base ? (int)(base - path) + 1 : 0;
	const cJSON *pattern;
	char whole[512];

	cJSON_ArrayForEach(pattern, nfd_json_get(document, "imports")) {
		const char *text = cJSON_IsString(pattern) ? pattern->valuestring : "";

		if (text[0] == '/')
			snprintf(whole, sizeof(whole), "%s", text + strspn(text, "/"));
		else
			snprintf(whole, sizeof(whole), "%.*s%s", folder, path, text);
		expand(root, "", whole, config, 0);
	}
}

static void take_import(const struct nfd_root *root, const char *path,
			struct nfd_runtime_config *config)
{
	cJSON *document = read_toml(root, path, config);
	/* One that states no version has that of the main file. */
	int version = cJSON_IsNumber(nfd_json_get(document, "version")) ? version_of(document) :
									  config->version;
	bool had = config->nvidia.is_there;

	if (!document)
		return;
	if (version > config->version) {
		copy(config->drop_in_newer, sizeof(config->drop_in_newer), path);
		config->drop_in_version = version;
	}
	take_section(section(document, version), path, version >= 3, config);
	if (had && !config->nvidia.is_there)
		copy(config->replaced_by, sizeof(config->replaced_by), path);
	take_imports(root, path, document, config);
	cJSON_Delete(document);
}

void nfd_containerd_read(const struct nfd_root *root, const char *path,
			 struct nfd_runtime_config *ret)
{
	cJSON *document;

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
	take_imports(root, path, document, ret);
	cJSON_Delete(document);
	/* The list grows meanwhile: imports of imports come behind, as in containerd's queue. */
	for (size_t i = 0; i < ret->imported_count; i++)
		take_import(root, ret->imported[i], ret);
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

#define K3S "var/lib/rancher/k3s/agent/"
#define RKE2 "var/lib/rancher/rke2/agent/"

/* Where a containerd keeps its configuration, the special ones first. */
static const struct {
	const char *path;
	const char *folder;   /* its presence means that this distribution is here */
	const char *template; /* what a person edits instead */
	const char *newer;    /* the same for a file of version 3; NULL for the same one */
} places[] = {
	{ K3S "etc/containerd/config.toml", K3S, "/" K3S "etc/containerd/config.toml.tmpl",
	  "/" K3S "etc/containerd/config-v3.toml.tmpl" },
	{ RKE2 "etc/containerd/config.toml", RKE2, "/" RKE2 "etc/containerd/config.toml.tmpl",
	  "/" RKE2 "etc/containerd/config-v3.toml.tmpl" },
	{ "var/snap/microk8s/current/args/containerd.toml", "var/snap/microk8s/current",
	  "/var/snap/microk8s/current/args/containerd-template.toml", NULL },
	{ "etc/k0s/containerd.toml", "etc/k0s", "/etc/k0s/containerd.d/", NULL },
	/* Talos. */
	{ "etc/cri/containerd.toml", "etc/cri", "/etc/cri/conf.d/20-customization.part", NULL },
	{ NFD_CONTAINERD_STOCK, "etc/containerd", NULL, NULL },
};

/* Reads the containerd of this node; false when there is no trace of one. */
static bool find_containerd(const struct nfd_root *root, const struct nfd_process *process,
			    struct nfd_runtime_config *ret)
{
	const char *told = process->config[0] == '/' ? process->config + 1 : NULL;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(places); i++) {
		if (told ? strcmp(told, places[i].path) != 0 :
			   nfd_root_exists(root, places[i].folder) <= 0)
			continue;
		nfd_containerd_read(root, places[i].path, ret);
		ret->template =
			ret->version >= 3 && places[i].newer ? places[i].newer : places[i].template;
		return true;
	}
	if (!told && !process->pid)
		return false;
	nfd_containerd_read(root, told ? told : NFD_CONTAINERD_STOCK, ret);
	return true;
}

void nfd_runtime_find(const struct nfd_root *root, const struct nfd_processes *processes,
		      struct nfd_runtime_config *ret)
{
	const struct nfd_process *process = processes->process;
	bool has_crio = nfd_root_exists(root, "etc/crio") > 0;

	*ret = (struct nfd_runtime_config){ 0 };
	if (process[NFD_PROCESS_CRIO].pid || (has_crio && !process[NFD_PROCESS_CONTAINERD].pid))
		nfd_crio_read(root, ret);
	else if (!find_containerd(root, &process[NFD_PROCESS_CONTAINERD], ret) &&
		 (nfd_root_exists(root, "etc/docker/daemon.json") > 0 ||
		  process[NFD_PROCESS_DOCKERD].pid))
		nfd_docker_read(root, ret);
}
