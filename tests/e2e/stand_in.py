# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source in nfd-worker's place, beside a stock nfd-worker: both look at one root, and find the same.

A root is a fixture's, which both have for their own by chroot(2), or None for this very host. Both find out about the
processor that they run on, whatever the root.
"""

import json
import pathlib
import tempfile
import unittest

import chroot_worker
import cluster
import process
import program
from testcase import mktree

# tests/lib, which testcase puts on the path.
from worker_features import SOURCES, content, differences, settings, without_improvements


class Pair:
    """The two programs.

    directory: for files of this object, on the file system of the roots.
    """

    def __init__(self, directory):
        self.room = chroot_worker.Room(directory)
        self.worker = chroot_worker.ChrootWorker(cluster.build_tools("nfd")[0] / "nfd-worker", self.room)
        self.name = self.room.add(program.BINARY)
        self.listed = process.run([program.BINARY, "--config", "/dev/null", "settings"], env=chroot_worker.ENVIRONMENT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.close()

    def ours(self, root, sources=SOURCES, before=()):
        """Labels and features that nfd-source finds; arguments as of ChrootWorker.publish()."""
        path = self.room.path / "settings.yaml"
        path.unlink(missing_ok=True)  # roots have links to the one before
        path.write_text(json.dumps(settings(self.listed, sources)))
        found = process.run([*before, *self.room.command(root, self.name), "--config",
                             self.room.file(root, path.name), "scan", "-o", "json"], env=chroot_worker.ENVIRONMENT)
        return content(json.loads(found))

    def theirs(self, root, sources=SOURCES, before=()):
        """Labels and features that nfd-worker finds; arguments likewise."""
        return content(self.worker.publish(root, sources, before))


class FolderCase(unittest.TestCase):
    """Gives each test self.directory, which is shared by the tests of a class, where nfd-worker can run."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        reason = chroot_worker.missing() or program.missing()
        if reason:
            raise unittest.SkipTest(reason)
        directory = tempfile.TemporaryDirectory(prefix="nfd-source-e2e-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)


class WorkerCase(FolderCase):
    """Gives each test self.worker as well."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        worker = cluster.build_tools("nfd")[0] / "nfd-worker"
        cls.worker = chroot_worker.ChrootWorker(worker, chroot_worker.Room(cls.directory))
        cls.addClassCleanup(cls.worker.close)


class StandInCase(FolderCase):
    """Gives each test self.pair as well."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pair = cls.enterClassContext(Pair(cls.directory))

    def make_root(self, source):
        """A root from a description: its text or path."""
        root = tempfile.mkdtemp(dir=self.directory)
        mktree.make_tree(str(source), root)
        return pathlib.Path(root)

    def compare(self, root, sources=SOURCES, before=()):
        """Both find the same; returns what the worker found. Arguments as of ChrootWorker.publish()."""
        theirs = self.pair.theirs(root, sources, before)
        ours = without_improvements(self.pair.ours(root, sources, before), theirs)
        self.assertEqual(differences(ours, theirs), {})
        return theirs
