#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long it takes from an event of this host's kernel to the renamed feature file.

    python3 tests/hotplug/measure.py

Each sample puts a card into a fixture root and writes `change` into a real device's uevent file; needs root.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "lib")]

# pylint: disable=wrong-import-position
import unittest

import host_events
from hotplug import SAMPLES, HotplugTest, report_times
from program import SMALL

CARDS = {
    f"pci-{vendor:04x}.present": f"pci 0000:{0x60 + number:02x}:00.0 020000 {vendor:04x}:0001"
    for number, vendor in enumerate(range(0x1000, 0x1040))
}


def measure(test, count=SAMPLES):
    """The seconds of up to 64 arrivals; test is a HotplugTest that has been set up."""
    device = host_events.device()
    root = test.tree(SMALL)
    daemon = test.begin(root)

    def fire(key):
        test.grow(root, CARDS[key])
        host_events.fire(device)

    return test.arrival_times(daemon, fire, list(CARDS)[:count])


class Measurement(HotplugTest):
    """The measurement with the set-up of a test."""

    def runTest(self):
        """Measure and print."""
        report_times("host's kernel, event to renamed file", measure(self))


if __name__ == "__main__":
    result = unittest.TestResult()
    Measurement().run(result)
    for _, problem in result.errors + result.failures + result.skipped:
        print(problem, file=sys.stderr)
    sys.exit(0 if result.wasSuccessful() and not result.skipped else 1)
