// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dcgm: asks a dcgm-exporter on this host for its metrics and counts the GPUs in them. Plain HTTP, so
 * only on the loopback addresses, and without any credential.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/action.h"

#define SAMPLE "DCGM_FI_"
#define GPU "gpu=\""
#define GPUS_MAX 256

static bool begins_with_port(const char *text)
{
	size_t len = strspn(text, "0123456789");
	unsigned long port = strtoul(text, NULL, 10);

	return len > 0 && len <= 5 && port > 0 && port <= 65535 && (text[len] == '/' || !text[len]);
}

/* A loopback address, a port, and then the path: nothing that could name another host. */
static bool is_loopback(const char *url)
{
	static const char *const starts[] = { "http://127.0.0.1:", "http://[::1]:",
					      "http://localhost:" };

	for (size_t i = 0; i < NFD_ARRAY_SIZE(starts); i++)
		if (strncmp(url, starts[i], strlen(starts[i])) == 0)
			return begins_with_port(url + strlen(starts[i]));
	return false;
}

/* Different values of the label "gpu" in the samples. */
static int count_gpus(char *text)
{
	bool seen[GPUS_MAX] = { false };
	int count = 0;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		const char *at = strstr(line, GPU);
		unsigned long number;

		if (strncmp(line, SAMPLE, strlen(SAMPLE)) != 0 || !at)
			continue;
		number = strtoul(at + strlen(GPU), NULL, 10);
		if (number >= GPUS_MAX || seen[number])
			continue;
		seen[number] = true;
		count++;
	}
	return count;
}

static int run(struct nfd_client *client, const cJSON *request, cJSON *result,
	       struct nfd_api_error *err)
{
	struct nfd_http_reply reply = { 0 };
	const char *url;
	int r;

	r = nfd_action_text(request, "url", NULL, &url, err);
	if (r == 0 && !is_loopback(url))
		r = nfd_api_error_set(
			err, NFD_API_REQUEST, -EINVAL,
			"\"url\" is no http:// URL of a loopback address with a port");
	if (r < 0)
		return r;
	client->get++;
	r = nfd_http_get_local(&client->http, url, &reply, err);
	if (r == 0 && reply.status != 200)
		r = nfd_api_error_status(err, reply.status, "GET", nfd_strbuf_text(&reply.body));
	if (r == 0 && !cJSON_AddNumberToObject(result, "gpus",
					       reply.body.data ? count_gpus(reply.body.data) : 0))
		r = nfd_action_memory(err);
	nfd_strbuf_done(&reply.body);
	return r;
}

const struct nfd_action nfd_action_dcgm = { .name = "dcgm", .no_credentials = true, .run = run };
