// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is above HTTP and below the actions.
 */
#include "config.h"

#include "api/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int nfd_client_open(struct nfd_client *client, struct nfd_api_error *err)
{
	int r = nfd_http_open(&client->http, err);

	return r < 0 ? r : nfd_credentials_read(&client->credentials, &client->source, err);
}

void nfd_client_close(struct nfd_client *client)
{
	nfd_http_close(&client->http);
	nfd_credentials_done(&client->credentials);
}

static void count(struct nfd_client *client, const char *method)
{
	if (method[0] == 'G')
		client->get++;
	else if (method[0] == 'P' && method[1] == 'A')
		client->patch++;
	else if (method[0] == 'P')
		client->post++;
	else
		client->delete ++;
}

static int read_again(struct nfd_client *client, struct nfd_api_error *err)
{
	client->reread = true;
	nfd_credentials_done(&client->credentials);
	return nfd_credentials_read(&client->credentials, &client->source, err);
}

static int send_once(struct nfd_client *client, const struct nfd_http_request *request,
		     struct nfd_http_reply *reply, struct nfd_api_error *err)
{
	count(client, request->method);
	return nfd_http_send(&client->http, &client->credentials, request, reply, err);
}

static int send(struct nfd_client *client, const struct nfd_http_request *request,
		struct nfd_http_reply *reply, struct nfd_api_error *err)
{
	int r = send_once(client, request, reply, err);

	if (r < 0 || reply->status != 401 || client->reread)
		return r;
	r = read_again(client, err);
	return r < 0 ? r : send_once(client, request, reply, err);
}

/* A server that sends our token back does not get it into a log. */
static void strike_out(const char *secret, struct nfd_strbuf *body)
{
	char *at;

	if (!secret || !*secret || !body->data)
		return;
	while ((at = strstr(body->data, secret)) != NULL)
		memset(at, '*', strlen(secret));
}

static int refuse(struct nfd_client *client, const struct nfd_call *call,
		  struct nfd_http_reply *reply, struct nfd_api_error *err)
{
	char tried[256];
	int code;

	strike_out(client->credentials.token, &reply->body);
	snprintf(tried, sizeof(tried), "%s %.200s", call->method, call->path);
	code = nfd_api_error_status(err, reply->status, tried, nfd_strbuf_text(&reply->body));
	err->retry_after_ms = reply->retry_after_ms;
	if (reply->status == 401)
		nfd_error_wrap(&err->error, "the API server does not take the credentials (%s)",
			       nfd_credentials_name(&client->source));
	return code;
}

static int take_object(const struct nfd_call *call, const struct nfd_http_reply *reply, cJSON **ret,
		       struct nfd_api_error *err)
{
	cJSON *object = cJSON_ParseWithLength(nfd_strbuf_text(&reply->body), reply->body.len);

	if (!cJSON_IsObject(object)) {
		cJSON_Delete(object);
		return nfd_api_error_set(err, NFD_API_REPLY, -EBADMSG,
					 "%s %.200s: the reply is no JSON object", call->method,
					 call->path);
	}
	if (ret)
		*ret = object;
	else
		cJSON_Delete(object);
	return 0;
}

int nfd_client_call(struct nfd_client *client, const struct nfd_call *call, cJSON **ret,
		    struct nfd_api_error *err)
{
	struct nfd_http_reply reply = { 0 };
	char *body = call->body ? cJSON_PrintUnformatted(call->body) : NULL;
	struct nfd_http_request request = {
		.method = call->method,
		.path = call->path,
		.accept = call->accept,
		.content_type = call->content_type,
		.body = body,
	};
	int r;

	if (call->body && !body)
		return nfd_api_error_set(err, NFD_API_REQUEST, -ENOMEM, "out of memory");
	r = send(client, &request, &reply, err);
	if (r == 0 && reply.status >= 300)
		r = refuse(client, call, &reply, err);
	else if (r == 0)
		r = take_object(call, &reply, ret, err);
	cJSON_free(body);
	nfd_strbuf_done(&reply.body);
	return r;
}
