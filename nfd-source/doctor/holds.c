// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One function a file format; each adds rules. A package is held when any rule is about it.
 */
#include "config.h"

#include "doctor/holds.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"
#include "doctor/toml.h"
#include "labels/filter.h"

#define FILE_MAX (1024 * 1024)

static void add(struct nfd_holds *holds, enum nfd_hold_kind kind, const char *pattern,
		const char *path)
{
	struct nfd_hold_rule *rule = &holds->rule[holds->count];

	if (holds->count == NFD_HOLD_RULES_MAX || !*pattern)
		return;
	holds->count++;
	*rule = (struct nfd_hold_rule){ .kind = kind, .automatic_only = kind == NFD_HOLD_START };
	snprintf(rule->pattern, sizeof(rule->pattern), "%s", pattern);
	snprintf(rule->path, sizeof(rule->path), "%s", path);
}

/* Content of a file; NULL when there is none, or it cannot be read (noted). */
static char *read_text(const struct nfd_root *root, const char *path, struct nfd_holds *holds)
{
	char *text = NULL;
	ssize_t len = nfd_root_read_alloc(root, path, FILE_MAX, &text);

	if (len < 0 && !nfd_root_is_absent((int)len) && !holds->error) {
		holds->error = (int)len;
		snprintf(holds->error_path, sizeof(holds->error_path), "%s", path);
	}
	return text;
}

/* Python's expressions of unattended-upgrades and apt's POSIX ones are the same to PCRE2 here. */
static bool expression_matches(const struct nfd_hold_rule *rule, const char *package)
{
	char pattern[sizeof(rule->pattern) + 8];
	struct nfd_filter *filter = NULL;
	bool matches;

	snprintf(pattern, sizeof(pattern), rule->kind == NFD_HOLD_START ? "^(?:%s)" : "%s",
		 rule->pattern);
	/* One that is no expression holds nothing, as for the package manager. */
	if (nfd_filter_new(pattern, &filter, NULL) < 0)
		return false;
	matches = nfd_filter_passes(filter, package);
	nfd_filter_free(filter);
	return matches;
}

bool nfd_hold_matches(const struct nfd_hold_rule *rule, const char *package)
{
	if (rule->kind == NFD_HOLD_GLOB)
		return fnmatch(rule->pattern, package, 0) == 0;
	if (rule->kind == NFD_HOLD_PART)
		return strstr(package, rule->pattern) != NULL;
	return expression_matches(rule, package);
}

const struct nfd_hold_rule *nfd_holds_find(const struct nfd_holds *holds, const char *package)
{
	for (size_t i = 0; i < holds->count; i++)
		if (nfd_hold_matches(&holds->rule[i], package))
			return &holds->rule[i];
	return NULL;
}

void nfd_holds_list_free(const struct nfd_holds *holds, const struct nfd_packages *packages,
			 struct nfd_strbuf *buf)
{
	for (size_t i = 0; i < packages->count; i++) {
		const struct nfd_package *package = &packages->package[i];

		if (!package->is_coupled || package->is_held ||
		    nfd_holds_find(holds, package->name))
			continue;
		nfd_strbuf_puts(buf, buf->len ? " " : "");
		nfd_strbuf_put_word(buf, package->name);
	}
}

/* One stanza of apt's preferences. */
struct preference {
	const char *packages, *pin;
	long priority;
};

/* A pin that no newer version of a package gets past; those of the distribution are its origin. */
static bool is_everything(const char *pin)
{
	static const char *const pins[] = { "release *", "version *", "release o=Ubuntu",
					    "release o=Debian" };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(pins); i++)
		if (strcasecmp(pin, pins[i]) == 0)
			return true;
	return false;
}

/*
 * A version pin above 500 keeps a package at that version. A priority below 0 keeps it out, but only
 * when it is about every version: another release or version may still come.
 */
static void take_preference(struct nfd_holds *holds, const struct preference *stanza,
			    const char *path)
{
	char list[1024], *rest = list, *word;
	bool is_version = strncmp(stanza->pin, "version ", 8) == 0;

	if (!(is_version && stanza->priority > 500) &&
	    !(is_everything(stanza->pin) && stanza->priority < 0))
		return;
	snprintf(list, sizeof(list), "%s", stanza->packages);
	while ((word = strsep(&rest, " \t")) != NULL) {
		size_t len = strlen(word);

		if (len > 2 && word[0] == '/' && word[len - 1] == '/') {
			word[len - 1] = '\0';
			add(holds, NFD_HOLD_REGEX, word + 1, path);
		} else {
			add(holds, NFD_HOLD_GLOB, word, path);
		}
	}
}

static void read_preferences(const struct nfd_root *root, const char *path, struct nfd_holds *holds)
{
	static const struct preference empty = { .packages = "", .pin = "" };
	cleanup_free char *text = read_text(root, path, holds);
	struct preference stanza = empty;
	char *rest = text, *line;

	while (text && (line = strsep(&rest, "\n")) != NULL) {
		if (strncasecmp(line, "Package:", 8) == 0) {
			stanza.packages = nfd_trim(line + 8);
		} else if (strncasecmp(line, "Pin:", 4) == 0) {
			stanza.pin = nfd_trim(line + 4);
		} else if (strncasecmp(line, "Pin-Priority:", 13) == 0) {
			stanza.priority = strtol(line + 13, NULL, 10);
		} else if (!*nfd_trim(line)) {
			take_preference(holds, &stanza, path);
			stanza = empty;
		}
	}
	take_preference(holds, &stanza, path);
}

static void read_all_preferences(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char folder[] = "etc/apt/preferences.d";
	cleanup_names struct nfd_names names = { 0 };
	char path[320];

	read_preferences(root, "etc/apt/preferences", holds);
	if (nfd_root_list(root, folder, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *dot = strrchr(names.name[i], '.');

		if (names.name[i][0] == '.' || (dot && strcmp(dot, ".pref") != 0))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names.name[i]);
		read_preferences(root, path, holds);
	}
}

/* Whether apt's daily timer runs; without a trace of systemd's timers it is taken to. */
static bool is_timer_on(const struct nfd_root *root)
{
	static const char mask[] = "etc/systemd/system/apt-daily-upgrade.timer";
	char target[64];

	return nfd_root_read_link(root, mask, target, sizeof(target)) < 0 ||
	       strcmp(target, "null") != 0;
}

static void list_origins(const struct nfd_apt_config *config, struct nfd_holds *holds)
{
	static const char *const keys[] = { "Unattended-Upgrade::Allowed-Origins",
					    "Unattended-Upgrade::Origins-Pattern" };
	size_t used = 0;

	for (size_t k = 0; k < NFD_ARRAY_SIZE(keys); k++) {
		const char *value;
		size_t cursor = 0;

		while ((value = nfd_apt_config_next(config, keys[k], &cursor)) != NULL &&
		       used < sizeof(holds->origins))
			used += (size_t)snprintf(holds->origins + used,
						 sizeof(holds->origins) - used, "%s%s",
						 used ? ", " : "", value);
	}
}

static int read_apt(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char key[] = "APT::Periodic::Unattended-Upgrade";
	static const char list[] = "Unattended-Upgrade::Package-Blacklist";
	struct nfd_apt_config config;
	const char *value;
	size_t cursor = 0;
	int r = nfd_apt_config_read(root, &config);

	if (r == 0) {
		value = nfd_apt_config_get(&config, key, "0");
		holds->is_automatic =
			strcmp(value, "0") != 0 && is_timer_on(root) &&
			strcmp(nfd_apt_config_get(&config, "APT::Periodic::Enable", "1"), "0") != 0;
		if (holds->is_automatic) {
			snprintf(holds->automatic, sizeof(holds->automatic), "etc/apt/apt.conf.d");
			snprintf(holds->automatic_value, sizeof(holds->automatic_value),
				 "%s \"%s\"", key, value);
			list_origins(&config, holds);
		}
		while ((value = nfd_apt_config_next(&config, list, &cursor)) != NULL)
			add(holds, NFD_HOLD_START, value, "etc/apt/apt.conf.d");
		if (config.error && !holds->error)
			holds->error = config.error;
	}
	nfd_apt_config_done(&config);
	return r;
}

/* The name in "[!]name-[epoch:]version-release.arch"; '!' excludes instead. */
static void take_versionlock(struct nfd_holds *holds, char *line, const char *path)
{
	char *cut;

	line = nfd_trim(line);
	if (!*line || *line == '#')
		return;
	line += *line == '!';
	/* Version and release are the last two parts. */
	for (int i = 0; i < 2; i++) {
		cut = strrchr(line, '-');
		if (cut)
			*cut = '\0';
	}
	add(holds, NFD_HOLD_GLOB, line, path);
}

/* Value of "key = value" in an ini line; NULL for another line. */
static char *ini_value(char *line, const char *key)
{
	size_t len = strlen(key);

	line = nfd_trim(line);
	if (strncmp(line, key, len) != 0)
		return NULL;
	line += len + strspn(line + len, " \t");
	return *line == '=' ? nfd_trim(line + 1) : NULL;
}

/* The value of a key in an ini file is 0, false or no. */
static bool is_switched_off(const struct nfd_root *root, const char *path, const char *key,
			    struct nfd_holds *holds)
{
	static const char *const words[] = { "0", "false", "False", "no" };
	cleanup_free char *text = read_text(root, path, holds);
	char *rest = text, *line;
	bool off = false;

	while (text && (line = strsep(&rest, "\n")) != NULL) {
		const char *value = ini_value(line, key);

		for (size_t i = 0; value && i < NFD_ARRAY_SIZE(words); i++)
			off |= strcmp(value, words[i]) == 0;
	}
	return off;
}

static void read_versionlock(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const struct {
		const char *list, *plugin;
	} files[] = {
		{ "etc/dnf/plugins/versionlock.list", "etc/dnf/plugins/versionlock.conf" },
		{ "etc/yum/pluginconf.d/versionlock.list",
		  "etc/yum/pluginconf.d/versionlock.conf" },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(files); i++) {
		cleanup_free char *text = read_text(root, files[i].list, holds);
		char *rest = text, *line;

		if (is_switched_off(root, files[i].plugin, "enabled", holds))
			continue;
		while (text && (line = strsep(&rest, "\n")) != NULL)
			take_versionlock(holds, line, files[i].list);
	}
}

/* [[packages]] name = "…" of dnf 5. */
static void read_dnf5(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char path[] = "etc/dnf/versionlock.toml";
	cleanup_free char *text = read_text(root, path, holds);
	cJSON *document = NULL;
	const cJSON *entry;

	if (!text || nfd_toml_parse(text, path, &document, NULL) < 0)
		return;
	cJSON_ArrayForEach(entry, nfd_json_get(document, "packages"))
		add(holds, NFD_HOLD_GLOB, nfd_json_text(entry, "name"), path);
	cJSON_Delete(document);
}

/* excludepkgs= of the main files and of each repository: patterns by blanks or commas. */
static void take_excludes(struct nfd_holds *holds, char *value, const char *path)
{
	char *word;

	while ((word = strsep(&value, " ,\t")) != NULL)
		add(holds, NFD_HOLD_GLOB, word, path);
}

static void read_excludes(const struct nfd_root *root, const char *path, struct nfd_holds *holds)
{
	static const char *const keys[] = { "excludepkgs", "exclude" };
	cleanup_free char *text = read_text(root, path, holds);
	char *rest = text, *line;
	bool goes_on = false;

	while (text && (line = strsep(&rest, "\n")) != NULL) {
		char *value = NULL;

		/* A line that begins with a blank goes on with the value before it. */
		if (*line == ' ' || *line == '\t') {
			value = goes_on ? nfd_trim(line) : NULL;
		} else {
			for (size_t i = 0; !value && i < NFD_ARRAY_SIZE(keys); i++)
				value = ini_value(line, keys[i]);
			goes_on = value != NULL;
		}
		take_excludes(holds, value, path);
	}
}

static void read_all_excludes(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char folder[] = "etc/yum.repos.d";
	cleanup_names struct nfd_names names = { 0 };
	char path[320];

	read_excludes(root, "etc/dnf/dnf.conf", holds);
	read_excludes(root, "etc/yum.conf", holds);
	if (nfd_root_list(root, folder, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		if (fnmatch("*.repo", names.name[i], FNM_PERIOD) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names.name[i]);
		read_excludes(root, path, holds);
	}
}

/* dnf-automatic upgrades when its timer is on and it is told to apply what it finds. */
static void read_dnf_automatic(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char folder[] = "etc/systemd/system/timers.target.wants";
	static const char path[] = "etc/dnf/automatic.conf";
	cleanup_names struct nfd_names names = { 0 };
	cleanup_free char *text = read_text(root, path, holds);
	char *rest = text, *line;
	bool applies = false;

	while (text && (line = strsep(&rest, "\n")) != NULL) {
		const char *value = ini_value(line, "apply_updates");

		applies |= value && (strcmp(value, "yes") == 0 || strcmp(value, "True") == 0 ||
				     strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
	}
	if (nfd_root_list(root, folder, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.name[i];
		bool installs = strcmp(name, "dnf-automatic-install.timer") == 0;
		/* Those for notifying and downloading alone install nothing, whatever the file says. */
		bool decides = strcmp(name, "dnf-automatic.timer") == 0 ||
			       strcmp(name, "dnf5-automatic.timer") == 0;

		if (!installs && !(applies && decides))
			continue;
		holds->is_automatic = true;
		snprintf(holds->automatic, sizeof(holds->automatic), "%s/%.80s", folder, name);
		snprintf(holds->automatic_value, sizeof(holds->automatic_value),
			 installs ? "installs what it finds" : "apply_updates = yes");
	}
}

/* Stanzas of zypper's locks. */
static void read_zypp(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char path[] = "etc/zypp/locks";
	cleanup_free char *text = read_text(root, path, holds);
	enum nfd_hold_kind kind = NFD_HOLD_PART;
	char *rest = text, *line;

	while (text && (line = strsep(&rest, "\n")) != NULL) {
		line = nfd_trim(line);
		if (!*line)
			kind = NFD_HOLD_PART;
		else if (strcmp(line, "match_type: glob") == 0 ||
			 strcmp(line, "match_type: exact") == 0)
			kind = NFD_HOLD_GLOB;
		else if (strcmp(line, "match_type: regex") == 0)
			kind = NFD_HOLD_REGEX;
		else if (strncmp(line, "solvable_name:", 14) == 0)
			add(holds, kind, nfd_trim(line + 14), path);
	}
}

static void read_zypp_automatic(const struct nfd_root *root, struct nfd_holds *holds)
{
	static const char timer[] =
		"etc/systemd/system/timers.target.wants/transactional-update.timer";
	char target[64];

	if (nfd_root_read_link(root, timer, target, sizeof(target)) < 0)
		return;
	holds->is_automatic = true;
	snprintf(holds->automatic, sizeof(holds->automatic), "%s", timer);
	snprintf(holds->automatic_value, sizeof(holds->automatic_value), "enabled");
}

int nfd_holds_read(const struct nfd_root *root, struct nfd_holds *holds)
{
	int r;

	*holds = (struct nfd_holds){ 0 };
	r = read_apt(root, holds);
	read_all_preferences(root, holds);
	read_versionlock(root, holds);
	read_dnf5(root, holds);
	read_all_excludes(root, holds);
	read_dnf_automatic(root, holds);
	read_zypp(root, holds);
	read_zypp_automatic(root, holds);
	return r;
}
