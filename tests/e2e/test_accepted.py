# SPDX-License-Identifier: GPL-2.0-or-later
"""A real nfd-master takes every label that nfd-source finds on the recorded machines, those of the vendors included.

Each machine is a Node of its own; its NodeFeature is what "scan -o nodefeature" prints for it.
"""

import json
import re
import unittest
import urllib.request

import cluster
from program import TOP, Program
from testcase import E2ETestCase

MACHINES = sorted((TOP / "tests/fixtures/machines").glob("*.tree"))
OBJECTS = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{cluster.NAMESPACE}/nodefeatures"
REFUSED = re.compile(r"(?m)^nfd_master_node_labels_rejected_total (\S+)$")
# The label that a Node has from the start; all others came through nfd-master.
NOT_NFD = "kubernetes.io/hostname"


class Accepted(E2ETestCase):
    """All machines beside one nfd-master."""

    maxDiff = None

    def refused(self):
        """How many labels nfd-master has refused up to now."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.cluster.master_port}/metrics", timeout=30) as answer:
            return float(REFUSED.search(answer.read().decode())[1])

    def add(self, found):
        """Create a NodeFeature, which goes with the test."""
        self.cluster.api.request("POST", OBJECTS, found)
        self.addCleanup(self.cluster.api.request, "DELETE", f"{OBJECTS}/{found['metadata']['name']}")

    def publish(self, machine):
        """Publish the labels of a machine for a new Node; returns the Node's name and the labels."""
        node = self.cluster.create_node()
        program = Program(self.directory, self.directory, node, self.make_root(machine))
        # Where nothing at all can be read the exit status is that of a failure, and the object is whole all the same.
        done = program.attempt("scan", "-o", "nodefeature")
        found = json.loads(done.stdout)
        self.assertEqual(found["metadata"]["labels"], {"nfd.node.kubernetes.io/node-name": node}, done.stderr)
        self.add(found)
        return node, found["spec"]["labels"]

    def labels(self, node):
        """What nfd-master put on a Node."""
        return {key: value for key, value in self.cluster.labels(node, "").items() if key != NOT_NFD}

    def wait_for_node(self, node, expected):
        """Wait until nfd-master has put exactly these labels on the Node."""
        try:
            self.wait_until(f"all labels on {node}", lambda: self.labels(node) == expected)
        except TimeoutError:
            self.assertEqual(self.labels(node), expected)

    def test_all_labels_of_all_machines(self):
        before = self.refused()
        published = {machine.stem: self.publish(machine) for machine in MACHINES}
        keys = {key.partition("/")[0] for _, labels in published.values() for key in labels}
        self.assertGreaterEqual(keys, {"nvidia.com", "amd.com", "gpu.intel.com"})
        for name, (node, expected) in published.items():
            with self.subTest(machine=name):
                self.wait_for_node(node, expected)
        self.assertEqual(self.refused(), before)

    def test_refusal_is_counted(self):
        before = self.refused()
        self.add({"apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeature",
                  "metadata": {"name": self.node, "labels": {"nfd.node.kubernetes.io/node-name": self.node}},
                  "spec": {"features": {}, "labels": {"kubernetes.io/e2e-refused": "true"}}})
        self.wait_until("nfd-master counts a refused label", lambda: self.refused() > before)


if __name__ == "__main__":
    unittest.main()
