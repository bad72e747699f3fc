/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.managedFields of an object: who owns which label. Pure reading and copying; everything in
 * it is hostile input.
 */
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/macros.h"

/**
 * nfd_managed_find() - our entry: by this manager, by server-side apply, of no subresource.
 * @managed: array of managedFields; NULL for none.
 * @manager: name.
 * Return: position in the array; -ENOENT.
 */
int nfd_managed_find(const cJSON *managed, const char *manager);

/**
 * nfd_managed_labels() - the labels that an entry owns.
 * @entry: one entry; NULL for none.
 * Return: object whose keys are "f:<label key>"; borrowed; NULL for none.
 */
const cJSON *nfd_managed_labels(const cJSON *entry);

/**
 * nfd_managed_owns() - whether an entry owns a label.
 */
bool nfd_managed_owns(const cJSON *entry, const char *key);

/**
 * nfd_managed_without() - fieldsV1 of an entry without some labels.
 * @entry: one entry.
 * @keys:  array of label keys.
 * @ret:   receives the object; NULL when nothing is left in it. Owner: caller, cJSON_Delete().
 * Return: 0; -ENOMEM.
 */
int nfd_managed_without(const cJSON *entry, const cJSON *keys, cJSON **ret) nfd_must_check;

/**
 * nfd_managed_owners() - who owns a label.
 * @list: array that receives {"manager","operation"} for each.
 * Return: 0; -ENOMEM.
 */
int nfd_managed_owners(const cJSON *managed, const char *key, cJSON *list) nfd_must_check;
