/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kubeconfig file as credentials. What makes a connection unsafe is refused, not passed over.
 */
#pragma once

#include "api/credentials.h"

/**
 * nfd_kubeconfig_read() - read the current context of a kubeconfig, and the files that it names.
 * @credentials: zeroed; filled, also in part after a failure.
 * @root:        every path is below it.
 * @source:      @source->kubeconfig is the file; paths in it count from its folder.
 * @err:         names the file, the key and what is allowed.
 * Return: 0; negative errno.
 */
int nfd_kubeconfig_read(struct nfd_credentials *credentials, const struct nfd_root *root,
			const struct nfd_credential_source *source, struct nfd_api_error *err)
	nfd_must_check;
