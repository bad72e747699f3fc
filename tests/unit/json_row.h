/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON in rows: ' stands for ", in both directions.
 */
#pragma once

#include <cjson/cJSON.h>

/**
 * json_new() - a document.
 * @text: JSON with ' for ".
 * Return: lives until the end of the test.
 */
cJSON *json_new(const char *text);

/**
 * json_keep() - have a document deleted at the end of the test.
 * Return: @json.
 */
cJSON *json_keep(cJSON *json);

/**
 * json_text() - a document on one line, with ' for ".
 * Return: lives until the end of the test; "nothing" for NULL.
 */
const char *json_text(const cJSON *json);

/**
 * json_remove_all() - delete the documents of a test; unit_run() calls it.
 */
void json_remove_all(void);
