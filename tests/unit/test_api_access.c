// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/api_access (design 5.3): which credentials there are, in which order.
 */
#include "config.h"

#include "output/api_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define KUBELET "the kubelet's own credentials are there"
#define NONE                                                                              \
	"there are no credentials that can be read: neither api.kubeconfig, nor a pod's " \
	"service account, nor a kubelet's kubeconfig"

static char *const no_environment[] = { NULL };

static const struct {
	const char *name;
	struct tree_entry entry[4];
	const char *kubeconfig;
	const char *path; /* found below the root; NULL: none */
} rows[] = {
	{ "kubeadm",
	  { FILE_AT("etc/kubernetes/kubelet.conf", "x") },
	  "",
	  "/etc/kubernetes/kubelet.conf" },
	{ "EKS, GKE, AKS",
	  { FILE_AT("var/lib/kubelet/kubeconfig", "x") },
	  "",
	  "/var/lib/kubelet/kubeconfig" },
	{ "Bottlerocket",
	  { FILE_AT("etc/kubernetes/kubelet/kubeconfig", "x") },
	  "",
	  "/etc/kubernetes/kubelet/kubeconfig" },
	{ "Talos",
	  { FILE_AT("etc/kubernetes/kubeconfig-kubelet", "x") },
	  "",
	  "/etc/kubernetes/kubeconfig-kubelet" },
	{ "k3s",
	  { FILE_AT("var/lib/rancher/k3s/agent/kubelet.kubeconfig", "x") },
	  "",
	  "/var/lib/rancher/k3s/agent/kubelet.kubeconfig" },
	{ "RKE2",
	  { FILE_AT("var/lib/rancher/rke2/agent/kubelet.kubeconfig", "x") },
	  "",
	  "/var/lib/rancher/rke2/agent/kubelet.kubeconfig" },
	{ "k0s", { FILE_AT("var/lib/k0s/kubelet.conf", "x") }, "", "/var/lib/k0s/kubelet.conf" },
	{ "MicroK8s",
	  { FILE_AT("var/snap/microk8s/current/credentials/kubelet.config", "x") },
	  "",
	  "/var/snap/microk8s/current/credentials/kubelet.config" },
	{ "MicroK8s, current is a link",
	  { FILE_AT("var/snap/microk8s/7/credentials/kubelet.config", "x"),
	    LINK_AT("var/snap/microk8s/current", "7") },
	  "",
	  "/var/snap/microk8s/current/credentials/kubelet.config" },
	{ "the first of two",
	  { FILE_AT("var/lib/k0s/kubelet.conf", "x"), FILE_AT("var/lib/kubelet/kubeconfig", "x") },
	  "",
	  "/var/lib/kubelet/kubeconfig" },
	{ "an empty one is passed over",
	  { FILE_AT("etc/kubernetes/kubelet.conf", ""), FILE_AT("var/lib/k0s/kubelet.conf", "x") },
	  "",
	  "/var/lib/k0s/kubelet.conf" },
	{ "a folder is passed over",
	  { DIR_AT("etc/kubernetes/kubelet.conf"), FILE_AT("var/lib/k0s/kubelet.conf", "x") },
	  "",
	  "/var/lib/k0s/kubelet.conf" },
	{ "a FIFO does not hang",
	  { FIFO_AT("etc/kubernetes/kubelet.conf"), FILE_AT("var/lib/k0s/kubelet.conf", "x") },
	  "",
	  "/var/lib/k0s/kubelet.conf" },
	{ "a link that leaves the root leads below it",
	  { LINK_AT("etc/kubernetes/kubelet.conf", "../../../../../../kube"),
	    FILE_AT("kube", "x") },
	  "",
	  "/etc/kubernetes/kubelet.conf" },
	{ "a link to nothing is passed over",
	  { LINK_AT("etc/kubernetes/kubelet.conf", "/etc/passwd"),
	    FILE_AT("var/lib/k0s/kubelet.conf", "x") },
	  "",
	  "/var/lib/k0s/kubelet.conf" },
	{ "none", { DIR_AT("etc") }, "", NULL },
	{ "empty only", { FILE_AT("etc/kubernetes/kubelet.conf", "") }, "", NULL },
};

static void finds_a_kubelets(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_api_place place = { .root_path = tree, .environment = no_environment };
	const struct nfd_api_options options = { .kubeconfig = unit_text("%s", row->kubeconfig),
						 .place = &place };
	struct nfd_api_access access;

	tree_fill(tree, row->entry);
	assert_int_equal(nfd_api_access_find(&options, &access), row->path != NULL);
	assert_int_equal(access.kind, row->path ? NFD_ACCESS_KUBELET : NFD_ACCESS_NONE);
	assert_string_equal(access.path, row->path ? row->path : "");
	assert_string_equal(access.why, row->path ? KUBELET : NONE);
}

static void kubeconfig_comes_first(void **state)
{
	const char *tree = tree_new();
	char *const environment[] = { unit_text("KUBERNETES_SERVICE_HOST=10.0.0.1"), NULL };
	struct nfd_api_place place = { .root_path = tree, .environment = environment };
	const struct nfd_api_options options = { .kubeconfig = unit_text("/not/there"),
						 .place = &place };
	struct nfd_api_access access;

	(void)state;
	tree_file(tree, "etc/kubernetes/kubelet.conf", "x");
	assert_true(nfd_api_access_find(&options, &access));
	assert_int_equal(access.kind, NFD_ACCESS_KUBECONFIG);
	/* Not below the root, and not looked at here. */
	assert_string_equal(access.path, "/not/there");
	assert_string_equal(access.why, "api.kubeconfig names credentials");
}

static void no_kubeconfig_setting_is_fine(void **state)
{
	struct nfd_api_place place = { .root_path = tree_new(), .environment = no_environment };
	const struct nfd_api_options options = { .place = &place };
	struct nfd_api_access access;

	(void)state;
	assert_false(nfd_api_access_find(&options, &access));
}

/* The path is that of every pod: what is there where this test runs decides. */
static void a_pod_needs_host_and_token(void **state)
{
	static const char *const hosts[] = { "KUBERNETES_SERVICE_HOST=10.0.0.1",
					     "KUBERNETES_SERVICE_HOST=", "OTHER=x" };
	const char *tree = tree_new();
	bool token = access(NFD_SERVICE_ACCOUNT_TOKEN, R_OK) == 0;

	(void)state;
	tree_file(tree, "etc/kubernetes/kubelet.conf", "x");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(hosts); i++) {
		char *const environment[] = { unit_text("%s", hosts[i]), NULL };
		struct nfd_api_place place = { .root_path = tree, .environment = environment };
		const struct nfd_api_options options = { .place = &place };
		struct nfd_api_access access;

		assert_true(nfd_api_access_find(&options, &access));
		assert_int_equal(access.kind,
				 i == 0 && token ? NFD_ACCESS_POD : NFD_ACCESS_KUBELET);
	}
}

static void an_unreadable_one_is_none(void **state)
{
	const char *tree = tree_new();
	struct nfd_api_place place = { .root_path = tree, .environment = no_environment };
	const struct nfd_api_options options = { .place = &place };
	struct nfd_api_access access;
	bool found;

	(void)state;
	tree_file(tree, "etc/kubernetes/kubelet.conf", "x");
	assert_int_equal(chmod(tree_path(tree, "etc/kubernetes/kubelet.conf"), 0), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	found = nfd_api_access_find(&options, &access);
	assert_int_equal(seteuid(getuid()), 0);
	assert_false(found);
}

static const struct {
	const char *name, *root;
} place_rows[] = {
	{ "missing root", "missing" },
	{ "root is a file", "file" },
};

static void odd_roots_have_none(void **state)
{
	const __typeof__(place_rows[0]) *row = *state;
	const char *tree = tree_new();
	struct nfd_api_place place = { .root_path = tree_path(tree, row->root),
				       .environment = no_environment };
	const struct nfd_api_options options = { .place = &place };
	struct nfd_api_access access;

	tree_file(tree, "file", "");
	assert_false(nfd_api_access_find(&options, &access));
	assert_string_equal(access.why, NONE);
}

static void no_place_is_no_access(void **state)
{
	const struct nfd_api_options options = { .kubeconfig = unit_text("/etc/kubeconfig") };
	struct nfd_api_access access;

	(void)state;
	assert_false(nfd_api_access_find(&options, &access));
	assert_int_equal(access.kind, NFD_ACCESS_NONE);
	assert_string_equal(access.why, "the API server is not asked here");
	assert_string_equal(access.path, "");
}

int main(void)
{
	struct unit_suite suite = { .name = "api_access" };

	UNIT_ROWS(&suite, finds_a_kubelets, rows, name);
	UNIT_CASE(&suite, kubeconfig_comes_first);
	UNIT_CASE(&suite, no_kubeconfig_setting_is_fine);
	UNIT_CASE(&suite, a_pod_needs_host_and_token);
	UNIT_CASE(&suite, an_unreadable_one_is_none);
	UNIT_ROWS(&suite, odd_roots_have_none, place_rows, name);
	UNIT_CASE(&suite, no_place_is_no_access);
	return unit_run(&suite);
}
