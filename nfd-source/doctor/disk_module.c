// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modules.dep has one line a module, "path: dependencies". A compressed module is found but not read:
 * its version is then unknown.
 */
#include "config.h"

#include "doctor/disk_module.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEP_MAX (8 * 1024 * 1024)
#define MODULE_MAX (256 * 1024 * 1024)

/* Path of the nvidia module in a modules.dep, NUL-terminated in place; NULL for none. */
static const char *find_line(char *text)
{
	static const char *const ends[] = { "/nvidia.ko", "/nvidia.ko.zst", "/nvidia.ko.xz",
					    "/nvidia.ko.gz" };
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		size_t len = strcspn(line, ":");

		line[len] = '\0';
		for (size_t i = 0; i < NFD_ARRAY_SIZE(ends); i++)
			if (len >= strlen(ends[i]) &&
			    strcmp(line + len - strlen(ends[i]), ends[i]) == 0)
				return line;
	}
	return NULL;
}

static bool find_in(const struct nfd_root *root, const char *release, char *ret, size_t size,
		    int *ret_error)
{
	cleanup_free char *text = NULL;
	const char *line;
	char path[320];
	ssize_t len;

	snprintf(path, sizeof(path), "lib/modules/%s/modules.dep", release);
	len = nfd_root_read_alloc(root, path, DEP_MAX, &text);
	*ret_error = len < 0 ? (int)len : 0;
	line = len < 0 ? NULL : find_line(text);
	if (line)
		snprintf(ret, size, "lib/modules/%s/%s", release, line);
	return line != NULL;
}

static void find_other(const struct nfd_root *root, const char *release,
		       struct nfd_disk_module *ret)
{
	cleanup_names struct nfd_names names = { 0 };
	char path[512];
	int error;

	if (nfd_root_list(root, "lib/modules", &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (strcmp(names.name[i], release) != 0 &&
		    find_in(root, names.name[i], path, sizeof(path), &error))
			snprintf(ret->other_kernel, sizeof(ret->other_kernel), "%s", names.name[i]);
}

/* Offset and size of a section; false when it is outside of the file. */
static bool section(const char *data, size_t size, const Elf64_Ehdr *head, uint16_t at,
		    Elf64_Shdr *ret)
{
	uint64_t offset = head->e_shoff + (uint64_t)at * sizeof(*ret);

	if (head->e_shoff > size || offset + sizeof(*ret) > size)
		return false;
	memcpy(ret, data + offset, sizeof(*ret));
	return ret->sh_offset <= size && ret->sh_size <= size - ret->sh_offset;
}

static void find_version(const char *text, size_t size, char ret[NFD_NVIDIA_VERSION_SIZE])
{
	static const char key[] = "version=";
	const char *end = text + size;

	while (text < end) {
		size_t len = strnlen(text, (size_t)(end - text));

		if (len > strlen(key) && memcmp(text, key, strlen(key)) == 0 &&
		    len - strlen(key) < NFD_NVIDIA_VERSION_SIZE) {
			memcpy(ret, text + strlen(key), len - strlen(key));
			ret[len - strlen(key)] = '\0';
			return;
		}
		text += len + 1;
	}
}

void nfd_modinfo_version(const char *data, size_t size, char ret[NFD_NVIDIA_VERSION_SIZE])
{
	static const char name[] = ".modinfo";
	Elf64_Shdr names, candidate;
	Elf64_Ehdr head;

	ret[0] = '\0';
	if (size < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(names) || head.e_shstrndx >= head.e_shnum ||
	    !section(data, size, &head, head.e_shstrndx, &names))
		return;
	for (uint16_t i = 0; i < head.e_shnum; i++) {
		if (!section(data, size, &head, i, &candidate) ||
		    candidate.sh_name >= names.sh_size ||
		    names.sh_size - candidate.sh_name < sizeof(name) ||
		    memcmp(data + names.sh_offset + candidate.sh_name, name, sizeof(name)) != 0)
			continue;
		find_version(data + candidate.sh_offset, candidate.sh_size, ret);
		return;
	}
}

void nfd_disk_module_find(const struct nfd_root *root, const char *release,
			  struct nfd_disk_module *ret)
{
	cleanup_free char *data = NULL;
	ssize_t len;

	*ret = (struct nfd_disk_module){ 0 };
	if (!release[0])
		return;
	ret->is_there = find_in(root, release, ret->path, sizeof(ret->path), &ret->error);
	if (!ret->is_there) {
		find_other(root, release, ret);
		return;
	}
	len = nfd_root_read_alloc(root, ret->path, MODULE_MAX, &data);
	if (len > 0)
		nfd_modinfo_version(data, (size_t)len, ret->version);
}
