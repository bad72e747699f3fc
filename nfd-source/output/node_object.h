/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NodeFeature object (spec nfd.md 4).
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "labels/set.h"

#define NFD_NODE_FEATURE_SUFFIX "-nfd-source"

/* Which of our two objects: "<node>-nfd-source", or "<node>" in nfd-worker's place. */
enum nfd_object_kind {
	NFD_OBJECT_WHOLE, /* our own, the only one: every label, every raw feature but kernel.config */
	NFD_OBJECT_OWN,     /* our own beside the next: with the raw features of our domain */
	NFD_OBJECT_WORKERS, /* in nfd-worker's place: with NFD's raw features, and its annotations */
};

struct nfd_object_wish {
	enum nfd_object_kind kind;
	const char *node; /* name of our Node; 1 to 63 bytes (it is a label value, field case G3) */
	const char *namespace;     /* of the object; "" leaves it out */
	const char *pod_uid;       /* of our pod, for an annotation; NULL or "": none */
	const struct nfd_set *set; /* labels; stopped ones are left out */
	const cJSON *features;     /* raw features, copied as the kind wants them; NULL for none */
	const struct nfd_texts *no_features; /* those that are not published; NULL: none */
};

/**
 * nfd_node_feature_object() - the object that NFD takes labels and raw features from.
 * @wish: borrowed.
 * @ret:  receives the object. "<node>-nfd-source" sorts after "<node>", so that its labels win. Owner:
 *        caller, cJSON_Delete().
 * @err:  names the node.
 * Return: 0; -EINVAL when the node's name cannot be a label value; -ENOMEM.
 */
int nfd_node_feature_object(const struct nfd_object_wish *wish, cJSON **ret, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_node_feature_render() - objects as indented JSON with a newline at the end: one alone, or a List.
 * @wish: array of @count, at least one.
 * @buf:  receives it.
 * Return: as nfd_node_feature_object().
 */
int nfd_node_feature_render(const struct nfd_object_wish *wish, size_t count,
			    struct nfd_strbuf *buf, struct nfd_error *err) nfd_must_check;
