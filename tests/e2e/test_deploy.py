# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/kustomize on a real API server: what kubectl renders is applied, and the program runs with just that."""

import pathlib

import deployed
import process
from deployed import NFD_GROUP, PRESENT, TokenApi
from testcase import E2ETestCase

KUSTOMIZE = pathlib.Path(__file__).resolve().parents[2] / "deploy/kustomize"

# Every pair of these is asked for; what an overlay does not list must be denied.
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate")
RESOURCES = (
    ("", "nodes"), ("", "nodes/status"), ("", "nodes/proxy"), ("", "pods"), ("", "pods/exec"), ("", "secrets"),
    ("", "configmaps"), ("", "events"), ("", "namespaces"), ("", "serviceaccounts"), ("", "serviceaccounts/token"),
    ("", "users"), ("apps", "daemonsets"), ("apps", "daemonsets/finalizers"), ("coordination.k8s.io", "leases"),
    ("rbac.authorization.k8s.io", "clusterroles"), ("rbac.authorization.k8s.io", "clusterrolebindings"),
    (NFD_GROUP, "nodefeatures"), (NFD_GROUP, "nodefeaturerules"), (NFD_GROUP, "nodefeaturegroups"), ("*", "*"),
)


class Overlay:
    """The tests of one folder of deploy/kustomize."""

    folder = None

    def install(self):
        """Apply what kubectl renders."""
        self.manifests = self.kubectl("kustomize", KUSTOMIZE / self.folder)
        self.kubectl("apply", "-f", "-", stdin=self.manifests)

    def uninstall(self):
        """Delete what was applied, but not a Namespace: without its controller that would never end."""
        kept = [text for text in self.manifests.split("\n---\n") if "\nkind: Namespace\n" not in text]
        self.kubectl("delete", "--wait=false", "-f", "-", stdin="\n---\n".join(kept))

    def test_rights(self):
        """All that is needed and nothing else, in the own namespace and in others."""
        api = TokenApi(self.cluster.port, self.cluster.pki, self.make_token())
        for namespace in (self.namespace, "default", "kube-system"):
            wanted = self.cluster_rights | (self.namespace_rights if namespace == self.namespace else set())
            found = {(verb, *resource) for verb in VERBS for resource in RESOURCES
                     if api.may(verb, *resource, namespace)}
            self.assertEqual(found, wanted, namespace)


class OverlayWithApi(Overlay):
    """One with a token."""

    def test_can_i(self):
        """The rights, as people ask for them."""
        config = self.directory / "token"
        config.write_text(self.cluster.pki.kubeconfig_of(self.cluster.port, {"token": self.make_token()}))
        config.chmod(0o600)
        self.assertEqual(self.kubectl("auth", "can-i", "patch", "nodes", kubeconfig=config), "yes\n")
        with self.assertRaisesRegex(process.PartFailed, r"\bno\b"):
            self.kubectl("auth", "can-i", "list", "nodes", kubeconfig=config)


class Base(Overlay, deployed.FeatureFile, E2ETestCase):
    """base."""

    folder = "base"

    def test_no_role(self):
        """Nothing of RBAC is in the manifests."""
        self.assertNotIn("rbac.authorization.k8s.io", self.manifests)


class WithNfd(OverlayWithApi, deployed.WithNfd, E2ETestCase):
    """overlays/with-nfd."""

    folder = "overlays/with-nfd"

    def test_nfd_brings_the_labels(self):
        """NFD is there: its labels are not touched, and the container may clean up."""
        worker = self.make_worker()
        self.start_worker(worker)
        self.features = worker.features_dir
        container = self.make_container("outputs.nodeLabels.after=10s", "outputs.nodeLabels.resync=1s")
        expected = self.start(container)
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        looks = len(self.requests())
        self.wait_until("it has looked after that", lambda: len(self.requests()) > looks + 1)
        self.check_probe(container)
        self.assertNotIn("nfd-source", self.cluster.api.label_managers(self.node))
        self.assertEqual({each.verb for each in self.requests()}, {"get"})
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)


class NodeFeature(OverlayWithApi, deployed.NodeFeature, E2ETestCase):
    """overlays/node-feature."""

    folder = "overlays/node-feature"


class Worker(OverlayWithApi, deployed.Worker, E2ETestCase):
    """overlays/worker."""

    folder = "overlays/worker"


class Restricted(deployed.NoHostFolders, OverlayWithApi, deployed.Standalone, E2ETestCase):
    """overlays/restricted."""

    folder = "overlays/restricted"
    namespace = "nfd-source"


class Standalone(OverlayWithApi, deployed.Standalone, E2ETestCase):
    """overlays/standalone."""

    folder = "overlays/standalone"
    namespace = "nfd-source"

    def test_publish(self):
        """publish alone, as for an init container."""
        container = self.make_container()
        container.call("publish")
        self.assertEqual(self.cluster.labels(self.node)[PRESENT], "true")
        self.check_requests()
