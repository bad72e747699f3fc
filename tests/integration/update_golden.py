#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrite the expected outputs in tests/fixtures/expected from what the program prints now; review the diff.

    python3 tests/integration/update_golden.py [--labels] [MACHINE...]

labels.txt, the hand-written check, is only touched with --labels.
"""

import sys

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import argparse
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]

from program import EXPECTED
from test_golden import FORMS, Golden, machines, normalise


class Update(Golden):
    """Borrows the test's way of running the program."""

    def runTest(self):
        """Nothing: this class is not run as a test."""

    def update(self, machine, forms):
        """Write the files of one machine."""
        self.setUp()
        try:
            root = self.machine(machine)
            directory = EXPECTED / machine
            directory.mkdir(exist_ok=True)
            for form in forms:
                (directory / FORMS[form]).write_text(normalise(self.scan(root, form), root))
        finally:
            self.doCleanups()


def main():
    """Command line: machines to update, all by default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", action="store_true", help="rewrite labels.txt as well")
    parser.add_argument("machines", nargs="*", metavar="MACHINE")
    arguments = parser.parse_args()
    for machine in arguments.machines or machines():
        Update().update(machine, [form for form in FORMS if form != "text" or arguments.labels])


if __name__ == "__main__":
    main()
