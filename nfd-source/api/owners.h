/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owner references of our objects: without an owner an object outlives an uninstall, and its labels with
 * it (field case G3; spec nfd.md 4.1).
 */
#pragma once

#include "api/client.h"

struct nfd_owners_wish {
	const cJSON *kinds; /* array of "node", "pod", "ds"; they come in this order */
	const char *node, *namespace;
	const char *pod, *pod_uid; /* ours; "" outside a pod */
};

/**
 * nfd_owners_find() - look them up: GET of the Node, GET of the pod, each only when it is needed. What
 * cannot be found is left out, as nfd-worker does.
 * @ret: receives an array of references with blockOwnerDeletion false (true would need rights on the owner
 *       where a plug-in checks that); owner: caller.
 * @err: what failed, when not all was found.
 * Return: 0; negative errno with @err: @ret has what was found all the same; -ENOMEM, then it is NULL.
 */
int nfd_owners_find(struct nfd_client *client, const struct nfd_owners_wish *wish, cJSON **ret,
		    struct nfd_api_error *err) nfd_must_check;
