# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon in a umockdev testbed: devices, drivers and modules that come and go (design.md 6, FC-H1 b)."""

import os
import random
import shutil
import tempfile
import time
from pathlib import Path

from fake_bus import FakeBus, build
from hotplug import PATIENCE, SAMPLES, HotplugTest, report_times
from inotify import OPEN, Watch
from program import PCI_DEVICES, wait_for

STORM_EVENTS = 500
STORM_SECONDS = 2.0
STORM_SCANS = 5
REMOVAL_DELAY = 3  # seconds, the default
SEQUENCES = 1000
CHECK_EVERY = 100

NIC = ("0000:5e:00.0", "020000", "15b3", "101d")
GPU = ("0000:3b:00.0", "030200", "1002", "74a1")
STICK = ("1-4", "ff", "1a6e", "089a")


class FakeBusTest(HotplugTest):
    """A testbed with a host bridge, so that its bus is never empty."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="nfd-source-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.helper = build(cls.folder)

    def setUp(self):
        super().setUp()
        self.bus = FakeBus(self.helper)
        self.addCleanup(self.bus.close)
        self.root = self.bus.root
        self.environment = self.bus.environment()
        self.bus.add_pci("0000:00:00.0", "060000", "8086", "09a2")
        (self.root / "sys/bus/usb/devices").mkdir(parents=True)

    def begin_here(self, **settings):
        """Start the daemon on the testbed, at rest; settings are of watch."""
        settings = {f"watch.{key}": value for key, value in settings.items()}
        daemon = self.begin(self.root, settings)
        self.assertTrue(self.watch_status()["watch"]["uevents"], daemon.log)
        return daemon

    def await_events(self, before, count):
        """Wait until the status, which a scan writes, tells of that many events since an earlier status."""
        wanted = before["watch"]["events"] + count
        wait_for(lambda: self.watch_status()["watch"]["events"] >= wanted, PATIENCE, f"{count} events")


class PlugAndUnplug(FakeBusTest):
    """Each kind of event, one at a time."""

    def test_pci_card(self):
        """A card comes and goes, and so does its label."""
        daemon = self.begin_here()
        self.bus.add_pci(*NIC)
        self.await_key(daemon, "pci-0200_15b3.present")
        self.bus.remove(NIC[0])
        self.await_key(daemon, "pci-0200_15b3.present", None)
        self.assertEqual(self.feature_file().labels, self.labels(self.root))

    def test_usb_device(self):
        """A USB device comes and goes, and so does its label."""
        daemon = self.begin_here()
        self.bus.add_usb(*STICK)
        self.await_key(daemon, "usb-ff_1a6e_089a.present")
        self.bus.remove(STICK[0])
        self.await_key(daemon, "usb-ff_1a6e_089a.present", None)

    def test_udev_group(self):
        """The testbed serves the group udev too."""
        daemon = self.begin_here(group="udev")
        self.bus.add_pci(*NIC)
        self.await_key(daemon, "pci-0200_15b3.present")

    def test_bind_and_unbind(self):
        """A driver that is bound and unbound moves the count of its GPUs; the presence label stays."""
        self.bus.add_pci(*GPU)
        daemon = self.begin_here()
        self.assertEqual(self.feature_file().labels["gpu-1002.driver.none"], "1")
        self.bus.set_driver(GPU[0], "amdgpu")
        labels = self.await_key(daemon, "gpu-1002.driver.amdgpu", "1")
        self.assertEqual(labels["pci-1002.present"], "true")
        self.bus.set_driver(GPU[0], None)
        labels = self.await_key(daemon, "gpu-1002.driver.amdgpu", None)
        self.assertEqual((labels["pci-1002.present"], labels["gpu-1002.driver.none"]), ("true", "1"))

    def test_module(self):
        """FC-G2: a module that is loaded and unloaded brings and takes its version; presence never moves."""
        self.bus.add_pci(*GPU)
        daemon = self.begin_here()
        self.bus.load_module("amdgpu", "6.10.5")
        labels = self.await_key(daemon, "driver-amdgpu.version.full", "6.10.5")
        self.assertEqual(labels["pci-1002.present"], "true")
        self.bus.unload_module("amdgpu")
        labels = self.await_key(daemon, "driver-amdgpu.version.full", None)
        self.assertEqual(labels["pci-1002.present"], "true")

    def test_only_what_is_concerned(self):
        """A USB event does not read the PCI bus."""
        daemon = self.begin_here()
        with Watch(self.root / PCI_DEVICES, OPEN) as watch:
            self.bus.add_usb(*STICK)
            self.await_key(daemon, "usb-ff_1a6e_089a.present")
            self.assertEqual(watch.read(), [])

    def test_foreign_subsystem(self):
        """An event that concerns no scanner is no reason to scan."""
        daemon = self.begin_here()
        before = self.watch_status()
        self.bus.tell("add", "block", "sda")
        self.bus.add_pci(*NIC)
        self.await_key(daemon, "pci-0200_15b3.present")
        self.await_scans(before["scans"] + 1)
        status = self.watch_status()
        self.assertEqual(status["watch"]["events"] - before["watch"]["events"], 1)
        self.assertEqual(status["scans"] - before["scans"], 1)

    def test_only_the_source_that_is_concerned(self):
        """With nfd-worker's sources a disk is an event for storage; no bus is read, and what was found there stays."""
        self.bus.add_pci(*NIC)
        (self.root / "sys/bus/node/devices/node0").mkdir(parents=True)
        (self.root / "sys/bus/node/devices/node1").mkdir()
        daemon = self.begin(self.root, {"sources.mode": "all"})
        self.await_key(daemon, "memory-numa")
        with Watch(self.root / PCI_DEVICES, OPEN) as bus, Watch(self.root / "sys/bus/node/devices", OPEN) as nodes:
            self.bus.tell("add", "block", "sda")
            queue = self.root / "sys/block/sda/queue"
            queue.mkdir()
            (queue / "rotational").write_text("0\n")
            self.bus.event("sda", "change")
            labels = self.await_key(daemon, "storage-nonrotationaldisk")
            self.assertEqual((bus.read(), nodes.read()), ([], []))
        self.assertEqual((labels["memory-numa"], labels["pci-15b3.present"]), ("true", "true"))
        self.assertEqual(labels["rdma.capable"], "true")

    def test_status_tells(self):
        """The status names the last event."""
        daemon = self.begin_here()
        self.bus.add_pci(*NIC)
        self.await_key(daemon, "pci-0200_15b3.present")
        wait_for(lambda: "lastEvent" in self.watch_status()["watch"], PATIENCE, "last event")
        self.assertEqual(self.watch_status()["watch"]["lastEvent"], f"add pci {NIC[0]}")
        self.assertIn(f"add pci {NIC[0]}", self.ok(self.root, "status").out)

    def test_latency(self):
        """Time from the event to the renamed file, for arrivals."""
        daemon = self.begin_here()
        cards = {
            f"pci-{vendor:04x}.present": (f"0000:{0x60 + number:02x}:00.0", "020000", f"{vendor:04x}", "0001")
            for number, vendor in enumerate(range(0x1000, 0x1000 + SAMPLES))
        }

        def fire(key):
            self.bus.add_pci(*cards[key])

        times = self.arrival_times(daemon, fire, cards)
        report_times("umockdev, event to renamed file", times)
        self.assertEqual(len(times), SAMPLES)


class ComeBack(FakeBusTest):
    """A device that only seems to go."""

    def test_comes_back(self):
        """Gone and back within the removal delay: scans, but no publication."""
        self.bus.add_pci(*NIC)
        self.begin_here(removalDelay="30s")
        scans, publications = self.scans(), self.publications()
        with Watch(self.features) as watch:
            for _ in range(3):
                self.bus.remove(NIC[0])
                self.await_scans(scans + 1)
                self.assertNotIn("pci-15b3.present", self.labels(self.root))
                self.bus.add_pci(*NIC)
                self.await_scans(scans + 2)
                scans = self.scans()
            self.assertEqual(watch.read(), [])
        self.assertEqual(self.publications(), publications)
        self.assertIn("pci-15b3.present", self.feature_file().labels)

    def test_blink(self):
        """Gone and back at once: no publication either."""
        self.bus.add_pci(*NIC)
        self.begin_here()
        before = self.watch_status()
        for _ in range(SAMPLES):
            self.bus.remove(NIC[0])
            self.bus.add_pci(*NIC)
        self.await_events(before, 2 * SAMPLES)
        self.assertEqual(self.publications(), before["publications"])
        self.assertIn("pci-15b3.present", self.feature_file().labels)


class Storm(FakeBusTest):
    """Many events."""

    def storm(self, act):
        """Call act(number) for each event, evenly over the time of the storm; returns the seconds it took."""
        start = time.monotonic()
        for number in range(STORM_EVENTS):
            time.sleep(max(0, start + number * STORM_SECONDS / STORM_EVENTS - time.monotonic()))
            act(number)
        return time.monotonic() - start

    def toggle(self, number):
        """Plug or unplug; the last of an even number of calls unplugs."""
        if number % 2:
            self.bus.remove(NIC[0])
        else:
            self.bus.add_pci(*NIC)

    def after(self, daemon, before, seconds):
        """Wait until all events were read and the file is right; check and print what it took."""
        self.await_events(before, STORM_EVENTS)
        self.await_scan_result(daemon, self.root)
        status = self.watch_status()
        scans, publications = (status[key] - before[key] for key in ("scans", "publications"))
        print(f"# {STORM_EVENTS} events in {seconds:.1f} s: {scans} scans, {publications} publications", flush=True)
        # One each half second, the debounce's longest wait: a storm that a busy machine stretches has more of them.
        self.assertLessEqual(scans, max(STORM_SCANS, 2 * seconds + 3))
        # The card comes, may be read while half of it is there, is read whole, and goes. One that is away at both ends
        # of watch.removalDelay does so again.
        self.assertLessEqual(publications, 4 * (1 + seconds // REMOVAL_DELAY))

    def test_changes(self):
        """500 change events in 2 s: at most 5 scans, no publication at all."""
        self.bus.add_pci(*NIC)
        daemon = self.begin_here()
        before = self.watch_status()
        seconds = self.storm(lambda _: self.bus.event(NIC[0], "change"))
        self.after(daemon, before, seconds)
        self.assertEqual(self.publications(), before["publications"])

    def test_ends_with_the_card(self):
        """500 events of a card that comes and goes and stays in the end."""
        daemon = self.begin_here()
        before = self.watch_status()
        seconds = self.storm(lambda number: self.toggle(number) if number < STORM_EVENTS - 1 else self.last_event())
        self.after(daemon, before, seconds)
        self.assertIn("pci-15b3.present", self.feature_file().labels)

    def last_event(self):
        """The card is there before the last call: another event of it."""
        self.bus.event(NIC[0], "change")

    def test_ends_without_the_card(self):
        """500 events of a card that comes and goes and is gone in the end."""
        self.bus.add_pci(*NIC)
        daemon = self.begin_here()
        self.bus.remove(NIC[0])
        self.await_key(daemon, "pci-15b3.present", None)
        before = self.watch_status()
        seconds = self.storm(self.toggle)
        self.after(daemon, before, seconds)
        self.assertNotIn("pci-15b3.present", self.feature_file().labels)


class Machine:
    """Devices, drivers and modules of a testbed, of which any may be there or not."""

    def __init__(self, bus, rng):
        self.bus = bus
        self.rng = rng
        self.cards = {f"0000:{0x40 + n:02x}:00.0": ("020000", f"{0x1500 + n:04x}", "0001") for n in range(6)}
        self.cards |= {f"0000:{0x80 + n:02x}:00.0": ("030200", "1002", f"{0x7400 + n:04x}") for n in range(3)}
        self.sticks = {f"1-{n}": ("ff", "1a6e", f"{n:04x}") for n in range(1, 4)}
        self.modules = {"amdgpu": "6.10.5", "i915": "1.2.3"}
        self.there = set()

    def step(self):
        """One random thing comes, goes, or changes its driver."""
        name = self.rng.choice([*self.cards, *self.sticks, *self.modules])
        if name in self.there and name in self.cards and self.rng.random() < 0.3:
            self.bus.set_driver(name, self.rng.choice(["amdgpu", "vfio-pci", None]))
        elif name in self.there:
            self.there.remove(name)
            (self.bus.unload_module if name in self.modules else self.bus.remove)(name)
        else:
            self.there.add(name)
            self.come(name)

    def come(self, name):
        """Plug or load it."""
        if name in self.cards:
            self.bus.add_pci(name, *self.cards[name])
        elif name in self.sticks:
            self.bus.add_usb(name, *self.sticks[name])
        else:
            self.bus.load_module(name, self.modules[name])


class Random(FakeBusTest):
    """Nothing may lose an update."""

    def test_random_sequences(self):
        """After 1,000 random sequences, and on the way, the file is what a fresh scan gives."""
        seed = int(os.environ.get("NFD_SOURCE_TEST_SEED") or random.randrange(1 << 32))
        print(f"# random sequences: NFD_SOURCE_TEST_SEED={seed}", flush=True)
        rng = random.Random(seed)
        daemon = self.begin_here(removalDelay="300ms")
        machine = Machine(self.bus, rng)
        for number in range(1, SEQUENCES + 1):
            for _ in range(rng.randint(1, 5)):
                machine.step()
            # Not to wait for anything: so that scans fall on any place of a sequence.
            time.sleep(rng.choice([0, 0, 0, 0.005, 0.05, 0.12]))
            if number % CHECK_EVERY == 0:
                self.await_scan_result(daemon, self.root)
        status = self.watch_status()
        print(f"# random sequences: {status['watch']['events']} events, {status['scans']} scans", flush=True)
        self.assertEqual(status["watch"]["lost"], 0)
