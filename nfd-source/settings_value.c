// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From text to value by the type of a setting, and back.
 */
#include "config.h"

#include "settings_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "labels/filter.h"

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

int nfd_replace_text(char **field, const char *text, struct nfd_error *err)
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
	return nfd_replace_text(field, text, err);
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
	if (is_interval &&
	    ((ms > 0 && ms < 1000) || (ms == 0 && strpbrk(text, "123456789") && text[0] != '-')))
		ms = 1000;
	if (ms < setting->min || ms > setting->max) {
		nfd_format_duration(setting->min, min);
		nfd_format_duration(setting->max, max);
		return nfd_error_set(err, -ERANGE,
				     "%s: \"%.100s\" is out of range; allowed: %s to %s",
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

/* Whether a word is one of YAML for true or false, -1 when it is none: NFD's reader takes them all. */
static int truth_of(const char *text)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "n", "y" };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i], text) == 0)
			return i % 2;
	return -1;
}

static int refuse_choice(const struct nfd_setting *setting, const char *text, struct nfd_error *err)
{
	char list[160] = "";
	size_t len = 0;

	for (size_t i = 0; setting->choices[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					setting->choices[i][0] ? setting->choices[i] : "\"\"");
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
		if (setting->max == 1 && bits & 1U << at)
			return nfd_error_set(err, -EINVAL, "%s: \"%.100s\" stands here twice",
					     setting->key, text[i]);
		bits |= 1U << at;
	}
	if (bits == 0 && setting->min > 0)
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

static int set_words(const struct nfd_setting *setting, const char *const *text, size_t count,
		     struct nfd_texts *field, struct nfd_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!*text[i] || has_control_bytes(text[i]))
			return nfd_error_set(err, -EINVAL,
					     "%s: empty words and control characters are not "
					     "allowed",
					     setting->key);
	return copy_texts(text, count, field) < 0 ? nfd_error_set(err, -ENOMEM, "out of memory") :
						    0;
}

static int set_sources(const struct nfd_setting *setting, const char *const *text, size_t count,
		       unsigned int *field, struct nfd_error *err)
{
	int r = nfd_sources_parse(text, count, field, err);

	if (r < 0)
		nfd_error_wrap(err, "%s", setting->key);
	return r;
}

bool nfd_setting_is_list(const struct nfd_setting *setting)
{
	return setting->type >= NFD_SETTING_CLASSES;
}

int nfd_setting_set(struct nfd_settings *settings, const struct nfd_setting *setting,
		    const char *const *text, size_t count, struct nfd_error *err)
{
	void *field = field_of(settings, setting);
	int at;

	if (setting->type == NFD_SETTING_FIELDS)
		return set_fields(setting, text, count, field, err);
	if (setting->type == NFD_SETTING_CLASSES)
		return set_classes(setting, text, count, field, err);
	if (setting->type == NFD_SETTING_WORDS)
		return set_words(setting, text, count, field, err);
	if (setting->type == NFD_SETTING_SOURCES)
		return set_sources(setting, text, count, field, err);
	if (count > 1)
		return nfd_error_set(err, -EINVAL, "%s: takes one value, not a list", setting->key);
	if (setting->type == NFD_SETTING_DURATION)
		return set_duration(setting, count ? text[0] : "", field, err);
	if (setting->type <= NFD_SETTING_PATTERN)
		return set_text(setting, count ? text[0] : "", field, err);
	at = setting->type == NFD_SETTING_TRUTH ? truth_of(count ? text[0] : "") :
						  choice_index(setting, count ? text[0] : "");
	if (at < 0)
		return refuse_choice(setting, count ? text[0] : "", err);
	*(int *)field = at;
	return 0;
}

void nfd_setting_release(struct nfd_settings *settings, const struct nfd_setting *setting)
{
	void *field = field_of(settings, setting);

	if (setting->type == NFD_SETTING_CLASSES || setting->type == NFD_SETTING_WORDS)
		free_texts(field);
	else if (setting->type <= NFD_SETTING_PATTERN)
		free(*(char **)field);
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
	case NFD_SETTING_TRUTH:
		nfd_strbuf_puts(buf, setting->choices[*(const int *)field]);
		break;
	case NFD_SETTING_CLASSES:
	case NFD_SETTING_WORDS:
		for (size_t i = 0; i < texts->count; i++)
			nfd_strbuf_printf(buf, "%s%s", i ? "," : "", texts->text[i]);
		break;
	case NFD_SETTING_FIELDS:
		format_fields(setting, *(const unsigned int *)field, buf);
		break;
	case NFD_SETTING_SOURCES:
		nfd_sources_format(*(const unsigned int *)field, buf);
		break;
	}
}
