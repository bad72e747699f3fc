// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One handle for all requests of a run, so that they share a connection. Options are set anew for
 * each request: credentials may have been read again in between.
 */
#include "config.h"

#include "api/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define CONNECT_MAX_MS 10000
/* Slower than this for so long is a connection that hangs. */
#define LOW_SPEED_BYTES 64
#define LOW_SPEED_S 10

int nfd_http_open(struct nfd_http *http, struct nfd_api_error *err)
{
	http->curl = NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		http->curl = curl_easy_init();
	if (!http->curl)
		return nfd_api_error_set(err, NFD_API_CONNECT, -ENOMEM, "cannot start libcurl");
	return 0;
}

void nfd_http_close(struct nfd_http *http)
{
	curl_easy_cleanup(http->curl);
	http->curl = NULL;
	curl_global_cleanup();
}

void nfd_http_escape(struct nfd_strbuf *buf, const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= '0' && *c <= '9') || strchr("-_.~", *c))
			nfd_strbuf_add(buf, c, 1);
		else
			nfd_strbuf_printf(buf, "%%%02X", (unsigned char)*c);
	}
}

/* Returning less than it was given ends the transfer. */
static size_t on_body(char *data, size_t size, size_t count, void *cookie)
{
	struct nfd_strbuf *body = cookie;

	if (body->len + size * count > NFD_HTTP_BODY_MAX)
		return 0;
	nfd_strbuf_add(body, data, size * count);
	return body->error ? 0 : size * count;
}

static struct curl_blob blob_of(const struct nfd_blob *blob)
{
	return (struct curl_blob){ .data = blob->data, .len = blob->len, .flags = CURL_BLOB_COPY };
}

/* Whose certificate is expected, and which one we show. */
static void set_tls(CURL *curl, const struct nfd_credentials *credentials)
{
	struct curl_blob ca = blob_of(&credentials->ca);
	struct curl_blob certificate = blob_of(&credentials->certificate);
	struct curl_blob key = blob_of(&credentials->key);

	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (ca.data) {
		/* Not beside the authorities of the system, but instead of them. */
		curl_easy_setopt(curl, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
		curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &ca);
	}
	if (certificate.data) {
		curl_easy_setopt(curl, CURLOPT_SSLCERT_BLOB, &certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY_BLOB, &key);
	}
}

static void set_limits(CURL *curl, int64_t left_ms, bool plain)
{
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)nfd_min64(left_ms, CONNECT_MAX_MS));
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LOW_SPEED_BYTES);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)LOW_SPEED_S);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, plain ? CURLPROTO_HTTP : CURLPROTO_HTTPS);
#endif
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}

/* An empty text, unlike NULL, also switches the variables off. */
static void set_proxy(CURL *curl, const struct nfd_http *http,
		      const struct nfd_credentials *credentials)
{
	const char *proxy = http->proxy ? http->proxy : credentials->proxy;

	curl_easy_setopt(curl, CURLOPT_PROXY, proxy ? proxy : "");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
}

/*
 * The host part of a server URL. A name that the certificate has instead of it takes its place in
 * the URL, and the connection still goes to the host.
 */
static const char *host_of(const char *server, size_t *ret_len)
{
	const char *host = strstr(server, "://") + 3;

	*ret_len = strcspn(host, "/");
	return host;
}

static struct curl_slist *set_url(CURL *curl, const struct nfd_credentials *credentials,
				  const char *path)
{
	cleanup_strbuf struct nfd_strbuf url = { 0 };
	cleanup_strbuf struct nfd_strbuf to = { 0 };
	struct curl_slist *connect_to = NULL;
	size_t len;
	const char *host = host_of(credentials->server, &len);

	if (credentials->server_name) {
		const char *port = host[0] == '[' ? strchr(host, ']') : host;

		port = port ? memchr(port, ':', len - (size_t)(port - host)) : NULL;
		nfd_strbuf_printf(&url, "https://%s%.*s%s%s", credentials->server_name,
				  port ? (int)(len - (size_t)(port - host)) : 0, port ? port : "",
				  host + len, path);
		nfd_strbuf_printf(&to, "%s::%.*s%s", credentials->server_name, (int)len, host,
				  port ? "" : ":443");
		connect_to = curl_slist_append(NULL, nfd_strbuf_text(&to));
	} else {
		nfd_strbuf_printf(&url, "%s%s", credentials->server, path);
	}
	curl_easy_setopt(curl, CURLOPT_URL, nfd_strbuf_text(&url));
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECT_TO, connect_to);
	return connect_to;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
	cleanup_strbuf struct nfd_strbuf line = { 0 };
	struct curl_slist *longer;

	if (!value)
		return list;
	nfd_strbuf_printf(&line, "%s%s", name, value);
	longer = curl_slist_append(list, nfd_strbuf_text(&line));
	if (line.data)
		explicit_bzero(line.data, line.len);
	return longer ? longer : list;
}

static struct curl_slist *set_request(CURL *curl, const struct nfd_credentials *credentials,
				      const struct nfd_http_request *request)
{
	struct curl_slist *headers = NULL;

	curl_easy_setopt(curl, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)strlen(request->body));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	} else {
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	headers = add_header(headers, "Accept: ", request->accept);
	headers = add_header(headers, "Content-Type: ", request->content_type);
	headers = add_header(headers, "Authorization: Bearer ", credentials->token);
	/* Else a body over a kilobyte waits for a word of the server first. */
	headers = add_header(headers, "Expect:", "");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	return headers;
}

struct failure {
	CURLcode curl;
	enum nfd_api_kind kind;
	int code;
};

static const struct failure failures[] = {
	{ CURLE_OPERATION_TIMEDOUT, NFD_API_CONNECT, -ETIMEDOUT },
	{ CURLE_PEER_FAILED_VERIFICATION, NFD_API_TLS, -EKEYREJECTED },
	{ CURLE_SSL_CACERT_BADFILE, NFD_API_CREDENTIALS, -EINVAL },
	{ CURLE_SSL_CERTPROBLEM, NFD_API_CREDENTIALS, -EINVAL },
	{ CURLE_URL_MALFORMAT, NFD_API_CREDENTIALS, -EINVAL },
	/* So curl calls bytes that are no HTTP, or an absurd status. */
	{ CURLE_UNSUPPORTED_PROTOCOL, NFD_API_REPLY, -EBADMSG },
	{ CURLE_WEIRD_SERVER_REPLY, NFD_API_REPLY, -EBADMSG },
	{ CURLE_WRITE_ERROR, NFD_API_REPLY, -EFBIG },
	{ CURLE_OUT_OF_MEMORY, NFD_API_CONNECT, -ENOMEM },
};

static int judge(CURLcode result, const char *words, const struct nfd_credentials *credentials,
		 const struct nfd_http_request *request, struct nfd_api_error *err)
{
	struct failure failure = { result, NFD_API_CONNECT, -ECONNRESET };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(failures); i++)
		if (failures[i].curl == result)
			failure = failures[i];
	if (failure.code == -EFBIG)
		words = "the reply is larger than 4 MiB";
	return nfd_api_error_set(err, failure.kind, failure.code, "%s %.160s at %.160s: %.240s",
				 request->method, request->path, credentials->server,
				 words[0] ? words : curl_easy_strerror(result));
}

static int64_t retry_after_ms(CURL *curl)
{
	curl_off_t seconds = 0;

	/* A date in the past, a negative number or none at all gives nothing to go by. */
	if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds <= 0)
		return 0;
	return nfd_min64(seconds, NFD_RETRY_AFTER_MAX_MS / 1000) * 1000;
}

int nfd_http_send(struct nfd_http *http, const struct nfd_credentials *credentials,
		  const struct nfd_http_request *request, struct nfd_http_reply *reply,
		  struct nfd_api_error *err)
{
	int64_t left_ms = http->end_ms - nfd_clock_monotonic_ms();
	struct curl_slist *headers, *connect_to;
	char words[CURL_ERROR_SIZE] = "";
	CURL *curl = http->curl;
	CURLcode result;
	long status = 0;

	nfd_strbuf_done(&reply->body);
	/* To curl, 0 is no limit at all. */
	if (left_ms <= 0)
		return judge(CURLE_OPERATION_TIMEDOUT, "the deadline is over", credentials, request,
			     err);
	curl_easy_reset(curl);
	set_limits(curl, left_ms, false);
	set_tls(curl, credentials);
	set_proxy(curl, http, credentials);
	connect_to = set_url(curl, credentials, request->path);
	headers = set_request(curl, credentials, request);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply->body);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
	result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	reply->status = (int)status;
	reply->retry_after_ms = retry_after_ms(curl);
	curl_slist_free_all(headers);
	curl_slist_free_all(connect_to);
	return result == CURLE_OK ? 0 : judge(result, words, credentials, request, err);
}

int nfd_http_get_local(struct nfd_http *http, const char *url, struct nfd_http_reply *reply,
		       struct nfd_api_error *err)
{
	const struct nfd_http_request request = { .method = "GET", .path = "" };
	struct nfd_credentials none = { .server = (char *)url };
	int64_t left_ms = http->end_ms - nfd_clock_monotonic_ms();
	char words[CURL_ERROR_SIZE] = "";
	CURL *curl = http->curl;
	CURLcode result;
	long status = 0;

	nfd_strbuf_done(&reply->body);
	curl_easy_reset(curl);
	set_limits(curl, left_ms > 0 ? left_ms : 1, true);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply->body);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
	result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	reply->status = (int)status;
	return result == CURLE_OK ? 0 : judge(result, words, &none, &request, err);
}
