/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credential plugins of a kubeconfig (client.authentication.k8s.io), as kubelets of clouds use them:
 * a program that prints a token or a client certificate.
 */
#pragma once

#include "api/credentials.h"

struct nfd_exec_plugin {
	const cJSON *exec;        /* the user's "exec" object */
	const cJSON *cluster;     /* the cluster's object, for provideClusterInfo */
	const char *folder;       /* of the kubeconfig: a command with a slash counts from it */
	const char *root;         /* a plugin of another root cannot be run */
	char *const *environment; /* passed on, with what the kubeconfig adds */
	int64_t end_ms;           /* it is killed then */
};

/**
 * nfd_exec_plugin_run() - run the plugin and take what it prints.
 * @credentials: receives token, certificate and key.
 * @err:         names the command, never what it printed.
 * Return: 0; -EINVAL for a plugin that is not described right or prints no ExecCredential; -ENOENT
 *         when it is not found; -ETIME, -EIO when it does not end well; -ENOMEM.
 */
int nfd_exec_plugin_run(const struct nfd_exec_plugin *plugin, struct nfd_credentials *credentials,
			struct nfd_api_error *err) nfd_must_check;
