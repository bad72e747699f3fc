/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Grammar of Kubernetes label keys and values (spec nfd.md 1.4), and the one place that makes
 * legal text out of what devices say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define NFD_LABEL_NAME_MAX 63
#define NFD_LABEL_PREFIX_MAX 253
#define NFD_LABEL_VALUE_MAX 63
#define NFD_LABEL_KEY_SIZE (NFD_LABEL_PREFIX_MAX + 1 + NFD_LABEL_NAME_MAX + 1)
#define NFD_LABEL_VALUE_SIZE (NFD_LABEL_VALUE_MAX + 1)

/* Annotation of the object that nfd-worker publishes, and of ours in its place (spec nfd.md 4.1). */
#define NFD_WORKER_VERSION "nfd.node.kubernetes.io/worker.version"
#define NFD_FEATURE_PREFIX "feature.node.kubernetes.io/"

/**
 * nfd_label_key_check() - whether a text is a full label key.
 * @key: "prefix/name": prefix a lower-case DNS subdomain of at most 253 bytes, name 1 to 63 bytes.
 *       A key without prefix is refused: NFD plans to stop completing such keys.
 * @err: names the key and the rule that it breaks; may be NULL.
 * Return: 0; -EINVAL.
 */
int nfd_label_key_check(const char *key, struct nfd_error *err);

/**
 * nfd_label_key_matches() - whether a key is the one that a pattern names.
 * @pattern: a key; with a "*" at its end every key that begins with what stands before.
 */
bool nfd_label_key_matches(const char *pattern, const char *key);

/**
 * nfd_label_key_is_reserved() - whether a key is in a namespace of Kubernetes that is not NFD's: nfd-master
 * drops such labels, and an API server may refuse all that come with them (spec nfd.md 5.1).
 * @key: full key.
 * Return: true for kubernetes.io and what is below it, without feature.node.kubernetes.io,
 *         profile.node.kubernetes.io and what is below these.
 */
bool nfd_label_key_is_reserved(const char *key);

/**
 * nfd_label_value_is_valid() - whether a text is a label value: empty, or 1 to 63 bytes that begin
 * and end with a letter or digit.
 */
bool nfd_label_value_is_valid(const char *value);

/**
 * nfd_label_value_from_name() - a product name as a label value ("NVIDIA TITAN X (Pascal)" gives
 * "NVIDIA-TITAN-X-Pascal"): bytes other than letters, digits, '-', '_', '.' and blanks are dropped,
 * words are joined by '-', ends trimmed to a letter or digit, cut at 63 bytes.
 * @name: any bytes, NUL-terminated.
 * @ret:  receives the value.
 * Return: length; 0 when nothing legal is left (then there is no such label).
 */
size_t nfd_label_value_from_name(const char *name, char ret[NFD_LABEL_VALUE_SIZE]);

/**
 * nfd_label_value_with_suffix() - as above, with an ending that must survive the cut.
 * @name:   model name, shortened when both do not fit.
 * @suffix: legal text such as "-MIG-1g.24gb", kept whole when it has at most 62 bytes.
 * Return: length; 0 when nothing legal is left.
 */
size_t nfd_label_value_with_suffix(const char *name, const char *suffix,
				   char ret[NFD_LABEL_VALUE_SIZE]);

/**
 * nfd_label_value_from_version() - a release or version text as a label value, as NFD does for
 * kernel releases: every illegal byte becomes '_', ends are trimmed of '-', '_' and '.'.
 * @text: any bytes, NUL-terminated.
 * @ret:  receives the value, cut at 63 bytes.
 * Return: length; 0 when nothing legal is left.
 */
size_t nfd_label_value_from_version(const char *text, char ret[NFD_LABEL_VALUE_SIZE]);

/**
 * nfd_label_text_join_illegal() - a text as NFD writes it for processors: each run of bytes that no
 * value may have becomes one '_'. The result may begin or end with one, and be no legal value.
 * @text: any bytes, NUL-terminated.
 * @ret:  receives the text, cut to @size - 1 bytes.
 * Return: length.
 */
size_t nfd_label_text_join_illegal(const char *text, char *ret, size_t size);
