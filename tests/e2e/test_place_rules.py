# SPDX-License-Identifier: GPL-2.0-or-later
"""What rules make of the raw features of nfd-source in nfd-worker's place is what they make of a real worker's."""

import unittest

from placecase import GPUS, MACHINE, RULE, BothCase, one


# Each way in which NFD's documentation lets a rule ask for features.
RULE_TABLE = (
    {"name": "a flag", "labels": {RULE + "vector": "wide"}, "matchFeatures": [one("cpu.cpuid", AVX512F=["Exists"])]},
    {"name": "no flag", "labels": {RULE + "vector": "narrow"},
     "matchFeatures": [one("cpu.cpuid", AVX512F=["DoesNotExist"])]},
    {"name": "numbers", "labels": {RULE + "kernel": "recent"},
     "matchFeatures": [one("kernel.version", major=["Gt", "5"], minor=["GtLt", "7", "9"])]},
    {"name": "configuration", "labels": {RULE + "ticks": "none"},
     "matchFeatures": [one("kernel.config", NO_HZ=["In", "y"])]},
    {"name": "words", "labels": {RULE + "system": "@system.osrelease.ID"},
     "matchFeatures": [one("system.osrelease", ID=["In", "debian", "ubuntu"], VERSION_ID=["InRegexp", "^2[0-9]"])]},
    {"name": "instances", "labels": {RULE + "sriov": "true"},
     "matchFeatures": [one("pci.device", **{"class": ["In", "0200"]}, vendor=["In", "8086"],
                           sriov_totalvfs=["Gt", "100"])]},
    {"name": "any", "labels": {RULE + "any": "true"}, "matchAny": [
        {"matchFeatures": [one("usb.device", vendor=["In", "dead"])]},
        {"matchFeatures": [one("memory.numa", is_numa=["IsTrue"]), one("storage.block", rotational=["In", "1"])]}]},
    {"name": "template", "labelsTemplate":
     "{{ range .pci.device }}" + RULE + "pci-{{ .class }}-{{ .vendor }}=there\n{{ end }}",
     "matchFeatures": [one("pci.device", **{"class": ["InRegexp", "^0[23]"]})]},
    {"name": "names", "labelsTemplate":
     "{{ range .kernel.version }}" + RULE + "kernel-{{ .Name }}={{ .Value }}\n{{ end }}",
     "matchFeatures": [{"feature": "kernel.version", "matchName": {"op": "InRegexp", "value": ["^m", "^revision$"]}}]},
    {"name": "variables", "vars": {"kind": "gpu"}, "varsTemplate": "count={{ len .pci.device }}",
     "matchFeatures": [GPUS]},
    {"name": "of variables", "labels": {RULE + "count": "@rule.matched.count"},
     "matchFeatures": [one("rule.matched", kind=["In", "gpu"], count=["Gt", "0"])]},
    {"name": "an annotation", "annotations": {RULE + "bus": "seen"},
     "matchFeatures": [one("network.device", operstate=["In", "up"])]},
)
RESOURCE = {"name": "a resource", "extendedResources": {RULE + "family": "@cpu.model.family", RULE + "links": "2"},
            "matchFeatures": [one("cpu.model", family=["Exists"])]}
# Labels that do not hang on this host.
CERTAIN = {"vector", "kernel", "system", "sriov", "any", "pci-0200-8086", "pci-0302-10de", "kernel-major",
           "kernel-minor", "kernel-revision", "count"}


class Rules(BothCase):
    """A NodeFeatureRule gives the same for both Nodes."""

    def patch_status(self, **status):
        """Merge into the status of our Node."""
        self.cluster.api.request("PATCH", f"/api/v1/nodes/{self.node}/status", {"status": status},
                                 "application/merge-patch+json")

    def given(self):
        """What rules gave to our Node: labels, annotations and resources."""
        node = self.cluster.api.node(self.node)
        return [{key.removeprefix(RULE): value for key, value in found.items() if key.startswith(RULE)} for found in
                (node["metadata"]["labels"], node["metadata"]["annotations"], node["status"]["capacity"])]

    def test_rules(self):
        theirs = self.on_new_node()
        for case in (self, theirs):
            case.patch_status(capacity={"cpu": "4"})
        # Other Nodes have no room for resources.
        nodes = one("system.name", nodename=["In", self.node, theirs.node])
        self.add_rules(*RULE_TABLE, {**RESOURCE, "matchFeatures": [*RESOURCE["matchFeatures"], nodes]})
        self.publish_both(theirs, self.make_root(MACHINE))
        for case in (self, theirs):
            case.wait_until("the rules have matched", lambda case=case: CERTAIN <= case.given()[0].keys() and
                            all(case.given()))
        self.wait_until("both are the same", lambda: self.given() == theirs.given())
        self.assertIn("bus", self.given()[1])
        self.assertEqual(self.given()[2].keys(), {"family", "links"})
        for case in (self, theirs):  # as a kubelet; nfd-master removes both together
            case.patch_status(allocatable=self.cluster.api.node(case.node)["status"]["capacity"])


if __name__ == "__main__":
    unittest.main()
