# SPDX-License-Identifier: GPL-2.0-or-later
"""With "sources: all" nfd-source finds what a stock nfd-worker publishes, key by key: labels and raw features.

On the roots of tests/fixtures/machines/worker (whose NAME.json is what the worker published when it was recorded:
record_sources.py), on those with contents made at random, on all other machines, and on this very host.
"""

import json
import os
import random
import unittest

import program
import stand_in

from worker_features import differences, without_processor  # tests/lib, which testcase puts on the path

MACHINES = program.TOP / "tests/fixtures/machines"

# What a file may hold as well: numbers in and out of range, words of other files, odd blanks, nothing.
VALUES = (
    "", "\\c", "\\n", "0", "1", "-1", "12", "007", "0x10", "9223372036854775807", "1_000", "1.2.3", " 1 ", "1\\t2",
    "1\\n2", "\\x0d\\n1", "x", "a b", "Y", "N", "y", "n", "-x", "A_b.c-", "'q'", '"q"', "caf\\xc3\\xa9", "\\xe9", "0,1",
    "0-3", "max", "sev 5", "tdx max", "off", "active", "passive", "intel_idle", "nd_dax",
    "ID=a b\\nVERSION_ID=\\nX=", "VERSION_ID=1.2.3\\nID=\"q w\"",
)
# No kernel has a release that is none, or more than a character in "enforce"; and the worker does not survive a list of
# modules that is none.
KEPT = ("proc/sys/kernel/osrelease", "sys/fs/selinux/enforce", "proc/modules")
CHANGED_MACHINES = 24
SEED = int(os.environ.get("NFD_SOURCE_TEST_SEED", "20260"))


def changed(source, chance):
    """A description of which some files have other contents or are missing."""
    lines = []
    for line in source.splitlines():
        word, path, *_ = [*line.split(" ", 2), ""]
        if word == "file" and path not in KEPT and chance.random() < 0.3:
            line = f"file {path} {chance.choice(VALUES)}" if chance.random() < 0.8 else ""
        lines.append(line)
    return "\n".join(lines)


class Sources(stand_in.StandInCase):
    """One comparison for each root."""

    def test_recorded_machines(self):
        for path in sorted((MACHINES / "worker").glob("*.tree")):
            with self.subTest(root=path.stem):
                theirs = without_processor(self.compare(self.make_root(path)))
                recorded = json.loads(path.with_suffix(".json").read_text())
                self.assertEqual(differences(theirs, recorded), {})

    def test_other_machines(self):
        for path in sorted(MACHINES.glob("*.tree")):
            with self.subTest(root=path.stem):
                self.compare(self.make_root(path))

    def test_changed_machines(self):
        sources = [path.read_text() for path in sorted((MACHINES / "worker").glob("*.tree"))]
        for seed in range(SEED, SEED + CHANGED_MACHINES):
            chance = random.Random(seed)
            with self.subTest(seed=seed):
                self.compare(self.make_root(changed(chance.choice(sources), chance)))

    def test_this_host(self):
        self.assertTrue(self.compare(None)["labels"])


if __name__ == "__main__":
    unittest.main()
