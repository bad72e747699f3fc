/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw features of a NodeFeature object (spec nfd.md 3): flags, attributes and instances. Next to
 * nfd-worker they stand under our own domain, so that a NodeFeatureRule can use them beside the
 * worker's; in its place they have the worker's names.
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/macros.h"

/* The three forms of a feature; each has a name space of its own. */
enum nfd_feature_kind { NFD_FLAGS, NFD_ATTRIBUTES, NFD_INSTANCES };

/**
 * struct nfd_attribute - name and value of one element; where it belongs to an instance, a NULL
 * value is left out.
 */
struct nfd_attribute {
	const char *name;
	const char *value; /* any bytes; what is no UTF-8 is published as U+FFFD */
};

/**
 * nfd_features_new() - an empty {"flags":{},"attributes":{},"instances":{}}.
 * Return: owner: caller, cJSON_Delete(); NULL when out of memory.
 */
cJSON *nfd_features_new(void);

/**
 * nfd_features_add() - make a feature that may stay empty; one that is there already is left as it is.
 * @features: from nfd_features_new(); NULL does nothing (nobody asked for features).
 * @feature:  lower-case "<domain>.<feature>", such as "memory.nv".
 * Return: 0; -ENOMEM.
 */
int nfd_features_add(cJSON *features, enum nfd_feature_kind kind, const char *feature)
	nfd_must_check;

/**
 * nfd_features_flags() - state all flags of a feature. Lists of modules are long, so that they become
 * text at once (a raw item of cJSON), which costs a fraction of a tree's time and memory: its
 * elements can be printed, copied and compared, but neither read nor added to.
 * @features: as above, and so is @feature, which nfd_features_add() may have made.
 * @name:     array of @count, any bytes, all different.
 * Return: 0; -ENOMEM.
 */
int nfd_features_flags(cJSON *features, const char *feature, const char *const *name, size_t count)
	nfd_must_check;

/**
 * nfd_features_attributes() - the same for attributes (a kernel has thousands of options).
 * @attribute: array of @count; names are all different, values are not NULL.
 * Return: 0; -ENOMEM.
 */
int nfd_features_attributes(cJSON *features, const char *feature,
			    const struct nfd_attribute *attribute, size_t count) nfd_must_check;

/**
 * nfd_features_attribute() - set one element of an attribute feature.
 * @features: from nfd_features_new(); NULL does nothing (nobody asked for features).
 * @feature:  lower-case "<domain>.<feature>", such as "nfd-source.nvidia".
 * @name:     element name.
 * @value:    text, copied; as in struct nfd_attribute.
 * Return: 0; -ENOMEM.
 */
int nfd_features_attribute(cJSON *features, const char *feature, const char *name,
			   const char *value) nfd_must_check;

/**
 * nfd_features_instance() - append one instance to an instance feature.
 * @features: as above; must not be NULL.
 * @feature:  as above.
 * Return: its attributes, to be filled with nfd_features_put(); borrowed; NULL when out of memory.
 */
cJSON *nfd_features_instance(cJSON *features, const char *feature);

/**
 * nfd_features_copy() - copy a feature, of whatever kinds it has, from one object into another.
 * @from: as @features above; NULL has none.
 * @to:   must not have it yet; NULL does nothing.
 * Return: 0, also when there is none; -ENOMEM.
 */
int nfd_features_copy(const cJSON *from, const char *feature, cJSON *to) nfd_must_check;

/**
 * nfd_features_put() - set one attribute of an instance.
 * @attributes: from nfd_features_instance().
 * Return: 0; -ENOMEM.
 */
int nfd_features_put(cJSON *attributes, const char *name, const char *value) nfd_must_check;
