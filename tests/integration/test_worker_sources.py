# SPDX-License-Identifier: GPL-2.0-or-later
"""The scanners in the place of nfd-worker's sources against what a real nfd-worker said of the same machines.

tests/fixtures/machines/worker/NAME.json was recorded by tests/e2e/record_sources.py; the worker itself takes part in
tests/e2e/test_sources.py.
"""

import subprocess
import unittest
from pathlib import Path

from program import BINARY, MACHINES, ProgramTest, clean_environment, load_json

SOURCES = Path(BINARY).parents[1] / "tests/programs/worker_sources"
WORKER = MACHINES / "worker"
KINDS = ("flags", "attributes", "instances")


class WorkerSources(ProgramTest):
    """One subtest per machine."""

    maxDiff = None

    def find(self, root, *arguments):
        """What the scanners find below a root."""
        done = subprocess.run([SOURCES, root, "node-a", *arguments], env=clean_environment(), capture_output=True,
                              timeout=60, check=True)
        return load_json(done.stdout.decode())

    def test_recorded_machines(self):
        """Labels and raw features, and nothing unknown."""
        descriptions = sorted(WORKER.glob("*.tree"))
        self.assertTrue(descriptions)
        for path in descriptions:
            with self.subTest(path.stem):
                found = self.find(self.machine(f"worker/{path.stem}"))
                recorded = load_json(path.with_suffix(".json").read_text())
                self.assertEqual(found["labels"], recorded["labels"])
                self.assertEqual(found["features"], {kind: recorded["features"][kind] for kind in KINDS})
                self.assertEqual(found["unknown"], [])

    def test_two_scans_are_the_same(self):
        """To the byte."""
        root = self.machine("worker/server-numa")
        self.assertEqual(self.find(root), self.find(root))

    def test_configuration_of_the_settings(self):
        """The file of the settings comes before all places."""
        root = self.machine("worker/server-numa")
        (Path(root) / "etc/kernel-config").write_text("CONFIG_PREEMPT=y\n")
        found = self.find(root, "/etc/kernel-config")
        self.assertEqual(found["features"]["attributes"]["kernel.config"]["elements"], {"PREEMPT": "y"})


if __name__ == "__main__":
    unittest.main()
