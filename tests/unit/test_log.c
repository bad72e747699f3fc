// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * base/log: levels, both forms, hostile values.
 */
#include "config.h"

#include "base/log.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct {
	const char *name, *value, *line;
} text_rows[] = {
	{ "bare", "a-b_c.d/e:f+g,h@i%j", "level=info msg=event key=a-b_c.d/e:f+g,h@i%j\n" },
	{ "empty", "", "level=info msg=event key=\"\"\n" },
	{ "null", NULL, "level=info msg=event key=\"\"\n" },
	{ "blank", "a b", "level=info msg=event key=\"a b\"\n" },
	{ "equals sign", "a=b", "level=info msg=event key=\"a=b\"\n" },
	{ "quote", "a\"b", "level=info msg=event key=\"a\\\"b\"\n" },
	{ "newline", "a\nlevel=error", "level=info msg=event key=\"a\\u000alevel=error\"\n" },
	{ "not UTF-8", "\xff", "level=info msg=event key=\"\xef\xbf\xbd\"\n" },
};

static void writes_text(void **state)
{
	const __typeof__(text_rows[0]) *row = *state;

	nfd_log_setup(NFD_LOG_TEXT, NFD_LOG_INFO);
	unit_capture(2);
	nfd_log(NFD_LOG_INFO, "event", "key", row->value, NULL);
	assert_string_equal(unit_captured(2), row->line);
}

static void writes_json(void **state)
{
	const __typeof__(text_rows[0]) *row = *state;
	const char *line;
	cJSON *object;

	nfd_log_setup(NFD_LOG_JSON, NFD_LOG_INFO);
	unit_capture(2);
	nfd_log(NFD_LOG_WARNING, "an event", "key", row->value, NULL);
	line = unit_captured(2);
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	object = cJSON_Parse(line);
	assert_non_null(object);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "level")), "warning");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "msg")), "an event");
	assert_int_equal(strlen(cJSON_GetStringValue(cJSON_GetObjectItem(object, "time"))), 20);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "key")),
			    !row->value                     ? "" :
			    strcmp(row->value, "\xff") == 0 ? "\xef\xbf\xbd" :
							      row->value);
	cJSON_Delete(object);
}

static void drops_by_level(void **state)
{
	(void)state;
	nfd_log_setup(NFD_LOG_TEXT, NFD_LOG_WARNING);
	unit_capture(2);
	nfd_log(NFD_LOG_ERROR, "one", NULL);
	nfd_log(NFD_LOG_WARNING, "two", NULL);
	nfd_log(NFD_LOG_INFO, "three", NULL);
	nfd_log(NFD_LOG_DEBUG, "four", NULL);
	assert_string_equal(unit_captured(2), "level=error msg=one\nlevel=warning msg=two\n");
	assert_true(nfd_log_wants(NFD_LOG_WARNING));
	assert_false(nfd_log_wants(NFD_LOG_INFO));
}

int main(void)
{
	struct unit_suite suite = { .name = "log" };

	UNIT_ROWS(&suite, writes_text, text_rows, name);
	UNIT_ROWS(&suite, writes_json, text_rows, name);
	UNIT_CASE(&suite, drops_by_level);
	return unit_run(&suite);
}
