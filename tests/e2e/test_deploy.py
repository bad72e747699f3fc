# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/kustomize on a real API server: what kubectl renders is applied, and the program runs with just that.

There is no kubelet and no controller: each test makes the Pod that the DaemonSet controller would make, lets the API
server admit it, and runs its container (pod.py) with the token of the service account, on a fixture root.
"""

import contextlib
import http.client
import json
import pathlib
import ssl

import cluster
import process
from api import Api, ApiError
from pod import FEATURES_DIR, Container
from running import HOST
from testcase import FEATURE, E2ETestCase

KUSTOMIZE = pathlib.Path(__file__).resolve().parents[2] / "deploy/kustomize"
TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
REVIEWS = "/apis/authorization.k8s.io/v1"
NFD_GROUP = "nfd.k8s-sigs.io"
GPU = HOST + "pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia\n"
PRESENT = f"{FEATURE}pci-10de.present"

# Every pair of these is asked for; what an overlay does not list must be denied.
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate")
RESOURCES = (
    ("", "nodes"), ("", "nodes/status"), ("", "nodes/proxy"), ("", "pods"), ("", "pods/exec"), ("", "secrets"),
    ("", "configmaps"), ("", "events"), ("", "namespaces"), ("", "serviceaccounts"), ("", "serviceaccounts/token"),
    ("", "users"), ("apps", "daemonsets"), ("apps", "daemonsets/finalizers"), ("coordination.k8s.io", "leases"),
    ("rbac.authorization.k8s.io", "clusterroles"), ("rbac.authorization.k8s.io", "clusterrolebindings"),
    (NFD_GROUP, "nodefeatures"), (NFD_GROUP, "nodefeaturerules"), (NFD_GROUP, "nodefeaturegroups"), ("*", "*"),
)
NODE_RIGHTS = {(verb, "", "nodes") for verb in ("get", "patch")} | {("create", "", "events")}
OBJECT_VERBS = ("get", "create", "patch", "delete")
OBJECT_RIGHTS = {("get", "", "pods")} | {(verb, NFD_GROUP, "nodefeatures") for verb in OBJECT_VERBS}


class TokenConnection(http.client.HTTPSConnection):
    """A connection whose requests carry a bearer token."""

    token = None

    def request(self, method, url, body=None, headers=None, **options):
        super().request(method, url, body, {**(headers or {}), "Authorization": f"Bearer {self.token}"}, **options)


class TokenApi(Api):
    """Access as a service account."""

    def __init__(self, port, pki, token):  # pylint: disable=super-init-not-called
        self.port, self.token = port, token
        self.tls = ssl.create_default_context(cafile=pki.file("ca.crt"))

    def connect(self, timeout_s=30):
        connection = TokenConnection("127.0.0.1", self.port, timeout=timeout_s, context=self.tls)
        connection.token = self.token
        return connection

    def may(self, verb, group, resource, namespace):
        """Whether the API server would let us."""
        name, _, subresource = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": name, "subresource": subresource,
                      "namespace": namespace}
        answer = self.request("POST", f"{REVIEWS}/selfsubjectaccessreviews",
                              {"spec": {"resourceAttributes": attributes}})
        return answer["status"]["allowed"]

    def rules(self, namespace):
        """All that RBAC lets us do in a namespace and cluster-wide: set of texts."""
        status = self.request("POST", f"{REVIEWS}/selfsubjectrulesreviews",
                              {"spec": {"namespace": namespace}})["status"]
        return {json.dumps(rule, sort_keys=True) for rule in status["resourceRules"] + status["nonResourceRules"]}


class Overlay:
    """The tests of one folder of deploy/kustomize; a mixin, so that only the classes below are test cases."""

    folder = None
    namespace = cluster.NAMESPACE
    writes_features = False
    cluster_rights = set()
    namespace_rights = set()

    def setUp(self):
        super().setUp()
        self.user = f"system:serviceaccount:{self.namespace}:nfd-source"
        self.admin = self.directory / "admin"
        self.admin.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port))
        self.admin.chmod(0o600)
        self.manifests = self.kubectl("kustomize", KUSTOMIZE / self.folder)
        self.kubectl("apply", "-f", "-", stdin=self.manifests)
        self.addCleanup(self.delete_manifests)
        self.wait_for_rights(True)
        self.service_account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/nfd-source"
        self.features = self.directory / "features.d"
        # The same account ran in other tests.
        self.earlier = len(self.cluster.requests(self.user))

    def kubectl(self, *words, stdin="", kubeconfig=None):
        """kubectl's standard output. Its caches stay in our directory."""
        command = [self.cluster.kubernetes / "kubectl", "--kubeconfig", kubeconfig or self.admin, *words]
        return process.run(command, stdin=stdin, env={"HOME": str(self.directory)})

    def delete_manifests(self):
        """Delete what was applied, but not a Namespace: without its controller that would never end."""
        kept = [text for text in self.manifests.split("\n---\n") if "\nkind: Namespace\n" not in text]
        self.kubectl("delete", "--wait=false", "-f", "-", stdin="\n---\n".join(kept))
        self.wait_for_rights(False)

    def wait_for_rights(self, wanted):
        """Wait until the authorizer, which learns of roles by a watch, grants all of our rights, or none."""
        def may(verb, group, resource):
            attributes = {"verb": verb, "group": group, "resource": resource, "namespace": self.namespace}
            spec = {"user": self.user, "groups": ["system:authenticated"], "resourceAttributes": attributes}
            answer = self.cluster.api.request("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec})
            return answer["status"]["allowed"]

        for right in self.cluster_rights | self.namespace_rights:
            process.wait_until(f"{right} is {wanted}", lambda: may(*right) == wanted)  # pylint: disable=W0640

    # What the manifests make.

    def make_pod(self):
        """The Pod that the DaemonSet's controller would make for our Node, as it was admitted."""
        daemon_set = self.cluster.api.request(
            "GET", f"/apis/apps/v1/namespaces/{self.namespace}/daemonsets/nfd-source")
        template = daemon_set["spec"]["template"]
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        pod = self.cluster.api.request("POST", path, {
            "metadata": {
                "name": f"nfd-source-{self.node}", "labels": template["metadata"]["labels"],
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "nfd-source", "controller": True,
                    "uid": daemon_set["metadata"]["uid"], "blockOwnerDeletion": True}]},
            "spec": {**template["spec"], "nodeName": self.node}})
        self.addCleanup(self.cluster.api.request, "DELETE",
                        f"{path}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        self.daemon_set_uid = daemon_set["metadata"]["uid"]
        return pod

    def make_token(self, pod=None):
        """A token of the service account, bound to a pod as the kubelet asks for it."""
        spec = {"expirationSeconds": 3600}
        if pod:
            meta = pod["metadata"]
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        return self.cluster.api.request("POST", f"{self.service_account}/token", {"spec": spec})["status"]["token"]

    def make_container(self, *settings):
        """The container of a new Pod on a host with a GPU, with KEY=VALUE settings beside the ConfigMap's."""
        pod = self.make_pod()
        container = Container(self.cluster, pod, self.directory / "container", self.make_root(GPU),
                              {FEATURES_DIR: self.features}, self.make_token(pod))
        for setting in settings:
            container.spec["args"] = ["--set", setting, *container.spec["args"]]
        return container

    def start(self, container):
        """Start the daemon of a container; returns the labels that a scan in there finds."""
        lines = container.call("scan").splitlines()
        self.assertIn(f"{PRESENT}=true", lines)
        self.keep(container.start())
        return dict(line.split("=", 1) for line in lines)

    def requests(self):
        """What the API server answered to this test's container, look-ups of the API group apart: list."""
        ours = (f"/{self.node}", f"/{self.node}-nfd-source", f"/nfd-source-{self.node}")
        return [each for each in self.cluster.requests(self.user)[self.earlier :] if each.path.endswith(ours)]

    # The tests.

    def test_rights(self):
        """All that is needed and nothing else, in the own namespace and in others."""
        api = TokenApi(self.cluster.port, self.cluster.pki, self.make_token())
        for namespace in (self.namespace, "default", "kube-system"):
            wanted = self.cluster_rights | (self.namespace_rights if namespace == self.namespace else set())
            found = {(verb, *resource) for verb in VERBS for resource in RESOURCES
                     if api.may(verb, *resource, namespace)}
            self.assertEqual(found, wanted, namespace)

    def test_rules(self):
        """No rule beyond what every service account has, but for the known ones."""
        nobody = self.cluster.api
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        with contextlib.suppress(ApiError):
            nobody.request("POST", path, {"metadata": {"name": "nobody"}})
        token = nobody.request("POST", f"{path}/nobody/token", {"spec": {}})["status"]["token"]
        without = TokenApi(self.cluster.port, self.cluster.pki, token).rules(self.namespace)
        ours = TokenApi(self.cluster.port, self.cluster.pki, self.make_token()).rules(self.namespace)
        self.assertLessEqual(without, ours)
        found = {(verb, group, resource) for rule in map(json.loads, ours - without)
                 for verb in rule["verbs"] for group in rule["apiGroups"] for resource in rule["resources"]}
        self.assertEqual(found, self.cluster_rights | self.namespace_rights)

    def test_pod(self):
        """The admitted Pod has a token only where it is used, and what its program runs with is what it should be."""
        pod = self.make_pod()
        container = pod["spec"]["containers"][0]
        paths = [mount["mountPath"] for mount in container["volumeMounts"]]
        self.assertEqual(TOKEN_FOLDER in paths, bool(self.cluster_rights))
        self.assertEqual(FEATURES_DIR in paths, self.writes_features)
        context = container["securityContext"]
        self.assertEqual(context["runAsUser"], 0 if self.writes_features else 65534)
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertTrue(context["readOnlyRootFilesystem"])


class WithApi(Overlay):
    """An overlay whose program talks to the API server."""

    cluster_rights = NODE_RIGHTS

    def test_can_i(self):
        """The same, as people ask it."""
        config = self.directory / "token"
        config.write_text(self.cluster.pki.kubeconfig_of(self.cluster.port, {"token": self.make_token()}))
        config.chmod(0o600)
        self.assertEqual(self.kubectl("auth", "can-i", "patch", "nodes", kubeconfig=config), "yes\n")
        with self.assertRaisesRegex(process.PartFailed, r"\bno\b"):
            self.kubectl("auth", "can-i", "list", "nodes", kubeconfig=config)

    def check_probe(self, container):
        """The pod's liveness probe is content."""
        done = container.execute(*container.spec["livenessProbe"]["exec"]["command"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def wait_until_owned(self, labels):
        """Wait until exactly those labels are ours on the Node."""
        def owned():
            return self.cluster.api.label_managers(self.node).get("nfd-source", set()) == set(labels)

        self.wait_until("the labels are ours", owned)

    def check_requests(self):
        """Nothing was refused, listed or watched."""
        requests = self.cluster.requests(self.user)[self.earlier :]
        self.assertTrue(requests)
        for request in requests:
            self.assertNotIn(request.verb, ("list", "watch"), request)
            self.assertNotIn(request.code, (401, 403), request)


class Base(Overlay, E2ETestCase):
    """The feature file only."""

    folder = "base"
    writes_features = True

    def test_no_role(self):
        """Nothing of RBAC is in the manifests."""
        self.assertNotIn("rbac.authorization.k8s.io", self.manifests)

    def test_feature_file_arrives(self):
        """Through NFD, without a token."""
        worker = self.make_worker()
        self.start_worker(worker)
        self.features = worker.features_dir
        container = self.make_container()
        expected = self.start(container)
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        self.assertEqual(self.cluster.requests(self.user), [])


class WithNfd(WithApi, E2ETestCase):
    """Feature file and fallback."""

    folder = "overlays/with-nfd"
    writes_features = True

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

    def test_fallback(self):
        """NFD's API group is served, but no worker runs: we bring the labels, and take them away."""
        container = self.make_container("outputs.nodeLabels.after=1s")
        expected = self.start(container)
        self.wait_until_owned(expected)
        self.assertEqual(self.cluster.labels(self.node), expected)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertEqual(self.cluster.labels(self.node), {})


class NodeFeature(WithApi, E2ETestCase):
    """NodeFeature object and fallback, no path of the host."""

    folder = "overlays/node-feature"
    namespace_rights = OBJECT_RIGHTS

    def test_object_brings_the_labels(self):
        """Through nfd-master; the DaemonSet owns the object; cleanup takes both away."""
        container = self.make_container()
        expected = self.start(container)
        self.wait_for_labels("the labels are on the Node", lambda labels: labels == expected)
        self.assertNotIn("nfd-source", self.cluster.api.label_managers(self.node))
        item = self.cluster.node_feature(f"{self.node}-nfd-source")
        owner, = item["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["uid"]), ("DaemonSet", self.daemon_set_uid))
        # Else the plug-in OwnerReferencesPermissionEnforcement asks for a right on the DaemonSet's finalizers.
        self.assertFalse(owner.get("blockOwnerDeletion"))
        self.check_probe(container)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertIsNone(self.cluster.node_feature(f"{self.node}-nfd-source"))
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)


class Standalone(WithApi, E2ETestCase):
    """Node labels in a cluster that does not know NFD."""

    folder = "overlays/standalone"
    namespace = "nfd-source"
    get_cluster = staticmethod(cluster.without_nfd)

    def test_labels_arrive(self):
        """At once, with one look and one patch; cleanup takes them away."""
        # An hour: nothing waits for an NFD that is not there.
        container = self.make_container("outputs.nodeLabels.after=1h")
        expected = self.start(container)
        self.wait_until_owned(expected)
        self.assertEqual(self.cluster.labels(self.node), expected)
        self.assertEqual([(each.verb, each.path) for each in self.requests()],
                         [(verb, f"/api/v1/nodes/{self.node}") for verb in ("get", "patch")])
        self.check_probe(container)
        self.check_requests()
        self.parts[-1].end()
        container.call("cleanup")
        self.assertEqual(self.cluster.labels(self.node), {})

    def test_publish(self):
        """publish alone, as for an init container."""
        container = self.make_container()
        container.call("publish")
        self.assertEqual(self.cluster.labels(self.node)[PRESENT], "true")
        self.check_requests()
