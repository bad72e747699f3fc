# SPDX-License-Identifier: GPL-2.0-or-later
"""Credentials for nfd-source: a service account with its rights and the files of its pod, a kubelet's kubeconfig."""

import process

GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
POD_FILES = "/var/run/secrets/kubernetes.io/serviceaccount"

NODES = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}
NODES_READ_ONLY = {**NODES, "verbs": ["get"]}
NODE_FEATURES = {"apiGroups": ["nfd.k8s-sigs.io"], "resources": ["nodefeatures"],
                 "verbs": ["get", "create", "patch", "delete"]}
# What vendors' own programs publish, in whatever namespace.
NODE_FEATURES_LIST = {**NODE_FEATURES, "verbs": ["list"]}
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}

# Puts the folder $1 at $2, which is below /var/run of nobody but the command after it.
AS_POD = """
mount -t tmpfs tmpfs /var/run
mkdir -p "$2"
mount --bind "$1" "$2"
shift 2
exec "$@"
"""


class ServiceAccount:
    """A service account of a cluster with the given rights and nothing else.

    name: of it and of its roles. directory: made here, with the three files that a pod finds.
    cluster_rules, rules: RBAC rules, everywhere and in the namespace. user: its name in the audit log.
    """

    def __init__(self, cluster, namespace, name, directory, cluster_rules=(), rules=()):
        self.cluster, self.namespace, self.name, self.directory = cluster, namespace, name, directory
        self.user = f"system:serviceaccount:{namespace}:{name}"
        cluster.api.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
        self._bind("Cluster", RBAC, cluster_rules)
        self._bind("", f"{RBAC}/namespaces/{namespace}", rules)
        self._await_rights(cluster_rules, None)
        self._await_rights(rules, namespace)
        directory.mkdir()
        for file, text in (("token", self.token()), ("namespace", namespace),
                           ("ca.crt", cluster.pki.file("ca.crt").read_text())):
            (directory / file).write_text(text)

    def _bind(self, kind, path, rules):
        """Create a role of a kind ("Cluster" or "") and bind it to us; nothing without rules."""
        if not rules:
            return
        create, metadata = self.cluster.api.request, {"metadata": {"name": self.name}}
        create("POST", f"{path}/{kind.lower()}roles", {**metadata, "rules": list(rules)})
        create("POST", f"{path}/{kind.lower()}rolebindings", {
            **metadata,
            "roleRef": {"apiGroup": GROUP, "kind": f"{kind}Role", "name": self.name},
            "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}]})

    def _await_rights(self, rules, namespace):
        """Wait until the authorizer, which learns of roles by a watch, grants what the rules say."""
        for rule in rules:
            attributes = {"group": rule["apiGroups"][0], "resource": rule["resources"][0],
                          "verb": rule["verbs"][-1], "namespace": namespace}
            process.wait_until(f"{self.user} may {attributes}", lambda: self._may(attributes))  # pylint: disable=W0640

    def _may(self, attributes):
        """Whether the API server would let us; attributes: of a SubjectAccessReview."""
        spec = {"user": self.user, "groups": ["system:serviceaccounts", "system:authenticated"],
                "resourceAttributes": attributes}
        return self.cluster.api.request("POST", REVIEWS, {"spec": spec})["status"]["allowed"]

    def token(self):
        """A fresh token, as the kubelet asks for one."""
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{self.name}/token"
        return self.cluster.api.request("POST", path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]

    def enter(self, program):
        """Let a Program run as in a pod: the files where a pod has them, and the variables of a pod."""
        program.prefix = ("unshare", "-m", "sh", "-ec", AS_POD, "sh", self.directory, POD_FILES)
        program.variables |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                              "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}

    def kubeconfig(self, path):
        """Write a kubeconfig that names the token's file; returns its path."""
        path.write_text(self.cluster.pki.kubeconfig_of(self.cluster.port, {"tokenFile": "token/token"}))
        (path.parent / "token").symlink_to(self.directory)
        return path


def write_kubelet_config(cluster, node, root):
    """Put a kubelet's credentials for a node below a root, as kubeadm lays them out."""
    pki, pem = cluster.pki, "var/lib/kubelet/pki/kubelet-client-current.pem"
    pki.node(node)
    for path, text in (
            (pem, pki.file(f"{node}.crt").read_text() + pki.file(f"{node}.key").read_text()),
            ("etc/kubernetes/kubelet.conf", pki.kubeconfig_of(
                cluster.port, {"client-certificate": f"/{pem}", "client-key": f"/{pem}"}))):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        (root / path).chmod(0o600)
