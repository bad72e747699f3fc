# SPDX-License-Identifier: GPL-2.0-or-later
"""The scanners in the place of nfd-worker's sources find what the worker itself publishes, key by key.

Labels and raw features of kernel, memory, network, storage and system on the roots of
tests/fixtures/machines/worker (whose NAME.json is what the worker published when it was recorded:
record_sources.py), on all other machines, and on this very host.
"""

import json
import pathlib
import tempfile
import unittest

import chroot_worker
import cluster
import process
import program
from testcase import FEATURE, mktree

SOURCES = ("kernel", "memory", "network", "storage", "system")
MACHINES = program.TOP / "tests/fixtures/machines"
OURS = program.BINARY.parents[1] / "tests/programs/worker_sources"

# Where NFD's pattern fails on a kernel release it has no numbers and we have (FC-D3).
NUMBERS = tuple(f"{FEATURE}kernel-version.{part}" for part in ("major", "minor", "revision"))
# We look on in usr/lib/os-release, and undo the escapes of a shell.
OS_RELEASE = f"{FEATURE}system-os_release."


def content(published):
    """Labels and features of a NodeFeature, or of our own output."""
    spec = published.get("spec", published)
    features = {kind: spec["features"].get(kind) or {} for kind in ("flags", "attributes", "instances")}
    return {"labels": spec["labels"], "features": features}


def ours(root, node=chroot_worker.NODE):
    """What our scanners find below a root."""
    return content(json.loads(process.run([OURS, root or "/", node])))


def without_improvements(mine, theirs):
    """Ours without the labels that NFD should have and has not."""
    labels = dict(mine["labels"])
    for key in mine["labels"]:
        if key not in theirs["labels"] and (key in NUMBERS or key.startswith(OS_RELEASE)):
            del labels[key]
    return {**mine, "labels": labels}


class Sources(unittest.TestCase):
    """One comparison for each root."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        reason = chroot_worker.missing() or program.missing()
        if reason:
            raise unittest.SkipTest(reason)
        directory = tempfile.TemporaryDirectory(prefix="nfd-source-e2e-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        cls.worker = chroot_worker.ChrootWorker(cluster.build_tools("nfd")[0], cls.directory)
        cls.addClassCleanup(cls.worker.close)

    def make_root(self, path):
        """A root from a description."""
        root = tempfile.mkdtemp(dir=self.directory)
        mktree.make_tree(str(path), root)
        return pathlib.Path(root)

    def compare(self, root):
        """Both on one root; returns what the worker said."""
        mine = ours(root)
        theirs = content(self.worker.publish(root, SOURCES))
        mine = without_improvements(mine, theirs)
        for part in ("labels", "features"):
            self.assertEqual(mine[part], theirs[part])
        return theirs

    def test_recorded_machines(self):
        for path in sorted((MACHINES / "worker").glob("*.tree")):
            with self.subTest(root=path.stem):
                theirs = self.compare(self.make_root(path))
                self.assertEqual(theirs, json.loads(path.with_suffix(".json").read_text()))

    def test_other_machines(self):
        for path in sorted(MACHINES.glob("*.tree")):
            with self.subTest(root=path.stem):
                self.compare(self.make_root(path))

    def test_this_host(self):
        self.assertTrue(self.compare(None)["labels"])


if __name__ == "__main__":
    unittest.main()
