# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source as a local source of a real nfd-worker: feature file -> NodeFeature -> Node.

The worker polls once an hour and publishes nothing but local labels, so whatever is on the Node came
through our file and the worker's inotify watch. Sleeps in here are stimuli (how far apart two changes
are), never a way to wait for a result.
"""

import contextlib
import os
import signal
import time
import unittest

from api import NodeWatch
from program import rescan
from running import HOST, RunningCase
from testcase import FEATURE, mktree

GPUS = HOST + """
pci 0000:3b:00.0 030200 10de:27b8 10de:16ca driver=nvidia
pci 0000:af:00.0 030200 10de:27b8 10de:16ca driver=nvidia
"""
# Vendors of cards that are plugged in one by one.
VENDORS = ("1002", "10de", "1da3", "1d0f", "17cb", "1ed2")


def present(vendor):
    """Key of the label that says that a vendor's card is there."""
    return f"{FEATURE}pci-{vendor}.present"


def plug(root, vendor):
    """Put a card of a vendor into a fixture root, at an address of its own."""
    mktree.make_tree(f"\npci 0000:{VENDORS.index(vendor) + 0x81:02x}:00.0 120000 {vendor}:0001\n", str(root))


class FeatureFile(RunningCase):
    """A started worker; nfd-source on a fixture root or on this host."""

    def wait_for_card(self, vendor):
        """Wait until the Node says that a vendor's card is there; return the seconds that it took."""
        begin = time.monotonic()
        self.wait_for_labels(f"{vendor} is on the Node", lambda labels: labels.get(present(vendor)) == "true")
        return time.monotonic() - begin

    def test_labels_of_a_fixture_root_arrive(self):
        program = self.make_program(self.make_root(GPUS))
        self.start(program)
        self.assertEqual(self.cluster.labels(self.node).get(present("10de")), "true")

    def test_labels_of_this_host_arrive(self):
        self.start(self.make_program())

    def test_publish_alone_arrives(self):
        program = self.make_program(self.make_root(GPUS))
        expected = program.scan()
        program.call("publish")
        self.wait_for_labels("the labels of the scan are on the Node", lambda labels: labels == expected)

    def test_empty_value_arrives(self):
        root = self.make_root("\nfile proc/sys/kernel/osrelease 6.8\n")
        self.start(self.make_program(root))
        self.assertEqual(self.cluster.labels(self.node).get(f"{FEATURE}kernel-version.revision"), "")

    def test_six_changes_in_a_row_each_arrive(self):
        root = self.make_root(HOST)
        daemon = self.start(self.make_program(root))
        times = []
        for vendor in VENDORS:
            plug(root, vendor)
            rescan(daemon)
            times.append(self.wait_for_card(vendor))
        print("# change to Node, s:", " ".join(f"{each:.2f}" for each in times), flush=True)

    def test_change_soon_after_another_arrives(self):
        root = self.make_root(HOST)
        program = self.make_program(root)
        daemon = self.start(program)
        plug(root, VENDORS[0])
        rescan(daemon)
        time.sleep(0.3)
        plug(root, VENDORS[1])
        rescan(daemon)
        print(f"# second change to Node, s: {self.wait_for_card(VENDORS[1]):.2f}", flush=True)
        self.assertEqual(self.cluster.labels(self.node), program.scan())

    def test_cleanup_takes_the_labels_away(self):
        program = self.make_program(self.make_root(GPUS))
        daemon = self.start(program)
        self.assertEqual(daemon.end(), 0)
        program.call("cleanup")
        self.assertFalse(program.file.exists())
        self.wait_for_labels("no label is left on the Node", lambda labels: not labels)
        program.call("cleanup")

    def test_restart_does_not_blink(self):
        root = self.make_root(GPUS)
        program = self.make_program(root)
        daemon = self.start(program)
        labels = program.scan()
        with self.file_held(program.file), NodeWatch(self.cluster.api, self.node) as watch:
            self.assertEqual(daemon.end(signal.SIGTERM), 0)
            # Longer than the worker's and the master's batching (1 s each), so that a loss would show.
            time.sleep(3)
            program.status_file.unlink()
            daemon = self.keep(program.start())
            self.wait_until("the new daemon tells its status", program.status_file.exists)
            time.sleep(3)
            for node in watch.drain():
                self.assertLessEqual(labels.items(), node["metadata"]["labels"].items())
        # The new process is alive to changes, and the pipeline was not stuck all the while.
        plug(root, VENDORS[0])
        rescan(daemon)
        self.wait_for_card(VENDORS[0])

    @contextlib.contextmanager
    def file_held(self, path):
        """Within: path keeps being the same file with the same bytes. Holding it open keeps its inode."""
        with open(path, "rb") as file:
            before = file.read()
            yield
            self.assertTrue(path.exists(), "the feature file was deleted")
            self.assertTrue(os.path.samestat(os.fstat(file.fileno()), path.stat()), "the file was replaced")
            self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
