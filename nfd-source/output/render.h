/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels as text and JSON for stdout.
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/strbuf.h"
#include "labels/set.h"
#include "labels/unknown.h"

/**
 * nfd_render_text() - lines "key=value", sorted.
 * @set: stopped labels are left out.
 * @buf: receives them.
 */
void nfd_render_text(const struct nfd_set *set, struct nfd_strbuf *buf);

/**
 * nfd_render_json() - {"schema":1,"labels":{key:value},"sources":{key:source},"features":{…},
 * "unknown":[{"keys":prefix,"reason":text}]}, indented, with a newline at the end.
 * @set:      stopped labels are left out.
 * @unknowns: facts that could not be decided; those that are mere doubts are left out.
 * @features: raw features in the shape of spec.features (devices among them). Borrowed.
 * @buf:      receives it.
 */
void nfd_render_json(const struct nfd_set *set, const struct nfd_unknowns *unknowns,
		     const cJSON *features, struct nfd_strbuf *buf);
