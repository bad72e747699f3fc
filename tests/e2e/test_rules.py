# SPDX-License-Identifier: GPL-2.0-or-later
"""The NodeFeatureRules of deploy/nfd-rules, applied with kubectl to a real nfd-master: taint, resource and label follow
the hardware in each way that our raw features reach it, and go with the rules."""

import pathlib
import unittest

import access
import cluster
import process
from nodecase import NodeCase, set_version, unplug
from program import rescan
from running import HOST

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/nfd-rules"
RULES = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeaturerules"
RIGHTS = (access.NODE_FEATURES, access.PODS)

LOADED, INSTALLED = "580.126.09", "580.159.03"
SECOND_GPU = "0000:af:00.0"
# Two GPUs, one virtual function of the first, and what an upgrade behind the loaded module leaves.
MISMATCH = f"""{HOST}
pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia totalvfs=8 numvfs=1
vfs 0000:3b:00.0 1 10de:27b8 driver=nvidia
pci {SECOND_GPU} 030200 10de:27b8 driver=nvidia
nvidia {LOADED} open loaded
elf usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{INSTALLED} 64
link usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 libnvidia-ml.so.{INSTALLED}
"""
TAINT = {"key": "feature.node.kubernetes.io/nvidia-driver-mismatch", "value": "true", "effect": "NoSchedule"}
RESOURCE = "feature.node.kubernetes.io/gpu-10de"
MODEL = "example.com/gpu-model"
NOTHING = ([], None, None)


class RulesCase(NodeCase):
    """The rules are there within a test and for it alone."""

    def setUp(self):
        super().setUp()
        self.root = self.make_root(MISMATCH)
        self.patch_status(capacity={"cpu": "4"})
        self.admin = self.directory / "admin.kubeconfig"
        self.admin.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port))
        self.addCleanup(self.remove_rules)
        self.kubectl("apply", "--validate=strict", "-f", FOLDER)

    def kubectl(self, *words):
        """Run kubectl; its caches stay in our directory."""
        words = [self.cluster.kubernetes / "kubectl", "--kubeconfig", self.admin, *words]
        return process.run(words, env={"HOME": str(self.directory)})

    def remove_rules(self):
        """Delete the rules and wait until nfd-master has taken back what they gave, so that no other test meets it."""
        self.act_as_kubelet()
        self.kubectl("delete", "--ignore-not-found", "-f", FOLDER)
        self.wait_for(NOTHING)

    def patch_status(self, **status):
        """Merge into the status of our Node."""
        self.cluster.api.request("PATCH", f"/api/v1/nodes/{self.node}/status", {"status": status},
                                 "application/merge-patch+json")

    def given(self):
        """What the rules gave to our Node: taints, number of GPUs, model."""
        node = self.cluster.api.node(self.node)
        taints = [taint for taint in node["spec"].get("taints", ()) if taint["key"] == TAINT["key"]]
        return taints, node["status"]["capacity"].get(RESOURCE), node["metadata"]["labels"].get(MODEL)

    def act_as_kubelet(self):
        """Make all that our Node has allocatable. nfd-master counts on it: it changes and removes both together."""
        self.patch_status(allocatable=self.cluster.api.node(self.node)["status"]["capacity"])

    def wait_for(self, expected):
        """Wait until the rules gave exactly this."""
        try:
            self.wait_until(f"the Node has {expected}", lambda: self.given() == expected)
        except TimeoutError:
            self.fail(f"the Node has {self.given()} instead of {expected}")
        self.act_as_kubelet()

    def check_rules(self, program):
        """A mismatch taints, the taint goes when the new module is loaded, the resource follows the bus; all of it goes
        with the rules, and our own labels stay."""
        daemon = self.start(program)
        self.wait_for(([TAINT], "2", "L4"))
        set_version(self.root, INSTALLED)
        unplug(self.root, SECOND_GPU)
        rescan(daemon)
        self.wait_for(([], "1", "L4"))
        set_version(self.root, LOADED)
        rescan(daemon)
        self.wait_for(([TAINT], "1", "L4"))
        self.remove_rules()
        self.wait_for_exactly(program.scan())

    def make_publisher(self):
        """nfd-source as in a pod that publishes the NodeFeature object."""
        program = self.make_program(
            self.root, "outputs.nodeFeature.mode=on", f"outputs.nodeFeature.namespace={cluster.NAMESPACE}",
            "outputs.featureFile.mode=off")
        self.make_account(rules=RIGHTS).enter(program)
        return program


class Rules(RulesCase):
    """The three ways."""

    def test_feature_file(self):
        worker = self.make_worker()
        self.features_dir = worker.features_dir
        self.start_worker(worker)
        self.check_rules(self.make_program(self.root))

    def test_object_beside_a_worker(self):
        self.start_worker(self.make_worker())
        self.assertIsNotNone(self.cluster.node_feature(self.node))
        self.check_rules(self.make_publisher())

    def test_object_without_a_worker(self):
        self.check_rules(self.make_publisher())


if __name__ == "__main__":
    unittest.main()
