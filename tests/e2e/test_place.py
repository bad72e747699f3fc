# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source in nfd-worker's place (outputs.nodeFeature.mode: worker), held against a real nfd-worker: the same labels,
the same object, the same results of rules; and no label is ever missing while one takes over from the other."""

import signal
import unittest

import process
from placecase import GPUS, MACHINE, OBJECTS, OURS, RULE, VERSION, BothCase, PlaceCase, features, one, qualified
from program import rescan
from test_node_feature import MASTERS_LABEL, NAMESPACE

POD_UID = "nfd.node.kubernetes.io/worker.pod.uid"
FAULT = "an nfd-worker has published"


class Parity(BothCase):
    """The objects, and the labels that nfd-master makes of them."""

    def compare(self, root=None):
        """The objects, and what nfd-master makes of them."""
        theirs = self.on_new_node()
        self.publish_both(theirs, root)
        mine, other = self.place(), theirs.place()
        self.assertEqual(self.features(), theirs.features())
        expected = qualified(other["spec"]["labels"])
        self.assertEqual(mine["spec"]["labels"], expected)
        labels = theirs.wait_for_all(expected)
        ours = self.wait_for_all(mine["spec"]["labels"], self.object()["spec"]["labels"])
        self.assertEqual({key: value for key, value in ours.items() if not OURS.match(key)}, labels)
        return ours, mine

    def test_this_host(self):
        ours, _ = self.compare()
        self.assertTrue(ours)

    def test_server(self):
        ours, mine = self.compare(self.make_root(MACHINE))
        self.assertTrue(any(OURS.match(key) for key in ours))
        self.assertEqual(mine["metadata"]["name"], self.node)
        self.assertEqual(mine["metadata"]["labels"], {MASTERS_LABEL: self.node})
        self.assertEqual(list(mine["metadata"]["annotations"]), [VERSION])
        self.assertRegex(mine["metadata"]["annotations"][VERSION], "^nfd-source v[0-9]")
        self.assertNotIn("ownerReferences", mine["metadata"])
        self.assertEqual(ours["e2e.nfd-source/disk"], "fast")
        self.assertEqual([name for kind in features(self.object()).values() for name in kind
                          if not name.startswith("nfd-source.")], [])

    def test_held_back_features(self):
        hidden = "kernel.config,cpu.*"
        theirs = self.on_new_node()
        self.publish_both(theirs, None, [f"core.noPublishFeatures={hidden}"], [f"-no-publish-features={hidden}"])
        found = self.features()
        self.assertEqual(found, theirs.features())
        names = {name for kind in found.values() for name in kind}
        self.assertIn("kernel.version", names)
        self.assertEqual({name for name in names if name == "kernel.config" or name.startswith("cpu.")}, set())


class Owners(PlaceCase):
    """References of the object are those that a worker with the same core.ownerRefs makes."""

    def setUp(self):
        super().setUp()
        self.worker = self.all_sources()
        self.program = self.stand_in(self.worker)
        name = self.create_pod(1, self.create_daemon_set())
        uid = self.cluster.api.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}")["metadata"]["uid"]
        self.worker.variables = self.program.variables = {
            **self.program.variables, "POD_NAME": name, "POD_UID": uid}
        self.uid = uid

    def theirs(self, kinds):
        """What a worker with these kinds makes, which is gone then."""
        self.worker.owner_refs = kinds
        process.run(self.worker.command("-oneshot"), env=self.worker.environment())
        found = self.place()["metadata"]
        self.cluster.api.request("DELETE", f"{OBJECTS}/{self.node}")
        return found

    def check(self, kinds, *settings):
        """Ours are a worker's."""
        theirs = self.theirs(kinds)
        self.program.settings += settings
        self.program.call("publish")
        mine = self.place()["metadata"]
        self.assertEqual(mine.get("ownerReferences", []), theirs.get("ownerReferences", []))
        self.assertEqual(mine["annotations"].keys(), theirs["annotations"].keys())
        self.assertEqual(mine["annotations"][POD_UID], self.uid)
        return [each["kind"] for each in mine.get("ownerReferences", ())]

    def test_kinds(self):
        self.assertEqual(self.check("pod,ds"), ["Pod", "DaemonSet"])
        self.assertEqual(self.check("node", "core.ownerRefs=node"), ["Node"])
        self.assertEqual(self.check("", "core.ownerRefs="), [])

    def test_changed_on_the_object(self):
        """The object has what the settings say, also when nothing else differs."""
        for kinds, expected in (("ds,node,pod", ["Node", "Pod", "DaemonSet"]), ("ds", ["DaemonSet"]), ("", [])):
            with self.subTest(kinds):
                self.program.settings.append(f"core.ownerRefs={kinds}")
                self.program.call("publish")
                owners = self.place()["metadata"].get("ownerReferences", ())
                self.assertEqual([each["kind"] for each in owners], expected)
                self.assertFalse(any(each.get("blockOwnerDeletion") for each in owners))
        self.program.settings += ["core.ownerRefs=pod,ds", "core.noOwnerRefs=true"]
        self.program.call("publish")
        self.assertNotIn("ownerReferences", self.place()["metadata"])


class Switch(PlaceCase):
    """Worker and nfd-source on one Node, and a watch: whoever comes or goes, what both find is never missing."""

    def setUp(self):
        super().setUp()
        self.add_rules({"name": "gpu", "labels": {RULE + self.node: "gpu"}, "matchFeatures": [GPUS]},
                       {"name": "kernel", "labels": {f"{RULE}{self.node}.kernel": "@kernel.version.major"},
                        "matchFeatures": [one("kernel.version", major=["Exists"])]})
        self.worker = self.all_sources(self.make_root(MACHINE))
        self.program = self.stand_in(self.worker)
        self.scanned = self.program.scan()

    def start_theirs(self):
        """Start the worker; returns it and what the Node has from it, rules included."""
        part = self.start_worker(self.worker)
        self.wait_for_place(ours=False)
        labels = self.wait_for_all(qualified(self.place()["spec"]["labels"]), {RULE + self.node: "gpu"})
        return part, {key: value for key, value in labels.items() if not OURS.match(key)}

    def start_ours(self):
        """Start the daemon and wait until the Node has all that it finds, and what rules make of it."""
        daemon = self.start(self.program)
        self.wait_for_all(self.scanned, {RULE + self.node: "gpu"})
        return daemon

    def test_ours_after_a_worker(self):
        worker, theirs = self.start_theirs()
        with self.watch() as watch:
            daemon = self.start_ours()
            self.assertEqual(self.object()["spec"]["labels"], self.scanned)
            self.wait_for_log(daemon, FAULT, f"{NAMESPACE}/{self.node}")
            self.wait_for_status(self.program, FAULT)
            self.check_kept(watch, theirs)
            with self.watch() as both:
                self.lose(worker)
                self.wait_for_place(ours=True)
                self.wait_for_status(self.program, "in nfd-worker's place")
                self.assertEqual(self.program.status()["faults"], [])
                self.check_kept(both, theirs, self.scanned)
            self.check_kept(watch, theirs)
        self.assertNotIn("cpu.cpuid", self.object()["spec"]["features"]["flags"])

    def test_a_worker_after_ours(self):
        daemon = self.start_ours()
        self.wait_for_place(ours=True)
        with self.watch() as watch:
            _, theirs = self.start_theirs()
            self.wait_for_status(self.program, FAULT)
            self.check_kept(watch, theirs, self.scanned)
            self.assertEqual(daemon.end(), 0)
            self.program.call("cleanup")
            self.wait_until("ours alone are gone", lambda: not any(OURS.match(key) for key in self.all_labels()))
            self.check_kept(watch, theirs)
        self.assertIsNone(self.object())
        self.assertEqual(self.all_labels(), theirs)

    def test_killed(self):
        daemon = self.start_ours()
        before = {name: self.cluster.node_feature(name)["metadata"]["resourceVersion"]
                  for name in (self.node, f"{self.node}-nfd-source")}
        with self.watch() as watch:
            daemon.end(signal.SIGKILL)
            self.program.status_file.unlink()
            self.start(self.program)
            self.wait_for_status(self.program, "in nfd-worker's place")
            self.check_kept(watch, self.scanned)
        for name, version in before.items():
            self.assertEqual(self.cluster.node_feature(name)["metadata"]["resourceVersion"], version)

    def set_mode(self, mode):
        """Write the mode into the file of settings, which is then the only one to say so."""
        config = self.program.config = self.directory / "settings.yaml"
        config.write_text(f"outputs: {{nodeFeature: {{mode: {mode}}}}}\n")
        settings = self.program.settings
        settings[:] = [each for each in settings if not each.startswith("outputs.nodeFeature.mode=")]

    def test_mode_changes_after_a_worker_has_come(self):
        self.set_mode("worker")
        daemon = self.start_ours()
        with self.watch() as watch:
            _, theirs = self.start_theirs()
            self.wait_for_status(self.program, FAULT)
            self.set_mode("on")
            rescan(daemon)
            self.wait_for_status(self.program, f"{self.node}-nfd-source is as it should be")
            self.check_kept(watch, theirs, {key: value for key, value in self.scanned.items() if OURS.match(key)})
        self.wait_for_place(ours=False)
        names = {name for kind in features(self.object()).values() for name in kind}
        self.assertEqual({name for name in names if not name.startswith("nfd-source.")}, set())

    def test_mode_changes_without_a_worker(self):
        """Labels of NFD's sources go, ours and what rules make of our features stay."""
        self.set_mode("worker")
        daemon = self.start_ours()
        with self.watch() as watch:
            self.set_mode("on")
            rescan(daemon)
            expected = self.program.scan()
            self.wait_until("NFD's are gone", lambda: self.cluster.labels(self.node) == expected)
            self.check_kept(watch, expected, {RULE + self.node: "gpu"})
        self.assertIsNone(self.place())

    def test_cleanup(self):
        self.program.call("publish")
        self.wait_for_all(self.scanned)
        self.program.call("cleanup")
        self.assertIsNone(self.place())
        self.assertIsNone(self.object())
        self.wait_until("no label is left", lambda: not self.all_labels())


if __name__ == "__main__":
    unittest.main()
