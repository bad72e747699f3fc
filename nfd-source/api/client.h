/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of the Kubernetes API: JSON in, JSON out, failures as struct nfd_api_error.
 */
#pragma once

#include <stdbool.h>

#include "api/http.h"

/* Metadata is all that we want of most objects: without status and spec they are small. */
#define NFD_ACCEPT_METADATA \
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json"
#define NFD_ACCEPT_JSON "application/json"
#define NFD_CONTENT_APPLY "application/apply-patch+yaml"
#define NFD_CONTENT_JSON_PATCH "application/json-patch+json"
#define NFD_FIELD_MANAGER "nfd-source"

struct nfd_client {
	struct nfd_http http;
	struct nfd_credential_source source;
	struct nfd_credentials credentials;
	bool reread; /* the credentials were read again after a 401: not twice */
	unsigned int get, patch, post, delete; /* requests sent */
};

struct nfd_call {
	const char *method;       /* "GET", "PATCH", "POST" or "DELETE" */
	const char *path;         /* with query, escaped */
	const char *accept;       /* NFD_ACCEPT_… */
	const char *content_type; /* of @body */
	const cJSON *body;        /* NULL for none */
};

/**
 * nfd_client_open() - read the credentials, ready for calls.
 * @client: @client->source and @client->http are set by the caller; to be given to
 *          nfd_client_close() also after a failure.
 * Return: 0; negative errno, see nfd_credentials_read().
 */
int nfd_client_open(struct nfd_client *client, struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_client_close() - free.
 */
void nfd_client_close(struct nfd_client *client);

/**
 * nfd_client_call() - one call. After a 401 the credentials are read again, once in the life of a
 * client, and the call is repeated.
 * @ret: receives the object of a reply below 300; NULL when not wanted. Owner: caller,
 *       cJSON_Delete().
 * @err: what failed; a secret in the server's words is struck out.
 * Return: 0; -EBADMSG when the reply is no JSON object; else see nfd_http_send() and
 *         nfd_api_error_status().
 */
int nfd_client_call(struct nfd_client *client, const struct nfd_call *call, cJSON **ret,
		    struct nfd_api_error *err) nfd_must_check;
