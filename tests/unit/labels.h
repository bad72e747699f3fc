/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of labels from and to text, for rows.
 */
#pragma once

#include "labels/key.h"
#include "labels/set.h"

/**
 * labels_set() - a set from lines.
 * @lines: "key=value", a key without '/' gets NFD's prefix; a line that begins with '!' is a stopped
 *         label, one with '?' a stopgap; '0', '1', '2' and a blank before a line is its rank (default 1).
 * Return: owner: caller, nfd_set_done().
 */
struct nfd_set labels_set(const char *lines);

/**
 * labels_text() - lines "key=value" without NFD's prefix, '!' before stopped ones.
 * Return: lives until the end of the test.
 */
const char *labels_text(const struct nfd_set *set);
