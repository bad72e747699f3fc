# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeFeature objects by nfd-source-api: written only when they differ, owned by our DaemonSet, named as NFD's rules
expect it where no nfd-worker publishes, and taken away (design.md 5.2)."""

import copy

from api_helper import NODE, ApiTest
from fake_api import GROUP_PATH, daemon_set_pod, status, unknown_path
from program import PREFIX

NAMESPACE, POD = "nfd", "nfd-source-abcde"
NAME = f"{NODE}-nfd-source"
PATH = f"{GROUP_PATH}/v1alpha1/namespaces/{NAMESPACE}/nodefeatures"
POD_PATH = f"/api/v1/namespaces/{NAMESPACE}/pods/{POD}"
OWN, STANDARD = "nfd-source.pci.device", "pci.device"
ELEMENTS = {"elements": [{"attributes": {"vendor": "10de", "class": "0302"}}]}
OBJECT = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeature",
    "metadata": {"name": NAME, "labels": {"nfd.node.kubernetes.io/node-name": NODE}},
    "spec": {
        "features": {
            "flags": {},
            "attributes": {
                "nfd-source.kernel.version": {"elements": {"full": "6.8.0"}},
                "nfd-source.gpu": {"elements": {}},
            },
            "instances": {OWN: ELEMENTS},
        },
        "labels": {f"{PREFIX}pci-10de.present": "true"},
    },
}
STANDARD_FEATURES = {OWN: STANDARD, "nfd-source.kernel.version": "kernel.version"}
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "nfd-source-ds", "uid": "uid-ds"}


class NodeFeatureTest(ApiTest):
    """A server with the resource type, and requests about our object."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def feature(self, value=None, server=None, **fields):
        """A request to publish."""
        more = {"namespace": NAMESPACE, "object": value or OBJECT, "standardFeatures": STANDARD_FEATURES, **fields}
        return self.request("node-feature", server or self.server, **more)

    def delete(self, server=None, **fields):
        """A request to take it away."""
        return self.request("node-feature-delete", server or self.server,
                            **{"namespace": NAMESPACE, "name": NAME, **fields})

    def publish(self, *arguments, **options):
        """A run that must succeed; the requests are counted right and then forgotten."""
        result = self.succeed(self.feature(*arguments, **options))
        self.assertEqual(result["requests"], self.api.counts())
        self.assertEqual((result["namespace"], result["name"]), (NAMESPACE, NAME))
        self.api.requests.clear()
        return result

    @property
    def stored(self):
        """Our object on the server."""
        return self.api.objects[f"{PATH}/{NAME}"]

    def with_worker(self):
        """An nfd-worker publishes for the Node."""
        self.api.objects[f"{PATH}/{NODE}"] = {"kind": "NodeFeature", "metadata": {"name": NODE}}

    def with_pod(self):
        """Our pod, of a DaemonSet."""
        self.api.objects[POD_PATH] = daemon_set_pod(POD)


class Publish(NodeFeatureTest):
    """node-feature."""

    def test_created(self):
        """Nothing there (FC-F5 c): an apply with force makes it."""
        result = self.succeed(self.feature())
        self.assertIs(result["written"], True)
        self.assertIs(result["served"], True)
        patch = self.api.sent("PATCH")[-1]
        self.assertEqual(patch.route, f"{PATH}/{NAME}")
        self.assertEqual(patch.query["fieldManager"], "nfd-source")
        self.assertEqual(patch.query["force"], "true")
        self.assertTrue(patch.headers["Content-Type"].startswith("application/apply-patch+yaml"))
        self.assertEqual(self.stored["spec"]["labels"], OBJECT["spec"]["labels"])
        self.assertEqual(self.stored["metadata"]["labels"], OBJECT["metadata"]["labels"])

    def test_equal(self):
        """The second time it is one GET, with and without a worker."""
        for prepare in (lambda: None, self.with_worker):
            prepare()
            self.api.objects.pop(f"{PATH}/{NAME}", None)
            worker = self.publish()["worker"]
            result = self.publish(worker=worker)
            self.assertIs(result["written"], False)
            self.assertEqual(result["requests"], {"get": 1})
            result = self.publish()
            self.assertIs(result["written"], False)
            self.assertNotIn("patch", result["requests"])

    def test_equal_with_pod(self):
        """The same with an owner, when the request tells it."""
        self.with_pod()
        owner = self.publish(pod=POD)["owner"]
        result = self.publish(pod=POD, worker=False, owner=owner)
        self.assertIs(result["written"], False)
        self.assertEqual(result["requests"], {"get": 1})
        result = self.publish(pod=POD)
        self.assertIs(result["written"], False)
        self.assertNotIn("patch", result["requests"])

    def test_differs(self):
        """Another value, a label less, another feature, changed by somebody: written again."""
        self.publish()
        other = copy.deepcopy(OBJECT)
        other["spec"]["labels"][f"{PREFIX}gpu-10de.count"] = "2"
        self.assertIs(self.publish(other)["written"], True)
        self.assertEqual(self.stored["spec"]["labels"], other["spec"]["labels"])
        self.assertIs(self.publish()["written"], True)
        self.assertEqual(self.stored["spec"]["labels"], OBJECT["spec"]["labels"])
        other = copy.deepcopy(OBJECT)
        other["spec"]["features"]["instances"][OWN]["elements"] = []
        self.assertIs(self.publish(other)["written"], True)
        self.stored["metadata"]["labels"] = {}
        self.assertIs(self.publish(other)["written"], True)
        self.assertIs(self.publish(other)["written"], False)

    def test_order_does_not_matter(self):
        """The server gives the keys in another order: equal."""
        labels = {f"{PREFIX}{name}": "1" for name in "abc"}
        value = copy.deepcopy(OBJECT)
        value["spec"]["labels"] = labels
        self.publish(value)
        self.stored["spec"]["labels"] = dict(reversed(labels.items()))
        self.assertIs(self.publish(value)["written"], False)

    def test_standard_names(self):
        """No worker: NFD's names, so that rules find them; features without such a name keep theirs."""
        result = self.publish()
        self.assertIs(result["worker"], False)
        features = self.stored["spec"]["features"]
        self.assertEqual(features["instances"], {STANDARD: ELEMENTS})
        self.assertEqual(sorted(features["attributes"]), ["kernel.version", "nfd-source.gpu"])

    def test_own_names(self):
        """With a worker our own names, beside its."""
        self.with_worker()
        result = self.publish()
        self.assertIs(result["worker"], True)
        self.assertEqual(self.stored["spec"]["features"], OBJECT["spec"]["features"])

    def test_worker_cannot_be_asked_for(self):
        """A refusal counts as yes, with a note."""
        self.api.always("GET", f"{PATH}/{NODE}", lambda request:
                        status(403, "forbidden") if request.route == f"{PATH}/{NODE}" else None)
        result = self.publish()
        self.assertIs(result["written"], True)
        self.assertTrue(result["notes"])
        self.assertEqual(self.stored["spec"]["features"], OBJECT["spec"]["features"])

    def test_worker_is_known(self):
        """Told in the request: not asked for."""
        for worker, name in ((True, OWN), (False, STANDARD)):
            with self.subTest(worker):
                result = self.publish(worker=worker)
                self.assertEqual(result["requests"], {"get": 1, "patch": 1})
                self.assertIn(name, self.stored["spec"]["features"]["instances"])
                self.assertNotIn("worker", result)

    def test_worker_comes(self):
        """Names are corrected when a worker is known to be there now, and back."""
        self.publish(worker=False)
        result = self.publish(worker=True)
        self.assertIs(result["written"], True)
        self.assertEqual(list(self.stored["spec"]["features"]["instances"]), [OWN])
        self.publish(worker=False)
        self.assertEqual(list(self.stored["spec"]["features"]["instances"]), [STANDARD])

    def test_owner(self):
        """The pod's DaemonSet becomes the owner."""
        self.with_pod()
        result = self.publish(pod=POD)
        self.assertEqual({name: result["owner"][name] for name in OWNER}, OWNER)
        references = self.stored["metadata"]["ownerReferences"]
        self.assertEqual([{name: one[name] for name in OWNER} for one in references], [OWNER])
        self.assertEqual(result["requests"], {"get": 3, "patch": 1})

    def test_owner_is_given(self):
        """The one of an earlier run: the pod is not asked for."""
        self.with_pod()
        result = self.publish(pod=POD, owner=OWNER)
        self.assertEqual(self.stored["metadata"]["ownerReferences"][0]["uid"], "uid-ds")
        self.assertEqual(result["requests"], {"get": 2, "patch": 1})
        self.assertNotIn("owner", result)

    def test_owner_is_none(self):
        """An earlier run found none: the pod is not asked for."""
        self.with_pod()
        request = self.feature(pod=POD)
        request["owner"] = None
        result = self.succeed(request)
        self.assertEqual(result["requests"], {"get": 2, "patch": 1})
        self.assertFalse(self.stored["metadata"].get("ownerReferences"))

    def test_pod_of_something_else(self):
        """A pod without a DaemonSet: no owner."""
        for owners in ([], None, [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "y"}], [5], "x"):
            with self.subTest(owners):
                self.api.objects.clear()
                self.with_pod()
                self.api.objects[POD_PATH]["metadata"]["ownerReferences"] = owners
                result = self.publish(pod=POD)
                self.assertIs(result["written"], True)
                self.assertIsNone(result["owner"])
                self.assertFalse(self.stored["metadata"].get("ownerReferences"))

    def test_pod_cannot_be_asked_for(self):
        """403 and 404: a note, and the object is still written."""
        for code in (403, 404):
            with self.subTest(code):
                self.api.objects.clear()
                self.api.inject("GET", "/pods/", status(code, "no"))
                result = self.publish(pod=POD)
                self.assertIs(result["written"], True)
                self.assertTrue(result["notes"])
                self.assertFalse(self.stored["metadata"].get("ownerReferences"))

    def test_forbidden(self):
        """FC-F5 a: one message with verb, resource and namespace."""
        message = 'nodefeatures.nfd.k8s-sigs.io is forbidden: User "x" cannot {} resource "nodefeatures"'
        for method, verb in (("GET", "get"), ("PATCH", "patch")):
            with self.subTest(method):
                self.api.inject(method, PATH, status(403, message.format(verb)))
                error = self.fail_with(self.feature(), "refused", 403, "slow")
                for word in (verb, "nodefeatures", NAMESPACE):
                    self.assertIn(word, error["message"].lower())
        self.assertEqual([path for path in self.api.objects if path.startswith(PATH)], [])

    def test_no_such_type(self):
        """FC-F5 b: no error, nothing is sent."""
        self.api.served = False
        result = self.publish()
        self.assertIs(result["served"], False)
        self.assertIs(result["written"], False)
        self.assertEqual(result["requests"], {"get": 1})

    def test_type_goes_meanwhile(self):
        """The type is taken away between GET and apply."""
        self.api.inject("PATCH", PATH, unknown_path())
        result = self.call_helper(self.feature())
        if "error" in result:
            self.assertEqual(result["error"]["kind"], "refused", result)
        else:
            self.assertIs(result["served"], False)
        self.assertFalse(result.get("written"))

    def test_namespace_is_missing(self):
        """The API server does not know it: the message names it."""
        message = f'namespaces "{NAMESPACE}" not found'
        self.api.inject("PATCH", PATH, status(404, message, {"name": NAMESPACE, "kind": "namespaces"}))
        error = self.fail_with(self.feature(), "refused", 404)
        self.assertIn(NAMESPACE, error["message"])

    def test_namespace_of_the_context(self):
        """Without one in the request."""
        credentials = self.credentials(self.server, context={"namespace": NAMESPACE})
        self.publish(server=credentials, namespace=None)
        self.assertIn(f"{PATH}/{NAME}", self.api.objects)

    def test_namespace_of_the_service_account(self):
        """In a pod."""
        account = self.tmp / "account"
        account.mkdir()
        for name, text in (("token", "x" * 20), ("namespace", f"{NAMESPACE}\n"), ("ca.crt", self.pki.text("ca.crt"))):
            (account / name).write_text(text)
        request = self.feature(server={"inCluster": True, "serviceAccountDir": str(account)}, namespace=None)
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.server.port)}
        result = self.succeed(request, env=environment)
        self.assertEqual(result["namespace"], NAMESPACE)
        self.assertIn(f"{PATH}/{NAME}", self.api.objects)

    def test_no_namespace(self):
        """Nowhere one: an error, nothing is sent."""
        error = self.fail_with(self.feature(namespace=None), ("request", "credentials"), code=None)
        self.assertIn("namespace", error["message"])
        self.assertEqual(self.server.requests, [])


class Delete(NodeFeatureTest):
    """node-feature-delete."""

    def test_twice(self):
        """There, then not there: both fine."""
        self.publish()
        for deleted in (True, False):
            result = self.succeed(self.delete())
            self.assertIs(result["deleted"], deleted)
            self.assertIs(result["served"], True)
            self.assertEqual((result["namespace"], result["name"]), (NAMESPACE, NAME))
        self.assertNotIn(f"{PATH}/{NAME}", self.api.objects)
        self.assertEqual(len(self.api.sent("DELETE", f"{PATH}/{NAME}")), 2)

    def test_nothing_else(self):
        """The worker's object stays."""
        self.with_worker()
        self.publish()
        self.succeed(self.delete())
        self.assertEqual(list(self.api.objects), [f"{PATH}/{NODE}"])

    def test_no_such_type(self):
        """Then there is nothing to take away."""
        self.api.served = False
        result = self.succeed(self.delete())
        self.assertIs(result["served"], False)
        self.assertIs(result["deleted"], False)

    def test_refused(self):
        """403 and 500 are errors."""
        for code, retry in ((403, "slow"), (500, "soon")):
            self.api.inject("DELETE", PATH, status(code, "no"))
            self.fail_with(self.delete(), "refused", code, retry)
