/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All settings: composed of the option structs of the modules, with default, range and help in one
 * table, and the origin of each value. Order: default, file, environment, command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "labels/hold.h"
#include "output/output.h"
#include "scan/scanner.h"

#define NFD_SETTINGS_MAX 80
#define NFD_SETTINGS_FILE "/etc/nfd-source/nfd-source.yaml"
#define NFD_SETTINGS_ENVIRONMENT "NFD_SOURCE_"

struct nfd_settings {
	struct {
		int64_t sleep_interval_ms;   /* 0: never rescan by time */
		char *node_name;             /* owned */
		unsigned int old_labels_off; /* core.sources, see struct nfd_source_options */
	} core;
	struct nfd_scan_options scan;
	struct nfd_output_options outputs;
	struct {
		int64_t removal_delay_ms;
		int group;
	} watch;
	int confinement; /* enum nfd_mode; auto: as far as the kernel can */
	char *status_path;
	char *metrics_path;
	int fail_on;
	char *dcgm_url;
	int log_format;    /* enum nfd_log_format */
	int log_level;     /* enum nfd_log_level */
	char *passed_over; /* keys of nfd-worker that we do not have, by blanks; NULL or owned */
	bool has_custom_rules;          /* sources.custom is among them */
	char *origin[NFD_SETTINGS_MAX]; /* by position in the table; owned */
};

/* Words of watch.group, in the order of the setting's value. */
extern const char *const nfd_watch_groups[];

enum nfd_setting_type {
	NFD_SETTING_TEXT,     /* any text without control bytes */
	NFD_SETTING_NAME,     /* file name: no slash, no leading dot */
	NFD_SETTING_PATTERN,  /* regular expression */
	NFD_SETTING_DURATION, /* milliseconds in an int64_t */
	NFD_SETTING_CHOICE,   /* position in @choices in an int */
	NFD_SETTING_TRUTH, /* 0 or 1 in an int: false or true, or another word of YAML for these */
	NFD_SETTING_CLASSES, /* hexadecimal prefixes in a struct nfd_texts */
	NFD_SETTING_FIELDS,  /* bits by position in @choices in an unsigned int */
	NFD_SETTING_WORDS,   /* any texts in a struct nfd_texts */
	NFD_SETTING_SOURCES, /* sources of NFD that are left out, as bits in an unsigned int */
};

struct nfd_setting {
	const char *key;
	enum nfd_setting_type type;
	size_t offset;              /* in struct nfd_settings */
	const char *fallback;       /* default; lists joined by commas */
	const char *const *choices; /* allowed words, NULL-terminated; or NULL */
	/* Of a duration in ms; of a class prefix in digits; least number of fields, and how often each. */
	int64_t min, max;
	const char *help;
};

/**
 * nfd_settings_table() - the table.
 * @ret_count: number of entries.
 * Return: static array.
 */
const struct nfd_setting *nfd_settings_table(size_t *ret_count);

/* A value from the command line. */
struct nfd_setting_override {
	const char *key;    /* of the table */
	const char *value;  /* text, lists joined by commas */
	const char *option; /* option that gave it, for the origin */
};

struct nfd_settings_sources {
	const char *file;         /* YAML file; NULL for none */
	bool file_required;       /* a missing file is an error */
	char *const *environment; /* "NAME=value", NULL-terminated; NULL for none */
	const struct nfd_setting_override *override; /* array of @override_count */
	size_t override_count;
};

/**
 * nfd_settings_load() - read all settings.
 * @settings: filled; to be given to nfd_settings_done() also after a failure.
 * @sources:  borrowed.
 * @err:      names file, line and column (or variable or option), the key, the value and what is
 *            allowed.
 * Return: 0; -ENOKEY for a wrong key; -EINVAL or -ERANGE for a wrong value; errno of the file; -ENOMEM.
 */
int nfd_settings_load(struct nfd_settings *settings, const struct nfd_settings_sources *sources,
		      struct nfd_error *err) nfd_must_check;

/**
 * nfd_settings_done() - free; a zeroed one is fine.
 */
void nfd_settings_done(struct nfd_settings *settings);

/**
 * nfd_settings_format() - value of a setting as text, in the form in which it can be given.
 * @buf: receives it.
 */
void nfd_settings_format(const struct nfd_settings *settings, const struct nfd_setting *setting,
			 struct nfd_strbuf *buf);

/**
 * nfd_settings_origin() - where the value of a setting comes from.
 * @key: of the table.
 * Return: borrowed.
 */
const char *nfd_settings_origin(const struct nfd_settings *settings, const char *key);

/**
 * nfd_settings_variable() - name of the environment variable of a setting
 * ("NFD_SOURCE_CORE_SLEEP_INTERVAL").
 * @ret: receives it, cut at @size - 1 bytes.
 */
void nfd_settings_variable(const struct nfd_setting *setting, char *ret, size_t size);
