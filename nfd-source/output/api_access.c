// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The usual places of a kubelet's kubeconfig, by distribution. One that cannot be read (we are not
 * root) is no credential.
 */
#include "config.h"

#include "output/api_access.h"

#include <stdio.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/root.h"

static const char *const kubelet_files[] = {
	"etc/kubernetes/kubelet.conf",                          /* kubeadm, OpenShift's bootstrap */
	"var/lib/kubelet/kubeconfig",                           /* EKS, GKE, AKS, OpenShift */
	"etc/kubernetes/kubelet/kubeconfig",                    /* Bottlerocket */
	"etc/kubernetes/kubeconfig-kubelet",                    /* Talos */
	"var/lib/rancher/k3s/agent/kubelet.kubeconfig",         /* k3s */
	"var/lib/rancher/rke2/agent/kubelet.kubeconfig",        /* RKE2 */
	"var/lib/k0s/kubelet.conf",                             /* k0s */
	"var/snap/microk8s/current/credentials/kubelet.config", /* MicroK8s */
};

static bool in_pod(const struct nfd_api_place *place)
{
	const char *host = nfd_environment_value(place->environment, "KUBERNETES_SERVICE_HOST");

	return host && *host && access(NFD_SERVICE_ACCOUNT_TOKEN, R_OK) == 0;
}

static bool find_kubelet(const struct nfd_api_place *place, char ret[NFD_API_PATH_SIZE])
{
	struct nfd_root root = { 0 };
	bool found = false;
	char byte;

	if (nfd_root_open(&root, place->root_path, NULL) == 0)
		for (size_t i = 0; i < NFD_ARRAY_SIZE(kubelet_files) && !found; i++) {
			found = nfd_root_read_start(&root, kubelet_files[i], &byte, 1) > 0;
			snprintf(ret, NFD_API_PATH_SIZE, "/%s", kubelet_files[i]);
		}
	nfd_root_close(&root);
	return found;
}

bool nfd_api_access_find(const struct nfd_api_options *options, struct nfd_api_access *ret)
{
	*ret = (struct nfd_api_access){ .kind = NFD_ACCESS_NONE };
	if (!options->place) {
		ret->why = "the API server is not asked here";
	} else if (options->kubeconfig && options->kubeconfig[0]) {
		ret->kind = NFD_ACCESS_KUBECONFIG;
		ret->why = "api.kubeconfig names credentials";
		snprintf(ret->path, sizeof(ret->path), "%s", options->kubeconfig);
	} else if (in_pod(options->place)) {
		ret->kind = NFD_ACCESS_POD;
		ret->why = "the pod has a service account";
	} else if (find_kubelet(options->place, ret->path)) {
		ret->kind = NFD_ACCESS_KUBELET;
		ret->why = "the kubelet's own credentials are there";
	} else {
		ret->path[0] = '\0';
		ret->why =
			"there are no credentials that can be read: neither api.kubeconfig, nor a "
			"pod's service account, nor a kubelet's kubeconfig";
	}
	return ret->kind != NFD_ACCESS_NONE;
}
