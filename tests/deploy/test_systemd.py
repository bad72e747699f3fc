# SPDX-License-Identifier: GPL-2.0-or-later
"""The services of the Debian package under a real systemd, which boots in a root of its own."""

import errno
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import packages
from machine import PATIENCE, Machine
from mktree import make_tree
from packages import FEATURES, REPOSITORY, SETTINGS, UNITS, UNTOUCHED
from program import SMALL, FeatureFile, wait_for

sys.path.append(str(REPOSITORY / "tests/hotplug"))

import host_events  # noqa: E402 (found by the line above)  # pylint: disable=wrong-import-position

DAEMON, STANDALONE, PUBLISH, TIMER = UNITS
DROP_INS = "etc/systemd/system"
# Exposure as "systemd-analyze security" of systemd 252 counts it, from 0 to 10: no change may make it worse.
EXPOSURE = {DAEMON: 1.0, PUBLISH: 1.0, STANDALONE: 2.1}
EXPOSURE_WITHOUT_ROOT = 0.7
# seccomp(2), whose number differs between architectures; Landlock's are the same on all.
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(os.uname().machine)
NEW_GPU = "pci 0000:5e:00.0 030200 1002:74a1"


def documented_commands():
    """The commands in docs/packages.md that make the daemon run without root."""
    text = (REPOSITORY / "docs/packages.md").read_text(encoding="utf-8")
    return re.search(r"## Without root\n.*?```\n(.*?)```\n", text, re.S)[1]


def documented_drop_in():
    """The drop-in of docs/systemd.md that gives the units what nfd-worker's sources read."""
    text = (REPOSITORY / "docs/systemd.md").read_text(encoding="utf-8")
    return re.search(r"## nfd-worker's labels\n.*?```\n(.*?)```\n", text, re.S)[1]


class SystemTest(unittest.TestCase):
    """One system for all tests; each leaves it with every unit stopped and nothing added to it."""

    @classmethod
    def setUpClass(cls):
        cls.root = packages.new_root(cls)
        packages.install(cls.root, packages.deb())
        cls.machine = Machine(cls.root)
        cls.addClassCleanup(cls.machine.stop)

    def setUp(self):
        self.file = self.root / FEATURES / "nfd-source"
        self.settings = self.root / SETTINGS
        self.addCleanup(self.restore, self.settings.read_text())

    def restore(self, settings):
        """The system as it was."""
        self.settings.write_text(settings)
        self.machine.systemctl("stop", *UNITS)
        for unit in UNITS:
            shutil.rmtree(self.root / DROP_INS / f"{unit}.d", ignore_errors=True)
        self.machine.systemctl("daemon-reload")
        self.machine.systemctl("reset-failed", *UNITS, check=False)
        self.file.unlink(missing_ok=True)
        self.machine.run("rm", "-rf", "/run/nfd-source")

    def drop_in(self, unit, text):
        """Change a unit as an administrator does."""
        folder = self.root / DROP_INS / f"{unit}.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "test.conf").write_text(text)
        self.machine.systemctl("daemon-reload")

    def machine_tree(self):
        """The service reads a made machine; the folder of that."""
        tree = self.root / "srv" / self.id().rsplit(".", 1)[1]
        self.addCleanup(shutil.rmtree, tree, ignore_errors=True)
        return tree

    def labels(self, wanted=lambda labels: True):
        """The published labels, once they fulfil wanted."""

        def look():
            found = FeatureFile(self.file).labels if self.file.exists() else None
            return found if found is not None and wanted(found) else None

        try:
            return wait_for(look, PATIENCE, "labels")
        except AssertionError as error:
            journal = self.machine.run("journalctl", "-q", "--no-pager", "-n", "40", check=False).stdout
            raise AssertionError(f"{error}\n{journal}") from None

    def status(self, pid):
        """The lines of /proc/PID/status, by name."""
        text = self.machine.run("cat", f"/proc/{pid}/status").stdout
        return dict(re.findall(r"(\w+):\t(.*)", text))

    def assert_shut_in(self, pid):
        """No capability, none to be had, system calls filtered."""
        status = self.status(pid)
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))

    def namespace(self, pid, kind):
        """The name of a namespace of a process."""
        return self.machine.run("readlink", f"/proc/{pid}/ns/{kind}").stdout

    def mounts(self, pid):
        """[(place, options)] of a process's mounts."""
        lines = self.machine.run("cat", f"/proc/{pid}/mounts").stdout.splitlines()
        return [(line.split()[1], line.split()[3].split(",")) for line in lines]

    def test_after_installation(self):
        """Nothing runs and nothing is enabled; features.d is there from the boot on, and root's."""
        found = {unit: self.machine.systemctl("is-enabled", unit, check=False) for unit in UNITS}
        self.assertEqual(found, UNTOUCHED)
        self.assertEqual({self.machine.show(unit, "ActiveState") for unit in UNITS}, {"inactive"})
        self.assertEqual(self.machine.run("stat", "-c", "%U %G %a", f"/{FEATURES}").stdout, "root root 755\n")
        self.assertEqual(self.machine.systemctl("list-units", "--failed", "--quiet"), "")

    def test_units_are_valid(self):
        """systemd's own check of the installed units, with their man pages."""
        self.assertEqual(self.machine.run("systemd-analyze", "verify", "--man=no", *UNITS).stdout, "")

    def test_daemon(self):
        """It reports readiness, publishes, is shut in, and leaves the labels when it is stopped."""
        self.machine.systemctl("start", DAEMON)
        self.assertEqual(self.machine.show(DAEMON, "ActiveState"), "active")
        self.assertEqual(self.machine.show(DAEMON, "Type"), "notify")
        self.assertEqual(self.machine.show(DAEMON, "WatchdogUSec"), "10min")
        release = os.uname().release
        self.assertEqual(self.labels()["kernel-version.full"], release)
        self.assertEqual(oct(self.file.stat().st_mode), "0o100644")
        pid = self.machine.show(DAEMON, "MainPID")
        self.assert_shut_in(pid)
        for kind in ("net", "mnt", "ipc", "uts"):
            self.assertNotEqual(self.namespace(pid, kind), self.namespace(1, kind), kind)
        mounts = self.mounts(pid)
        self.assertIn("ro", next(options for place, options in mounts if place == "/"))
        self.assertIn("rw", [options for place, options in mounts if place == f"/{FEATURES}"][-1])
        self.assertIn("hidepid=invisible", [options for place, options in mounts if place == "/proc"][-1])
        # Where drivers state their versions is seen all the same: without it, ls fails.
        drivers = [self.machine.run("ls", f"{root}/proc/driver").stdout for root in (f"/proc/{pid}/root", "")]
        self.assertEqual(*drivers)
        told = self.machine.run("nfd-source", "status").stdout
        self.assertIn(f"pid {pid}", told)
        self.assertIn("system calls: filtered\n", told)
        self.assertRegex(told, rf"Landlock \(version \d+\): writes below /{Path(FEATURES).parent}, /run/nfd-source\n")
        self.machine.systemctl("stop", DAEMON)
        self.assertEqual(self.machine.show(DAEMON, "Result"), "success")
        self.assertEqual(self.machine.show(DAEMON, "ExecMainStatus"), "0")
        self.assertTrue(self.file.exists())

    def test_reload(self):
        """A reload takes new settings in the same process; wrong ones change nothing."""
        self.settings.write_text('core:\n  labelWhiteList: "kernel-version.major"\n')
        self.machine.systemctl("start", DAEMON)
        pid = self.machine.show(DAEMON, "MainPID")
        self.assertNotIn("kernel-version.minor", self.labels())
        self.settings.write_text('core:\n  labelWhiteList: "kernel-version"\n')
        self.machine.systemctl("reload", DAEMON)
        self.labels(lambda labels: "kernel-version.minor" in labels)
        self.settings.write_text("core:\n  labelWhiteList: [\n")
        self.machine.systemctl("reload", DAEMON)
        self.assertIn("kernel-version.minor", self.labels())
        self.assertEqual(self.machine.show(DAEMON, "ActiveState"), "active")
        self.assertEqual(self.machine.show(DAEMON, "MainPID"), pid)

    def test_watchdog(self):
        """The daemon speaks to the watchdog, and one that hangs is started anew."""
        times = "WatchdogSec=2s\nTimeoutAbortSec=1s\nRestartSec=0\n"
        self.drop_in(DAEMON, f"[Service]\n{times}")
        self.machine.systemctl("start", DAEMON)
        pid = self.machine.show(DAEMON, "MainPID")
        spoken = {self.machine.show(DAEMON, "WatchdogTimestampMonotonic")}

        def speaks():
            spoken.add(self.machine.show(DAEMON, "WatchdogTimestampMonotonic"))
            return len(spoken) > 3

        wait_for(speaks, PATIENCE, "words to the watchdog")
        self.assertEqual(self.machine.show(DAEMON, "MainPID"), pid)
        self.machine.systemctl("kill", "--signal=STOP", DAEMON)
        wait_for(lambda: self.machine.show(DAEMON, "NRestarts") == "1", PATIENCE, "a new start")
        wait_for(lambda: self.machine.show(DAEMON, "ActiveState") == "active", PATIENCE, "readiness")
        self.assertNotEqual(self.machine.show(DAEMON, "MainPID"), pid)

    def test_hotplug(self):
        """Events of the kernel reach the service as it is shut in."""
        device = host_events.device()
        tree = self.machine_tree()
        make_tree(SMALL, str(tree))
        self.drop_in(DAEMON, f"[Service]\nEnvironment=NFD_SOURCE_ROOT=/srv/{tree.name}\n")
        self.machine.systemctl("start", DAEMON)
        self.assertNotIn("pci-1002.present", self.labels(lambda labels: "pci-10de.present" in labels))
        make_tree(NEW_GPU + "\n", str(tree))
        host_events.fire(device)
        self.labels(lambda labels: "pci-1002.present" in labels)

    def test_sources_of_nfd(self):
        """What the unit withholds is no fault of nfd-worker's sources; what cannot be read for another reason is."""
        tree = self.machine_tree()
        make_tree(SMALL, str(tree))
        release = (tree / "proc/sys/kernel/osrelease").read_text().strip()
        modules, boot = tree / "usr/lib/modules", tree / "boot"
        config = modules / release / "config"
        config.parent.mkdir(parents=True)
        config.write_text("CONFIG_PREEMPT=y\n")
        # As on systems that have all of a kernel below /usr.
        boot.mkdir()
        (boot / f"config-{release}").symlink_to(f"../usr/lib/modules/{release}/config")
        self.settings.write_text("sources:\n  mode: all\n")
        self.assertEqual(self.kernel_config(tree), (True, False))
        # As ProtectKernelModules= does it with the host's own folder.
        self.assertEqual(self.kernel_config(tree, modules), (False, False))
        config.unlink()
        self.assertEqual(self.kernel_config(tree, boot), (False, True))

    def test_documented_drop_in(self):
        """What the documents say gives the unit modules, network devices and processes, and no way into the network."""
        modules = self.root / "usr/lib/modules"
        if not modules.exists():
            modules.mkdir()
            self.addCleanup(modules.rmdir)
        for text, is_given in (("", False), (documented_drop_in(), True)):
            with self.subTest(given=is_given):
                self.drop_in(DAEMON, text)
                self.machine.systemctl("restart", DAEMON)
                pid = self.machine.show(DAEMON, "MainPID")
                inside = f"/proc/{pid}/root"
                mode = self.machine.run("stat", "--format=%a", f"{inside}/usr/lib/modules").stdout.strip()
                self.assertEqual(mode != "0", is_given)
                self.assertEqual(self.namespace(pid, "net") == self.namespace(1, "net"), is_given)
                proc = [options for place, options in self.mounts(pid) if place == "/proc"][-1]
                self.assertEqual("hidepid" not in str(proc), is_given)
                self.assert_shut_in(pid)
        self.machine.systemctl("stop", DAEMON)
        inet = self.end_of(DAEMON, "socket(my $s, 2, 1, 0) or exit($! + 0);", documented_drop_in())
        self.assertEqual(inet, str(errno.EAFNOSUPPORT))

    def kernel_config(self, tree, withheld=None):
        """Whether the daemon has a label of the kernel's configuration, and a fault that is about them."""
        self.machine.systemctl("stop", DAEMON)
        self.file.unlink(missing_ok=True)
        self.machine.run("rm", "-rf", "/run/nfd-source")
        hide = f"InaccessiblePaths=/srv/{withheld.relative_to(tree.parent)}\n" if withheld else ""
        self.drop_in(DAEMON, f"[Service]\nEnvironment=NFD_SOURCE_ROOT=/srv/{tree.name}\n{hide}")
        self.machine.systemctl("start", DAEMON)
        found = self.labels()
        status = self.machine.run("nfd-source", "status").stdout
        return "kernel-config.PREEMPT" in found, bool(re.search(r"(?m)^fault: .*kernel-config", status))

    def test_wsl(self):
        """The device that tells WSL2 is seen."""
        self.make_device("dxg", 1, 3)
        for unit in (PUBLISH, DAEMON):
            with self.subTest(unit=unit):
                self.file.unlink(missing_ok=True)
                self.machine.systemctl("start", unit)
                self.assertIn("gpu-paravirtual.present", self.labels())

    def test_devices(self):
        """No device can be opened but those of NVIDIA and DRM, whether there is a driver for them yet or not."""
        for unit in (DAEMON, STANDALONE, PUBLISH):
            for major, minor, refused in ((195, 255, False), (226, 128, False), (10, 200, True), (13, 64, True)):
                with self.subTest(unit=unit, major=major):
                    name = f"nfd-source-test-{major}"
                    self.make_device(name, major, minor)
                    status = self.end_of(unit, f"sysopen(my $file, '/dev/{name}', 0) or exit($! + 0);")
                    self.assertEqual(status == str(errno.EPERM), refused, status)

    def make_device(self, name, major, minor):
        """A node in /dev, for this test."""
        self.addCleanup(self.machine.run, "rm", "-f", f"/dev/{name}")
        self.machine.run("rm", "-f", f"/dev/{name}")
        self.machine.run("mknod", "-m", "666", f"/dev/{name}", "c", str(major), str(minor))

    def test_further_restriction(self):
        """The calls by which a program shuts itself in pass each unit's filter, and are refused where it lacks them."""
        for unit in (DAEMON, STANDALONE, PUBLISH):
            with self.subTest(unit=unit):
                self.assertEqual(self.probe(unit), "0")
                without = "SystemCallFilter=~landlock_create_ruleset seccomp"
                self.assertEqual(self.probe(unit, without), str(errno.EPERM))

    def probe(self, unit, more=""):
        """Run Landlock's and seccomp's questions what there is in place of a unit's program; the error number."""
        calls = ("444, 0, 0, 1", f"{SECCOMP}, 2, 0, $allow = pack('L', 0x7fff0000)")
        # A kernel without Landlock says that it is off, or not there: as long as it is the kernel that speaks.
        absent = f"$! == {errno.EOPNOTSUPP} || $! == {errno.ENOSYS}"
        script = " ".join(f"syscall({words}) >= 0 || {absent} || exit($! + 0);" for words in calls)
        return self.end_of(unit, script, more)

    def end_of(self, unit, script, more=""):
        """Run a line of Perl in place of a unit's program; how it ended."""
        command = f'/usr/bin/perl -e "{script.replace("$", "$$")}"'
        once = "[Service]\nType=oneshot\nRestart=no\nWatchdogSec=0\nExecStart=\n"
        self.drop_in(unit, f"{once}ExecStart={command}\n{more}\n")
        self.machine.systemctl("start", unit, check=False)
        return self.machine.show(unit, "ExecMainStatus")

    def test_timer(self):
        """The timer publishes without a daemon."""
        self.drop_in(TIMER, "[Timer]\nOnBootSec=\nOnActiveSec=0\nRandomizedDelaySec=0\nAccuracySec=1us\n")
        self.machine.systemctl("start", TIMER)
        ended = lambda: self.machine.show(PUBLISH, "ExecMainExitTimestampMonotonic") != "0"  # noqa: E731
        wait_for(ended, PATIENCE, "a publication by the timer")
        self.assertEqual(self.machine.show(PUBLISH, "Result"), "success")
        self.assertIn("kernel-version.full", self.labels())
        self.assertEqual(self.machine.show(TIMER, "ActiveState"), "active")
        self.assertEqual(self.machine.show(DAEMON, "ActiveState"), "inactive")

    def test_standalone(self):
        """The service without NFD has the network, is shut in all the same, and takes the other's place."""
        self.machine.systemctl("start", DAEMON)
        self.machine.systemctl("start", STANDALONE)
        self.assertEqual(self.machine.show(STANDALONE, "ActiveState"), "active")
        self.assertEqual(self.machine.show(DAEMON, "ActiveState"), "inactive")
        pid = self.machine.show(STANDALONE, "MainPID")
        self.assert_shut_in(pid)
        self.assertEqual(self.namespace(pid, "net"), self.namespace(1, "net"))
        self.assertIn("kernel-version.full", self.labels())
        # The doctor that it starts for its Events looks for device nodes and for processes of others.
        self.make_device("nfd-source-test", 1, 3)
        inside = f"/proc/{pid}/root"
        self.assertIn("nfd-source-test", self.machine.run("ls", f"{inside}/dev").stdout.split())
        self.assertNotIn("hidepid", str([options for place, options in self.mounts(pid) if place == "/proc"][-1]))

    def test_exposure(self):
        """No unit is more exposed than it was, and the documents have the figures."""
        text = (REPOSITORY / "docs/packages.md").read_text(encoding="utf-8")
        for unit, most in EXPOSURE.items():
            with self.subTest(unit=unit):
                self.assertLessEqual(self.exposure(unit), most)
                self.assertRegex(text, rf"(?m)^\| `{unit}` \| {most} \|")

    def exposure(self, unit):
        """What systemd-analyze counts for a unit."""
        text = self.machine.run("systemd-analyze", "security", "--no-pager", unit).stdout
        return float(re.search(r"Overall exposure level for \S+: ([\d.]+)", text)[1])

    def test_without_root(self):
        """What the documents say makes the daemon that was root's a user's, with the labels that are there."""
        self.machine.systemctl("start", DAEMON)
        self.labels()
        self.addCleanup(self.as_root_again)
        self.machine.run("sh", "-euc", documented_commands())
        pid = self.machine.show(DAEMON, "MainPID")
        uid = self.machine.run("id", "-u", "nfd-source").stdout.strip()
        self.assertEqual(self.status(pid)["Uid"].split(), [uid] * 4)
        self.assertNotEqual(uid, "0")
        self.assert_shut_in(pid)
        # The daemon puts back what somebody removes: a new file, made by the user.
        self.file.unlink()
        self.assertIn("kernel-version.full", self.labels())
        self.assertEqual(str(self.file.stat().st_uid), uid)
        self.assertLessEqual(self.exposure(DAEMON), EXPOSURE_WITHOUT_ROOT)
        text = (REPOSITORY / "docs/packages.md").read_text(encoding="utf-8")
        self.assertIn(f"The exposure is then {EXPOSURE_WITHOUT_ROOT}.", text)
        self.machine.systemctl("stop", DAEMON)
        self.file.unlink()
        self.drop_in(PUBLISH, (self.root / "usr/share/nfd-source/nonroot/service.conf").read_text())
        self.machine.systemctl("start", PUBLISH)
        self.assertEqual(str(self.file.stat().st_uid), uid)

    def as_root_again(self):
        """Take back what the documents say; the drop-ins go with every test."""
        for folder in ("sysusers.d", "tmpfiles.d"):
            (self.root / "etc" / folder / "nfd-source.conf").unlink(missing_ok=True)
        self.machine.run("chown", "-R", "root:", f"/{FEATURES}")

    def test_features_d_elsewhere(self):
        """systemd-tmpfiles makes features.d in any root, for image builders; the other file gives it to a user."""
        with tempfile.TemporaryDirectory(prefix="nfd-source-tmpfiles-") as folder:
            root = Path(folder)
            (root / "etc").mkdir()
            (root / "etc/passwd").write_text("nfd-source:x:4711:4712::/:/bin/false\n")
            (root / "etc/group").write_text("nfd-source:x:4712:\n")
            for source, owner in (("tmpfiles.d/nfd-source.conf", (0, 0)), ("nonroot/tmpfiles.conf", (4711, 4712))):
                packages.run("systemd-tmpfiles", "--create", f"--root={root}", REPOSITORY / "hooks" / source)
                state = (root / FEATURES).stat()
                self.assertEqual((oct(state.st_mode), state.st_uid, state.st_gid), ("0o40755", *owner), source)


class UpgradeTest(unittest.TestCase):
    """The package changes under a running service."""

    def test_upgrade_and_removal(self):
        """An upgrade restarts what runs, a removal stops it; the labels stay."""
        root = packages.new_root(self)
        packages.install(root, packages.deb())
        machine = Machine(root)
        self.addCleanup(machine.stop)
        machine.systemctl("enable", "--now", DAEMON)
        pid = machine.show(DAEMON, "MainPID")
        folder = Path(tempfile.mkdtemp(prefix="nfd-source-deb-"))
        self.addCleanup(shutil.rmtree, folder)
        with packages.lent(root, packages.repack(folder, "999")) as path:
            machine.run("apt-get", "install", "-q", "-y", path)
        self.assertEqual(machine.show(DAEMON, "ActiveState"), "active")
        self.assertNotEqual(machine.show(DAEMON, "MainPID"), pid)
        self.assertEqual({machine.show(unit, "ActiveState") for unit in UNITS if unit != DAEMON}, {"inactive"})
        machine.run("apt-get", "remove", "-q", "-y", "nfd-source")
        self.assertEqual(machine.show(DAEMON, "ActiveState"), "inactive")
        self.assertTrue((root / FEATURES / "nfd-source").exists())
        machine.run("apt-get", "purge", "-q", "-y", "nfd-source")
        self.assertFalse((root / FEATURES).exists())
        self.assertFalse((root / "etc/systemd/system/multi-user.target.wants" / DAEMON).is_symlink())


if __name__ == "__main__":
    unittest.main()
