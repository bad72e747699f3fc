// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Documents that live as long as a test.
 */
#include "config.h"

#include "tests/unit/json_row.h"

#include "tests/unit/unit.h"

#define DOCUMENTS_MAX 64

static cJSON *documents[DOCUMENTS_MAX];
static size_t document_count;

static char *swap(char *text, char from, char to)
{
	for (char *c = text; *c; c++)
		if (*c == from)
			*c = to;
	return text;
}

cJSON *json_keep(cJSON *json)
{
	if (json) {
		assert_true(document_count < DOCUMENTS_MAX);
		documents[document_count++] = json;
	}
	return json;
}

cJSON *json_new(const char *text)
{
	cJSON *json = cJSON_Parse(swap(unit_text("%s", text), '\'', '"'));

	if (!json)
		print_error("no JSON: %s\n", text);
	assert_non_null(json);
	return json_keep(json);
}

const char *json_text(const cJSON *json)
{
	char *printed = json ? cJSON_PrintUnformatted(json) : NULL;
	char *text = unit_text("%s", printed ? printed : "nothing");

	cJSON_free(printed);
	return swap(text, '"', '\'');
}

void json_remove_all(void)
{
	while (document_count)
		cJSON_Delete(documents[--document_count]);
}
