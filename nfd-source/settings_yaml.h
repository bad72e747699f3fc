/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A YAML file as dotted keys with their place in the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define NFD_YAML_VALUES_MAX 256

/* One key of the file. */
struct nfd_yaml_item {
	const char *key;     /* dotted, as written */
	size_t line, column; /* of the value, or of the odd entry of a list; from 1 */
	bool is_mapping;     /* it holds further keys */
	bool is_list;        /* it is a list of plain values */
	bool is_odd;         /* a list that holds something else than plain values */
	const char *value[NFD_YAML_VALUES_MAX]; /* plain value, or those of the list */
	size_t count;                           /* values; 0 for null, an empty list or a mapping */
};

enum nfd_yaml_verdict { NFD_YAML_DONE, NFD_YAML_DESCEND };

/**
 * nfd_yaml_visitor - told of each key, in the order of the file.
 * @err: receives the fault without place; the reader adds file, line and column.
 * Return: NFD_YAML_DONE; NFD_YAML_DESCEND to be told of the keys inside (mappings only); negative
 *         errno to stop: -ENOKEY when the key is at fault, others when the value is.
 */
typedef int nfd_yaml_visitor(void *cookie, const struct nfd_yaml_item *item, struct nfd_error *err);

/**
 * nfd_yaml_parse() - walk a YAML document.
 * @text:    @len bytes.
 * @name:    file name for messages.
 * @visitor: see above.
 * @err:     "name:line:column: what is wrong".
 * Return: 0 (also for an empty document); -EINVAL; -ENOMEM; what the visitor returned.
 */
int nfd_yaml_parse(const char *text, size_t len, const char *name, nfd_yaml_visitor *visitor,
		   void *cookie, struct nfd_error *err) nfd_must_check;
