#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the hotplug tests: umockdev, uevents of this host's kernel, inotify, a QEMU guest.

    python3 tests/hotplug/run.py [NAME...]

Prints what tests/integration/run.py prints, by that runner: one line per test and the counts last; lines that begin
with `#` are measured figures. What a test needs and this host lacks makes it a skip that says so.
"""

import sys

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import importlib.util
from pathlib import Path

HERE = Path(__file__).resolve().parent


def runner():
    """The runner of the integration tests, pointed at this folder."""
    spec = importlib.util.spec_from_file_location("integration_run", HERE.parent / "integration/run.py")
    module = importlib.util.module_from_spec(spec)
    # Its worker processes look functions up by the module's name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.HERE = HERE
    sys.path.insert(0, str(HERE))
    return module


if __name__ == "__main__":
    sys.exit(runner().main(sys.argv[1:]))
