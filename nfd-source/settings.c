// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the settings from their origins, one after the other: defaults, file, environment, options.
 */
#include "config.h"

#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/parse.h"
#include "settings_value.h"
#include "settings_yaml.h"

#define FILE_MAX (1024 * 1024)

/* A value given as one text: lists are joined by commas. */
static int set_joined(struct nfd_settings *settings, const struct nfd_setting *setting,
		      const char *text, const char *origin, struct nfd_error *err)
{
	const char *part[NFD_YAML_VALUES_MAX];
	cleanup_free char *copy = NULL;
	size_t count = 1;
	int r;

	part[0] = text;
	if (nfd_setting_is_list(setting)) {
		char *next = copy = strdup(text);

		if (!copy)
			return nfd_error_set(err, -ENOMEM, "out of memory");
		if (!*text)
			next = NULL;
		for (count = 0; next && count < NFD_ARRAY_SIZE(part); count++) {
			char *item = strsep(&next, ",");

			part[count] = nfd_trim(item);
		}
		if (next)
			return nfd_error_set(err, -EINVAL, "%s: more than %d values", setting->key,
					     NFD_YAML_VALUES_MAX);
	}
	r = nfd_setting_set(settings, setting, part, count, err);
	if (r < 0)
		return r;
	return nfd_replace_text(&settings->origin[nfd_settings_position(setting)], origin, err);
}

struct file_cookie {
	struct nfd_settings *settings;
	const char *name;
	struct nfd_strbuf passed_over;
	bool seen[NFD_SETTINGS_MAX];
};

/* "sources: all" is short for "sources: {mode: all}". */
static const struct nfd_setting *find_setting(const struct nfd_yaml_item *item)
{
	if (strcasecmp(item->key, "sources") == 0 && item->count == 1 && !item->is_list)
		return nfd_settings_find("sources.mode");
	return nfd_settings_find(item->key);
}

static int visit(void *data, const struct nfd_yaml_item *item, struct nfd_error *err)
{
	struct file_cookie *cookie = data;
	const struct nfd_setting *setting = find_setting(item);
	char origin[512];
	int r;

	if (nfd_settings_is_foreign(item->key)) {
		/* Without a value nothing is passed over. */
		if (item->count == 0 && !item->is_mapping && !item->is_odd)
			return NFD_YAML_DONE;
		nfd_strbuf_printf(&cookie->passed_over, "%s%s", cookie->passed_over.len ? " " : "",
				  item->key);
		if (strcasecmp(item->key, "sources.custom") == 0)
			cookie->settings->has_custom_rules = true;
		return NFD_YAML_DONE;
	}
	if (!setting && nfd_settings_is_section(item->key)) {
		if (item->is_mapping || (item->count == 0 && !item->is_list && !item->is_odd))
			return NFD_YAML_DESCEND;
		return nfd_error_set(err, -EINVAL, "%s: holds further keys, not a value",
				     item->key);
	}
	if (!setting)
		return nfd_settings_refuse_key(item->key, err);
	if (item->is_mapping || item->is_odd ||
	    item->is_list != (nfd_setting_is_list(setting) && item->is_list))
		return nfd_error_set(err, -EINVAL, "%s: takes %s", setting->key,
				     nfd_setting_is_list(setting) ? "a list of plain values" :
								    "one plain value");
	if (cookie->seen[nfd_settings_position(setting)])
		return nfd_error_set(err, -ENOKEY, "%s: is set twice", setting->key);
	cookie->seen[nfd_settings_position(setting)] = true;
	/* "key:" without a value leaves what is there, as in NFD. */
	if (item->count == 0 && !item->is_list)
		return NFD_YAML_DONE;
	r = nfd_setting_set(cookie->settings, setting, item->value, item->count, err);
	if (r < 0)
		return r;
	snprintf(origin, sizeof(origin), "%s:%zu:%zu", cookie->name, item->line, item->column);
	return nfd_replace_text(&cookie->settings->origin[nfd_settings_position(setting)], origin,
				err);
}

/* Reads the settings file; -ENOENT is told apart for the default path. */
static int read_file(const char *path, char **ret_text, size_t *ret_len, struct nfd_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	size_t len = 0;
	ssize_t n = fd < 0 ? -1 : 1;
	int code;

	if (n > 0) {
		text = malloc(FILE_MAX + 1);
		if (!text)
			return nfd_error_set(err, -ENOMEM, "out of memory");
	}
	while (n > 0 && len <= FILE_MAX) {
		n = read(fd, text + len, FILE_MAX + 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	code = n < 0 ? -errno : len > FILE_MAX ? -EFBIG : 0;
	if (code < 0)
		return nfd_error_set(err, code, "cannot read settings \"%s\": %s", path,
				     nfd_errno_text(code));
	*ret_text = TAKE_PTR(text);
	*ret_len = len;
	return 0;
}

static int load_file(struct nfd_settings *settings, const char *path, bool required,
		     struct nfd_error *err)
{
	struct file_cookie cookie = { .settings = settings, .name = path };
	cleanup_free char *text = NULL;
	size_t len = 0;
	int r;

	r = read_file(path, &text, &len, err);
	if (r == -ENOENT && !required)
		return 0;
	if (r < 0)
		return r;
	r = nfd_yaml_parse(text, len, path, visit, &cookie, err);
	if (r == 0)
		r = nfd_replace_text(&settings->passed_over, nfd_strbuf_text(&cookie.passed_over),
				     err);
	nfd_strbuf_done(&cookie.passed_over);
	return r;
}

const char *nfd_settings_origin(const struct nfd_settings *settings, const char *key)
{
	return settings->origin[nfd_settings_position(nfd_settings_find(key))];
}

void nfd_settings_variable(const struct nfd_setting *setting, char *ret, size_t size)
{
	size_t len = (size_t)snprintf(ret, size, NFD_SETTINGS_ENVIRONMENT);

	for (const char *c = setting->key; *c && len + 2 < size; c++) {
		if (*c >= 'A' && *c <= 'Z')
			ret[len++] = '_';
		ret[len++] = *c == '.'                ? '_' :
			     (*c >= 'a' && *c <= 'z') ? (char)(*c - 'a' + 'A') :
							*c;
	}
	ret[len] = '\0';
}

/* Most environments have no variable of ours, and names for all settings cost more than this look. */
static bool has_ours(char *const *environment)
{
	for (; environment && *environment; environment++)
		if (strncmp(*environment, NFD_SETTINGS_ENVIRONMENT,
			    strlen(NFD_SETTINGS_ENVIRONMENT)) == 0)
			return true;
	return false;
}

/* Other variables with our prefix mean nothing: a Service named nfd-source makes several. */
static int load_environment(struct nfd_settings *settings, char *const *environment,
			    struct nfd_error *err)
{
	const struct nfd_setting *table;
	char name[96], origin[128];
	const char *value;
	size_t count;
	int r;

	if (!has_ours(environment))
		return 0;
	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++) {
		nfd_settings_variable(&table[i], name, sizeof(name));
		value = nfd_environment_value(environment, name);
		if (!value)
			continue;
		snprintf(origin, sizeof(origin), "environment %s", name);
		r = set_joined(settings, &table[i], value, origin, err);
		if (r < 0) {
			nfd_error_wrap(err, "environment %s", name);
			return r;
		}
	}
	return 0;
}

static int load_overrides(struct nfd_settings *settings, const struct nfd_settings_sources *sources,
			  struct nfd_error *err)
{
	for (size_t i = 0; i < sources->override_count; i++) {
		const struct nfd_setting_override *override = &sources->override[i];
		const struct nfd_setting *setting = nfd_settings_find(override->key);
		char origin[64];
		int r;

		if (!setting) {
			r = nfd_settings_refuse_key(override->key, err);
		} else {
			snprintf(origin, sizeof(origin), "option %s", override->option);
			r = set_joined(settings, setting, override->value, origin, err);
		}
		if (r < 0) {
			nfd_error_wrap(err, "option %s", override->option);
			return r;
		}
	}
	return 0;
}

/* The host name is not always the node name (field case E1), so it comes last. */
static int find_node_name(struct nfd_settings *settings, char *const *environment,
			  struct nfd_error *err)
{
	const struct nfd_setting *setting = nfd_settings_find("core.nodeName");
	const char *value = nfd_environment_value(environment, "NODE_NAME");
	char name[256] = "";

	if (settings->core.node_name[0])
		return 0;
	if (value && *value)
		return set_joined(settings, setting, value, "environment NODE_NAME", err);
	if (gethostname(name, sizeof(name) - 1) < 0)
		return 0;
	for (char *c = name; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	/* A kernel without a host name says "(none)". */
	if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")])
		return 0;
	return set_joined(settings, setting, name, "host name", err);
}

static bool is_default(const struct nfd_settings *settings, const char *key)
{
	return strcmp(nfd_settings_origin(settings, key), "default") == 0;
}

/* How late the origin of a setting is read: none, file, environment, command line. */
static int lateness(const struct nfd_settings *settings, const char *key)
{
	const char *origin = nfd_settings_origin(settings, key);

	if (strncmp(origin, "option ", strlen("option ")) == 0)
		return 3;
	if (strncmp(origin, "environment ", strlen("environment ")) == 0)
		return 2;
	return !is_default(settings, key);
}

static int replace_origin(struct nfd_settings *settings, const char *key, const char *from,
			  struct nfd_error *err)
{
	char origin[600];

	snprintf(origin, sizeof(origin), "%s (%s)", from, nfd_settings_origin(settings, from));
	return nfd_replace_text(&settings->origin[nfd_settings_position(nfd_settings_find(key))],
				origin, err);
}

/* What one setting means for another. */
static int settle(struct nfd_settings *settings, struct nfd_error *err)
{
	int *mode = &settings->scan.vendor.labels[NFD_VENDOR_NFD], r = 0;

	if (!is_default(settings, "core.sources") &&
	    lateness(settings, "core.sources") >= lateness(settings, "core.labelSources")) {
		settings->scan.source.labels_off = settings->core.old_labels_off;
		r = replace_origin(settings, "core.labelSources", "core.sources", err);
	}
	if (r < 0 || settings->outputs.node_feature.mode != NFD_OBJECT_WORKER ||
	    *mode == NFD_VENDOR_ON)
		return r;
	/* In nfd-worker's place its labels are ours. */
	if (!is_default(settings, "sources.mode"))
		return nfd_error_set(err, -EINVAL,
				     "outputs.nodeFeature.mode is worker (%s), which needs "
				     "sources.mode: all, but it is %s (%s)",
				     nfd_settings_origin(settings, "outputs.nodeFeature.mode"),
				     *mode == NFD_VENDOR_AUTO ? "auto" : "own",
				     nfd_settings_origin(settings, "sources.mode"));
	*mode = NFD_VENDOR_ON;
	return replace_origin(settings, "sources.mode", "outputs.nodeFeature.mode", err);
}

int nfd_settings_load(struct nfd_settings *settings, const struct nfd_settings_sources *sources,
		      struct nfd_error *err)
{
	const struct nfd_setting *table;
	size_t count;
	int r;

	*settings = (struct nfd_settings){ 0 };
	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++) {
		r = set_joined(settings, &table[i], table[i].fallback, "default", err);
		if (r < 0)
			return r;
	}
	r = sources->file ? load_file(settings, sources->file, sources->file_required, err) : 0;
	if (r == 0)
		r = load_environment(settings, sources->environment, err);
	if (r == 0)
		r = load_overrides(settings, sources, err);
	if (r == 0)
		r = find_node_name(settings, sources->environment, err);
	if (r == 0)
		r = settle(settings, err);
	return r;
}

void nfd_settings_done(struct nfd_settings *settings)
{
	const struct nfd_setting *table;
	size_t count;

	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++) {
		nfd_setting_release(settings, &table[i]);
		free(settings->origin[i]);
	}
	free(settings->passed_over);
	*settings = (struct nfd_settings){ 0 };
}
