# SPDX-License-Identifier: GPL-2.0-or-later
"""Uevents of the kernel that runs the tests (design.md 6, FC-H1 a). The daemon hears them whatever its root is, so a
fixture root is changed first and a real device's event then makes the daemon look."""

import signal

import host_events
from hotplug import PATIENCE, SAMPLES, HotplugTest, need_command, report_times
from measure import CARDS, measure
from program import SMALL, wait_for

NEW_GPU = "pci 0000:5e:00.0 030200 1002:74a1"
OVERFLOW_EVENTS = 200
OVERFLOW_TRIES = 500


class KernelEventTest(HotplugTest):
    """A real device to write to; the daemon's folder is open to any user."""

    def setUp(self):
        super().setUp()
        self.device = host_events.device()
        for path in (self.tmp, self.features):
            path.chmod(0o777)

    def as_nobody(self):
        """The daemon runs as a user without any right."""
        need_command("setpriv")
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]

    def in_network_namespace(self):
        """The daemon runs in a network namespace of its own."""
        need_command("unshare")
        return ["unshare", "--net", "--"]

    def event_is_heard(self):
        """A GPU that was put into the root is seen at the next event of the host."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        self.assertTrue(self.watch_status()["watch"]["uevents"], daemon.log)
        self.assertNotIn("no hotplug events", daemon.log)
        self.grow(root, NEW_GPU)
        host_events.fire(self.device)
        self.await_key(daemon, "pci-1002.present")
        return daemon


class Heard(KernelEventTest):
    """Where events come."""

    def test_as_it_is(self):
        """As the tests run."""
        self.event_is_heard()

    def test_network_namespace(self):
        """In a network namespace of its own: a pod needs no hostNetwork."""
        self.prefix = self.in_network_namespace()
        self.event_is_heard()

    def test_nobody(self):
        """As uid 65534."""
        self.prefix = self.as_nobody()
        daemon = self.event_is_heard()
        with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
            self.assertIn("Uid:\t65534\t65534", file.read())

    def test_nobody_in_network_namespace(self):
        """Both at once, as in a pod."""
        self.prefix = self.in_network_namespace() + self.as_nobody()
        self.event_is_heard()

    def test_latency(self):
        """Time from the write into the device's uevent file to the renamed file."""
        times = measure(self, SAMPLES)
        report_times("host's kernel, event to renamed file", times)
        self.assertEqual(len(times), min(SAMPLES, len(CARDS)))


class Lost(KernelEventTest):
    """Events that the kernel could not deliver."""

    def overflow(self, daemon):
        """Send events that concern nobody until the kernel drops some for the daemon, which is stopped meanwhile."""
        foreign = host_events.foreign_device()
        if host_events.netlink_drops(daemon.process.pid) is None:
            self.skipTest("the daemon's socket is not in /proc/net/netlink")
        for _ in range(OVERFLOW_TRIES):
            for _ in range(OVERFLOW_EVENTS):
                host_events.fire(foreign)
            if host_events.netlink_drops(daemon.process.pid):
                return
        self.fail("the daemon's socket does not overflow")

    def lost_events(self):
        """The one event that mattered was dropped: a full scan makes up for it, and the monitor works on."""
        root = self.tree(SMALL)
        daemon = self.begin(root)
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            self.overflow(daemon)
            self.grow(root, NEW_GPU + "\nfile proc/sys/kernel/osrelease 6.9.1")
            host_events.fire(self.device)
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        labels = self.await_key(daemon, "pci-1002.present")
        self.assertEqual(labels["kernel-version.full"], "6.9.1", "not everything was scanned")
        wait_for(lambda: self.watch_status()["watch"]["lost"] >= 1, PATIENCE, "lost events in the status")
        self.assertTrue(daemon.alive(), daemon.log)
        self.grow(root, "pci 0000:5f:00.0 020000 15b3:101d")
        host_events.fire(self.device)
        self.await_key(daemon, "pci-15b3.present")

    def test_small_buffer(self):
        """FC-H1 a: as nobody, who may not ask for a larger buffer than the system's limit."""
        self.prefix = self.as_nobody()
        self.lost_events()

    def test_large_buffer(self):
        """FC-H1 a: as root, with the buffer that the daemon asks for."""
        self.lost_events()


class NotHeard(KernelEventTest):
    """Where no events can come."""

    def test_user_namespace(self):
        """One line at the start says why, the status too, and a scan a minute makes up for it."""
        need_command("unshare")
        self.prefix = ["unshare", "--map-root-user", "--"]
        self.check_blind(NEW_GPU)

    def test_user_namespace_without_map(self):
        """The same where no user is mapped at all: the map is empty."""
        need_command("unshare")
        self.prefix = ["unshare", "--user", "--"]
        self.check_blind(None)

    def check_blind(self, more):
        """Start, look at log and status; put more into the root and wait for the scan that no event asked for."""
        root = self.tree(SMALL)
        daemon = self.start(root, "run", settings={"core.sleepInterval": "1h", "watch.removalDelay": "1s"})
        if not wait_for(lambda: daemon.log or not daemon.alive(), PATIENCE, "log") or daemon.log.startswith("unshare:"):
            self.skipTest(f"no user namespace here: {daemon.log}")
        self.await_labels(daemon, lambda labels: "pci-10de.present" in labels)
        wait_for(self.status.exists, PATIENCE, "status")
        lines = [line for line in daemon.log.splitlines() if "no hotplug events" in line]
        self.assertEqual(len(lines), 1, daemon.log)
        self.assertIn("level=warning", lines[0])
        self.assertIn("user namespace", lines[0])
        watch = self.watch_status()["watch"]
        self.assertFalse(watch["uevents"])
        self.assertIn("user namespace", watch["reason"])
        self.assertIn("no uevents: ", self.ok(root, "status").out)
        if more:
            self.grow(root, more)
            self.await_key(daemon, "pci-1002.present")
        self.end(daemon)
