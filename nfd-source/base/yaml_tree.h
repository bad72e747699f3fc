/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A YAML document of somebody else (kubeconfig, a runtime's configuration) as a cJSON tree. Our own
 * settings are read by settings_yaml, which keeps lines and columns.
 */
#pragma once

#include <stddef.h>

#include <cjson/cJSON.h>

#include "base/error.h"

/**
 * nfd_yaml_tree_parse() - the first document of a YAML text; JSON is YAML too.
 * @text: @len bytes.
 * @name: of the file, for messages.
 * @ret:  receives the tree: mappings and sequences as objects and arrays; plain null, true and false
 *        as such; every other scalar as text, also numbers. An empty text gives null. Owner:
 *        caller, cJSON_Delete().
 * @err:  "name:line:column: what is wrong".
 * Return: 0; -EINVAL for what is no YAML, and for keys that are no plain text; -E2BIG when aliases or
 *         nesting make it grow over 20,000 nodes or 32 levels; -ENOMEM.
 */
int nfd_yaml_tree_parse(const char *text, size_t len, const char *name, cJSON **ret,
			struct nfd_error *err) nfd_must_check;
