#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the hotplug tests: umockdev, uevents of this host's kernel, inotify, a QEMU guest.

    python3 tests/hotplug/run.py [NAME...]

NAMEs are parts of test names; tests/lib/runner.py says what is printed. Exit: 1 when a test failed or none was found.
Lines that begin with `#` are measured figures. What a test needs and this host lacks makes it a skip that says so.
"""

import sys

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))

import runner  # noqa: E402 (found by the line above)

if __name__ == "__main__":
    sys.exit(runner.main(HERE, sys.argv[1:]))
