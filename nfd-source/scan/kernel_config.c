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
		if (code == 0 && !nfd_root_is_absent((int)len)) {
			code = (int)len;
			memcpy(failed, config->path, sizeof(failed));
		}
	}
	if (code < 0)
		nfd_scan_failed(scan, PREFIX, failed, code);
}

/* Without branches: what comes next in a name is anybody's guess, also a processor's. */
static bool is_word(unsigned int c)
{
	return ((c | 0x20) - 'a' < 26) | (c - '0' < 10) | (c == '_');
}

/* As a number that compares as the bytes do. */
static uint64_t head_of(const char *name)
{
	uint64_t head = 0;

	for (int shift = 56; shift >= 0 && *name; shift -= 8)
		head |= (uint64_t)(unsigned char)*name++ << shift;
	return head;
}

/* Splits a line, whose NUL is at @end, in place. Returns whether it sets an option. */
static bool parse_line(char *line, char *end, struct nfd_kernel_option *ret)
{
	static const char head[] = "CONFIG_";
	char *name = line + strlen(head), *value;
	size_t len = 0;

	if (end <= name || memcmp(line, head, strlen(head)) != 0)
		return false;
	while (is_word((unsigned char)name[len]))
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
	ret->head = head_of(name);
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

/* The last of that name; NULL when it is not set. */
static const struct nfd_kernel_option *find_option(const struct config *config, const char *name)
{
	uint64_t head = head_of(name);

	for (size_t i = config->count; i > 0; i--)
		if (config->option[i - 1].head == head &&
		    strcmp(config->option[i - 1].name, name) == 0)
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

/* By name; of one name in the order of the file, in which the options lie. */
static int compare(const void *a, const void *b)
{
	const struct nfd_kernel_option *x = *(const struct nfd_kernel_option *const *)a;
	const struct nfd_kernel_option *y = *(const struct nfd_kernel_option *const *)b;
	int order = (x->head > y->head) - (x->head < y->head);

	if (order == 0)
		order = strcmp(x->name, y->name);
	return order ? order : (x > y) - (x < y);
}

/* Pointers, because a sort moves what it sorts a dozen times. Returns NULL when out of memory. */
static const struct nfd_kernel_option **sort_options(const struct config *config)
{
	const struct nfd_kernel_option **sorted = calloc(config->count + 1, sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < config->count; i++)
		sorted[i] = &config->option[i];
	qsort(sorted, config->count, sizeof(*sorted), compare);
	return sorted;
}

static void add_features(struct nfd_scan *scan, const struct config *config)
{
	cleanup_free const struct nfd_kernel_option **option = sort_options(config);
	cleanup_free struct nfd_attribute *attribute =
		calloc(config->count + 1, sizeof(*attribute));
	size_t count = 0;

	if (!option || !attribute) {
		scan->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < config->count; i++)
		if (!option[i + 1] || strcmp(option[i]->name, option[i + 1]->name) != 0)
			attribute[count++] =
				(struct nfd_attribute){ option[i]->name, option[i]->value };
	nfd_scan_attributes(scan, "kernel.config", attribute, count);
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
