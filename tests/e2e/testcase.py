# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the end-to-end test cases: one Node, one directory, parts that end with the test."""

import pathlib
import sys
import tempfile
import unittest

import cluster
import process
import program
from worker import Worker, answers

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import mktree  # noqa: E402 (found by the line above)

FEATURE = "feature.node.kubernetes.io/"


class E2ETestCase(unittest.TestCase):
    """Gives each test self.cluster, self.node (a new Node's name) and self.directory.

    get_cluster: function that gives the cluster. A missing prerequisite skips each test with its
    reason. When a test fails, the end of the log of every part is printed.
    """

    get_cluster = staticmethod(cluster.shared)

    def setUp(self):
        if program.missing():
            self.skipTest(program.missing())
        self.parts = []
        self.cluster = self.get_cluster()
        self.use_new_node()

    def use_new_node(self):
        """Be about a new Node from now on, with a directory of its own."""
        self.node = self.cluster.create_node()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.node}-", dir=self.cluster.directory))

    def run(self, result=None):
        """As unittest's own; print the logs after a failure, and clean up also when the run is stopped."""
        before = len(result.failures) + len(result.errors) if result else 0
        try:
            result = super().run(result)
        except KeyboardInterrupt:
            self.doCleanups()  # or what runs on would write into folders that are removed at exit
            raise
        if result and len(result.failures) + len(result.errors) > before:
            self.print_logs()
        return result

    def print_logs(self):
        """Print the end of the log of the cluster's and of the test's parts to stderr."""
        shared = getattr(self, "cluster", None)
        for part in shared.parts if shared else ():
            print(part.log_tail(8), file=sys.stderr)
        for part in getattr(self, "parts", ()):
            print(part.log_tail(), file=sys.stderr)

    def keep(self, part):
        """Own a started part: it ends with the test at the latest. Returns it."""
        self.parts.append(part)
        self.addCleanup(part.end)
        return part

    def make_root(self, source):
        """A new fixture root from a description: its text, or the path of a .tree file."""
        root = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=self.directory))
        root.chmod(0o755)
        mktree.make_tree(str(source), str(root))
        return root

    def make_worker(self, **options):
        """A Worker (not started) for our Node; options as Worker's."""
        directory = tempfile.mkdtemp(prefix="worker-", dir=self.directory)
        return Worker(self.cluster, self.node, cluster.NAMESPACE, directory, **options)

    def start_worker(self, worker):
        """Start nfd-worker and wait until it has published once; then its inotify watch is set too."""
        def command(port):
            return worker.command(f"-port={port}")

        part, _ = process.start_part(
            "nfd-worker", command, lambda port: answers(port, "/healthz"),
            self.directory / "nfd-worker.log", env=worker.environment())
        return self.keep(part)

    def wait_until(self, what, condition):
        """As process.wait_until(), while all parts of cluster and test stay alive."""
        process.wait_until(what, condition, self.cluster.parts + self.parts)

    def wait_for_labels(self, what, accept):
        """Wait until accept(labels) is true for the feature labels of our Node."""
        try:
            self.wait_until(what, lambda: accept(self.cluster.labels(self.node)))
        except TimeoutError:
            self.fail(f"{what}: the Node has {self.cluster.labels(self.node)}")
