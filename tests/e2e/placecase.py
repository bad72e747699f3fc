# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the tests in which nfd-source has nfd-worker's labels to write, or to leave to it."""

import re

import process
import test_node_feature
from api import NodeWatch
from nodecase import FEATURE
from program import TOP
from test_node_feature import NAMESPACE, RULES
from test_vendors import CHART
from worker import FEATURES_DIR

OBJECTS = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NAMESPACE}/nodefeatures"
KINDS = ("flags", "attributes", "instances")
VERSION = "nfd.node.kubernetes.io/worker.version"
# Labels and more that rules of tests give.
RULE = "rule.e2e.nfd-source/"
# What another producer says.
FEATURE_FILE = "e2e.nfd-source/disk=fast\n# +no-label\nsecret=1\n# +no-feature\nbare=2\n"
# Ours is wider.
CLASSES = "sources.pci.deviceClassWhitelist=03,0b40,12"
# A server with what most sources look for, and a GPU with virtual functions.
MACHINE = "\n" + (TOP / "tests/fixtures/machines/worker/server-numa.tree").read_text() + """
pci 0000:d8:00.0 030200 10de:27b8 driver=nvidia totalvfs=8
"""
# Labels that no nfd-worker has: of PCI vendors, GPUs, adapters, drivers, and what vendors' own programs write.
OURS = re.compile(re.escape(FEATURE) + r"(pci-[0-9a-f]{4}\.|gpu-|nic-|driver-)|nvidia\.com/")
# Keys of NFD's own sources; all of this host have some of these.
BUILT_IN = tuple(FEATURE + source for source in ("cpu-", "memory-", "network-", "storage-", "kernel-config."))


def one(feature, **expressions):
    """A match of one feature in a rule: element -> operator and values."""
    return {"feature": feature, "matchExpressions": {
        key: {"op": words[0], **({"value": words[1:]} if words[1:] else {})} for key, words in expressions.items()}}


GPUS = one("pci.device", vendor=["In", "10de"], **{"class": ["In", "0302"]})


def features(found):
    """Raw features of an object."""
    return {kind: dict(found["spec"]["features"].get(kind) or {}) for kind in KINDS}


def qualified(labels):
    """Labels of a worker's object as nfd-master writes them: bare keys, of files and of "custom", get its prefix."""
    return {key if "/" in key else FEATURE + key: value for key, value in labels.items()}


class PlaceCase(test_node_feature.ObjectCase):
    """A Node, an nfd-worker with all its sources, and nfd-source on the very host that the worker sees."""

    def all_sources(self, root=None):
        """A Worker (not started) that labels our Node as a stock one does."""
        return self.make_worker(root=root, sources=("all",))

    def stand_in(self, worker, *settings, mode="worker"):
        """nfd-source on a worker's host, with the rights of the chart."""
        file = ("outputs.featureFile.mode=auto", f"outputs.featureFile.dir=/etc/{FEATURES_DIR}")
        program = self.make_publisher(None, *file, CLASSES, *settings, mode=mode, cluster_rules=CHART)
        worker.enter(program)
        return program

    def place(self):
        """The object in nfd-worker's place, or None."""
        return self.cluster.node_feature(self.node)

    def wait_for_place(self, ours):
        """Wait until the object in nfd-worker's place is ours, or a worker's."""
        def is_it():
            found = self.place()
            return found and found["metadata"]["annotations"][VERSION].startswith("nfd-source v") == ours

        self.wait_until(f"the object of {self.node} is {'ours' if ours else 'a worker’s'}", is_it)

    def lose(self, worker):
        """A worker goes, and its object with its DaemonSet, as the garbage collector sees to it."""
        worker.end()
        self.cluster.api.request("DELETE", f"{OBJECTS}/{self.node}")

    def all_labels(self):
        """The labels of our Node that NFD or we may have set."""
        labels = self.cluster.labels(self.node, "")
        return {key: value for key, value in labels.items() if not key.startswith("kubernetes.io/")}

    def wait_for_all(self, *expected):
        """Wait until our Node has all these labels; returns all that it has."""
        wanted = {key: value for labels in expected for key, value in labels.items()}
        try:
            self.wait_until("all labels", lambda: wanted.items() <= self.all_labels().items())
        except TimeoutError:
            self.fail(f"the Node lacks {wanted.items() - self.all_labels().items()}")
        return self.all_labels()

    def watch(self):
        """A watch on our Node."""
        return NodeWatch(self.cluster.api, self.node)

    def check_kept(self, watch, *expected):
        """Each state of the Node had all these labels."""
        wanted = {key: value for labels in expected for key, value in labels.items()}
        self.assertTrue(wanted)
        for node in watch.drain():
            self.assertEqual(wanted.items() - node["metadata"]["labels"].items(), set())

    def add_rules(self, *rules):
        """A NodeFeatureRule with these rules, for this test."""
        self.cluster.api.request("POST", RULES, {
            "apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeatureRule", "metadata": {"name": self.node},
            "spec": {"rules": list(rules)}})
        self.addCleanup(self.cluster.api.request, "DELETE", f"{RULES}/{self.node}")


class BothCase(PlaceCase):
    """A worker for one Node, nfd-source in its place for another, on the same host."""

    maxDiff = None

    def features(self):
        """The raw features of the object; the name of the Node, which differs, is checked and left out."""
        found = features(self.place())
        self.assertEqual(found["attributes"].pop("system.name"), {"elements": {"nodename": self.node}})
        return found

    def publish_both(self, theirs, root=None, settings=(), arguments=()):
        """Both publish once: a worker with further arguments for the Node of another case, nfd-source for ours."""
        worker = theirs.all_sources(root)
        (worker.features_dir / "other").write_text(FEATURE_FILE)
        process.run(worker.command("-oneshot", *arguments), env=worker.environment())
        self.program = self.stand_in(worker, *settings)
        self.program.call("publish")
