/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading cJSON objects of others without a check at each step: what is missing or of another type
 * reads as empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/**
 * nfd_json_get() - a member of an object.
 * @object: NULL and other types have no members.
 * @key:    compared byte by byte.
 * Return: borrowed; NULL when there is none.
 */
cJSON *nfd_json_get(const cJSON *object, const char *key);

/**
 * nfd_json_object() - a member that is an object.
 * Return: borrowed; NULL when there is none, or it is of another type (its items have no names).
 */
cJSON *nfd_json_object(const cJSON *object, const char *key);

/**
 * nfd_json_text() - a text in an object.
 * Return: borrowed; "" when there is none.
 */
const char *nfd_json_text(const cJSON *object, const char *key);

/**
 * nfd_json_add_text() - add a text that may hold any bytes; what is no UTF-8 becomes U+FFFD.
 * Return: whether it was added; false when memory ran out.
 */
bool nfd_json_add_text(cJSON *object, const char *key, const char *text);

/**
 * nfd_json_new_text() - the same as an item of its own.
 * Return: owner: caller; NULL when memory ran out.
 */
cJSON *nfd_json_new_text(const char *text);

/**
 * nfd_json_is_true() - whether a member is true.
 */
bool nfd_json_is_true(const cJSON *object, const char *key);

/**
 * nfd_json_length() - length of an array in an object; 0 when there is none.
 */
size_t nfd_json_length(const cJSON *object, const char *key);

/**
 * nfd_json_is_equal() - whether two items say the same, wherever their members stand. Linear where
 * they stand in the same order; cJSON_Compare() looks each member up, and needs a third of a second
 * for the 8000 options of a kernel.
 * @a: borrowed, as is @b; NULL equals nothing.
 */
bool nfd_json_is_equal(const cJSON *a, const cJSON *b);
