/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the API server whether vendors' own programs label our Node (docs/api-protocol.md,
 * vendor-look).
 */
#pragma once

#include <cjson/cJSON.h>

#include "labels/set.h"
#include "output/output.h"
#include "scan/vendor.h"
#include "settings.h"

/**
 * nfd_vendor_look_wanted() - whether it is of use: an output talks to the API server.
 */
bool nfd_vendor_look_wanted(const struct nfd_output_options *options);

/**
 * nfd_vendor_file_alone() - whether all that is published is a feature file.
 */
bool nfd_vendor_file_alone(const struct nfd_output_options *options);

/**
 * nfd_vendor_look_request() - the request.
 * @settings:  the vendors' modes, and where our own NodeFeature object is.
 * @found:     bits by enum nfd_vendor, of which hardware is there.
 * @published: labels that we publish: what NFD made of them is not somebody else's.
 * @ret:       receives it; NULL when there is nothing to look for. Owner: caller.
 * Return: 0; -ENOMEM.
 */
int nfd_vendor_look_request(const struct nfd_settings *settings, unsigned int found,
			    const struct nfd_set *published, cJSON **ret) nfd_must_check;
