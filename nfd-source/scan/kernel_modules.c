// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads proc/modules and lib/modules/<release>/modules.builtin. A loaded module has '_' in its name
 * where the file of a built-in one may have '-': as in NFD both are told as they stand.
 */
#include "config.h"

#include "scan/kernel_modules.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/strbuf.h"
#include "scan/kernel.h"

#define FILE_MAX (1 << 20)

/* Names that point into the files' texts. */
struct names {
	const char **name; /* owned */
	size_t count;
};

static void names_done(struct names *names)
{
	free(names->name);
}

#define cleanup_module_names __attribute__((cleanup(names_done)))

static int add_name(struct names *names, const char *name)
{
	const char **bigger;

	if (!nfd_utf8_is_valid(name))
		return 0;
	/* The array doubles whenever the count reaches a power of two. */
	if ((names->count & (names->count - 1)) == 0) {
		bigger = realloc(names->name,
				 (names->count ? names->count * 2 : 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		names->name = bigger;
	}
	names->name[names->count++] = name;
	return 0;
}

/* "ice 1234 0 - Live 0x0": the first word. */
static const char *loaded_name(char *line)
{
	line[strcspn(line, " \t")] = '\0';
	return *line ? line : NULL;
}

/* "kernel/drivers/net/ethernet/intel/ice/ice.ko": the last part. */
static const char *builtin_name(char *line)
{
	char *name = nfd_trim(line), *slash = strrchr(name, '/');
	size_t len;

	name = slash ? slash + 1 : name;
	len = strlen(name);
	if (len <= 3 || strcmp(name + len - 3, ".ko") != 0)
		return NULL;
	name[len - 3] = '\0';
	return name;
}

/*
 * Adds the names that the lines of a file hold.
 * Return: 0; -ENOMEM; negative errno of the read.
 */
static int read_names(struct nfd_scan *scan, const char *path, const char *(*name_of)(char *line),
		      char **ret_text, struct names *names)
{
	ssize_t len = nfd_root_read_alloc(scan->root, path, FILE_MAX, ret_text);
	char *next = len < 0 ? NULL : *ret_text, *line;
	int r = len < 0 ? (int)len : 0;

	while (r == 0 && (line = strsep(&next, "\n"))) {
		const char *name = name_of(line);

		if (name)
			r = add_name(names, name);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_flags(struct nfd_scan *scan, const char *feature, struct names *names)
{
	size_t count = 0;

	if (names->count > 0)
		qsort(names->name, names->count, sizeof(*names->name), compare);
	for (size_t i = 0; i < names->count; i++)
		if (count == 0 || strcmp(names->name[count - 1], names->name[i]) != 0)
			names->name[count++] = names->name[i];
	names->count = count;
	nfd_scan_feature_set(scan, NFD_FLAGS, feature);
	nfd_scan_flags(scan, feature, names->name, count);
}

/* The names that are built in join the loaded ones. Return: as read_names(). */
static int read_builtin(struct nfd_scan *scan, char **ret_text, struct names *names)
{
	char release[NFD_KERNEL_RELEASE_SIZE], path[NFD_KERNEL_RELEASE_SIZE + 64];
	ssize_t len = nfd_kernel_release(scan->root, release);

	if (len < 0)
		return (int)len;
	snprintf(path, sizeof(path), "lib/modules/%s/modules.builtin", release);
	return read_names(scan, path, builtin_name, ret_text, names);
}

int nfd_kernel_modules_loaded(const struct nfd_root *root, const char *const *name, size_t count)
{
	cleanup_free char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, NFD_KERNEL_MODULES, FILE_MAX, &text);
	uint32_t missing = (UINT32_C(1) << count) - 1;
	char *next = text, *line;

	if (len < 0)
		return (int)len;
	while ((line = strsep(&next, "\n"))) {
		const char *loaded = loaded_name(line);

		for (size_t i = 0; loaded && i < count; i++)
			if (strcmp(loaded, name[i]) == 0)
				missing &= ~(UINT32_C(1) << i);
	}
	return missing == 0;
}

static void run(struct nfd_scan *scan)
{
	cleanup_free char *loaded = NULL, *builtin = NULL;
	cleanup_module_names struct names names = { 0 };
	int r;

	if (!scan->features)
		return;
	r = read_names(scan, NFD_KERNEL_MODULES, loaded_name, &loaded, &names);
	if (r == 0)
		add_flags(scan, "kernel.loadedmodule", &names);
	if (r != -ENOMEM)
		r = read_builtin(scan, &builtin, &names);
	if (r == 0)
		add_flags(scan, "kernel.enabledmodule", &names);
	if (r == -ENOMEM)
		scan->error = r;
}

static const char *const subsystems[] = { "module", NULL };
static const char *const prefixes[] = { NULL };
static const char *const features[] = { "kernel.loadedmodule", "kernel.enabledmodule", NULL };

const struct nfd_scanner nfd_kernel_modules_scanner = {
	.name = "kernel_modules",
	.summary = "kernel modules as raw features",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_KERNEL,
};
