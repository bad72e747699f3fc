# SPDX-License-Identifier: GPL-2.0-or-later
"""What docs/upgrade-uninstall.md promises: labels gone, or kept, by choice, with a real nfd-worker and nfd-master and
without any NFD. Deleting the objects of a DaemonSet needs a controller, which is not here."""

import unittest

import cluster
from nodecase import GPUS, OURS, NodeCase
from program import rescan

ALL_OFF = [f"outputs.{name}.mode=off" for name in ("featureFile", "nodeFeature", "nodeLabels")]


class UninstallCase(NodeCase):
    """A daemon that is started anew with its outputs off, as by "kubectl set env", and cleanup beside it."""

    def rescan_and_wait(self, daemon, program):
        """Let the daemon scan and wait until it has."""
        before = program.status()["scans"]
        rescan(daemon)
        self.wait_until("it scanned again", lambda: program.status()["scans"] > before)

    def check_gone(self, program, daemon):
        """With the outputs off nothing changes; after cleanup nothing comes back."""
        expected = program.scan()
        self.assertEqual(daemon.end(), 0)
        program.settings += ALL_OFF
        daemon = self.start(program)
        # Not what the one before has left.
        self.wait_until("it tells its status", lambda: program.status()["pid"] == daemon.pid)
        self.rescan_and_wait(daemon, program)
        self.assertEqual(self.cluster.labels(self.node), expected)
        program.call("cleanup")
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)
        rescan(daemon)
        self.wait_until("it scanned since the cleanup", program.status_file.exists)
        self.assertFalse(program.file.exists())
        self.assertEqual(self.cluster.labels(self.node), {})
        self.assertNotIn(OURS, self.cluster.api.label_managers(self.node))
        self.assertIn("there was nothing to remove", program.attempt("cleanup").stderr)


class WithNfd(UninstallCase):
    """Labels that nfd-master brought."""

    def setUp(self):
        super().setUp()
        worker = self.make_worker()
        self.features_dir = worker.features_dir
        self.start_worker(worker)
        self.root = self.make_root(GPUS)

    def test_gone(self):
        program = self.make_program(self.root)
        self.check_gone(program, self.start_and_arrive(program))

    def test_kept(self):
        program = self.make_program(self.root)
        daemon = self.start_and_arrive(program)
        self.assertIn("expiry-time", program.file.read_text())
        self.assertEqual(daemon.end(), 0)
        program.settings.append("outputs.featureFile.lifetime=0")
        daemon = self.start(program)
        self.wait_until("the file has no expiry", lambda: "expiry-time" not in program.file.read_text())
        self.assertEqual(daemon.end(), 0)
        self.wait_for_exactly(program.scan())


class WithoutNfd(UninstallCase):
    """Labels that we patched."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_gone(self):
        program = self.make_patcher(self.make_root(GPUS), "fallback")
        daemon = self.start_and_arrive(program)
        self.assertEqual(self.managed(), program.scan().keys())
        self.check_gone(program, daemon)


if __name__ == "__main__":
    unittest.main()
