# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source in mode fallback beside a real nfd-worker and nfd-master: nothing to do while they are well, labels by
our patch when they are not, and the way back to them without a blink.

The worker polls once an hour and publishes local labels only, so all that NFD brings came through our feature file.
"""

import unittest

from api import NodeWatch
from nodecase import EVENTS, GPU, GPUS, OURS, PRESENT, NodeCase, plug, unplug
from program import rescan
from testcase import FEATURE

ANNOTATION = "nfd.node.kubernetes.io/feature-labels"
NOT_BROUGHT = r"NFD .*did not bring"


class Handover(NodeCase):
    """A worker that a test starts when it likes, and the cluster's nfd-master."""

    def setUp(self):
        super().setUp()
        self.worker = self.make_worker()
        self.features_dir = self.worker.features_dir
        self.root = self.make_root(GPUS)

    def fallback(self, *settings):
        """nfd-source as in a cluster with NFD, quick to lose patience."""
        return self.make_patcher(self.root, "fallback", "outputs.nodeLabels.after=1s",
                                 "outputs.nodeLabels.resync=1s", *settings)

    def without_master(self):
        """No nfd-master for now; the next test has one in any case."""
        self.cluster.stop_master()
        self.addCleanup(lambda: self.cluster.master or self.cluster.start_master())

    def listed(self):
        """Full keys of the labels that nfd-master says are its own on our Node."""
        text = self.cluster.api.node(self.node)["metadata"]["annotations"].get(ANNOTATION, "")
        return {key if "/" in key else FEATURE + key for key in text.split(",") if key}

    def wait_for_handover(self, expected):
        """Wait until NFD lists all labels and we own none."""
        self.wait_until("NFD lists all our labels", lambda: self.listed() >= expected.keys())
        self.wait_until("we own no label any more", lambda: not self.managed())

    def check_never_missing(self, watch, expected, since=0):
        """Each state of the Node had all labels with the right values; returns the number of states."""
        states = watch.drain()
        for node in states[since:]:
            self.assertLessEqual(expected.items(), node["metadata"]["labels"].items())
        return len(states)

    def test_nfd_comes_goes_and_comes_back_without_a_blink(self):
        self.without_master()
        program = self.fallback()
        daemon = self.start_and_arrive(program)
        expected = program.scan()
        self.assertEqual(self.managed(), expected.keys())
        with NodeWatch(self.cluster.api, self.node) as watch:
            worker = self.start_worker(self.worker)
            self.cluster.start_master()
            self.wait_for_handover(expected)
            self.check_never_missing(watch, expected)
            self.cluster.stop_master()
            worker.end()
            self.wait_for_looks(2)
            self.check_never_missing(watch, expected)
            self.start_worker(self.worker)
            self.cluster.start_master()
            self.wait_for_looks(2)
            self.check_never_missing(watch, expected)
            self.assertFalse(self.managed())
        patches = len(self.requests("patch"))
        unplug(self.root, GPU)
        self.change(daemon, program)
        self.assertNotIn(PRESENT, self.cluster.labels(self.node))
        self.wait_for_looks(3)
        self.assertEqual(self.cluster.labels(self.node), program.scan())
        self.assertNotIn(OURS, self.cluster.api.label_managers(self.node))
        self.assertEqual(len(self.requests("patch")), patches, "a patch after NFD had taken over")

    def test_healthy_nfd_leaves_nothing_to_patch(self):
        self.start_worker(self.worker)
        program = self.fallback()
        expected = program.scan()
        self.make_program(self.root).call("publish")
        self.wait_for_exactly(expected)
        self.start(program)
        self.wait_for_looks(5)
        self.assertEqual(self.requests("patch"), [])
        self.assertNotIn(OURS, self.cluster.api.label_managers(self.node))
        self.assertEqual(self.listed(), expected.keys())
        others = [each.path for each in self.requests() if each.path not in (f"/api/v1/nodes/{self.node}", EVENTS)]
        self.assertLessEqual(len(others), 1, others)
        self.assertEqual(self.cluster.labels(self.node), expected)

    def test_group_served_but_no_worker(self):
        program = self.fallback()
        daemon = self.start_and_arrive(program)
        self.assertEqual(self.managed(), program.scan().keys())
        self.wait_for_log(daemon, NOT_BROUGHT)
        self.wait_for_status(program, NOT_BROUGHT)

    def test_group_served_but_no_master(self):
        self.without_master()
        self.start_worker(self.worker)
        program = self.fallback()
        daemon = self.start_and_arrive(program)
        self.assertEqual(self.managed(), program.scan().keys())
        self.wait_for_log(daemon, NOT_BROUGHT)
        self.wait_for_status(program, NOT_BROUGHT)

    def test_worker_that_dies_and_comes_back(self):
        worker = self.start_worker(self.worker)
        program = self.fallback()
        daemon = self.start_and_arrive(program)
        self.wait_for_handover(program.scan())
        worker.end()
        key = plug(self.root, "1002")
        self.change(daemon, program)
        self.assertIn(key, self.managed())
        self.assertNotIn(PRESENT, self.managed())
        self.wait_for_log(daemon, NOT_BROUGHT)
        expected = program.scan()
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.start_worker(self.worker)
            self.wait_for_handover(expected)
            self.check_never_missing(watch, expected)
        self.assertEqual(self.cluster.labels(self.node), expected)

    def test_nfd_that_is_uninstalled_leaves_the_labels_to_us(self):
        worker = self.start_worker(self.worker)
        program = self.fallback()
        self.start_and_arrive(program)
        expected = program.scan()
        self.wait_for_handover(expected)
        worker.end()
        self.without_master()
        self.cluster.prune()
        self.assertEqual(self.listed(), set())
        self.wait_for_exactly(expected)
        self.assertEqual(self.managed(), expected.keys())

    def test_value_that_nfd_lists_is_left_to_nfd(self):
        key = PRESENT
        (self.worker.features_dir / "zz-other").write_text(f"{key}=theirs\n")
        self.start_worker(self.worker)
        self.wait_for_labels("another file's value is on the Node", lambda labels: labels.get(key) == "theirs")
        program = self.fallback()
        daemon = self.start(program)
        expected = {**program.scan(), key: "theirs"}
        self.wait_for_exactly(expected)
        self.wait_for_log(daemon, key)
        self.wait_for_looks(3)
        self.assertEqual(self.cluster.labels(self.node), expected)
        self.assertNotIn(key, self.managed() or ())

    def test_mode_off_says_nothing_to_the_api_server(self):
        program = self.make_patcher(self.root, "off", "outputs.nodeLabels.resync=1s", "outputs.nodeLabels.after=1s")
        daemon = self.start(program)
        self.wait_until("the feature file is there", program.file.exists)
        rescan(daemon)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.requests(), [])


if __name__ == "__main__":
    unittest.main()
