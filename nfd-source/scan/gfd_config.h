/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration file of gpu-feature-discovery and the device plugin (setting
 * sources.vendor.nvidia.config): MIG strategy, and how GPUs are shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "labels/key.h"
#include "scan/vendor.h"

#define NFD_GFD_RESOURCES_MAX 64
#define NFD_GFD_CONFIG_MAX (1024 * 1024) /* bytes of the file */

/* A resource that the device plugin offers several times. */
struct nfd_gfd_resource {
	char name[NFD_LABEL_NAME_MAX + 1]; /* "nvidia.com/gpu", "nvidia.com/mig-1g.10gb" */
	unsigned int replicas;             /* of each device; at least 2 */
};

struct nfd_gfd_config {
	enum nfd_mig_strategy mig_strategy; /* NFD_MIG_FROM_FILE where the file has none */
	const char *sharing;                /* "none", "time-slicing", "mps": value of the label */
	bool is_mps;
	bool is_renamed; /* renameByDefault: the resource is another, so the product is not marked */
	struct nfd_gfd_resource resource[NFD_GFD_RESOURCES_MAX];
	size_t count;
};

/**
 * nfd_gfd_config_parse() - the text of such a file: YAML or JSON, version v1.
 * @text: @len bytes.
 * @name: of the file, for messages.
 * @ret:  filled; as an empty file says after a failure. Of sharing.mps and sharing.timeSlicing the first
 *        is taken where both are there. Fields that gpu-feature-discovery does not use (rename, devices,
 *        resources, plugin flags) are ignored.
 * @err:  "name: what is wrong" or "name:line:column: what is wrong".
 * Return: 0; -EINVAL; -E2BIG for more resources than fit; -ENOMEM.
 */
int nfd_gfd_config_parse(const char *text, size_t len, const char *name, struct nfd_gfd_config *ret,
			 struct nfd_error *err) nfd_must_check;

/**
 * nfd_gfd_config_read() - the same of a file of our own system (not below --root).
 * @path: NULL or "": no file, all as an empty one says.
 * Return: as above; -EFBIG; negative errno of open(2) and read(2).
 */
int nfd_gfd_config_read(const char *path, struct nfd_gfd_config *ret, struct nfd_error *err)
	nfd_must_check;

/**
 * nfd_gfd_config_find() - how a resource is shared.
 * @name: full name, "nvidia.com/gpu".
 * Return: borrowed; NULL when it is not shared.
 */
const struct nfd_gfd_resource *nfd_gfd_config_find(const struct nfd_gfd_config *config,
						   const char *name);
