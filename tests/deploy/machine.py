# SPDX-License-Identifier: GPL-2.0-or-later
"""A system that runs: a root with a real systemd as its first process, in namespaces of its own (boot.sh)."""

import contextlib
import os
import signal
import subprocess
import unittest
from pathlib import Path

import packages
from program import wait_for

BOOT = Path(__file__).resolve().parent / "boot.sh"
PATIENCE = 120
# What boot.sh says where this host lets nobody have a cgroup hierarchy or namespaces of his own.
REFUSED = ("Operation not permitted", "Permission denied", "Read-only file system", "No such device")


def children(pid):
    """The processes that a process started."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(word) for thread in threads for word in (thread / "children").read_text().split()]
    except OSError:
        return []


def name_of(pid):
    """The name of a process, which may end meanwhile."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip()
    except OSError:
        return None


class Machine:
    """A booted root."""

    def __init__(self, root):
        packages.need("systemd-nspawn", "unshare", "nsenter", "setpriv")
        self.root = root
        self.cgroup = root.name
        self.log = root / "nspawn.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                # With us it ends, whatever ends us.
                ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", BOOT, root, self.cgroup],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self.leader = wait_for(self.find_leader, PATIENCE, "systemd in the root")
            wait_for(self.is_up, PATIENCE, "boot")
        except BaseException:
            self.stop()
            raise

    def find_leader(self):
        """The pid, out here, of the systemd in there: what systemd-nspawn started."""
        if self.process.poll() is not None:
            text = self.log.read_text(errors="replace").strip()
            kind = unittest.SkipTest if any(word in text for word in REFUSED) else AssertionError
            raise kind(f"no system boots here: {text[-2000:]}")
        for nspawn in children(self.process.pid):
            for leader in children(nspawn):
                if name_of(leader) == "systemd":
                    return leader
        return None

    def is_up(self):
        """Whether systemd has started all that it should."""
        state = self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()
        return state in ("running", "degraded")

    def run(self, *words, check=True):
        """Run a program in there, as root."""
        enter = ("nsenter", f"--target={self.leader}", "--all", "--")
        return packages.run(*enter, *words, check=check, env=packages.ENVIRONMENT, timeout=PATIENCE, cwd="/")

    def systemctl(self, *words, **options):
        """systemctl, which shows the journal's last lines when it fails."""
        try:
            return self.run("systemctl", "--no-pager", *words, **options).stdout.strip()
        except AssertionError as error:
            journal = self.run("journalctl", "-q", "--no-pager", "-n", "40", check=False).stdout
            raise AssertionError(f"{error}\n{journal}") from None

    def show(self, unit, name):
        """One property of a unit."""
        return self.systemctl("show", "--value", f"--property={name}", unit)

    def stop(self):
        """End it all: the first process of its pid namespace takes the rest along."""
        for pid in children(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        # The cgroups can go when the last process has.
        here = "mount -t tmpfs tmpfs /run && mkdir /run/cgroup && mount -t cgroup2 cgroup2 /run/cgroup"
        script = f"{here} && find /run/cgroup/{self.cgroup} -depth -type d -exec rmdir {{}} +"

        def gone():
            return not packages.run("unshare", "--mount", "sh", "-c", script, check=False).returncode

        wait_for(gone, PATIENCE, "the end of the system")
