# SPDX-License-Identifier: GPL-2.0-or-later
"""With "sources: all" the program finds below a root what a real nfd-worker found there.

tests/fixtures/machines/worker/NAME.json was recorded by tests/e2e/record_sources.py; the worker itself takes part in
tests/e2e/test_sources.py.
"""

import json
import unittest

from program import MACHINES, ProgramTest, invoke, load_json
from worker_features import content, differences, settings, without_improvements, without_processor

WORKER = MACHINES / "worker"


class WorkerSources(ProgramTest):
    """One subtest per machine."""

    def setUp(self):
        super().setUp()
        self.config.write_text(json.dumps(settings(invoke("--config", "/dev/null", "settings").out)))

    def scan(self, root, *arguments):
        """The output of a scan."""
        return self.ok(root, *arguments, "scan", "-o", "json", env={"NODE_NAME": "node-a"}).out

    def find(self, root, *arguments):
        """What a scan finds."""
        return content(load_json(self.scan(root, *arguments)))

    def test_recorded_machines(self):
        """Labels and raw features, but those of the processor: it is not the one of the root."""
        descriptions = sorted(WORKER.glob("*.tree"))
        self.assertTrue(descriptions)
        for path in descriptions:
            with self.subTest(path.stem):
                found = without_processor(self.find(self.machine(f"worker/{path.stem}")))
                recorded = load_json(path.with_suffix(".json").read_text())
                self.assertEqual(differences(without_improvements(found, recorded), recorded), {})

    def test_two_scans_are_the_same(self):
        """To the byte."""
        root = self.machine("worker/server-numa")
        self.assertEqual(self.scan(root), self.scan(root))

    def test_configuration_of_the_settings(self):
        """The file of the settings comes before all places."""
        root = self.machine("worker/server-numa")
        (root / "etc/kernel-config").write_text("CONFIG_PREEMPT=y\n")
        found = self.find(root, "--set", "sources.kernel.kconfigFile=/etc/kernel-config")
        self.assertEqual(found["features"]["attributes"]["kernel.config"]["elements"], {"PREEMPT": "y"})


if __name__ == "__main__":
    unittest.main()
