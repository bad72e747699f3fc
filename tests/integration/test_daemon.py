# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon: when it scans, what it keeps, what it publishes and what it says (design.md 4 to 6).

Scans are asked for by SIGHUP and seen by inotify on the bus directory, so nothing here waits for an interval unless
the interval is what is tested.
"""

import os
import shutil
import subprocess

from inotify import MOVED_TO, Watch
from program import BINARY, PCI_DEVICES, SMALL, ProgramTest, load_json, select, wait_for

NIC = "0000:17:00.0"
GPU = "0000:3b:00.0"
CYCLES = 120


class Bus:
    """The PCI bus of a root, whose entries come and go."""

    def __init__(self, root):
        self.root = root
        self.directory = root / PCI_DEVICES
        self.links = {link.name: os.readlink(link) for link in self.directory.iterdir()}

    def unplug(self, *names):
        """Take entries off the bus; all when none is named."""
        for name in names or self.links:
            (self.directory / name).unlink()

    def plug(self, *names):
        """Put entries back."""
        for name in names or self.links:
            (self.directory / name).symlink_to(self.links[name])


class DaemonTest(ProgramTest):
    """What the tests below share."""

    def no_publication(self, watch, seconds):
        """Nothing is renamed into place for that long."""
        events = [event for event in watch.collect(seconds) if event.mask & MOVED_TO]
        self.assertEqual(events, [])


class Lifecycle(DaemonTest):
    """Start, rescan, reload, stop."""

    def test_publishes_at_start(self):
        """The first publication has what scan prints."""
        root = self.machine("server-l4")
        daemon = self.daemon(root)
        self.assertEqual(self.published(daemon).labels, self.labels(root))

    def test_first_publication_is_fast(self):
        """No delay of any kind before the first one."""
        root = self.tree(SMALL)
        daemon = self.daemon(root)
        wait_for(lambda: self.file.exists() or not daemon.alive(), 2, "first publication")
        self.assertTrue(self.file.exists(), daemon.log)

    def test_interval(self):
        """A change that no event tells of is seen at the next interval."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"core.sleepInterval": "1s"})
        self.grow(root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        self.published(daemon, lambda labels: "pci-15b3.present" in labels, 10)

    def test_hup_rescans(self):
        """SIGHUP scans at once."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        self.grow(root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        daemon.hup()
        self.published(daemon, lambda labels: "pci-15b3.present" in labels, 5)

    def test_hup_reads_settings(self):
        """SIGHUP reads the settings file again."""
        root = self.tree(SMALL, "pci 0000:65:00.0 010802 1344:51c3 driver=nvme")
        daemon = self.begin(root)
        self.assertNotIn("pci-0108_1344.present", self.feature_file().labels)
        self.config.write_text("sources: {pci: {deviceClassWhitelist: ['01', '02', '03']}}\n")
        daemon.hup()
        self.published(daemon, lambda labels: "pci-0108_1344.present" in labels, 5)

    def test_hup_with_broken_settings(self):
        """A broken file at SIGHUP: the old settings stay, the log says where the fault is; mended, it counts."""
        self.config.write_text("sources: {pci: {deviceClassWhitelist: ['01', '02', '03']}}\n")
        root = self.tree(SMALL, "pci 0000:65:00.0 010802 1344:51c3 driver=nvme")
        daemon = self.begin(root)
        before = self.feature_file()
        self.config.write_text("sources:\n  pci:\n    deviceClassWhitelistt: ['03']\n")
        daemon.rescan(root)
        wait_for(lambda: f"{self.config}:3:5:" in daemon.log, 5, "the message")
        self.assertTrue(daemon.alive())
        self.assertEqual(self.feature_file().identity, before.identity)
        self.config.write_text("sources: {pci: {deviceClassWhitelist: ['01', '02', '03', '06']}}\n")
        self.grow(root, "pci 0000:00:00.0 060000 8086:09a2")
        daemon.hup()
        self.published(daemon, lambda labels: "pci-0600_8086.present" in labels, 5)

    def test_hup_changes_the_group(self):
        """watch.group counts at a reload too: the daemon listens anew, and still hears about files."""
        root = self.machine("server-l4")
        self.config.write_text("watch:\n  group: kernel\n")
        daemon = self.begin(root)
        self.assertEqual(load_json(self.status.read_text())["watch"]["group"], "kernel")
        self.config.write_text("watch:\n  group: udev\n")
        daemon.hup()
        wait_for(lambda: load_json(self.status.read_text())["watch"]["group"] == "udev", 30, "the other group")
        self.file.unlink()
        wait_for(self.file.exists, 30, "our file")

    def test_broken_settings_at_start(self):
        """At the start a broken file is wrong usage: exit 2, nothing is published."""
        self.config.write_text("nonsense: 1\n")
        result = self.run_program(self.tree(SMALL), "run", timeout=10)
        self.assertEqual(result.code, 2)
        self.assertIn(f"{self.config}:1:1:", result.err)
        self.assertFalse(self.file.exists())

    def test_signals_end_it(self):
        """SIGTERM and SIGINT end it within two seconds with exit 0; the file stays."""
        root = self.tree(SMALL)
        for number in (2, 15):
            with self.subTest(number):
                daemon = self.daemon(root)
                self.published(daemon)
                wait_for(self.status.exists, 5, "status file")
                daemon.process.send_signal(number)
                self.assertEqual(daemon.process.wait(2.5), 0, daemon.log)
                self.assertTrue(self.file.exists())

    def test_term_during_spacing(self):
        """A publication that waits for its distance does not hold up the end."""
        root = self.tree(SMALL)
        daemon = self.daemon(root)
        self.published(daemon)
        self.grow(root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        daemon.hup()
        code, seconds = daemon.stop()
        self.assertEqual(code, 0, daemon.log)
        self.assertLess(seconds, 2.5)

    def test_removed_file_comes_back(self):
        """Someone removed our file: the next scan puts it back."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        before = self.feature_file().labels
        self.file.unlink()
        daemon.hup()
        self.assertEqual(self.published(daemon, seconds=10).labels, before)

    def test_changed_file_is_mended(self):
        """Someone wrote into our file: the next scan puts our content back."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        before = self.feature_file()
        self.file.write_text(before.text.replace("pci-10de.present=true", "pci-10de.present=false"))
        daemon.hup()
        self.published(daemon, lambda labels: labels == before.labels, 10)

    def test_driver_comes_and_goes(self):
        """FC-G2: the driver is loaded later and unloaded again, with no event on the bus; presence never moves."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"core.sleepInterval": "1s"})
        self.grow(root, "nvidia 580.126.09 open loaded")
        file = self.published(daemon, lambda labels: "driver-nvidia.version.full" in labels, 10)
        self.assertEqual(file.labels["pci-10de.present"], "true")
        shutil.rmtree(root / "sys/module/nvidia")
        shutil.rmtree(root / "proc/driver")
        file = self.published(daemon, lambda labels: "driver-nvidia.version.full" not in labels, 15)
        self.assertEqual(file.labels["pci-10de.present"], "true")

    def test_nobody_reads_the_log(self):
        """A log pipe that is full, or that nobody holds any more, does not stop the publications."""
        root = self.tree(SMALL)
        for closed in (False, True):
            with self.subTest(closed=closed):
                reader, writer = os.pipe()
                os.set_blocking(writer, False)
                try:
                    while not closed:
                        os.write(writer, bytes(4096))
                except BlockingIOError:
                    os.set_blocking(writer, True)
                if closed:
                    os.close(reader)
                self.file.unlink(missing_ok=True)
                command = [BINARY, *self.options(root), "--set", "core.sleepInterval=1h", "-v", "run"]
                process = subprocess.Popen(command, stderr=writer)
                try:
                    wait_for(self.file.exists, 30, "publication")
                    self.assertIsNone(process.poll())
                finally:
                    process.kill()
                    process.wait()
                    os.close(writer)
                    if not closed:
                        os.close(reader)

    def test_status_file(self):
        """The status file is complete JSON at any time and names the process."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        status = load_json(self.status.read_text())
        self.assertEqual(status["pid"], daemon.process.pid)
        self.assertEqual([name for name in os.listdir(self.tmp) if "status" in name], [self.status.name])

    def test_second_daemon(self):
        """Two daemons by mistake: the labels stay right and the file does not flap."""
        root = self.tree(SMALL)
        first = self.begin(root)
        second = self.daemon(root, settings={"status.path": self.tmp / "other.json"})
        with Watch(self.features, MOVED_TO) as watch:
            first.rescan(root)
            if second.alive():
                self.no_publication(watch, 1.5)
        self.assertEqual(self.feature_file().labels, self.labels(root))


class Removal(DaemonTest):
    """Devices that go, and those that only seem to."""

    def test_arrival_is_immediate(self):
        """A new device is published without the removal delay."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"watch.removalDelay": "30s"})
        self.grow(root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        daemon.hup()
        self.published(daemon, lambda labels: "pci-15b3.present" in labels, 3)

    def test_removal_waits(self):
        """A label that would only go waits for the delay; then it goes without further ado."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"watch.removalDelay": "2s"})
        with Watch(self.features) as watch:
            Bus(root).unplug(NIC)
            daemon.rescan(root)
            self.no_publication(watch, 1.5)
            self.assertIn("pci-14e4.present", self.feature_file().labels)
            file = self.published(daemon, lambda labels: "pci-14e4.present" not in labels, 10)
        self.assertIn("pci-10de.present", file.labels)

    def test_return_within_the_delay(self):
        """A device that re-enumerates does not blink: no publication at all."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"watch.removalDelay": "2s"})
        bus = Bus(root)
        with Watch(self.features) as watch:
            bus.unplug(NIC)
            daemon.rescan(root)
            bus.plug(NIC)
            daemon.rescan(root)
            self.no_publication(watch, 3.5)
        self.assertIn("pci-14e4.present", self.feature_file().labels)

    def test_changed_value_is_immediate(self):
        """A value that changes is no removal: one GPU of two is published at once."""
        root = self.tree(SMALL, "pci 0000:af:00.0 030200 10de:27b8 driver=nvidia")
        daemon = self.begin(root, {"watch.removalDelay": "30s"})
        Bus(root).unplug(GPU)
        daemon.hup()
        self.published(daemon, lambda labels: labels.get("gpu-10de.count") == "1", 5)

    def test_delay_survives_a_restart(self):
        """A device that is gone while we start is removed after the delay, not at once and not never."""
        root = self.tree(SMALL)
        self.begin(root).stop()
        Bus(root).unplug(NIC)
        with Watch(self.features) as watch:
            daemon = self.daemon(root, settings={"watch.removalDelay": "2s"})
            self.no_publication(watch, 1.0)
            self.assertIn("pci-14e4.present", self.feature_file().labels)
            self.published(daemon, lambda labels: "pci-14e4.present" not in labels, 10)

    def test_unknown_keeps_values(self):
        """An empty bus after one with devices is not believed: values stay, it is reported once, and heals."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        before = self.feature_file()
        bus = Bus(root)
        bus.unplug()
        with Watch(self.features) as watch:
            for _ in range(5):
                daemon.rescan(root)
            self.no_publication(watch, 2.5)
        self.assertEqual(self.feature_file().identity, before.identity)
        lines = [line for line in daemon.log.splitlines() if "bus/pci" in line]
        self.assertEqual(len(lines), 1, daemon.log)
        bus.plug(GPU)
        daemon.rescan(root)
        self.published(daemon, lambda labels: "pci-14e4.present" not in labels, 10)

    def test_unreadable_file_keeps_value(self):
        """A file that cannot be read (a directory stands in) is unknown, not absent."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        before = select(self.feature_file().labels, "kernel-version")
        path = root / "proc/sys/kernel/osrelease"
        path.unlink()
        path.mkdir()
        with Watch(self.features) as watch:
            for _ in range(3):
                daemon.rescan(root)
            self.no_publication(watch, 2.0)
        self.assertEqual(select(self.feature_file().labels, "kernel-version"), before)
        self.assertIn("osrelease", daemon.log)

    def test_unknown_survives_a_restart(self):
        """What was published is read back from our file: unknown at the start keeps it too."""
        root = self.tree(SMALL)
        self.begin(root).stop()
        before = self.feature_file()
        shutil.rmtree(root / "sys")
        daemon = self.daemon(root)
        wait_for(self.status.exists, 10, "status file")
        with Watch(self.features) as watch:
            daemon.hup()
            self.no_publication(watch, 2.0)
        self.assertEqual(select(self.feature_file().labels, "pci-", "gpu-"), select(before.labels, "pci-", "gpu-"))


class Log(DaemonTest):
    """What the daemon says, and how often."""

    def test_FC_L2_one_fault_one_line(self):
        """120 cycles with one attribute that cannot be read: said when it begins, and once when it ends."""
        root = self.tree(SMALL)
        path = root / "proc/sys/kernel/osrelease"
        text = path.read_text()
        path.unlink()
        path.mkdir()
        daemon = self.begin(root)
        for _ in range(CYCLES):
            daemon.rescan(root)
        lines = [line for line in daemon.log.splitlines() if "osrelease" in line]
        self.assertEqual(len(lines), 1, daemon.log)
        path.rmdir()
        path.write_text(text)
        daemon.rescan(root)
        self.published(daemon, lambda labels: "kernel-version.full" in labels, 10)
        for _ in range(3):
            daemon.rescan(root)
        lines = [line for line in daemon.log.splitlines() if "osrelease" in line]
        self.assertEqual(len(lines), 2, daemon.log)

    def test_FC_L2_healthy_run_is_quiet(self):
        """After the start a steady run logs nothing at the default level."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"core.sleepInterval": "1s"})
        before = daemon.log
        for _ in range(3):
            daemon.await_scan(root)
        self.assertEqual(daemon.log, before)

    def test_change_is_logged(self):
        """A change names the keys that came, changed and went."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        self.grow(root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        daemon.hup()
        self.published(daemon, lambda labels: "pci-15b3.present" in labels, 5)
        wait_for(lambda: "pci-15b3.present" in daemon.log, 5, "log line")

    def test_json_log(self):
        """With log.format=json every line is an object."""
        root = self.tree(SMALL)
        daemon = self.begin(root, {"log.format": "json"})
        daemon.stop()
        self.assertTrue(daemon.log)
        for line in daemon.log.splitlines():
            self.assertIsInstance(load_json(line), dict)
