# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeFeature objects of nfd-source-api in nfd-worker's place: two of them, one while a worker is there, and a worker's
is never touched."""

import copy

import test_api_node_feature
from api_helper import NODE
from fake_api import daemon_set_pod, status
from program import PREFIX
from test_api_node_feature import ELEMENTS, NAME, OWN, PATH, POD, POD_PATH, STANDARD

PLACE = f"{PATH}/{NODE}"
VERSION = "nfd.node.kubernetes.io/worker.version"
GPU, CPU, SHARED = f"{PREFIX}gpu-10de.count", f"{PREFIX}cpu-model.id", f"{PREFIX}pci-0302_10de.present"
FLAGS = {"cpu.cpuid": {"elements": {"AVX": {}}}}
EMPTY = {"flags": {}, "attributes": {}, "instances": {}}


def node_feature(name, labels, annotations=None, **features):
    """A NodeFeature without namespace."""
    metadata = {"name": name, "labels": {"nfd.node.kubernetes.io/node-name": NODE}}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeature", "metadata": metadata,
            "spec": {"features": {**EMPTY, **features}, "labels": labels}}


OURS = node_feature(NAME, {GPU: "1", SHARED: "ours"}, instances={OWN: ELEMENTS})
WORKERS = node_feature(NODE, {CPU: "7", SHARED: "true"}, {VERSION: "nfd-source v1"}, flags=FLAGS,
                       instances={STANDARD: ELEMENTS})
REAL = node_feature(NODE, {CPU: "7"}, {VERSION: "v0.19.0"}, flags=FLAGS)
DAEMON_SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "nfd-source-ds", "uid": "uid-ds",
              "controller": True, "blockOwnerDeletion": False}
POD_OWNER = {"apiVersion": "v1", "kind": "Pod", "name": POD, "uid": "uid-pod", "blockOwnerDeletion": False}
NODE_OWNER = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": "uid-1", "blockOwnerDeletion": False}


class PlaceTest(test_api_node_feature.NodeFeatureTest):
    """Requests with an object for nfd-worker's place."""

    def feature(self, value=None, server=None, **fields):
        return super().feature(value or OURS, server, **{"workerObject": WORKERS, "standardFeatures": {}, **fields})

    def with_real_worker(self):
        """A worker's object is in its place."""
        self.api.version += 1
        self.api.objects[PLACE] = copy.deepcopy(REAL)
        self.api.objects[PLACE]["metadata"]["resourceVersion"] = str(self.api.version)

    def spec(self, path=PLACE):
        """What is there."""
        return self.api.objects[path]["spec"]

    def owners(self, **fields):
        """References of the object in the place, after a run."""
        self.result = self.publish(**fields)
        return self.api.objects[PLACE]["metadata"].get("ownerReferences") or []


class Place(PlaceTest):
    """node-feature with workerObject."""

    def test_created(self):
        """Both, the place first: labels are somewhere at any time."""
        result = self.succeed(self.feature())
        self.assertEqual([result[name] for name in ("worker", "workerWritten", "written")], [False, True, True])
        self.assertEqual([request.route for request in self.api.sent("PATCH")], [PLACE, f"{PATH}/{NAME}"])
        self.assertEqual(self.spec(), WORKERS["spec"])
        self.assertEqual(self.spec(f"{PATH}/{NAME}"), OURS["spec"])
        metadata = self.api.objects[PLACE]["metadata"]
        self.assertEqual(metadata["annotations"], {VERSION: "nfd-source v1"})
        self.assertEqual(metadata["namespace"], test_api_node_feature.NAMESPACE)

    def test_equal(self):
        """Then it is two GETs."""
        self.publish()
        result = self.publish()
        self.assertEqual([result[name] for name in ("worker", "workerWritten", "written")], [False, False, False])
        self.assertEqual(result["requests"], {"get": 2})

    def test_differs(self):
        """Each object by itself; a version of ours, a label, somebody's change."""
        self.publish()
        other = node_feature(NODE, {CPU: "8"}, {VERSION: "nfd-source v1"})
        self.assertIs(self.publish(workerObject=other)["workerWritten"], True)
        self.assertEqual(self.spec(), {"features": EMPTY, "labels": {CPU: "8"}})
        result = self.publish()
        self.assertEqual([result[name] for name in ("workerWritten", "written")], [True, False])
        self.api.objects[PLACE]["metadata"]["annotations"][VERSION] = "nfd-source v0"
        self.assertIs(self.publish()["workerWritten"], True)

    def test_worker_is_there(self):
        """Its object stays; ours has everything, and its own value of a shared key."""
        self.with_real_worker()
        for written in (True, False):
            result = self.publish()
            self.assertEqual([result["worker"], result["written"]], [True, written])
            self.assertNotIn("workerWritten", result)
        self.assertEqual(self.spec(), REAL["spec"])
        spec = self.spec(f"{PATH}/{NAME}")
        self.assertEqual(spec["labels"], {GPU: "1", SHARED: "ours", CPU: "7"})
        self.assertEqual(spec["features"], {**EMPTY, "flags": FLAGS, "instances": {OWN: ELEMENTS, STANDARD: ELEMENTS}})

    def test_worker_goes(self):
        """Ours takes the place, and only then gives up what is in it."""
        self.with_real_worker()
        self.publish()
        del self.api.objects[PLACE]
        self.succeed(self.feature())
        self.assertEqual([request.route for request in self.api.sent("PATCH")], [PLACE, *[f"{PATH}/{NAME}"] * 2])
        self.assertEqual(self.api.sent("PATCH")[1].json()[1:],
                         [{"op": "replace", "path": "/spec/features/flags", "value": {}}])
        self.assertEqual(self.spec(), WORKERS["spec"])
        self.assertEqual(self.spec(f"{PATH}/{NAME}"), OURS["spec"])

    def test_worker_comes(self):
        """It has overwritten ours."""
        self.publish()
        self.with_real_worker()
        self.assertIs(self.publish()["worker"], True)
        self.assertEqual(self.spec(), REAL["spec"])
        self.assertIn(CPU, self.spec(f"{PATH}/{NAME}")["labels"])

    def test_worker_comes_meanwhile(self):
        """Between our look and our write: a conflict, tried again soon; its object stays."""
        self.publish()
        self.api.inject("PATCH", PLACE, lambda request: self.with_real_worker())
        other = node_feature(NODE, {CPU: "8"}, {VERSION: "nfd-source v1"})
        self.fail_with(self.feature(workerObject=other), "refused", 409, "soon")
        self.assertEqual(self.spec(), REAL["spec"])

    def test_maps_of_the_place_become_empty(self):
        """The patch before moves the version that the apply is bound to."""
        self.publish()
        self.publish(workerObject=node_feature(NODE, {}, {VERSION: "nfd-source v1"}))
        self.assertEqual(self.spec(), {"features": EMPTY, "labels": {}})

    def test_elements_become_empty(self):
        """Also deep down."""
        self.publish()
        value = node_feature(NODE, WORKERS["spec"]["labels"], {VERSION: "nfd-source v1"},
                             flags={"cpu.cpuid": {"elements": {}}}, instances={STANDARD: ELEMENTS})
        self.publish(workerObject=value)
        self.assertEqual(self.spec()["features"]["flags"], {"cpu.cpuid": {"elements": {}}})

    def test_keep(self):
        """Labels whose facts are unknown stay, in both objects."""
        self.publish()
        result = self.publish(node_feature(NAME, {}), workerObject=node_feature(NODE, {}, {VERSION: "nfd-source v1"}),
                              keep=[f"{PREFIX}cpu-", f"{PREFIX}gpu-"])
        self.assertEqual([result["workerWritten"], result["written"]], [True, True])
        self.assertEqual(self.spec()["labels"], {CPU: "7"})
        self.assertEqual(self.spec(f"{PATH}/{NAME}")["labels"], {GPU: "1"})

    def test_place_cannot_be_read(self):
        """Nothing is written blindly."""
        self.api.inject("GET", PLACE, lambda request: None if NAME in request.route else status(403, "no"))
        self.api.inject("GET", PLACE, lambda request: None if NAME in request.route else status(403, "no"))
        self.fail_with(self.feature(), "refused", 403, "slow")
        self.assertEqual(self.api.objects, {})

    def test_odd_requests(self):
        """Objects and lists of another type."""
        for fields in ({"workerObject": 5}, {"workerObject": {"metadata": {"name": NODE}}}, {"owners": "pod"},
                       {"owners": [5]}, {"keep": "x"}):
            with self.subTest(fields):
                self.fail_with(self.feature(**fields), "request", code=2)


class Owners(PlaceTest):
    """Owners of the object in the place."""

    def test_kinds(self):
        """In a worker's order, whatever that of the request."""
        self.api.objects[POD_PATH] = daemon_set_pod(POD)
        for kinds, expected in ((["ds", "pod"], [POD_OWNER, DAEMON_SET]), (["node"], [NODE_OWNER]), ([], []),
                                (["pod", "node", "ds"], [NODE_OWNER, POD_OWNER, DAEMON_SET])):
            with self.subTest(kinds):
                self.assertEqual(self.owners(owners=kinds, pod=POD), expected)
                self.assertEqual(self.result["workerOwners"], expected)
                self.assertIs(self.result["workerWritten"], True)
                self.owners(owners=kinds, pod=POD)
                self.assertIs(self.result["workerWritten"], False)

    def test_uid_of_the_pod(self):
        """Told by the request: the pod is asked for its DaemonSet alone."""
        self.assertEqual(self.owners(owners=["pod"], pod=POD, podUid="uid-pod", owner=DAEMON_SET), [POD_OWNER])
        self.assertEqual(self.result["requests"], {"get": 2, "patch": 2})
        self.assertEqual(self.result["notes"], [])

    def test_no_pod(self):
        """Outside a pod there is none."""
        self.assertEqual(self.owners(owners=["pod", "ds"]), [])
        self.assertEqual(self.result["requests"], {"get": 2, "patch": 2})

    def test_owners_are_known(self):
        """Those of an earlier run."""
        known = {"owner": DAEMON_SET, "workerOwners": [DAEMON_SET]}
        self.assertEqual(self.owners(owners=["pod", "ds"], pod=POD, **known), [DAEMON_SET])
        self.assertEqual(self.result["requests"], {"get": 2, "patch": 2})
        self.assertNotIn("workerOwners", self.result)

    def test_owners_cannot_be_found(self):
        """What is there stays, with a note; one that can be found is there."""
        self.api.objects[POD_PATH] = daemon_set_pod(POD)
        self.owners(owners=["pod", "ds"], pod=POD)
        self.api.always("GET", POD_PATH, status(403, "no"))
        self.assertEqual(self.owners(owners=["pod", "ds"], pod=POD), [POD_OWNER, DAEMON_SET])
        self.assertTrue(self.result["notes"])
        self.assertEqual([self.result["workerWritten"], self.result["written"]], [False, False])
        del self.api.objects[PLACE]
        self.assertEqual(self.owners(owners=["node", "ds"], pod=POD), [NODE_OWNER])


class Leave(PlaceTest):
    """node-feature without workerObject where we stood in the place, and node-feature-delete."""

    def leave(self, **fields):
        """A run in which our own object is the only one."""
        value = node_feature(NAME, {GPU: "1"}, instances={OWN: ELEMENTS}, flags=FLAGS)
        request = self.feature(value, standardFeatures={OWN: STANDARD}, **fields)
        del request["workerObject"]
        return request

    def test_ours_is_taken_back(self):
        """Once our own object has the raw features; only the version that was seen."""
        self.publish()
        result = self.succeed(self.leave())
        self.assertIs(result["worker"], False)
        self.assertNotIn(PLACE, self.api.objects)
        self.assertEqual(self.spec(f"{PATH}/{NAME}")["features"],
                         {**EMPTY, "flags": FLAGS, "instances": {STANDARD: ELEMENTS}})
        self.assertEqual([each.method for each in self.api.requests if each.method != "GET"][-2:], ["PATCH", "DELETE"])

    def test_worker_comes_meanwhile(self):
        """Before we take ours back: its object stays."""
        self.publish()
        self.api.inject("DELETE", PLACE, lambda request: self.with_real_worker())
        self.fail_with(self.leave(), "refused", 409, "soon")
        self.assertEqual(self.spec(), REAL["spec"])
        self.assertIs(self.succeed(self.leave())["worker"], True)

    def test_beside_a_worker(self):
        """NFD's features are its: ours has its own alone."""
        self.with_real_worker()
        self.succeed(self.leave())
        self.assertEqual(self.spec(), REAL["spec"])
        self.assertEqual(self.spec(f"{PATH}/{NAME}")["features"], {**EMPTY, "instances": {OWN: ELEMENTS}})

    def test_delete(self):
        """Both; then there is none."""
        self.publish()
        for deleted in (True, False):
            self.assertIs(self.succeed(self.delete(place=True))["deleted"], deleted)
        self.assertEqual(self.api.objects, {})

    def test_delete_the_place_alone(self):
        """Our own is gone already."""
        self.publish()
        del self.api.objects[f"{PATH}/{NAME}"]
        self.assertIs(self.succeed(self.delete(place=True))["deleted"], True)
        self.assertEqual(self.api.objects, {})

    def test_delete_without_the_place(self):
        """As the request says."""
        self.publish()
        self.succeed(self.delete())
        self.assertEqual(list(self.api.objects), [PLACE])

    def test_delete_leaves_a_worker_alone(self):
        """Its object is not ours."""
        self.publish()
        self.with_real_worker()
        self.assertIs(self.succeed(self.delete(place=True))["deleted"], True)
        self.assertEqual(list(self.api.objects), [PLACE])
        self.assertIs(self.succeed(self.delete(place=True))["deleted"], False)

    def test_delete_where_the_type_is_gone(self):
        """Nothing to take away."""
        self.api.served = False
        result = self.succeed(self.delete(place=True))
        self.assertEqual([result["served"], result["deleted"]], [False, False])
