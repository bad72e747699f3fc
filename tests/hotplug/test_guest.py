# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon in a QEMU guest: cards that really come and go, modules that are really loaded, with and without udevd."""

import shutil
import tempfile
import unittest
from pathlib import Path

from guest import MODULE_NAME, Guest, udevd
from hotplug import PATIENCE, SAMPLES, report_times
from program import wait_for

# A model of QEMU, the label that it brings.
CARDS = (
    ("e1000e", "pci-0200_8086.present"),
    ("vmxnet3", "pci-0200_15ad.present"),
    ("virtio-net-pci", "pci-0200_1af4.present"),
    ("nvme", "pci-0108_1b36.present"),
    ("nec-usb-xhci", "pci-0c03_1033.present"),
    ("qemu-xhci", "pci-0c03_1b36.present"),
    ("pvscsi", "pci-0100_15ad.present"),
)


class GuestTest(unittest.TestCase):
    """One guest for all tests of the class; each test leaves its slots empty."""

    @classmethod
    def begin(cls, files=(), words=()):
        """Boot a guest whose image has more files, and whose daemon has more words on its command line."""
        folder = Path(tempfile.mkdtemp(prefix="nfd-source-test-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.guest = Guest(folder, files)
        cls.addClassCleanup(cls.guest.close)
        cls.guest.boot(*words)
        cls.guest.await_label("pci-1002.present")

    def setUp(self):
        self.rest()

    def is_rename(self, words):
        """A line of the probe about our file being renamed into place."""
        return words[0] == "rename" and words[2] == "nfd-source"

    def is_touch(self, words):
        """A line of the probe about the touch that ends a publication."""
        return words[0] == "touch" and words[2] == "nfd-source"

    def is_uevent(self, words, action, subsystem):
        """A line of the probe about an event."""
        return words[0] == "uevent" and (words[2], words[3]) == (action, subsystem)

    def rest(self):
        """Wait until the last publication so far is over: the touch that follows it was seen."""

        def look():
            lines = [words for words in self.guest.probe() if self.is_rename(words) or self.is_touch(words)]
            return not lines or self.is_touch(lines[-1])

        wait_for(look, PATIENCE, "touch")

    def between(self, event, rename):
        """Seconds between two lines of the probe."""
        return (int(rename[1]) - int(event[1])) / 1e6

    def check_network_card(self):
        """device_add of e1000e brings its labels, device_del takes them."""
        start = len(self.guest.probe())
        self.assertNotIn("pci-8086.present", self.guest.labels())
        self.guest.plug(0, "e1000e")
        self.guest.await_label("pci-8086.present")
        self.assertEqual(self.guest.labels()["pci-0200_8086.present"], "true")
        self.rest()
        start = len(self.guest.probe())
        self.guest.unplug(0)
        self.guest.await_label("pci-8086.present", None)
        self.assertNotIn("pci-0200_8086.present", self.guest.labels())
        event = self.guest.await_probe(start, lambda words: self.is_uevent(words, "remove", "pci"))
        rename = self.guest.await_probe(start, self.is_rename)
        report_times("guest, remove event to renamed file (removalDelay 1 s)", [self.between(event, rename)])
        self.rest()

    def check_module(self):
        """A module that states a version brings its label when it is loaded and takes it when it goes."""
        key = f"driver-{MODULE_NAME}.version.full"
        self.assertEqual(self.guest.run("insmod /module.ko")[0], 0, self.guest.run("dmesg | tail -5")[1])
        self.guest.await_label(key, self.guest.module_version)
        self.assertEqual(self.guest.run(f"rmmod {MODULE_NAME}")[0], 0, self.guest.run("dmesg | tail -5")[1])
        self.guest.await_label(key, None)


class WithoutUdevd(GuestTest):
    """The kernel's own events, as in a container."""

    @classmethod
    def setUpClass(cls):
        cls.begin()

    def test_network_card(self):
        """A card comes and goes."""
        self.check_network_card()

    def test_module(self):
        """A module is loaded and unloaded."""
        self.check_module()

    def test_status(self):
        """The daemon listens, and no udevd runs."""
        watch = self.guest.status()["watch"]
        self.assertEqual((watch["uevents"], watch["group"]), (True, "kernel"))
        self.assertEqual(self.guest.run("[ -e /run/udev/control ]")[0], 1)

    def arrival(self, slot, model, key):
        """Plug a card; seconds from the kernel's event to the renamed file with its label."""
        start = len(self.guest.probe())
        self.guest.plug(slot, model)
        event = self.guest.await_probe(start, lambda words: self.is_uevent(words, "add", "pci"))
        rename = self.guest.await_probe(start, self.is_rename)
        self.guest.await_label(key)
        self.rest()
        return self.between(event, rename)

    def test_latency(self):
        """20 arrivals: time from the kernel's event to the renamed file."""
        times = []
        while len(times) < SAMPLES:
            for slot, (model, key) in enumerate(CARDS):
                times.append(self.arrival(slot, model, key))
            for slot in range(len(CARDS)):
                self.guest.unplug(slot)
            for _, key in CARDS:
                self.guest.await_label(key, None)
            self.rest()
        report_times("guest, event to renamed file", times)


class WithUdevd(GuestTest):
    """Events as udevd passes them on, group udev."""

    @classmethod
    def setUpClass(cls):
        cls.begin([("sbin/udevd", udevd())], ["--set", "watch.group=udev"])

    def test_network_card(self):
        """A card comes and goes."""
        self.check_network_card()

    def test_module(self):
        """A module is loaded and unloaded."""
        self.check_module()

    def test_status(self):
        """The daemon listens to udevd, which runs."""
        watch = self.guest.status()["watch"]
        self.assertEqual((watch["uevents"], watch["group"]), (True, "udev"))
        self.assertEqual(self.guest.run("[ -e /run/udev/control ]")[0], 0)
