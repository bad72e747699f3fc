/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NodeFeature object (spec nfd.md 4).
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "labels/set.h"

#define NFD_NODE_FEATURE_SUFFIX "-nfd-source"

/**
 * nfd_node_feature_object() - the object that NFD takes labels and raw features from.
 * @node:      name of our Node; 1 to 63 bytes (it is a label value, field case G3).
 * @namespace: namespace of the object; "" leaves it out.
 * @set:       labels; stopped ones are left out.
 * @features:  raw features, copied; NULL for none.
 * @ret:       receives the object, named "<node>-nfd-source" (sorts after nfd-worker's "<node>", so
 *             that its labels win). Owner: caller, cJSON_Delete().
 * @err:       names the node.
 * Return: 0; -EINVAL when the node's name cannot be a label value; -ENOMEM.
 */
int nfd_node_feature_object(const char *node, const char *namespace, const struct nfd_set *set,
			    const cJSON *features, cJSON **ret, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_node_feature_render() - that object as indented JSON with a newline at the end.
 * @buf: receives it.
 * Other arguments and return as for nfd_node_feature_object().
 */
int nfd_node_feature_render(const char *node, const char *namespace, const struct nfd_set *set,
			    const cJSON *features, struct nfd_strbuf *buf, struct nfd_error *err)
	nfd_must_check;
