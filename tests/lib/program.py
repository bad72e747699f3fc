# SPDX-License-Identifier: GPL-2.0-or-later
"""What the integration tests share: run the program on a made root, follow a daemon, read what it published.

Each test has a temporary directory of its own. The program gets a clean environment, an empty settings file and no
outputs but the feature file, so that nothing of the host that runs the tests is read or written.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from inotify import ATTRIB, CLOSE_NOWRITE, MOVED_TO, OPEN, Watch
from mktree import make_tree

REPOSITORY = Path(__file__).resolve().parents[2]
MACHINES = REPOSITORY / "tests/fixtures/machines"
EXPECTED = REPOSITORY / "tests/fixtures/expected"
BINARY = os.environ.get("NFD_SOURCE_BIN") or str(REPOSITORY / "build/nfd-source/nfd-source")

PREFIX = "feature.node.kubernetes.io/"
# Where the vendors' own programs have their keys, and so have we.
VENDOR_PREFIXES = ("nvidia.com/", "amd.com/", "beta.amd.com/", "gpu.intel.com/", "intel.feature.node.kubernetes.io/")
FEATURE_FILE = "nfd-source"
STAGING = ".nfd-source"
PCI_DEVICES = "sys/bus/pci/devices"

EXPIRY = re.compile(r"# \+expiry-time=(\S+)")
LABEL_NAME = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

# Passed on from the environment; all else would make a test depend on the host.
KEPT_VARIABLES = ("PATH", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE")

# One machine for tests that need just any: a GPU, a network card, an operating system.
SMALL = """
file etc/os-release ID=ubuntu\\nVERSION_ID="24.04"
file proc/sys/kernel/osrelease 6.8.0-48-generic
pci 0000:17:00.0 020000 14e4:16d8 driver=bnxt_en
pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia
"""


class Result(NamedTuple):
    """The end of one run of the program."""

    code: int
    out: str
    err: str


def clean_environment(extra=None):
    """The environment of the program: the few kept variables and extra."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", **(extra or {})}


def invoke(*arguments, env=None, timeout=60, stdout=subprocess.PIPE, binary_output=False, **options):
    """Run the program with just these arguments."""
    done = subprocess.run(
        [BINARY, *map(str, arguments)],
        env=clean_environment(env),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=timeout,
        check=False,
        **options,
    )
    out = done.stdout or b""
    out = out if binary_output else out.decode()
    return Result(done.returncode, out, done.stderr.decode(errors="replace"))


def wait_for(condition, seconds, what):
    """Poll condition() until it gives something true, and return that; AssertionError when the time is up."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.01)


def parse_lines(text):
    """Lines key=value as a dictionary; comment lines do not count."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def full(labels):
    """Label keys with the prefix put in front; those of vendors have their own."""
    return {key if key.startswith(VENDOR_PREFIXES) else PREFIX + key: value for key, value in labels.items()}


def bare(labels):
    """Label keys without the prefix; those of vendors stay as they are, and a key that has no known one is an error."""
    for key in labels:
        if not key.startswith((PREFIX, *VENDOR_PREFIXES)):
            raise AssertionError(f"key without prefix: {key!r}")
    return {key.removeprefix(PREFIX): value for key, value in labels.items()}


def select(labels, *starts):
    """The labels whose key begins with one of starts."""
    return {key: value for key, value in labels.items() if key.startswith(starts)}


def mask_expiry(text):
    """A feature file's text with its time masked."""
    return EXPIRY.sub("# +expiry-time=EXPIRY", text, count=1)


class FeatureFile:
    """The published file: its text, expiry, labels and identity."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.stat = os.fstat(file.fileno())
            self.bytes = file.read()
        self.text = self.bytes.decode()
        first = self.text.split("\n", 1)[0]
        match = EXPIRY.fullmatch(first)
        if not match:
            raise AssertionError(f"first line is no expiry time: {first!r}")
        self.expiry_text = match[1]
        self.expiry = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        self.labels = bare(parse_lines(self.text))

    @property
    def identity(self):
        """Changes with every rename onto the file."""
        return (self.stat.st_ino, self.bytes)


class Process:
    """A running program, mostly the daemon; its log is a file, so it can never block on us."""

    def __init__(self, arguments, log_path, env=None, **options):
        self.log_path = Path(log_path)
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [BINARY, *map(str, arguments)],
                env=clean_environment(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **options,
            )

    @property
    def log(self):
        """All that was logged so far."""
        return self.log_path.read_text(errors="replace")

    def alive(self):
        """Is the process still there?"""
        return self.process.poll() is None

    def takes_signals(self):
        """Whether SIGHUP no longer ends it: it blocks the signal and reads it from a descriptor."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
        return bool(int(blocked, 16) & 1 << signal.SIGHUP - 1)

    def hup(self):
        """Ask for a rescan and a fresh look at the settings."""
        self.process.send_signal(signal.SIGHUP)

    def stop(self, seconds=10):
        """SIGTERM; returns exit code and the seconds it took."""
        start = time.monotonic()
        self.process.terminate()
        code = self.process.wait(seconds)
        return code, time.monotonic() - start

    def kill(self):
        """End it whatever it does; harmless when it has ended."""
        if self.alive():
            self.process.kill()
        self.process.wait()

    def await_scan(self, root, seconds=10, trigger=lambda: None):
        """Wait until the next scan, one that trigger() asks for, has read the PCI bus of root."""
        with Watch(root / PCI_DEVICES, OPEN | CLOSE_NOWRITE) as watch:
            trigger()
            watch.until(lambda event: event.mask & OPEN and not event.name, seconds)
            watch.until(lambda event: event.mask & CLOSE_NOWRITE and not event.name, seconds)

    def rescan(self, root, seconds=10):
        """SIGHUP, and wait for the scan that follows."""
        self.await_scan(root, seconds, self.hup)


class ProgramTest(unittest.TestCase):
    """Base of the tests that run the program."""

    def setUp(self):
        if not os.access(BINARY, os.X_OK):
            self.fail(f"no program at {BINARY}; build it or set NFD_SOURCE_BIN")
        self.tmp = self.temporary_directory()
        self.features = self.tmp / "features.d"
        self.features.mkdir(mode=0o755)
        self.file = self.features / FEATURE_FILE
        self.status = self.tmp / "status.json"
        self.config = self.tmp / "settings.yaml"
        self.config.write_text("")
        self.serial = 0

    def temporary_directory(self, parent=None):
        """A directory that other users may enter and that goes with the test."""
        path = Path(tempfile.mkdtemp(prefix="nfd-source-test-", dir=parent))
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        path.chmod(0o755)
        return path

    def name(self, stem):
        """A fresh name in the test's directory."""
        self.serial += 1
        return self.tmp / f"{stem}-{self.serial}"

    def tree(self, *texts):
        """A root made of description texts."""
        return Path(make_tree("\n".join(texts) + "\n", str(self.name("root"))))

    def grow(self, root, text):
        """Add hardware to a root that is in use; the entry on the bus comes last, as it does in the kernel."""
        make_tree(text + "\n", str(root))

    def machine(self, name):
        """A root made of a description in tests/fixtures/machines."""
        return Path(make_tree(str(MACHINES / f"{name}.tree"), str(self.name(name))))

    def options(self, root, settings=None):
        """Global options: root, settings file, no outputs but our feature file, then more settings."""
        values = {
            "outputs.featureFile.mode": "on",
            "outputs.featureFile.dir": self.features,
            "outputs.nodeFeature.mode": "off",
            "outputs.nodeLabels.mode": "off",
            "status.path": self.status,
            **(settings or {}),
        }
        sets = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        return ["--root", str(root), "--config", str(self.config), *sets]

    def run_program(self, root, *command, env=None, timeout=60, settings=None, **options):
        """Run one command on root; a crash or a sanitizer report is a failure, whatever the test expects."""
        result = invoke(*self.options(root, settings), *command, env=env, timeout=timeout, **options)
        self.assertGreaterEqual(result.code, 0, f"killed by a signal: {result}")
        self.assertNotIn("Sanitizer", result.err)
        return result

    def ok(self, root, *command, **options):
        """Run one command that must succeed, and return its result."""
        result = self.run_program(root, *command, **options)
        self.assertEqual(result.code, 0, f"{command}: {result.out}{result.err}")
        return result

    def labels(self, root, *arguments, **options):
        """The labels of a scan, keys without prefix."""
        return bare(parse_lines(self.ok(root, *arguments, "scan", **options).out))

    def publish(self, root, *arguments, **options):
        """One publication that does not wait for the touch; returns the feature file."""
        self.ok(root, "publish", "--no-wait", *arguments, **options)
        return self.feature_file()

    def feature_file(self):
        """The published file as it is now."""
        return FeatureFile(self.file)

    def staged(self):
        """What lies in the staging directory; nothing when there is none."""
        staging = self.features / STAGING
        return os.listdir(staging) if staging.is_dir() else []

    def start(self, root, *command, env=None, settings=None, **options):
        """Start one command without waiting for it; it ends with the test at the latest. options: of Popen."""
        process = Process([*self.options(root, settings), *command], self.name("log"), env=env, **options)
        self.addCleanup(process.kill)
        return process

    def daemon(self, root, *arguments, env=None, settings=None):
        """Start the daemon with a long interval and a short removal delay."""
        values = {"core.sleepInterval": "1h", "watch.removalDelay": "1s", **(settings or {})}
        daemon = self.start(root, *arguments, "run", env=env, settings=values)
        wait_for(lambda: not daemon.alive() or daemon.takes_signals(), 15, "signal handling")
        return daemon

    def begin(self, root, settings=None):
        """Start the daemon and wait until it is at rest: published, and the touch is over."""
        with Watch(self.features) as watch:
            daemon = self.daemon(root, settings=settings)
            try:
                watch.until(is_touch, 15)
            except TimeoutError as error:
                raise AssertionError(f"{error}\nlog:\n{daemon.log}") from None
        return daemon

    def published(self, daemon, wanted=lambda labels: True, seconds=15):
        """Wait until the feature file's labels fulfil wanted; returns the file."""

        def look():
            if not daemon.alive():
                raise AssertionError(f"daemon ended: {daemon.log}")
            if not self.file.exists():
                return None
            file = self.feature_file()
            return file if wanted(file.labels) else None

        try:
            return wait_for(look, seconds, "publication")
        except AssertionError as error:
            now = self.file.read_text() if self.file.exists() else "no file"
            raise AssertionError(f"{error}\nfile:\n{now}\nlog:\n{daemon.log}") from None

    def assert_legal(self, labels):
        """Every key, with a vendor's prefix or none, and value fits Kubernetes' grammar (spec/nfd.md 1.4)."""
        for key, value in labels.items():
            name = key.partition("/")[2] if key.startswith(VENDOR_PREFIXES) else key
            self.assertTrue(LABEL_NAME.fullmatch(name), key)
            self.assertTrue(LABEL_VALUE.fullmatch(value), f"{key}={value!r}")

    def assert_none(self, labels, *starts):
        """No label key begins with one of starts."""
        self.assertEqual(select(labels, *starts), {})


def is_touch(event):
    """The event of the touch that follows a rename."""
    return event.mask & ATTRIB and event.name == FEATURE_FILE


def renames(events):
    """Times at which the feature file was renamed into place."""
    return [event.when for event in events if event.mask & MOVED_TO and event.name == FEATURE_FILE]


def load_json(text):
    """JSON text as Python objects; duplicate keys in an object are an error."""

    def pairs(items):
        keys = [key for key, _ in items]
        if len(keys) != len(set(keys)):
            raise AssertionError(f"duplicate keys in JSON: {keys}")
        return dict(items)

    return json.loads(text, object_pairs_hook=pairs)
