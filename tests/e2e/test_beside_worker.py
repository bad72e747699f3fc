# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose the labels of NFD's built-in sources are (sources.mode) beside a real nfd-worker, and without one."""

import pathlib
import re
import unittest

import cluster
from nodecase import NodeCase
from placecase import BUILT_IN, MACHINE, PlaceCase, qualified
from program import rescan
from test_node_feature import NAMESPACE
from test_vendors import ALWAYS, CHART

LEFT = "not written"
PROCESS = re.compile(r"process (\d+)$")
CPU = "cpu-model.vendor_id"
# All outputs at once.
OUTPUTS = ("outputs.featureFile.mode=on", *ALWAYS)


def built_in(labels):
    """Those of NFD's own sources."""
    return {key: value for key, value in labels.items() if key.startswith(BUILT_IN)}


class SourcesCase(PlaceCase):
    """Words on the verdict."""

    def wait_for_sources(self, program, verdict, *words):
        """Wait until the status has this verdict on NFD's sources, with all words in its reason; returns the reason."""
        def told():
            entry = program.status().get("sources", {})
            return entry.get("labels") == verdict and all(word in entry["why"] for word in words) and entry["why"]

        self.wait_for_status(program, "")
        try:
            self.wait_until(f"{verdict}, {words}", told)
        except TimeoutError:
            self.fail(f"not {verdict} for {words} in {program.status()}")
        return told()

    def publisher(self, root, *settings):
        """nfd-source with every output."""
        return self.make_publisher(root, *OUTPUTS, *settings, cluster_rules=CHART)


class Beside(SourcesCase):
    """A worker with all its sources labels the Node."""

    def setUp(self):
        super().setUp()
        self.worker = self.all_sources()
        self.part = self.start_worker(self.worker)
        self.theirs = self.wait_for_all(qualified(self.place()["spec"]["labels"]))
        self.assertTrue(built_in(self.theirs))

    def check_left(self, program, *words):
        """None of those labels by any output, and the worker's stay; returns the reason in the status."""
        with self.watch() as watch:
            self.start(program)
            why = self.wait_for_sources(program, LEFT, *words)
            self.wait_until("all outputs are through", lambda: program.file.exists() and self.object())
            self.wait_for_looks(2)
            self.check_kept(watch, built_in(self.theirs))
        for labels in (program.status()["labels"], self.object()["spec"]["labels"]):
            self.assertTrue(labels)
            self.assertEqual(built_in(labels), {})
        self.assertEqual(built_in(dict.fromkeys(self.managed() or ())), {})
        for prefix in BUILT_IN:
            self.assertNotIn(prefix, program.file.read_text())
        return why

    def check_process(self, why):
        """The reason names a process that is an nfd-worker."""
        pid = PROCESS.search(why)[1]
        self.assertEqual(pathlib.Path(f"/proc/{pid}/comm").read_text(), "nfd-worker\n")

    def test_own(self):
        program = self.publisher(None)
        self.check_process(self.check_left(program, "sources.mode is own", "nfd-worker runs here"))
        done = program.attempt("explain", CPU)
        self.assertIn(f"{CPU}: no, labels of NFD's sources are not ours to write", done.stdout)
        self.assertIn("sources of nfd-worker: not written, because sources.mode is own", done.stdout)
        self.assertIn("owned by nfd-master", done.stdout)

    def test_auto_with_the_process(self):
        program = self.publisher(None, "sources.mode=auto")
        self.check_process(self.check_left(program, "nfd-worker writes them"))
        self.assertIn("sources of nfd-worker: not written, because nfd-worker writes them: process",
                      program.attempt("explain", CPU).stdout)

    def test_auto_with_the_object(self):
        """The worker is a process of another PID namespace."""
        program = self.publisher(self.make_root(MACHINE), "sources.mode=auto")
        self.check_left(program, f"nfd-worker writes them: NodeFeature {NAMESPACE}/{self.node}")

    def test_all(self):
        """Its labels and ours are the same; of raw features ours have our own names."""
        program = self.publisher(None, "sources.mode=all")
        with self.watch() as watch:
            self.start(program)
            self.wait_for_sources(program, "written", "sources.mode is all")
            self.wait_until("the object is there", self.object)
            self.wait_for_looks(2)
            self.check_kept(watch, self.theirs)
        self.assertEqual(built_in(self.object()["spec"]["labels"]), built_in(self.theirs))
        found = self.object()["spec"]["features"]
        names = {name for kind in found.values() for name in kind}
        self.assertTrue(names)
        self.assertEqual({name for name in names if not name.startswith("nfd-source.")}, set())


class Alone(SourcesCase):
    """No worker is there, at first; the root hides those of others on this host."""

    def test_comes_later(self):
        """Ours go when NFD has brought a worker's, and come back when it is gone."""
        # Nothing that a worker would look for outside the root.
        root = self.make_root(MACHINE + "remove boot\nremove proc/swaps\nremove proc/modules\n")
        program = self.make_publisher(root, *ALWAYS, "sources.mode=auto", mode="off", cluster_rules=CHART)
        program.settings.append("outputs.featureFile.mode=off")
        daemon = self.start(program)
        scanned = program.scan()
        self.assertTrue(built_in(scanned))
        self.wait_for_all(scanned)
        self.wait_for_sources(program, "written", "nfd-worker is not here")
        with self.watch() as watch:
            worker = self.start_worker(self.all_sources(root))
            rescan(daemon)
            self.wait_for_sources(program, LEFT, f"nfd-worker writes them: NodeFeature {NAMESPACE}/{self.node}")
            self.wait_until("they are NFD's", lambda: not built_in(dict.fromkeys(self.managed() or ())))
            self.wait_for_looks(2)
            self.check_kept(watch, scanned)
        self.lose(worker)
        self.wait_for_sources(program, "written", "nfd-worker is not here")
        self.wait_for_all(scanned)


class WithoutNfd(NodeCase):
    """A cluster that knows nothing of NFD."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_auto(self):
        """Everything comes by patch."""
        settings = (*ALWAYS, "outputs.featureFile.mode=off", "sources.mode=auto")
        program = self.make_program(self.make_root(MACHINE), *settings)
        self.make_account(CHART).enter(program)
        self.start(program)
        expected = program.scan()
        self.assertTrue(built_in(expected))
        self.wait_until("all labels of the scan",
                        lambda: expected.items() <= self.cluster.labels(self.node, "").items())
        self.assertLessEqual(expected.keys(), self.managed())


if __name__ == "__main__":
    unittest.main()
