// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * settings: every effective setting with its origin; --check validates a file.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static int check(const char *path)
{
	struct nfd_settings_sources sources = { .file = path, .file_required = true };
	struct nfd_settings settings;
	struct nfd_error err = { 0 };
	int r;

	r = nfd_settings_load(&settings, &sources, &err);
	nfd_settings_done(&settings);
	if (r < 0) {
		fprintf(stderr, "%s\n", nfd_error_text(&err));
		return NFD_EXIT_USAGE;
	}
	printf("%s: settings are valid\n", path);
	return NFD_EXIT_DONE;
}

/* Which outputs these settings turn on here, and why; as comments, so that the rest stays YAML. */
static void put_chosen(const struct nfd_output_options *options, struct nfd_strbuf *buf)
{
	const struct nfd_output *const *outputs;
	const char *why;
	size_t count;

	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++) {
		bool is_on = outputs[i]->is_on(options, &why);

		nfd_strbuf_printf(buf, "# output %s: %s, because %s\n", outputs[i]->name,
				  is_on ? "on" : "off", why);
	}
}

/* The same as "chosen": {name: {"on", "why"}}. */
static bool add_chosen(cJSON *object, const struct nfd_output_options *options)
{
	cJSON *chosen = cJSON_AddObjectToObject(object, "chosen");
	const struct nfd_output *const *outputs;
	const char *why;
	size_t count;

	outputs = nfd_outputs(&count);
	for (size_t i = 0; i < count; i++) {
		bool is_on = outputs[i]->is_on(options, &why);
		cJSON *entry = cJSON_AddObjectToObject(chosen, outputs[i]->name);

		if (!entry || !cJSON_AddBoolToObject(entry, "on", is_on) ||
		    !cJSON_AddStringToObject(entry, "why", why))
			return false;
	}
	return true;
}

static int show_text(const struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const struct nfd_setting *table;
	size_t count;

	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++) {
		nfd_strbuf_printf(&buf, "%s: ", table[i].key);
		nfd_settings_format(&context->settings, &table[i], &buf);
		nfd_strbuf_printf(&buf, "  # %s\n", context->settings.origin[i]);
	}
	put_chosen(&context->settings.outputs, &buf);
	return nfd_print(&buf);
}

/* The object of a dotted section, made when missing. */
static cJSON *section_of(cJSON *object, const char *key, const char **ret_name)
{
	char part[64];
	const char *dot;

	while (object && (dot = strchr(key, '.')) != NULL) {
		cJSON *child;

		snprintf(part, sizeof(part), "%.*s", (int)(dot - key), key);
		child = cJSON_GetObjectItemCaseSensitive(object, part);
		object = child ? child : cJSON_AddObjectToObject(object, part);
		key = dot + 1;
	}
	*ret_name = key;
	return object;
}

static bool add_setting(cJSON *object, const struct nfd_settings *settings,
			const struct nfd_setting *setting, const char *origin)
{
	cleanup_strbuf struct nfd_strbuf value = { 0 };
	const char *name;
	cJSON *section = section_of(object, setting->key, &name);
	cJSON *entry = section ? cJSON_AddObjectToObject(section, name) : NULL;

	nfd_settings_format(settings, setting, &value);
	return entry && !value.error &&
	       cJSON_AddStringToObject(entry, "value", nfd_strbuf_text(&value)) &&
	       cJSON_AddStringToObject(entry, "origin", origin);
}

static int show_json(const struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	cJSON *object = cJSON_CreateObject();
	const struct nfd_setting *table;
	char *text;
	size_t count;

	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++)
		if (!add_setting(object, &context->settings, &table[i],
				 context->settings.origin[i]))
			buf.error = -ENOMEM;
	if (!add_chosen(object, &context->settings.outputs))
		buf.error = -ENOMEM;
	text = cJSON_Print(object);
	cJSON_Delete(object);
	if (!text)
		buf.error = -ENOMEM;
	else
		nfd_strbuf_printf(&buf, "%s\n", text);
	cJSON_free(text);
	return nfd_print(&buf);
}

static int run(struct nfd_context *context)
{
	const char *path = nfd_context_option(context, "check");
	const char *form = nfd_context_option(context, "output");

	if (path)
		return check(path);
	return form && strcmp(form, "json") == 0 ? show_json(context) : show_text(context);
}

static const char *const forms[] = { "text", "json", NULL };

static const struct nfd_option options[] = {
	{ .name = "check", .argument = "FILE", .help = "only check a settings file" },
	{ .name = "output",
	  .letter = 'o',
	  .argument = "FORM",
	  .choices = forms,
	  .help = "text (default) or json" },
};

const struct nfd_command nfd_cmd_settings = {
	.name = "settings",
	.summary = "print every effective setting with its origin",
	.option = options,
	.option_count = NFD_ARRAY_SIZE(options),
	.run = run,
};
