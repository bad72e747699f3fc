/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the helper can be asked to do: one entry and one file each. The protocol is in
 * docs/api-protocol.md.
 */
#pragma once

#include "api/client.h"

struct nfd_action {
	const char *name;
	bool no_credentials; /* it does not talk to the API server */
	/*
	 * Does what @request asks for. @result: object that receives the fields of this action, also
	 * after a failure. Returns 0; negative errno with @err.
	 */
	int (*run)(struct nfd_client *client, const cJSON *request, cJSON *result,
		   struct nfd_api_error *err);
};

extern const struct nfd_action nfd_action_node_labels;
extern const struct nfd_action nfd_action_node_look;
extern const struct nfd_action nfd_action_node_read;
extern const struct nfd_action nfd_action_vendor_look;
extern const struct nfd_action nfd_action_event;
extern const struct nfd_action nfd_action_dcgm;
extern const struct nfd_action nfd_action_node_feature;
extern const struct nfd_action nfd_action_node_feature_delete;

/**
 * nfd_action_text() - a text of the request.
 * @fallback: for a field that is missing; NULL when it must be there and not be empty.
 * @ret:      receives it; borrowed.
 * Return: 0; -EINVAL, @err names the field.
 */
int nfd_action_text(const cJSON *request, const char *field, const char *fallback, const char **ret,
		    struct nfd_api_error *err);

/**
 * nfd_action_name() - a text of the request that becomes a segment of a path: "." and ".." are none.
 * Arguments and return as for nfd_action_text() without fallback.
 */
int nfd_action_name(const cJSON *request, const char *field, const char **ret,
		    struct nfd_api_error *err);

/**
 * nfd_action_flag() - a yes or no of the request; missing is no.
 * nfd_action_keys() - an array of texts of the request; missing is none (NULL).
 * Return: 0; -EINVAL for another type, @err names the field.
 */
int nfd_action_flag(const cJSON *request, const char *field, bool *ret, struct nfd_api_error *err);
int nfd_action_keys(const cJSON *request, const char *field, const cJSON **ret,
		    struct nfd_api_error *err);

/**
 * nfd_action_memory() - say that memory ran out.
 * Return: -ENOMEM.
 */
int nfd_action_memory(struct nfd_api_error *err);

/**
 * nfd_node_path() - path of our Node.
 * @node: name.
 * @buf:  receives it, escaped.
 */
void nfd_node_path(const char *node, struct nfd_strbuf *buf);

/**
 * nfd_node_get() - GET of our Node.
 * @ret: receives its metadata; owner: caller.
 * Return: 0; -ENOENT when there is no such Node; see nfd_client_call().
 */
int nfd_node_get(struct nfd_client *client, const char *node, cJSON **ret,
		 struct nfd_api_error *err) nfd_must_check;

/**
 * nfd_node_describe() - add "node" {"uid","nfd"} to a result.
 * Return: 0; -ENOMEM.
 */
int nfd_node_describe(const cJSON *metadata, cJSON *result, struct nfd_api_error *err)
	nfd_must_check;
