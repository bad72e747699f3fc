#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrites tests/fixtures/machines/worker/NAME.json from what a real nfd-worker publishes; review the diff.

    tests/e2e/record_sources.py [NAME...]

What the processor says of itself is left out: it would be the one of whoever records.
"""

import json
import sys

sys.dont_write_bytecode = True  # a run leaves the source tree as it was

from test_sources import MACHINES, Sources  # noqa: E402

from worker_features import without_processor  # noqa: E402


def main(names):
    """Record the named machines, all by default."""
    test = Sources()
    Sources.setUpClass()
    try:
        for path in sorted((MACHINES / "worker").glob("*.tree")):
            if not names or path.stem in names:
                published = without_processor(test.pair.theirs(test.make_root(path)))
                text = json.dumps(published, indent=1, sort_keys=True)
                path.with_suffix(".json").write_text(text + "\n")
    finally:
        Sources.doClassCleanups()


if __name__ == "__main__":
    main(sys.argv[1:])
