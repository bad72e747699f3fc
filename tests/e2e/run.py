#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the end-to-end tests of this folder.

    tests/e2e/run.py [PART-OF-A-TEST'S-NAME]...

Prints one line a test (ok, FAIL or skip, and its name) and at the end "N passed, N failed, N skipped".
Exit: 0 nothing failed, 1 a test failed or no test was found, 130 stopped by a signal.
"""

import pathlib
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True  # a run leaves the source tree as it was
HERE = pathlib.Path(__file__).resolve().parent


class Result(unittest.TestResult):
    """Prints an outcome as it comes; counts tests, not their subtests."""

    def __init__(self):
        super().__init__()
        self.counts = {"ok": 0, "FAIL": 0, "skip": 0}
        self.outcome = None

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok", ""
        self.begin = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        word, reason = self.outcome
        self.report(word, f"{test.id()} ({time.monotonic() - self.begin:.1f} s){reason}")

    def report(self, word, text):
        """Count and print one outcome."""
        self.counts[word] += 1
        print(word, text, flush=True)

    def fail_with(self, test, error, records):
        """Note a failure of a test or of what surrounds it, and print its traceback."""
        self.outcome = "FAIL", ""
        text = self._exc_info_to_string(error, test)
        records.append((test, text))
        print(f"# {test.id()}\n{text}", file=sys.stderr, flush=True)
        if not isinstance(test, unittest.TestCase):  # a module or class that did not come up
            self.report("FAIL", test.id())

    def addFailure(self, test, err):
        self.fail_with(test, err, self.failures)

    def addError(self, test, err):
        self.fail_with(test, err, self.errors)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fail_with(subtest, err, self.failures)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.outcome = "skip", f": {reason}"


def stop(*_):
    """On SIGTERM end as on Ctrl-C (the one exception that unittest lets through) and clean up."""
    raise KeyboardInterrupt


def main(patterns):
    """Load, run, print the last line, return the exit status."""
    signal.signal(signal.SIGTERM, stop)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in patterns] or None
    suite = loader.discover(str(HERE), "test_*.py", top_level_dir=str(HERE))
    result = Result()
    suite.run(result)
    counts = result.counts
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped", flush=True)
    return 1 if counts["FAIL"] or not result.testsRun else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
