// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shared by the daemon and the commands that run once.
 */
#include "config.h"

#include "cmd/vendor_look.h"

#include <errno.h>
#include <stdio.h>

#include "output/node_object.h"

bool nfd_vendor_look_wanted(const struct nfd_output_options *options)
{
	const char *why;

	return nfd_node_labels_output.is_on(options, &why) ||
	       nfd_node_feature_output.is_on(options, &why);
}

bool nfd_vendor_file_alone(const struct nfd_output_options *options)
{
	const char *why;

	return nfd_feature_output.is_on(options, &why) && !nfd_vendor_look_wanted(options);
}

/* Of the published labels only those that a program could be recognised by. */
static int add_mine(cJSON *request, const struct nfd_set *published)
{
	cJSON *mine = cJSON_AddArrayToObject(request, "mine");

	if (!mine)
		return -ENOMEM;
	for (size_t i = 0; i < published->count; i++)
		if (!published->label[i].stopped_by &&
		    nfd_vendor_is_sign(published->label[i].key) &&
		    !cJSON_AddItemToArray(mine, cJSON_CreateString(published->label[i].key)))
			return -ENOMEM;
	return 0;
}

/* Our own NodeFeature object, which says for certain what NFD has from us. */
static int add_object(cJSON *request, const struct nfd_output_options *options)
{
	const char *namespace = options->node_feature.namespace;
	char name[300];
	const char *why;

	if (!nfd_node_feature_output.is_on(options, &why))
		return 0;
	snprintf(name, sizeof(name), "%.253s" NFD_NODE_FEATURE_SUFFIX,
		 options->api.place->node_name);
	if (!cJSON_AddStringToObject(request, "object", name) ||
	    (namespace && *namespace && !cJSON_AddStringToObject(request, "namespace", namespace)))
		return -ENOMEM;
	return 0;
}

/* A kubelet may read its Node and no NodeFeature: there is no use in asking to be refused. */
static void drop_objects(const struct nfd_api_options *options, cJSON *vendors)
{
	struct nfd_api_access access;
	cJSON *vendor;

	if (!nfd_api_access_find(options, &access) || access.kind != NFD_ACCESS_KUBELET)
		return;
	cJSON_ArrayForEach(vendor, vendors) {
		cJSON_DeleteItemFromObjectCaseSensitive(vendor, "objects");
		cJSON_DeleteItemFromObjectCaseSensitive(vendor, "nodeObject");
	}
}

int nfd_vendor_look_request(const struct nfd_settings *settings, unsigned int found,
			    const struct nfd_set *published, cJSON **ret)
{
	cJSON *request, *vendors = NULL;
	int r;

	*ret = NULL;
	r = nfd_vendors_ask(&settings->scan.vendor, found, &vendors);
	if (r < 0 || !vendors)
		return r;
	drop_objects(&settings->outputs.api, vendors);
	request = cJSON_CreateObject();
	if (!cJSON_AddItemToObject(request, "vendors", vendors)) {
		cJSON_Delete(vendors);
		cJSON_Delete(request);
		return -ENOMEM;
	}
	if (!cJSON_AddStringToObject(request, "action", "vendor-look") ||
	    add_mine(request, published) < 0 || add_object(request, &settings->outputs) < 0) {
		cJSON_Delete(request);
		return -ENOMEM;
	}
	*ret = request;
	return 0;
}
