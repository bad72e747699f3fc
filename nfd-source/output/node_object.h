/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON of a NodeFeature object (spec nfd.md 4).
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "labels/set.h"

/**
 * nfd_node_feature_render() - the object "<node>-nfd-source" as JSON.
 * @node:      node name: 1 to 63 bytes, since it is a label value as well.
 * @namespace: namespace of the object; "" leaves it out.
 * @set:       labels; stopped ones are left out.
 * @features:  spec.features from nfd_features_new(); NULL gives empty ones. Borrowed.
 * @buf:       receives the indented text with a newline at the end.
 * @err:       names the node name that cannot be used.
 * Return: 0; -EINVAL for such a node name; -ENOMEM.
 */
int nfd_node_feature_render(const char *node, const char *namespace, const struct nfd_set *set,
			    const cJSON *features, struct nfd_strbuf *buf, struct nfd_error *err)
	nfd_must_check;
