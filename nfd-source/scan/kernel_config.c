// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the first configuration that is there, in NFD's order: the file of the settings,
 * proc/config.gz, then the places where distributions put it.
 */
#include "config.h"

#include "scan/kernel_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/backoff.h"
#include "base/gunzip.h"
#include "scan/kernel.h"

#define PREFIX NFD_F "kernel-config."
#define PATH_SIZE 1024
/* The largest that distributions have is some 300 KiB. */
#define TEXT_MAX (4 << 20)

/* Places of the configuration; the release of the kernel stands between the two parts. */
static const struct {
	const char *before;
	const char *after; /* NULL: @before is the whole path */
} places[] = {
	{ "proc/config.gz", NULL },
	{ "usr/src/linux-", "/.config" },
	{ "usr/src/linux-rt-", "/.config" },
	{ "usr/src/linux/.config", NULL },
	{ "usr/lib/modules/", "/config" },
	{ "usr/lib/ostree-boot/config-", "" },
	{ "usr/lib/kernel/config-", "" },
	{ "usr/src/linux-headers-", "/.config" },
	{ "lib/modules/", "/build/.config" },
	{ "usr/src/linux-rt-headers-", "/.config" },
	{ "boot/config-", "" },
};

/* A configuration that was found. */
struct config {
	char path[PATH_SIZE];             /* below the root */
	char *text;                       /* owned; NULL: none was found */
	struct nfd_kernel_option *option; /* array of @count, pointing into @text; owned */
	size_t count;
};

static void config_done(struct config *config)
{
	free(config->option);
	free(config->text);
}

#define cleanup_config __attribute__((cleanup(config_done)))

static bool is_packed(const char *path)
{
	size_t len = strlen(path);

	return len >= 3 && strcmp(path + len - 3, ".gz") == 0;
}

static ssize_t read_text(const struct nfd_root *root, const char *path, char **ret)
{
	cleanup_free char *packed = NULL;
	ssize_t len;

	if (!is_packed(path))
		return nfd_root_read_alloc(root, path, TEXT_MAX, ret);
	len = nfd_root_read_alloc(root, path, TEXT_MAX, &packed);
	return len < 0 ? len : nfd_gunzip(packed, (size_t)len, TEXT_MAX, ret);
}

/* The candidate at a position. Returns whether there is one, given what is known of the host. */
static bool make_path(const char *config_file, const char *release, size_t at, char path[PATH_SIZE])
{
	const char *before, *after;

	if (at == 0) {
		snprintf(path, PATH_SIZE, "%s", config_file + strspn(config_file, "/"));
		return path[0] != '\0';
	}
	before = places[at - 1].before;
	after = places[at - 1].after;
	if (!after)
		snprintf(path, PATH_SIZE, "%s", before);
	else if (release)
		snprintf(path, PATH_SIZE, "%s%s%s", before, release, after);
	return !after || release;
}

/*
 * Whether a failure to read is meant so: a unit with ProtectKernelModules= has in place of this folder one
 * without any right, and a link from boot/ may lead there. What lies in it is then as good as absent.
 */
static bool is_withheld(const struct nfd_root *root, int code)
{
	struct stat folder;

	return code == -EACCES && nfd_root_stat(root, "usr/lib/modules", &folder) == 0 &&
	       (folder.st_mode & 07777) == 0;
}

/* Fills path and text of the first that can be read; says what kept us from it when none can. */
static void find_config(struct nfd_scan *scan, struct config *config)
{
	const char *file = scan->options->kernel.config_file;
	char release[NFD_KERNEL_RELEASE_SIZE], failed[PATH_SIZE];
	bool has_release = nfd_kernel_release(scan->root, release) >= 0;
	int code = 0;

	for (size_t i = 0; i <= NFD_ARRAY_SIZE(places); i++) {
		ssize_t len;

		if (!make_path(file ? file : "", has_release ? release : NULL, i, config->path))
			continue;
		len = read_text(scan->root, config->path, &config->text);
		if (len >= 0)
			return;
		if (len == -ENOMEM)
			scan->error = -ENOMEM;
		if (code == 0 && !nfd_root_is_absent((int)len) &&
		    !is_withheld(scan->root, (int)len)) {
			code = (int)len;
			memcpy(failed, config->path, sizeof(failed));
		}
	}
	if (code < 0)
		nfd_scan_failed(scan, PREFIX, failed, code);
}

/* What names are made of: a table, as there are tens of thousands of bytes. */
static const bool word[256] = {
	['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true
};

/* Splits a line, whose NUL is at @end, in place. Returns whether it sets an option. */
static bool parse_line(char *line, char *end, struct nfd_kernel_option *ret)
{
	static const char head[] = "CONFIG_";
	char *name = line + strlen(head), *value;
	size_t len = 0;

	if (end <= name || memcmp(line, head, strlen(head)) != 0)
		return false;
	while (word[(unsigned char)name[len]])
		len++;
	if (len == 0 || name[len] != '=')
		return false;
	name[len] = '\0';
	value = name + len + 1;
	ret->is_enabled = end - value == 1 && (*value == 'y' || *value == 'm');
	while (*value == '"')
		value++;
	while (end > value && end[-1] == '"')
		*--end = '\0';
	ret->name = name;
	ret->value = value;
	ret->length = (uint32_t)len;
	return true;
}

ssize_t nfd_kernel_config_parse(char *text, struct nfd_kernel_option **ret)
{
	cleanup_free struct nfd_kernel_option *options = NULL;
	size_t count = 0;
	bool is_last = false;

	for (char *line = text, *end; !is_last; line = end + 1) {
		struct nfd_kernel_option option, *bigger;

		end = strchrnul(line, '\n');
		is_last = *end == '\0';
		*end = '\0';
		if (!parse_line(line, end, &option))
			continue;
		/* The array doubles whenever the count reaches a power of two. */
		if ((count & (count - 1)) == 0) {
			bigger = realloc(options, (count ? count * 2 : 1) * sizeof(*bigger));
			if (!bigger)
				return -ENOMEM;
			options = bigger;
		}
		options[count++] = option;
	}
	*ret = TAKE_PTR(options);
	return (ssize_t)count;
}

static bool is_named(const struct nfd_kernel_option *option, const char *name, size_t length)
{
	return option->length == length && memcmp(option->name, name, length) == 0;
}

/* The last of that name; NULL when it is not set. */
static const struct nfd_kernel_option *find_option(const struct config *config, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = config->count; i > 0; i--)
		if (is_named(&config->option[i - 1], name, length))
			return &config->option[i - 1];
	return NULL;
}

static void add_labels(struct nfd_scan *scan, const struct config *config)
{
	const struct nfd_texts *wanted = &scan->options->kernel.config_opts;
	struct nfd_finding finding = { .rank = NFD_RANK_NORMAL, .path = config->path };

	for (size_t i = 0; i < wanted->count; i++) {
		const struct nfd_kernel_option *option = find_option(config, wanted->text[i]);

		if (!option)
			continue;
		finding.value = option->is_enabled ? "true" : option->value;
		finding.detail = option->value;
		nfd_scan_label(scan, &finding, PREFIX "%s", option->name);
	}
}

/*
 * A hash of names, keyed anew each time: a file that was made to have them collide cannot know it. No name
 * of a kernel is there twice, but a rule could not read an object in which one is.
 */
struct names {
	uint32_t *slot; /* 1 + position in the attributes, 0 for none; array of @mask + 1; owned */
	size_t mask;
	uint64_t key;
};

static int names_init(struct names *names, size_t count)
{
	size_t size = 2;

	while (size < 2 * count)
		size *= 2;
	names->slot = calloc(size, sizeof(*names->slot));
	names->mask = size - 1;
	names->key = (uint64_t)nfd_random() << 32 | nfd_random() | 1;
	return names->slot ? 0 : -ENOMEM;
}

static uint64_t hash_of(const struct names *names, const struct nfd_kernel_option *option)
{
	uint64_t hash = option->length, part;
	size_t at = 0;

	for (; at + sizeof(part) <= option->length; at += sizeof(part)) {
		memcpy(&part, option->name + at, sizeof(part));
		hash = (hash ^ part) * names->key;
		hash ^= hash >> 32;
	}
	part = 0;
	memcpy(&part, option->name + at, option->length - at);
	hash = (hash ^ part) * names->key;
	return hash ^ hash >> 32;
}

/* Where an option of that name stands or is to stand. */
static uint32_t *slot_of(const struct names *names, const struct nfd_kernel_option *option,
			 const struct nfd_attribute *attribute)
{
	size_t at = hash_of(names, option) & names->mask;

	while (names->slot[at] && strcmp(attribute[names->slot[at] - 1].name, option->name) != 0)
		at = (at + 1) & names->mask;
	return &names->slot[at];
}

/* One attribute a name; the last value counts. Returns how many. */
static size_t take_options(const struct config *config, const struct names *names,
			   struct nfd_attribute *attribute)
{
	uint32_t count = 0;

	for (size_t i = 0; i < config->count; i++) {
		const struct nfd_kernel_option *option = &config->option[i];
		uint32_t *slot = slot_of(names, option, attribute);

		if (!*slot) {
			attribute[count].name = option->name;
			*slot = ++count;
		}
		attribute[*slot - 1].value = option->value;
	}
	return count;
}

static void add_features(struct nfd_scan *scan, const struct config *config)
{
	cleanup_free struct nfd_attribute *attribute =
		calloc(config->count + 1, sizeof(*attribute));
	struct names names;

	if (names_init(&names, config->count) < 0 || !attribute)
		scan->error = -ENOMEM;
	else
		nfd_scan_attributes(scan, "kernel.config", attribute,
				    take_options(config, &names, attribute));
	free(names.slot);
}

static void run(struct nfd_scan *scan)
{
	cleanup_config struct config config = { .text = NULL };
	ssize_t count;

	if (!scan->features && scan->options->kernel.config_opts.count == 0)
		return;
	find_config(scan, &config);
	if (!config.text)
		return;
	count = nfd_kernel_config_parse(config.text, &config.option);
	if (count < 0) {
		scan->error = (int)count;
		return;
	}
	config.count = (size_t)count;
	add_labels(scan, &config);
	if (scan->features)
		add_features(scan, &config);
}

static const char *const nothing[] = { NULL };
static const char *const prefixes[] = { PREFIX, NULL };
static const char *const features[] = { "kernel.config", NULL };

const struct nfd_scanner nfd_kernel_config_scanner = {
	.name = "kernel_config",
	.summary = "configuration of the kernel",
	.subsystems = nothing,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.vendor = NFD_VENDOR_NFD,
	.source = NFD_SOURCE_KERNEL,
};
