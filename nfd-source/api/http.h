/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTPS requests: the only module that knows libcurl. TLS is always verified, redirects are not
 * followed, proxies are used only where one is named, and everything is bounded in time and size.
 */
#pragma once

#include <stdint.h>

#include "api/api_error.h"
#include "api/credentials.h"
#include "base/strbuf.h"

#define NFD_HTTP_BODY_MAX (4 * 1024 * 1024)

struct nfd_http {
	void *curl;        /* the handle, which keeps the connection; owned */
	int64_t end_ms;    /* nothing may take longer; nfd_clock_monotonic_ms() */
	const char *proxy; /* proxy URL that was asked for; NULL: the credentials' own, or none */
};

struct nfd_http_request {
	const char *method;
	const char *path; /* with query, begins with a slash, escaped */
	const char *content_type;
	const char *accept;
	const char *body; /* NULL for none; borrowed */
};

struct nfd_http_reply {
	int status;             /* HTTP status */
	int64_t retry_after_ms; /* 0: none that is usable; at most NFD_RETRY_AFTER_MAX_MS */
	struct nfd_strbuf body; /* owned: nfd_strbuf_done() */
};

/**
 * nfd_http_open() - ready for requests.
 * @http:   @http->end_ms and @http->proxy are set; to be given to nfd_http_close() also after a
 *          failure.
 * Return: 0; -ENOMEM.
 */
int nfd_http_open(struct nfd_http *http, struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_http_close() - close the connection, free.
 */
void nfd_http_close(struct nfd_http *http);

/**
 * nfd_http_send() - send one request and read the whole reply.
 * @credentials: server, authority, proof; borrowed.
 * @request:     borrowed.
 * @reply:       filled; a reply with any status is a success here. @reply->body is emptied first.
 * @err:         kind NFD_API_CONNECT, NFD_API_TLS, NFD_API_REPLY or NFD_API_CREDENTIALS.
 * Return: 0; -ETIMEDOUT, -ECONNRESET, -EKEYREJECTED, -EFBIG, -EINVAL, -ENOMEM.
 */
int nfd_http_send(struct nfd_http *http, const struct nfd_credentials *credentials,
		  const struct nfd_http_request *request, struct nfd_http_reply *reply,
		  struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_http_get_local() - GET of a program on this host, by plain HTTP and without credentials.
 * @url: http:// URL of a loopback address.
 * Other arguments and return as for nfd_http_send().
 */
int nfd_http_get_local(struct nfd_http *http, const char *url, struct nfd_http_reply *reply,
		       struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_http_escape() - a text as one segment of a path.
 * @buf: receives it, percent-encoded.
 */
void nfd_http_escape(struct nfd_strbuf *buf, const char *text);
