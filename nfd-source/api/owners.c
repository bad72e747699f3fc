// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The DaemonSet is found in our pod's own references.
 */
#include "config.h"

#include "api/owners.h"

#include <errno.h>
#include <string.h>

#include "api/action.h"
#include "base/json.h"

struct search {
	struct nfd_client *client;
	const struct nfd_owners_wish *wish;
	cJSON *pod; /* metadata holder of our pod, once it was asked for; owned */
	cJSON *list;
	struct nfd_api_error *err;
};

/* Takes the texts over; an owner without one of them is none. */
static int add(struct search *search, const char *version, const char *kind, const char *name,
	       const char *uid, bool is_controller)
{
	cJSON *owner;
	bool ok;

	if (!*name || !*uid)
		return 0;
	owner = cJSON_CreateObject();
	ok = cJSON_AddStringToObject(owner, "apiVersion", version) &&
	     cJSON_AddStringToObject(owner, "kind", kind) &&
	     cJSON_AddStringToObject(owner, "name", name) &&
	     cJSON_AddStringToObject(owner, "uid", uid) &&
	     (!is_controller || cJSON_AddTrueToObject(owner, "controller")) &&
	     cJSON_AddFalseToObject(owner, "blockOwnerDeletion") &&
	     cJSON_AddItemToArray(search->list, owner);
	if (ok)
		return 0;
	cJSON_Delete(owner);
	return nfd_action_memory(search->err);
}

static int add_node(struct search *search)
{
	cJSON *metadata = NULL;
	int r = nfd_node_get(search->client, search->wish->node, &metadata, search->err);

	if (r == 0)
		r = add(search, "v1", "Node", search->wish->node, nfd_json_text(metadata, "uid"),
			false);
	cJSON_Delete(metadata);
	return r;
}

static int get_pod(struct search *search)
{
	cleanup_strbuf struct nfd_strbuf path = { 0 };
	struct nfd_call call = { .method = "GET", .accept = NFD_ACCEPT_METADATA };

	if (search->pod || !*search->wish->pod)
		return 0;
	nfd_strbuf_puts(&path, "/api/v1/namespaces/");
	nfd_http_escape(&path, search->wish->namespace);
	nfd_strbuf_puts(&path, "/pods/");
	nfd_http_escape(&path, search->wish->pod);
	call.path = nfd_strbuf_text(&path);
	return nfd_client_call(search->client, &call, &search->pod, search->err);
}

static int add_pod(struct search *search)
{
	const char *uid = search->wish->pod_uid;
	int r = *uid ? 0 : get_pod(search);

	if (r == 0 && !*uid)
		uid = nfd_json_text(nfd_json_get(search->pod, "metadata"), "uid");
	return r < 0 ? r : add(search, "v1", "Pod", search->wish->pod, uid, false);
}

static int add_daemon_set(struct search *search)
{
	const cJSON *owner;
	int r = get_pod(search);

	cJSON_ArrayForEach(owner,
			   nfd_json_get(nfd_json_get(search->pod, "metadata"), "ownerReferences")) {
		if (r == 0 && strcmp(nfd_json_text(owner, "kind"), "DaemonSet") == 0)
			r = add(search, nfd_json_text(owner, "apiVersion"), "DaemonSet",
				nfd_json_text(owner, "name"), nfd_json_text(owner, "uid"),
				nfd_json_is_true(owner, "controller"));
	}
	return r;
}

static const struct {
	const char *kind;
	int (*add)(struct search *search);
} kinds[] = {
	{ "node", add_node },
	{ "pod", add_pod },
	{ "ds", add_daemon_set },
};

static bool is_wanted(const struct nfd_owners_wish *wish, const char *kind)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, wish->kinds)
		if (cJSON_IsString(entry) && strcmp(entry->valuestring, kind) == 0)
			return true;
	return false;
}

int nfd_owners_find(struct nfd_client *client, const struct nfd_owners_wish *wish, cJSON **ret,
		    struct nfd_api_error *err)
{
	struct search search = {
		.client = client, .wish = wish, .list = cJSON_CreateArray(), .err = err
	};
	int r = search.list ? 0 : nfd_action_memory(err);

	/* One that cannot be found does not cost the others; the first failure is told. */
	for (size_t i = 0; search.list && i < NFD_ARRAY_SIZE(kinds); i++) {
		struct nfd_api_error later = { 0 };
		int one;

		search.err = r == 0 ? err : &later;
		one = is_wanted(wish, kinds[i].kind) ? kinds[i].add(&search) : 0;
		r = r == 0 ? one : r;
		nfd_api_error_done(&later);
	}
	cJSON_Delete(search.pod);
	if (r == -ENOMEM) {
		cJSON_Delete(search.list);
		search.list = NULL;
	}
	*ret = search.list;
	return r;
}
