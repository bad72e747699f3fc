// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Search of libnvidia-ml.so and libcuda.so. The version is the ending of the resolved file's name;
 * nothing is executed or loaded.
 */
#include "config.h"

#include "scan/nvidia_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/ld_cache.h"

#define LD_CACHE_MAX (8 * 1024 * 1024)

static const char *const driver_roots[] = { "run/nvidia/driver", "" };

static const char *const dirs[] = {
	"",
	"usr/lib64",
	"usr/lib/x86_64-linux-gnu",
	"usr/lib/aarch64-linux-gnu",
	"usr/lib/x86_64-linux-gnu/nvidia/current",
	"usr/lib/aarch64-linux-gnu/nvidia/current",
	"lib64",
	"lib/x86_64-linux-gnu",
	"lib/aarch64-linux-gnu",
	/* Places of particular systems: GKE (COS, Ubuntu), containers, WSL2, Talos. */
	"home/kubernetes/bin/nvidia/lib64",
	"opt/nvidia/lib64",
	"usr/local/nvidia/lib64",
	"usr/lib/wsl/lib",
	"usr/local/glibc/usr/lib",
};

static const char *const names[] = { "libnvidia-ml.so", "libcuda.so" };

const char *const *nfd_nvidia_library_dirs(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(dirs);
	return dirs;
}

const char *const *nfd_nvidia_driver_roots(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(driver_roots);
	return driver_roots;
}

struct search {
	const struct nfd_root *root;
	const char *driver_root;
	struct nfd_nvidia_libraries *found;
};

/* "…/libnvidia-ml.so.580.126.09" gives "580.126.09"; a bare ".so.1" gives NULL. */
static const char *version_of(const char *path)
{
	const char *text = strstr(path, ".so.");
	size_t len, dots = 0;

	if (!text)
		return NULL;
	text += strlen(".so.");
	len = strspn(text, "0123456789.");
	for (size_t i = 0; i < len; i++)
		dots += text[i] == '.';
	if (text[len] || len == 0 || len >= NFD_NVIDIA_VERSION_SIZE || dots < 1 || dots > 2 ||
	    text[0] == '.' || text[len - 1] == '.' || strstr(text, ".."))
		return NULL;
	return text;
}

/* 1 for a 32-bit library: they lie beside the 64-bit ones in some layouts. Negative errno. */
static int is_32_bit(const struct nfd_root *root, const char *path)
{
	unsigned char start[5];
	ssize_t len;

	len = nfd_root_read_start(root, path, start, sizeof(start));
	if (len < 0)
		return (int)len;
	return len == (ssize_t)sizeof(start) && memcmp(start, "\177ELF", 4) == 0 && start[4] == 1;
}

static void add(struct search *search, const char *path)
{
	struct nfd_nvidia_libraries *found = search->found;
	const char *base = strrchr(path, '/');
	const char *version = version_of(base ? base + 1 : path);
	struct nfd_nvidia_library *library;

	if (!version || strlen(path) >= sizeof(library->path) ||
	    found->count == NFD_NVIDIA_LIBRARIES_MAX)
		return;
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->library[i].version, version) == 0)
			return;
	library = &found->library[found->count++];
	snprintf(library->version, sizeof(library->version), "%s", version);
	snprintf(library->path, sizeof(library->path), "%s", path);
}

static void note_error(struct search *search, const char *path, int code)
{
	if (nfd_root_is_absent(code) || search->found->error)
		return;
	search->found->error = code;
	snprintf(search->found->error_path, sizeof(search->found->error_path), "%s", path);
}

/* The file behind a link such as libnvidia-ml.so.1. Mostly there is none, so the open comes first. */
static void add_resolved(struct search *search, const char *path)
{
	char real[PATH_MAX];
	int r;

	r = is_32_bit(search->root, path);
	if (r == 0)
		r = nfd_root_resolve(search->root, path, real, sizeof(real));
	if (r < 0)
		note_error(search, path, r);
	if (r == 0)
		add(search, real);
}

static void join(const struct search *search, const char *dir, const char *name, char *ret,
		 size_t size)
{
	snprintf(ret, size, "%s%s%s%s%s", search->driver_root, search->driver_root[0] ? "/" : "",
		 dir, dir[0] ? "/" : "", name);
}

/* Versioned files that no link points to. */
static void search_folder(struct search *search, const char *dir)
{
	cleanup_names struct nfd_names entries = { 0 };
	char path[PATH_MAX];
	int r;

	join(search, dir, "", path, sizeof(path));
	if (path[0] && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = '\0';
	r = nfd_root_list(search->root, path[0] ? path : ".", &entries);
	if (r < 0)
		note_error(search, path, r);
	for (size_t i = 0; i < entries.count; i++)
		for (size_t n = 0; n < NFD_ARRAY_SIZE(names); n++)
			if (strncmp(entries.name[i], names[n], strlen(names[n])) == 0 &&
			    version_of(entries.name[i])) {
				join(search, dir, entries.name[i], path, sizeof(path));
				add_resolved(search, path);
			}
}

static void visit_cached(void *cookie, const char *cached)
{
	struct search *search = cookie;
	char path[PATH_MAX];

	if (cached[0] != '/')
		return;
	join(search, "", cached + 1, path, sizeof(path));
	add_resolved(search, path);
}

static void search_cache(struct search *search)
{
	cleanup_free char *data = NULL;
	char path[PATH_MAX];
	ssize_t len;

	join(search, "etc", "ld.so.cache", path, sizeof(path));
	len = nfd_root_read_alloc(search->root, path, LD_CACHE_MAX, &data);
	if (len < 0)
		note_error(search, path, (int)len);
	for (size_t n = 0; len > 0 && n < NFD_ARRAY_SIZE(names); n++)
		nfd_ld_cache_find(data, (size_t)len, names[n], visit_cached, search);
}

/* Links first, in every folder: the linker's own choice decides which version is in force. */
static void search_driver_root(struct search *search, bool deep)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < NFD_ARRAY_SIZE(dirs); i++) {
		join(search, dirs[i], "libnvidia-ml.so.1", path, sizeof(path));
		add_resolved(search, path);
	}
	if (!deep)
		return;
	search_cache(search);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(dirs); i++)
		search_folder(search, dirs[i]);
}

/* The folder that a person named decides, whatever lies elsewhere. */
static void search_only(struct search *search, const char *dir)
{
	char path[PATH_MAX];

	search->driver_root = "";
	dir += strspn(dir, "/");
	join(search, dir, "libnvidia-ml.so.1", path, sizeof(path));
	add_resolved(search, path);
	search_folder(search, dir);
}

void nfd_nvidia_libraries_find(const struct nfd_root *root, const char *dir, bool deep,
			       struct nfd_nvidia_libraries *ret)
{
	struct search search = { .root = root, .found = ret };
	int r;

	*ret = (struct nfd_nvidia_libraries){ 0 };
	if (dir && *dir) {
		search_only(&search, dir);
		return;
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(driver_roots); i++) {
		search.driver_root = driver_roots[i];
		/* An empty leftover folder is no driver root (field case J4). */
		r = driver_roots[i][0] ? nfd_root_exists(root, driver_roots[i]) : 1;
		if (r < 0)
			note_error(&search, driver_roots[i], r);
		if (r == 1)
			search_driver_root(&search, deep);
	}
}
