# SPDX-License-Identifier: GPL-2.0-or-later
"""What the hotplug tests share: a daemon that scans for no other reason than an event, its status, its latency."""

import shutil
import statistics
import subprocess
import time
import unittest
from pathlib import Path

import program
from inotify import Watch
from program import Process, ProgramTest, clean_environment, is_touch, load_json, renames, wait_for

# Nothing is limited in time but by this; a busy host is no failure.
PATIENCE = 120
SAMPLES = 20


def need_command(name):
    """Skip the test when a program is not installed."""
    if not shutil.which(name):
        raise unittest.SkipTest(f"{name} is not installed")


def compile_c(source, target, *flags):
    """Build one C file of this folder; skips without a compiler or without what it needs."""
    need_command("cc")
    source = Path(__file__).parent / source
    words = ["cc", "-O1", "-Wall", "-o", str(target), str(source), *flags]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode:
        raise unittest.SkipTest(f"cannot build {source.name}: {done.stderr.strip()}")
    return target


def report_times(what, seconds):
    """Print median and worst of measured times, in milliseconds."""
    times = sorted(value * 1000 for value in seconds)
    median = statistics.median(times)
    print(f"# {what}: {len(times)} times, median {median:.0f} ms, worst {times[-1]:.0f} ms", flush=True)
    return median, times[-1]


class PrefixedProcess(Process):
    """The program started by another one that becomes it: unshare, setpriv."""

    def __init__(self, prefix, arguments, log_path, env=None):  # pylint: disable=super-init-not-called
        self.log_path = Path(log_path)
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*prefix, program.BINARY, *map(str, arguments)],
                env=clean_environment(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


class HotplugTest(ProgramTest):
    """Base of the tests here. The interval is an hour: what is seen sooner was an event's work."""

    def setUp(self):
        super().setUp()
        self.prefix = []
        self.environment = {}

    def start(self, root, *command, env=None, settings=None):
        """As in the base, behind self.prefix and with self.environment."""
        arguments = [*self.options(root, settings), *command]
        process = PrefixedProcess(self.prefix, arguments, self.name("log"), {**self.environment, **(env or {})})
        self.addCleanup(process.kill)
        return process

    def watch_status(self):
        """The daemon's status file."""
        return load_json(self.status.read_text())

    def scans(self):
        """Scans since the start."""
        return self.watch_status()["scans"]

    def publications(self):
        """Publications since the start."""
        return self.watch_status()["publications"]

    def end(self, daemon):
        """Stop a daemon and remove what it left, for one that is started afresh."""
        self.assertEqual(daemon.stop(PATIENCE)[0], 0, daemon.log)
        for path in (self.file, self.status):
            path.unlink(missing_ok=True)

    def await_scans(self, count):
        """Wait until there were that many scans."""
        wait_for(lambda: self.scans() >= count, PATIENCE, f"scan number {count}")

    def await_labels(self, daemon, wanted):
        """Wait for a publication whose labels fulfil wanted; returns the labels."""
        return self.published(daemon, wanted, PATIENCE).labels

    def await_key(self, daemon, key, value="true"):
        """Wait until a label has that value; None: until it is gone."""
        return self.await_labels(daemon, lambda labels: labels.get(key) == value)

    def await_scan_result(self, daemon, root):
        """Wait until the file has what a fresh scan gives."""
        wanted = self.labels(root)
        self.await_labels(daemon, lambda labels: labels == wanted)

    def arrival_times(self, daemon, fire, keys):
        """Seconds from each fire(key) to the rename that brings the key; the daemon is at rest before each."""
        times = []
        for key in keys:
            with Watch(self.features) as watch:
                start = time.monotonic()
                fire(key)
                events = watch.until(lambda event: renames([event]), PATIENCE)
                times.append(events[-1].when - start)
                self.await_key(daemon, key)
                watch.until(is_touch, PATIENCE)
        return times
