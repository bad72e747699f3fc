// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event: an Event on our Node, so that "kubectl describe node" tells it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "api/action.h"
#include "base/clock.h"
#include "base/json.h"

#define COMPONENT "nfd-source"
/* Events of Nodes, which have no namespace, are in this one. */
#define PATH "/api/v1/namespaces/default/events"

static cJSON *add_object(cJSON *parent, const char *name)
{
	return parent ? cJSON_AddObjectToObject(parent, name) : NULL;
}

/* The uid is the Node's name, as in the events of its kubelet: kubectl looks for both. */
static bool add_node(cJSON *event, const char *node)
{
	cJSON *involved = add_object(event, "involvedObject");

	return involved && cJSON_AddStringToObject(involved, "apiVersion", "v1") &&
	       cJSON_AddStringToObject(involved, "kind", "Node") &&
	       cJSON_AddStringToObject(involved, "name", node) &&
	       cJSON_AddStringToObject(involved, "uid", node);
}

static bool add_origin(cJSON *event, const char *node)
{
	cJSON *source = add_object(event, "source");
	char now[NFD_TIME_TEXT_SIZE];

	nfd_format_time(nfd_clock_real_s(), now);
	return source && cJSON_AddStringToObject(source, "component", COMPONENT) &&
	       cJSON_AddStringToObject(source, "host", node) &&
	       cJSON_AddStringToObject(event, "reportingComponent", COMPONENT) &&
	       cJSON_AddStringToObject(event, "reportingInstance", node) &&
	       cJSON_AddStringToObject(event, "firstTimestamp", now) &&
	       cJSON_AddStringToObject(event, "lastTimestamp", now) &&
	       cJSON_AddNumberToObject(event, "count", 1);
}

static cJSON *make_event(const char *node, const char *reason, const char *message, bool warning)
{
	cJSON *event = cJSON_CreateObject();
	cJSON *metadata = add_object(event, "metadata");
	char name[300];

	snprintf(name, sizeof(name), "%.230s.%llx", node,
		 (unsigned long long)nfd_clock_real_ms() * 1000);
	if (metadata && cJSON_AddStringToObject(event, "apiVersion", "v1") &&
	    cJSON_AddStringToObject(event, "kind", "Event") &&
	    cJSON_AddStringToObject(metadata, "name", name) &&
	    cJSON_AddStringToObject(metadata, "namespace", "default") &&
	    cJSON_AddStringToObject(event, "reason", reason) &&
	    cJSON_AddStringToObject(event, "message", message) &&
	    cJSON_AddStringToObject(event, "type", warning ? "Warning" : "Normal") &&
	    add_node(event, node) && add_origin(event, node))
		return event;
	cJSON_Delete(event);
	return NULL;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	struct nfd_call call = { .method = "POST",
				 .path = PATH,
				 .accept = NFD_ACCEPT_JSON,
				 .content_type = NFD_ACCEPT_JSON };
	const char *node, *reason, *message;
	bool warning;
	cJSON *event;
	int r;

	r = nfd_action_name(request, "node", &node, err);
	if (r == 0)
		r = nfd_action_text(request, "reason", NULL, &reason, err);
	if (r == 0)
		r = nfd_action_text(request, "message", NULL, &message, err);
	if (r == 0)
		r = nfd_action_flag(request, "warning", &warning, err);
	if (r < 0)
		return r;
	event = make_event(node, reason, message, warning);
	if (!event)
		return nfd_action_memory(err);
	call.body = event;
	r = nfd_client_call(client, &call, NULL, err);
	cJSON_Delete(event);
	return r < 0 || cJSON_AddBoolToObject(result, "written", true) ? r : nfd_action_memory(err);
}

const struct nfd_action nfd_action_event = { .name = "event", .run = run };
