# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of one folder, for its run.py.

Prints one line per test, `ok NAME`, `FAIL NAME` or `skip NAME # reason`; what failed and why goes to stderr. The last
line is `N passed, N failed, N skipped`. Test classes run in two processes; $NFD_SOURCE_TEST_JOBS changes that number.
"""

import multiprocessing
import os
import sys
import unittest

JOBS = int(os.environ.get("NFD_SOURCE_TEST_JOBS", "2"))


class Recorder(unittest.TestResult):
    """Keeps (status, name, detail) of each test."""

    def __init__(self):
        super().__init__()
        self.records = {}

    def startTest(self, test):
        super().startTest(test)
        self.records[test.id()] = ("ok", "")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.records[test.id()] = ("skip", reason)

    def addError(self, test, err):
        super().addError(test, err)
        self.records[test.id()] = ("FAIL", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.records[test.id()] = ("FAIL", self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            detail = self._exc_info_to_string(err, subtest)
            before = self.records[test.id()][1]
            self.records[test.id()] = ("FAIL", f"{before}{subtest}\n{detail}")


def flatten(suite):
    """The test cases of a suite."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def load(folder, filters):
    """Test ids by class, those that match a filter."""
    loader, classes = unittest.TestLoader(), {}
    suite = loader.discover(str(folder))
    for error in loader.errors:
        print(error, file=sys.stderr, flush=True)
    for test in flatten(suite):
        if not filters or any(part in test.id() for part in filters):
            classes.setdefault(type(test), []).append(test.id())
    return list(classes.values())


def run_class(names):
    """Run the tests of one class, in a worker process."""
    recorder = Recorder()
    unittest.defaultTestLoader.loadTestsFromNames(names).run(recorder)
    return [(status, name, detail) for name, (status, detail) in recorder.records.items()]


def report(records, counts):
    """Print the lines of one class."""
    for status, name, detail in records:
        counts[status] += 1
        print(f"skip {name} # {detail}" if status == "skip" else f"{status} {name}", flush=True)
        if status == "FAIL":
            print("  " + detail.rstrip().replace("\n", "\n  "), file=sys.stderr, flush=True)


def main(folder, filters):
    """Run the tests of a folder whose names contain one of filters (all without any); the exit status."""
    sys.path.insert(0, str(folder))
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    with multiprocessing.get_context("fork").Pool(max(JOBS, 1)) as pool:
        for records in pool.imap_unordered(run_class, load(folder, filters)):
            report(records, counts)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not sum(counts.values()) else 0

