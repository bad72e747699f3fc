/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A failure of the helper as its parent is told (docs/api-protocol.md): kind, status, what can heal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/error.h"

#define NFD_RETRY_AFTER_MAX_MS 300000

enum nfd_api_kind {
	NFD_API_REQUEST,     /* what we were asked is not valid */
	NFD_API_CREDENTIALS, /* cannot be read or used */
	NFD_API_CONNECT,     /* no connection, cut, timed out */
	NFD_API_TLS,         /* the server's certificate is not accepted */
	NFD_API_REPLY,       /* malformed or too large */
	NFD_API_REFUSED,     /* a status of 300 or more */
};

struct nfd_api_error {
	enum nfd_api_kind kind;
	int status;             /* HTTP status; 0 for none */
	char reason[64];        /* of the Kubernetes Status, "" for none */
	cJSON *details;         /* "details" of the Kubernetes Status; NULL or owned */
	int64_t retry_after_ms; /* 0: nothing usable was named */
	struct nfd_error error;
};

#define cleanup_api_error __attribute__((cleanup(nfd_api_error_done)))

/**
 * nfd_api_error_done() - free; a zeroed one is fine.
 */
void nfd_api_error_done(struct nfd_api_error *err);

/**
 * nfd_api_error_set() - note a failure; replaces an earlier one.
 * @code: negative errno.
 * Return: @code.
 */
int nfd_api_error_set(struct nfd_api_error *err, enum nfd_api_kind kind, int code, const char *fmt,
		      ...) nfd_printf_like(4, 5);

/**
 * nfd_api_error_status() - note a reply with a status of 300 or more.
 * @status: HTTP status.
 * @tried:  verb and path.
 * @body:   a Kubernetes Status as JSON, or any other text (hostile).
 * Return: -EACCES for 401 and 403, -ENOENT for 404, -EEXIST for 409, -EINVAL for 400 and 422, -EAGAIN
 *         for 429 and 5xx, else -EREMOTEIO.
 */
int nfd_api_error_status(struct nfd_api_error *err, int status, const char *tried,
			 const char *body);

/**
 * nfd_api_error_is_missing_type() - whether a 404 means that the API server does not know the
 * resource type, not that the object is missing: then its Status names no object.
 */
bool nfd_api_error_is_missing_type(const struct nfd_api_error *err);

/**
 * nfd_api_error_conflicts() - keys of labels that a 409 or 422 names in its causes.
 * @err:  with causes on ".metadata.labels.<key>".
 * @list: array that receives {"key","message"} for each.
 * Return: number of keys added; -ENOMEM.
 */
int nfd_api_error_conflicts(const struct nfd_api_error *err, cJSON *list);

/**
 * nfd_api_error_named_keys() - label keys that the text or causes of a 403 or 422 name as a whole
 * word; in the causes of a 422 also by their quoted value.
 * @labels: object of the labels that were sent.
 * @list:   array that receives {"key","message"} for each.
 * Return: number of keys added; -ENOMEM.
 */
int nfd_api_error_named_keys(const struct nfd_api_error *err, const cJSON *labels, cJSON *list);

/**
 * nfd_api_error_object() - the error object of the protocol.
 * Return: owner: caller; NULL when out of memory.
 */
cJSON *nfd_api_error_object(const struct nfd_api_error *err);
