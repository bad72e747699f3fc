/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw features of a NodeFeature object (spec nfd.md 3): attributes and instances under our own
 * domain, so that a NodeFeatureRule can use them beside those of nfd-worker.
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/macros.h"

/**
 * nfd_features_new() - an empty {"flags":{},"attributes":{},"instances":{}}.
 * Return: owner: caller, cJSON_Delete(); NULL when out of memory.
 */
cJSON *nfd_features_new(void);

/**
 * nfd_features_attribute() - set one element of an attribute feature.
 * @features: from nfd_features_new(); NULL does nothing (nobody asked for features).
 * @feature:  lower-case "<domain>.<feature>", such as "nfd-source.nvidia".
 * @name:     element name.
 * @value:    text, copied.
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
 * nfd_features_put() - set one attribute of an instance.
 * @attributes: from nfd_features_instance().
 * Return: 0; -ENOMEM.
 */
int nfd_features_put(cJSON *attributes, const char *name, const char *value) nfd_must_check;
