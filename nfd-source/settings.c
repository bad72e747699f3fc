// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of settings and the one way in which a text becomes a value, whatever its origin.
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

#include "base/parse.h"
#include "base/root.h"
#include "labels/filter.h"
#include "scan/pci.h"
#include "scan/usb.h"
#include "settings_yaml.h"

#define FILE_MAX (1024 * 1024)

static const char *const modes[] = { "auto", "on", "off", NULL };
static const char *const label_modes[] = { "fallback", "always", "off", NULL };
static const char *const groups[] = { "kernel", "udev", NULL };
static const char *const severities[] = { "warning", "critical", NULL };
static const char *const log_formats[] = { "text", "json", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug", NULL };

#define AT(field) offsetof(struct nfd_settings, field)
#define MS_SECOND INT64_C(1000)
#define MS_MINUTE (60 * MS_SECOND)
#define MS_HOUR (60 * MS_MINUTE)
#define MS_YEAR (366 * 24 * MS_HOUR)

/* clang-format off */
static const struct nfd_setting table[] = {
	{ .key = "core.sleepInterval", .type = NFD_SETTING_DURATION,
	  .offset = AT(core.sleep_interval_ms), .fallback = "5m", .min = 0, .max = MS_YEAR,
	  .help = "time between full scans; 0 or less: none, less than a second counts as 1s" },
	{ .key = "core.labelWhiteList", .type = NFD_SETTING_PATTERN,
	  .offset = AT(scan.label_white_list), .fallback = "",
	  .help = "regular expression that the part of a label key after / must match" },
	{ .key = "core.nodeName", .type = NFD_SETTING_TEXT, .offset = AT(core.node_name),
	  .fallback = "",
	  .help = "name of our Node; else $NODE_NAME, else the host name in lower case" },
	{ .key = "sources.pci.deviceClassWhitelist", .type = NFD_SETTING_CLASSES,
	  .offset = AT(scan.pci.class_white_list), .fallback = "02,03,0b40,12", .max = 4,
	  .help = "PCI classes that get labels, as prefixes of four hexadecimal digits" },
	{ .key = "sources.pci.deviceLabelFields", .type = NFD_SETTING_FIELDS,
	  .offset = AT(scan.pci.label_fields), .fallback = "class,vendor",
	  .choices = (const char *const[]){ "class", "vendor", "device", "subsystem_vendor",
					    "subsystem_device", NULL },
	  .help = "fields of the finer PCI label" },
	{ .key = "sources.usb.deviceClassWhitelist", .type = NFD_SETTING_CLASSES,
	  .offset = AT(scan.usb.class_white_list), .fallback = "0e,ef,fe,ff", .max = 2,
	  .help = "USB classes that get labels, as prefixes of two hexadecimal digits" },
	{ .key = "sources.usb.deviceLabelFields", .type = NFD_SETTING_FIELDS,
	  .offset = AT(scan.usb.label_fields), .fallback = "class,vendor,device",
	  .choices = (const char *const[]){ "class", "vendor", "device", "serial", NULL },
	  .help = "fields of the USB label" },
	{ .key = "outputs.featureFile.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(outputs.feature_file.mode), .fallback = "auto", .choices = modes,
	  .help = "write NFD's feature file; auto: when its directory exists" },
	{ .key = "outputs.featureFile.dir", .type = NFD_SETTING_TEXT,
	  .offset = AT(outputs.feature_file.dir), .fallback = NFD_FEATURES_D,
	  .help = "NFD's features.d, not below --root" },
	{ .key = "outputs.featureFile.name", .type = NFD_SETTING_NAME,
	  .offset = AT(outputs.feature_file.name), .fallback = "nfd-source",
	  .help = "name of our file in it" },
	{ .key = "outputs.featureFile.lifetime", .type = NFD_SETTING_DURATION,
	  .offset = AT(outputs.feature_file.lifetime_ms), .fallback = "1h",
	  .min = 0, .max = MS_YEAR,
	  .help = "labels of a dead writer expire after it, unknown facts are kept for it; 0: never" },
	{ .key = "outputs.nodeFeature.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(node_feature.mode), .fallback = "auto", .choices = modes, .unused = true,
	  .help = "publish a NodeFeature object" },
	{ .key = "outputs.nodeFeature.namespace", .type = NFD_SETTING_TEXT,
	  .offset = AT(node_feature.namespace), .fallback = "", .unused = true,
	  .help = "namespace of that object; else the pod's own" },
	{ .key = "outputs.nodeLabels.mode", .type = NFD_SETTING_CHOICE,
	  .offset = AT(node_labels.mode), .fallback = "fallback", .choices = label_modes,
	  .unused = true, .help = "patch labels onto our Node" },
	{ .key = "outputs.nodeLabels.after", .type = NFD_SETTING_DURATION,
	  .offset = AT(node_labels.after_ms), .fallback = "2m", .min = MS_SECOND, .max = MS_HOUR,
	  .unused = true, .help = "time that NFD has to bring a change to the Node" },
	{ .key = "outputs.nodeLabels.resync", .type = NFD_SETTING_DURATION,
	  .offset = AT(node_labels.resync_ms), .fallback = "10m", .min = MS_SECOND,
	  .max = MS_YEAR, .unused = true, .help = "time between checks of the Node" },
	{ .key = "api.kubeconfig", .type = NFD_SETTING_TEXT, .offset = AT(api.kubeconfig),
	  .fallback = "", .unused = true, .help = "kubeconfig with the credentials to use" },
	{ .key = "api.deadline", .type = NFD_SETTING_DURATION, .offset = AT(api.deadline_ms),
	  .fallback = "30s", .min = MS_SECOND, .max = MS_HOUR, .unused = true,
	  .help = "longest run of the API helper" },
	{ .key = "api.proxy", .type = NFD_SETTING_TEXT, .offset = AT(api.proxy), .fallback = "",
	  .unused = true, .help = "proxy URL for the API server" },
	{ .key = "watch.group", .type = NFD_SETTING_CHOICE, .offset = AT(watch.group),
	  .fallback = "kernel", .choices = groups, .unused = true,
	  .help = "group of uevents to listen to" },
	{ .key = "watch.removalDelay", .type = NFD_SETTING_DURATION,
	  .offset = AT(watch.removal_delay_ms), .fallback = "3s", .min = 0, .max = MS_HOUR,
	  .help = "time that a label stays after its device has gone" },
	{ .key = "status.path", .type = NFD_SETTING_TEXT, .offset = AT(status_path),
	  .fallback = "/run/nfd-source/status.json", .help = "file that the daemon keeps for status" },
	{ .key = "metrics.path", .type = NFD_SETTING_TEXT, .offset = AT(metrics_path),
	  .fallback = "", .unused = true,
	  .help = "file for node-exporter's textfile collector" },
	{ .key = "doctor.failOn", .type = NFD_SETTING_CHOICE, .offset = AT(fail_on),
	  .fallback = "critical", .choices = severities, .unused = true,
	  .help = "least severity that makes doctor exit with 1" },
	{ .key = "log.format", .type = NFD_SETTING_CHOICE, .offset = AT(log_format),
	  .fallback = "text", .choices = log_formats, .help = "form of log lines" },
	{ .key = "log.level", .type = NFD_SETTING_CHOICE, .offset = AT(log_level),
	  .fallback = "info", .choices = log_levels, .help = "least severe events to log" },
};
/* clang-format on */

_Static_assert(NFD_ARRAY_SIZE(table) <= NFD_SETTINGS_MAX, "origin array too small");

/* Keys of nfd-worker.conf for sources and mechanisms that we do not have (spec nfd.md 6.1). */
static const char *const foreign_keys[] = {
	"core.noPublish",      "core.featureSources", "core.labelSources",
	"core.sources",        "core.noPublishFeatures", "core.ownerRefs",
	"core.noOwnerRefs",    "core.klog",           "sources.cpu",
	"sources.kernel",      "sources.custom",      "sources.fake",
	"sources.local",       "sources.memory",      "sources.network",
	"sources.storage",     "sources.system",
};

const struct nfd_setting *nfd_settings_table(size_t *ret_count)
{
	*ret_count = NFD_ARRAY_SIZE(table);
	return table;
}

static void *field_of(struct nfd_settings *settings, const struct nfd_setting *setting)
{
	return (char *)settings + setting->offset;
}

static void free_texts(struct nfd_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->text[i]);
	free(texts->text);
	*texts = (struct nfd_texts){ 0 };
}

static int copy_texts(const char *const *text, size_t count, struct nfd_texts *ret)
{
	struct nfd_texts copy = { .text = calloc(count ? count : 1, sizeof(char *)) };

	if (!copy.text)
		return -ENOMEM;
	for (; copy.count < count; copy.count++) {
		copy.text[copy.count] = strdup(text[copy.count]);
		if (!copy.text[copy.count]) {
			free_texts(&copy);
			return -ENOMEM;
		}
	}
	free_texts(ret);
	*ret = copy;
	return 0;
}

static int replace_text(char **field, const char *text, struct nfd_error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	free(*field);
	*field = copy;
	return 0;
}

static bool has_control_bytes(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

static int set_text(const struct nfd_setting *setting, const char *text, char **field,
		    struct nfd_error *err)
{
	struct nfd_filter *filter = NULL;
	int r;

	if (has_control_bytes(text))
		return nfd_error_set(err, -EINVAL, "%s: control characters are not allowed",
				     setting->key);
	if (setting->type == NFD_SETTING_NAME &&
	    (!*text || *text == '.' || strchr(text, '/') || strlen(text) > 200))
		return nfd_error_set(err, -EINVAL,
				     "%s: \"%.100s\" is not allowed; allowed: a file name of 1 to "
				     "200 bytes without \"/\" that does not begin with a dot",
				     setting->key, text);
	if (setting->type == NFD_SETTING_PATTERN) {
		r = nfd_filter_new(text, &filter, err);
		nfd_filter_free(filter);
		if (r < 0) {
			nfd_error_wrap(err, "%s", setting->key);
			return r;
		}
	}
	return replace_text(field, text, err);
}

/* NFD takes a bare number as nanoseconds, which nobody means who writes 60. */
static int parse_duration(const char *text, int64_t *ret_ms)
{
	uint64_t ns;

	if (strcmp(text, "0") != 0 && nfd_parse_uint(text, INT64_MAX, &ns) == 0) {
		if (ns < 1000000000)
			return -EINVAL;
		*ret_ms = (int64_t)(ns / 1000000);
		return 0;
	}
	return nfd_parse_duration(text, ret_ms);
}

static int set_duration(const struct nfd_setting *setting, const char *text, int64_t *field,
			struct nfd_error *err)
{
	char min[NFD_DURATION_TEXT_SIZE], max[NFD_DURATION_TEXT_SIZE];
	bool is_interval = strcmp(setting->key, "core.sleepInterval") == 0;
	int64_t ms;

	if (parse_duration(text, &ms) < 0)
		return nfd_error_set(err, -EINVAL,
				     "%s: \"%.100s\" is no duration; allowed: numbers with unit, "
				     "such as 90s, 5m or 1h30m",
				     setting->key, text);
	/* As in NFD: none or negative is never, less than a second is a second. */
	if (is_interval && ms < 0)
		ms = 0;
	if (is_interval && ((ms > 0 && ms < 1000) || (ms == 0 && strpbrk(text, "123456789") &&
						     text[0] != '-')))
		ms = 1000;
	if (ms < setting->min || ms > setting->max) {
		nfd_format_duration(setting->min, min);
		nfd_format_duration(setting->max, max);
		return nfd_error_set(err, -ERANGE, "%s: \"%.100s\" is out of range; allowed: %s to %s",
				     setting->key, text, min, max);
	}
	*field = ms;
	return 0;
}

/* Position of a word in the choices, -1 when it is none of them. */
static int choice_index(const struct nfd_setting *setting, const char *text)
{
	for (int i = 0; setting->choices[i]; i++)
		if (strcmp(setting->choices[i], text) == 0)
			return i;
	return -1;
}

static int refuse_choice(const struct nfd_setting *setting, const char *text, struct nfd_error *err)
{
	char list[160] = "";
	size_t len = 0;

	for (size_t i = 0; setting->choices[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					setting->choices[i]);
	return nfd_error_set(err, -EINVAL, "%s: \"%.100s\" is not allowed; allowed: %s",
			     setting->key, text, list);
}

static int set_fields(const struct nfd_setting *setting, const char *const *text, size_t count,
		      unsigned int *field, struct nfd_error *err)
{
	unsigned int bits = 0;

	for (size_t i = 0; i < count; i++) {
		int at = choice_index(setting, text[i]);

		if (at < 0)
			return refuse_choice(setting, text[i], err);
		bits |= 1U << at;
	}
	if (bits == 0)
		return refuse_choice(setting, "", err);
	*field = bits;
	return 0;
}

static int set_classes(const struct nfd_setting *setting, const char *const *text, size_t count,
		       struct nfd_texts *field, struct nfd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(text[i]);

		if (strspn(text[i], "0123456789abcdefABCDEF") != len || len > (size_t)setting->max)
			return nfd_error_set(err, -EINVAL,
					     "%s: \"%.100s\" is no class; allowed: up to %d "
					     "hexadecimal digits, such as \"03\"",
					     setting->key, text[i], (int)setting->max);
	}
	if (copy_texts(text, count, field) < 0)
		return nfd_error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < field->count; i++)
		for (char *c = field->text[i]; *c; c++)
			if (*c >= 'A' && *c <= 'F')
				*c = (char)(*c - 'A' + 'a');
	return 0;
}

static bool is_list(const struct nfd_setting *setting)
{
	return setting->type == NFD_SETTING_CLASSES || setting->type == NFD_SETTING_FIELDS;
}

static int set_value(struct nfd_settings *settings, const struct nfd_setting *setting,
		     const char *const *text, size_t count, struct nfd_error *err)
{
	void *field = field_of(settings, setting);
	int at;

	if (setting->type == NFD_SETTING_FIELDS)
		return set_fields(setting, text, count, field, err);
	if (setting->type == NFD_SETTING_CLASSES)
		return set_classes(setting, text, count, field, err);
	if (count > 1)
		return nfd_error_set(err, -EINVAL, "%s: takes one value, not a list", setting->key);
	if (setting->type == NFD_SETTING_DURATION)
		return set_duration(setting, count ? text[0] : "", field, err);
	if (setting->type != NFD_SETTING_CHOICE)
		return set_text(setting, count ? text[0] : "", field, err);
	at = choice_index(setting, count ? text[0] : "");
	if (at < 0)
		return refuse_choice(setting, count ? text[0] : "", err);
	*(int *)field = at;
	return 0;
}

/* A value given as one text: lists are joined by commas. */
static int set_joined(struct nfd_settings *settings, const struct nfd_setting *setting,
		      const char *text, const char *origin, struct nfd_error *err)
{
	const char *part[NFD_YAML_VALUES_MAX] = { text };
	cleanup_free char *copy = NULL;
	size_t count = 1;
	int r;

	if (is_list(setting)) {
		char *next = copy = strdup(text);

		if (!copy)
			return nfd_error_set(err, -ENOMEM, "out of memory");
		for (count = 0; next && *text && count < NFD_ARRAY_SIZE(part); count++) {
			char *item = strsep(&next, ",");

			part[count] = nfd_trim(item);
		}
		if (next)
			return nfd_error_set(err, -EINVAL, "%s: more than %d values", setting->key,
					     NFD_YAML_VALUES_MAX);
	}
	r = set_value(settings, setting, part, count, err);
	if (r < 0)
		return r;
	return replace_text(&settings->origin[setting - table], origin, err);
}

static const struct nfd_setting *find_setting(const char *key)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++)
		if (strcasecmp(table[i].key, key) == 0)
			return &table[i];
	return NULL;
}

static bool is_section(const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++)
		if (strncasecmp(table[i].key, key, len) == 0 && table[i].key[len] == '.')
			return true;
	return false;
}

static bool is_foreign(const char *key)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(foreign_keys); i++)
		if (strcasecmp(foreign_keys[i], key) == 0)
			return true;
	return false;
}

/* Names what may stand where an unknown key stands: the keys of the same section. */
static int refuse_key(const char *key, struct nfd_error *err)
{
	const char *dot = strrchr(key, '.');
	size_t len = dot ? (size_t)(dot - key) + 1 : 0;
	char list[400] = "";
	size_t used = 0;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(table) && used < sizeof(list); i++) {
		const char *name = table[i].key + len;
		int name_len = (int)strcspn(name, ".");

		if (strncasecmp(table[i].key, key, len) != 0 ||
		    (i && strncmp(table[i - 1].key, table[i].key, len + (size_t)name_len) == 0))
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.*s",
					 used ? ", " : "", name_len, name);
	}
	return nfd_error_set(err, -ENOKEY, "unknown key \"%.100s\"; allowed here: %s", key, list);
}

struct file_cookie {
	struct nfd_settings *settings;
	const char *name;
	struct nfd_strbuf passed_over;
	bool seen[NFD_SETTINGS_MAX];
};

static int visit(void *data, const struct nfd_yaml_item *item, struct nfd_error *err)
{
	struct file_cookie *cookie = data;
	const struct nfd_setting *setting = find_setting(item->key);
	char origin[512];
	int r;

	if (is_foreign(item->key)) {
		nfd_strbuf_printf(&cookie->passed_over, "%s%s", cookie->passed_over.len ? " " : "",
				  item->key);
		return NFD_YAML_DONE;
	}
	if (!setting && is_section(item->key)) {
		if (item->is_mapping || (item->count == 0 && !item->is_list && !item->is_odd))
			return NFD_YAML_DESCEND;
		return nfd_error_set(err, -EINVAL, "%s: holds further keys, not a value", item->key);
	}
	if (!setting)
		return refuse_key(item->key, err);
	if (item->is_mapping || item->is_odd || item->is_list != (is_list(setting) && item->is_list))
		return nfd_error_set(err, -EINVAL, "%s: takes %s", setting->key,
				     is_list(setting) ? "a list of plain values" : "one plain value");
	if (cookie->seen[setting - table])
		return nfd_error_set(err, -ENOKEY, "%s: is set twice", setting->key);
	cookie->seen[setting - table] = true;
	/* "key:" without a value leaves what is there, as in NFD. */
	if (item->count == 0 && !item->is_list)
		return NFD_YAML_DONE;
	r = set_value(cookie->settings, setting, item->value, item->count, err);
	if (r < 0)
		return r;
	snprintf(origin, sizeof(origin), "%s:%zu:%zu", cookie->name, item->line, item->column);
	return replace_text(&cookie->settings->origin[setting - table], origin, err);
}

/* Reads the settings file; -ENOENT is told apart for the default path. */
static int read_file(const char *path, char **ret_text, size_t *ret_len, struct nfd_error *err)
{
	cleanup_free char *text = malloc(FILE_MAX + 1);
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = fd < 0 ? -1 : 1;
	int code;

	if (!text)
		return nfd_error_set(err, -ENOMEM, "out of memory");
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
		r = replace_text(&settings->passed_over, nfd_strbuf_text(&cookie.passed_over), err);
	nfd_strbuf_done(&cookie.passed_over);
	return r;
}

void nfd_settings_variable(const struct nfd_setting *setting, char *ret, size_t size)
{
	size_t len = (size_t)snprintf(ret, size, NFD_SETTINGS_ENVIRONMENT);

	for (const char *c = setting->key; *c && len + 2 < size; c++) {
		if (*c >= 'A' && *c <= 'Z')
			ret[len++] = '_';
		ret[len++] = *c == '.' ? '_' : (*c >= 'a' && *c <= 'z') ? (char)(*c - 'a' + 'A') : *c;
	}
	ret[len] = '\0';
}

/* Value of a variable in the environment, NULL when it is not set. */
static const char *variable_value(char *const *environment, const char *name)
{
	size_t len = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
			return *environment + len + 1;
	return NULL;
}

/* Other variables with our prefix mean nothing: a Service named nfd-source makes several. */
static int load_environment(struct nfd_settings *settings, char *const *environment,
			    struct nfd_error *err)
{
	char name[96], origin[128];
	const char *value;
	int r;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++) {
		nfd_settings_variable(&table[i], name, sizeof(name));
		value = variable_value(environment, name);
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
		const struct nfd_setting *setting = find_setting(override->key);
		char origin[64];
		int r;

		if (!setting) {
			r = refuse_key(override->key, err);
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
	const struct nfd_setting *setting = find_setting("core.nodeName");
	const char *value = variable_value(environment, "NODE_NAME");
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
	return set_joined(settings, setting, name, "host name", err);
}

int nfd_settings_load(struct nfd_settings *settings, const struct nfd_settings_sources *sources,
		      struct nfd_error *err)
{
	int r;

	*settings = (struct nfd_settings){ 0 };
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++) {
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
	return r;
}

void nfd_settings_done(struct nfd_settings *settings)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(table); i++) {
		void *field = field_of(settings, &table[i]);

		if (table[i].type == NFD_SETTING_CLASSES)
			free_texts(field);
		else if (table[i].type <= NFD_SETTING_PATTERN)
			free(*(char **)field);
		free(settings->origin[i]);
	}
	free(settings->passed_over);
	*settings = (struct nfd_settings){ 0 };
}

static void format_fields(const struct nfd_setting *setting, unsigned int bits,
			  struct nfd_strbuf *buf)
{
	bool first = true;

	for (unsigned int i = 0; setting->choices[i]; i++) {
		if (!(bits & 1U << i))
			continue;
		nfd_strbuf_printf(buf, "%s%s", first ? "" : ",", setting->choices[i]);
		first = false;
	}
}

void nfd_settings_format(const struct nfd_settings *settings, const struct nfd_setting *setting,
			 struct nfd_strbuf *buf)
{
	const void *field = (const char *)settings + setting->offset;
	const struct nfd_texts *texts = field;
	char duration[NFD_DURATION_TEXT_SIZE];

	switch (setting->type) {
	case NFD_SETTING_TEXT:
	case NFD_SETTING_NAME:
	case NFD_SETTING_PATTERN:
		nfd_strbuf_puts(buf, *(char *const *)field);
		break;
	case NFD_SETTING_DURATION:
		nfd_format_duration(*(const int64_t *)field, duration);
		nfd_strbuf_puts(buf, duration);
		break;
	case NFD_SETTING_CHOICE:
		nfd_strbuf_puts(buf, setting->choices[*(const int *)field]);
		break;
	case NFD_SETTING_CLASSES:
		for (size_t i = 0; i < texts->count; i++)
			nfd_strbuf_printf(buf, "%s%s", i ? "," : "", texts->text[i]);
		break;
	case NFD_SETTING_FIELDS:
		format_fields(setting, *(const unsigned int *)field, buf);
		break;
	}
}
