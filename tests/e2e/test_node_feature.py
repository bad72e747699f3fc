# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source publishes a NodeFeature object of its own; a real nfd-master turns it into labels."""

import unittest

import access
import cluster
from nodecase import GPUS, PRESENT, NodeCase, plug
from program import rescan

NAMESPACE = cluster.NAMESPACE
RULES = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeaturerules"
RIGHTS = (access.NODE_FEATURES, access.PODS)
STANDARD = "pci.device"
OWN = "nfd-source.pci"
NO_TYPE = "no NodeFeature resource"
MASTERS_LABEL = "nfd.node.kubernetes.io/node-name"
POD_SPEC = {"containers": [{"name": "nfd-source", "image": "nfd-source"}]}


class ObjectCase(NodeCase):
    """nfd-source as in a pod, with rights on NodeFeature objects and no host path."""

    def make_publisher(self, root, *settings, mode="on", node=None, cluster_rules=()):
        """nfd-source with a service account that publishes the object, and the feature file off."""
        program = self.make_program(
            root, f"outputs.nodeFeature.mode={mode}", f"outputs.nodeFeature.namespace={NAMESPACE}",
            "outputs.featureFile.mode=off", "outputs.nodeLabels.resync=1s", *settings, node=node)
        self.make_account(cluster_rules, RIGHTS).enter(program)
        return program

    def object(self):
        """Our object, or None."""
        return self.cluster.node_feature(f"{self.node}-nfd-source")

    def wait_for_object(self):
        """Wait for our object and return it."""
        self.wait_until("our NodeFeature is there", self.object)
        return self.object()

    def instances(self):
        """Names of the raw instance features of our object."""
        return self.object()["spec"]["features"]["instances"].keys()

    def create(self, kind, path, metadata, spec):
        """Create a namespaced object; returns its metadata."""
        group, _, plural = path.rpartition("/")
        return self.cluster.api.request("POST", f"/{group}/namespaces/{NAMESPACE}/{plural}", {
            "apiVersion": group.partition("/")[2], "kind": kind, "metadata": metadata, "spec": spec})["metadata"]

    def create_daemon_set(self):
        """A DaemonSet without any controller behind it; returns its metadata."""
        labels = {"app": self.node}
        return self.create("DaemonSet", "apis/apps/v1/daemonsets", {"name": self.node}, {
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": POD_SPEC}})

    def create_pod(self, number, owner=None):
        """A Pod of that DaemonSet, or of nobody; returns its name."""
        owners = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner["name"], "uid": owner["uid"],
                   "controller": True, "blockOwnerDeletion": True}] if owner else []
        name = f"{self.node}-{number}"
        spec = {**POD_SPEC, "nodeName": self.node, "serviceAccountName": f"account-{self.node}",
                "automountServiceAccountToken": False}
        self.create("Pod", "api/v1/pods", {"name": name, "ownerReferences": owners}, spec)
        return name


class Object(ObjectCase):
    """The object and what nfd-master makes of it."""

    def test_labels_come_through_nfd_master(self):
        root = self.make_root(GPUS)
        program = self.make_publisher(root, cluster_rules=[access.NODES])
        daemon = self.start_and_arrive(program)
        found = self.object()
        self.assertEqual(found["metadata"]["labels"], {MASTERS_LABEL: self.node})
        self.assertEqual(found["spec"]["labels"], program.scan())
        self.assertNotIn("ownerReferences", found["metadata"])
        key = plug(root, "1002")
        self.change(daemon, program)
        self.assertEqual(self.object()["spec"]["labels"][key], "true")
        self.assertEqual(self.object()["metadata"]["uid"], found["metadata"]["uid"])
        self.assertEqual(daemon.end(), 0)
        program.call("cleanup")
        self.assertIsNone(self.object())
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)
        program.call("cleanup")

    def test_cleanup_without_any_right_on_nodes(self):
        program = self.make_publisher(self.make_root(GPUS))
        program.call("publish")
        self.assertIsNotNone(self.object())
        program.call("cleanup")
        self.assertIsNone(self.object())
        program.call("cleanup")

    def test_fallback_patches_nothing_that_the_object_brings(self):
        program = self.make_publisher(self.make_root(GPUS), cluster_rules=[access.NODES])
        program.call("publish")
        self.wait_for_exactly(program.scan())
        program.settings += ["outputs.nodeLabels.mode=fallback", "outputs.nodeLabels.after=1s"]
        self.start(program)
        self.wait_for_looks(3)
        self.assertEqual([each for each in self.requests("patch") if each.path.startswith("/api/v1/nodes")], [])
        self.assertIsNone(self.managed())

    def test_written_only_when_it_differs(self):
        program = self.make_publisher(self.make_root(GPUS))
        daemon = self.start_and_arrive(program)
        version = self.object()["metadata"]["resourceVersion"]
        for _ in range(3):
            self.rescan_and_wait(daemon, program)
        self.assertEqual(daemon.end(), 0)
        program.call("publish")
        self.assertEqual(self.object()["metadata"]["resourceVersion"], version)
        self.assertEqual(len(self.requests("patch")), 1)

    def rescan_and_wait(self, daemon, program):
        """Let the daemon scan and wait until it has."""
        before = program.status()["scans"]
        rescan(daemon)
        self.wait_until("it scanned again", lambda: program.status()["scans"] > before)

    def test_publish_alone_writes_it(self):
        program = self.make_publisher(self.make_root(GPUS))
        program.call("publish")
        self.assertEqual(self.object()["spec"]["labels"], program.scan())
        self.wait_for_exactly(program.scan())

    def test_object_that_somebody_deletes_comes_back(self):
        program = self.make_publisher(self.make_root(GPUS), "core.sleepInterval=2s")
        self.start_and_arrive(program)
        path = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NAMESPACE}/nodefeatures/{self.node}-nfd-source"
        uid = self.object()["metadata"]["uid"]
        self.cluster.api.request("DELETE", path)
        self.wait_until("there is a new object", lambda: self.wait_for_object()["metadata"]["uid"] != uid)
        self.wait_for_exactly(program.scan())


class RawFeatures(ObjectCase):
    """Facts for NodeFeatureRules, beside a worker and without one."""

    def add_rule(self):
        """A NodeFeatureRule on the standard feature; returns the key of the label that it gives."""
        key = f"e2e.nfd-source/{self.node}"
        self.cluster.api.request("POST", RULES, {
            "apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeatureRule", "metadata": {"name": self.node},
            "spec": {"rules": [{"name": "gpu", "labels": {key: "true"}, "matchFeatures": [
                {"feature": STANDARD, "matchExpressions": {
                    "vendor": {"op": "In", "value": ["10de"]}, "class": {"op": "In", "value": ["0302"]}}}]}]}})
        self.addCleanup(self.cluster.api.request, "DELETE", f"{RULES}/{self.node}")
        return key

    def test_rule_matches_our_standard_features_where_there_is_no_worker(self):
        key = self.add_rule()
        self.start_and_arrive(self.make_publisher(self.make_root(GPUS)))
        self.assertIn(STANDARD, self.instances())
        self.assertNotIn(OWN, self.instances())
        self.wait_until("the rule's label is on the Node", lambda: self.cluster.labels(self.node, key))

    def test_own_names_beside_a_worker(self):
        self.start_worker(self.make_worker())
        self.assertIsNotNone(self.cluster.node_feature(self.node))
        self.start_and_arrive(self.make_publisher(self.make_root(GPUS)))
        self.assertIn(OWN, self.instances())
        self.assertNotIn(STANDARD, self.instances())


class Owner(ObjectCase):
    """The DaemonSet of our pod, never the pod."""

    def owners(self):
        """Owner references of our object as pairs kind, uid."""
        return [(each["kind"], each["uid"]) for each in self.object()["metadata"].get("ownerReferences", ())]

    def test_daemon_set_owns_it_and_a_new_pod_changes_nothing(self):
        program = self.make_publisher(self.make_root(GPUS))
        daemon_set = self.create_daemon_set()
        program.variables["POD_NAME"] = pod = self.create_pod(1, daemon_set)
        daemon = self.start_and_arrive(program)
        self.assertEqual(self.owners(), [("DaemonSet", daemon_set["uid"])])
        before = self.object()["metadata"]
        self.assertEqual(before["ownerReferences"][0]["name"], self.node)
        self.assertFalse(before["ownerReferences"][0].get("blockOwnerDeletion", False))
        self.assertEqual(daemon.end(), 0)
        self.cluster.api.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}?gracePeriodSeconds=0")
        program.variables["POD_NAME"] = self.create_pod(2, daemon_set)
        program.call("publish")
        for field in ("uid", "resourceVersion", "ownerReferences"):
            self.assertEqual(self.object()["metadata"][field], before[field])

    def test_pod_of_nobody_gives_no_owner(self):
        program = self.make_publisher(self.make_root(GPUS))
        program.variables["POD_NAME"] = self.create_pod(1)
        program.call("publish")
        self.assertEqual(self.owners(), [])

    def test_pod_that_does_not_exist_is_told_and_no_obstacle(self):
        program = self.make_publisher(self.make_root(GPUS))
        program.variables["POD_NAME"] = f"{self.node}-no-such-pod"
        done = program.attempt("publish")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.node}-no-such-pod", done.stderr)
        self.assertEqual(self.owners(), [])


class Choice(ObjectCase):
    """Whether the object is published at all."""

    def test_auto_is_on_where_the_type_is_served_and_the_file_is_off(self):
        program = self.make_publisher(self.make_root(GPUS), mode="auto")
        self.start_and_arrive(program)
        self.assertIsNotNone(self.object())

    def test_auto_is_off_beside_a_feature_file(self):
        program = self.make_publisher(self.make_root(GPUS), "outputs.featureFile.mode=on", mode="auto")
        program.call("publish")
        self.assertIn(PRESENT, program.file.read_text())
        self.assertIsNone(self.object())

    def test_node_name_that_is_no_label_value_is_told_and_patched(self):
        name = self.cluster.create_node("n" * 60 + ".example")
        program = self.make_publisher(self.make_root(GPUS), "outputs.nodeLabels.mode=always",
                                      node=name, cluster_rules=[access.NODES])
        daemon = self.start(program)
        expected = program.scan()
        self.wait_until("the labels are there by patch", lambda: self.cluster.labels(name) == expected)
        self.wait_for_log(daemon, name, "63")
        self.wait_for_status(program, name, "63")
        self.assertEqual(daemon.end(), 0)
        items = self.cluster.api.request("GET", "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeatures")["items"]
        self.assertEqual([item for item in items if item["metadata"]["name"].startswith("nnn")], [])


class NoSuchType(ObjectCase):
    """A cluster without NFD's resource types."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_auto_is_off_and_the_status_says_why(self):
        program = self.make_publisher(self.make_root(GPUS), mode="auto")
        daemon = self.start(program)
        self.wait_for_status(program, NO_TYPE)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.requests("patch"), [])

    def test_on_is_a_fault_and_labels_are_patched_all_the_same(self):
        program = self.make_publisher(self.make_root(GPUS), "outputs.nodeLabels.mode=fallback",
                                      cluster_rules=[access.NODES])
        daemon = self.start_and_arrive(program)
        self.wait_for_log(daemon, NO_TYPE)
        self.wait_for_status(program, NO_TYPE)


if __name__ == "__main__":
    unittest.main()
