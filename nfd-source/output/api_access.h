/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether this node can talk to the API server, and as whom (design 5.3, "Credentials"). Only which
 * credentials there are is found here; nfd-source-api reads them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NFD_API_PATH_SIZE 512
#define NFD_SERVICE_ACCOUNT_TOKEN "/var/run/secrets/kubernetes.io/serviceaccount/token"

/* Where this process runs, and what outlives a reload; all borrowed from the command's context. */
struct nfd_api_place {
	const char *helper;    /* path of nfd-source-api */
	const char *root_path; /* the host is below it: the kubelet's files are looked for there */
	char *const *environment; /* "NAME=value", NULL-terminated */
	const char *node_name;    /* core.nodeName */
	const char *node_origin;  /* where that name comes from */
	int64_t spread_ms;        /* a daemon's first request comes at a random time within it */
	bool unconfined;          /* helpers keep rights that they do not need (confinement.mode) */
	int64_t quiet_until_ms;   /* the API server asked for no request before (Retry-After) */
};

struct nfd_api_options {
	char *kubeconfig;    /* "" for none; owned by the settings */
	int64_t deadline_ms; /* longest run of the helper */
	char *proxy;         /* "" for none; owned by the settings */
	struct nfd_api_place *place;
};

enum nfd_api_kind_of_access {
	NFD_ACCESS_NONE,
	NFD_ACCESS_KUBECONFIG, /* api.kubeconfig or --kubeconfig */
	NFD_ACCESS_POD,        /* the pod's service account */
	NFD_ACCESS_KUBELET,    /* the kubelet's own kubeconfig, below the root */
};

struct nfd_api_access {
	enum nfd_api_kind_of_access kind;
	const char *why;              /* constant sentence */
	char path[NFD_API_PATH_SIZE]; /* of the kubeconfig, below the root for a kubelet's; or "" */
};

/**
 * nfd_api_access_find() - the first credentials that are there: api.kubeconfig, the service account
 * of a pod, the kubelet's own.
 * @options: borrowed.
 * @ret:     filled; NFD_ACCESS_NONE says in @ret->why that there are none.
 * Return: whether there are any.
 */
bool nfd_api_access_find(const struct nfd_api_options *options, struct nfd_api_access *ret);
