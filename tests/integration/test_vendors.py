# SPDX-License-Identifier: GPL-2.0-or-later
"""The vendors' labels in daemon and commands: who writes them, and what NVML's end means for them.

What the labels are is tested with the scanners (unit, goldens) and beside the real programs (tests/e2e). Here NVML is
the stand-in, and other writers are files in features.d; those that the API server knows of are in test_api_vendors.
"""

import json

import nvml_standin
from program import ProgramTest, parse_lines, wait_for

LIBRARIES = "usr/lib/x86_64-linux-gnu"
VERSION, NEWER = "580.126.09", "580.159.03"
PRODUCT, COUNT, MEMORY = "nvidia.com/gpu.product", "nvidia.com/gpu.count", "nvidia.com/gpu.memory"
SECONDS = 60


def gpu(number):
    """One GPU: PCI function and what the driver says of it."""
    address = f"0000:{0x3b + number:02x}:00.0"
    return (f"pci {address} 030200 10de:27b8 10de:16ca driver=nvidia\n"
            f"file proc/driver/nvidia/gpus/{address}/information Model: \\t NVIDIA L4\\n"
            f"GPU UUID: \\t GPU-11111111-2222-3333-4444-{number:012x}\\nDevice Minor: \\t {number}\n")


def machine(gpus=1, version=VERSION):
    """Description of a host with a loaded driver."""
    return ('file etc/os-release ID=ubuntu\\nVERSION_ID="24.04"\nfile proc/sys/kernel/osrelease 6.8.0-48-generic\n'
            "file proc/cpuinfo processor\\t: 0\\nflags\\t\\t: fpu vme sse2\n"
            f"nvidia {version} open loaded\n" + "".join(map(gpu, range(gpus))))


class VendorTest(ProgramTest):
    """What the tests below share."""

    def setUp(self):
        super().setUp()
        if nvml_standin.missing():
            self.skipTest(nvml_standin.missing())
        self.root = self.tree(machine())

    def install(self, version=VERSION):
        """The stand-in as the host's library."""
        return nvml_standin.install(self.root / LIBRARIES, version)

    def standin(self, fault=None):
        """Its variables; the addresses that it tells are those of the root."""
        return {**nvml_standin.environment(self.root, fault), "NFD_STANDIN_DOMAIN": "keep"}

    def nvidia(self, *arguments, fault=None, **options):
        """The nvidia.com labels of a scan."""
        done = self.ok(self.root, *arguments, "scan", env=self.standin(fault), **options)
        self.err = done.err
        return {key: value for key, value in parse_lines(done.out).items() if key.startswith("nvidia.com/")}

    def run_daemon(self, fault=None, settings=None):
        """The daemon with the stand-in's variables."""
        return self.daemon(self.root, env=self.standin(fault), settings=settings)

    def knows(self, daemon, condition, seconds=SECONDS):
        """Wait until the daemon's status fulfils a condition; returns it."""
        def look():
            self.assertTrue(daemon.alive(), daemon.log)
            status = json.loads(self.status.read_text()) if self.status.exists() else {}
            return status if condition(status) else None

        try:
            return wait_for(look, seconds, "status")
        except AssertionError as error:
            raise AssertionError(f"{error}\nstatus: {self.status.read_text()}\nlog:\n{daemon.log}") from None

    @staticmethod
    def vendor(status, name="nvidia"):
        """The entry of a vendor in the status."""
        return next((entry for entry in status.get("vendors", []) if entry["name"] == name), {})


class Once(VendorTest):
    """Commands that run once."""

    def test_with_nvml(self):
        """Memory is what no file tells."""
        self.install()
        self.assertEqual(self.nvidia()[MEMORY], "23028")

    def test_without_nvml(self):
        """Product and count from files; no guess at the rest."""
        labels = self.nvidia()
        self.assertEqual((labels[PRODUCT], labels[COUNT]), ("NVIDIA-L4", "1"))
        self.assertNotIn(MEMORY, labels)

    def test_nvml_off(self):
        """The setting keeps it from being loaded."""
        self.install()
        labels = self.nvidia("--set", "sources.vendor.nvidia.nvml=off", fault="crash")
        self.assertEqual(labels[PRODUCT], "NVIDIA-L4")
        self.assertNotIn(MEMORY, labels)
        self.assertEqual(self.err, "")

    def test_off(self):
        """None of them, and NVML is not loaded."""
        self.install()
        self.assertEqual(self.nvidia("--set", "sources.vendor.nvidia.labels=off", fault="crash"), {})

    def test_another_writer(self):
        """gpu-feature-discovery's file: its labels are not ours, unless a person says so."""
        (self.features / "gfd").write_text(f"{PRODUCT}=NVIDIA-L4\n")
        self.assertEqual(self.nvidia(), {})
        self.assertIn(PRODUCT, self.nvidia("--set", "sources.vendor.nvidia.labels=on"))

    def test_explain(self):
        """It says who writes them and why, and which setting decides."""
        key = ("explain", COUNT)
        self.assertIn("vendor nvidia: written, because gpu-feature-discovery is not here",
                      self.ok(self.root, *key).out)
        (self.features / "gfd").write_text("")
        done = self.run_program(self.root, *key)
        self.assertEqual(done.code, 1)
        self.assertIn(f"vendor nvidia: not written, because gpu-feature-discovery writes them: {self.features}/gfd",
                      done.out)
        self.assertIn("sources.vendor.nvidia.labels: auto  # default", done.out)
        done = self.run_program(self.root, "--set", "sources.vendor.nvidia.labels=off", *key)
        self.assertIn("vendor nvidia: not written, because the setting is off", done.out)

    def test_explain_without_report(self):
        """Why a label that only NVML tells is not there."""
        done = self.run_program(self.root, "explain", MEMORY)
        self.assertEqual(done.code, 1)
        self.assertIn("NVML: no report: there is no NVIDIA library to load", done.out)

    def test_sick_driver_removes_nothing(self):
        """What was published stays, and the reason is told; files still give what they can."""
        self.install()
        self.ok(self.root, "publish", env=self.standin())
        before = self.feature_file().labels
        self.assertIn(MEMORY, before)
        for fault in ("crash", "lost", "unknown", "lost-device"):
            with self.subTest(fault):
                done = self.ok(self.root, "publish", env=self.standin(fault))
                self.assertEqual(self.feature_file().labels, before)
                self.assertIn("labels are unknown", done.err)

    def test_publish_in_a_hook(self):
        """--no-wait does not wait for NVML either: what it told before stays."""
        self.install()
        self.ok(self.root, "publish", env=self.standin())
        before = self.feature_file().labels
        self.ok(self.root, "publish", "--no-wait", env=self.standin("hang"), timeout=30)
        self.assertEqual(self.feature_file().labels, before)


class Daemon(VendorTest):
    """The daemon, which waits for nobody."""

    def test_labels_come(self):
        """First those of files, then NVML's."""
        self.install()
        daemon = self.run_daemon()
        self.published(daemon, lambda labels: MEMORY in labels, SECONDS)
        status = self.knows(daemon, lambda status: status.get("nvml", {}).get("state") == "answered")
        self.assertEqual(self.vendor(status)["labels"], "written")
        shown = self.run_program(self.root, "status").out
        self.assertIn("vendor nvidia: written, because gpu-feature-discovery is not here", shown)
        self.assertIn("NVML:         answered", shown)

    def test_hung_driver(self):
        """Labels of files are there at once; the scanner goes on, and it ends when it is told to."""
        self.install()
        daemon = self.run_daemon("hang")
        self.published(daemon, lambda labels: "feature.node.kubernetes.io/pci-10de.present" in labels or
                       "pci-10de.present" in labels, SECONDS)
        self.knows(daemon, lambda status: status.get("nvml", {}).get("state") == "is being asked")
        self.grow(self.root, "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core")
        daemon.hup()
        self.published(daemon, lambda labels: any("pci-15b3.present" in key for key in labels), SECONDS)
        code, _ = daemon.stop()
        self.assertEqual(code, 0)

    def test_crash_is_told_and_tried_again(self):
        """Published values stay; the fault names the crash; a driver that is well again is found without an event."""
        library = self.install()
        daemon = self.run_daemon()
        before = self.published(daemon, lambda labels: MEMORY in labels, SECONDS).labels
        sound = library.read_bytes()
        library.unlink()
        library.write_bytes(b"\x7fELF and no more")
        daemon.hup()
        status = self.knows(daemon, lambda status: any("nvidia.com/" in fault["id"] for fault in status["faults"]))
        self.assertEqual({key: status["labels"][key] for key in (PRODUCT, MEMORY)}, {
            key: before[key] for key in (PRODUCT, MEMORY)})
        library.unlink()
        library.write_bytes(sound)
        library.chmod(0o755)
        self.knows(daemon, lambda status: status["faults"] == [])

    def test_mismatch_keeps_them(self):
        """An upgrade of the library alone: NVML answers 18, and the labels stay."""
        old = self.install()
        daemon = self.run_daemon()
        before = self.published(daemon, lambda labels: MEMORY in labels, SECONDS).labels
        self.install(NEWER)
        old.unlink()
        daemon.hup()
        status = self.knows(daemon, lambda status: any("nvidia.com/" in fault["id"] for fault in status["faults"]))
        self.assertTrue(any("18" in fault["text"] or "mismatch" in fault["text"] for fault in status["faults"]), status)
        self.assertEqual(status["labels"][MEMORY], before[MEMORY])

    def test_card_goes(self):
        """Fewer cards: the count follows what NVML says then."""
        self.root = self.tree(machine(2))
        self.install()
        daemon = self.run_daemon()
        self.published(daemon, lambda labels: labels.get(COUNT) == "2", SECONDS)
        (self.root / "sys/bus/pci/devices/0000:3c:00.0").unlink()
        daemon.hup()
        self.published(daemon, lambda labels: labels.get(COUNT) == "1", SECONDS)

    def test_another_writer_comes_and_goes(self):
        """Its file is seen at once: ours leave, and come back when it goes."""
        daemon = self.run_daemon()
        self.published(daemon, lambda labels: COUNT in labels, SECONDS)
        (self.features / "gfd").write_text(f"{COUNT}=1\n")
        self.published(daemon, lambda labels: COUNT not in labels, SECONDS)
        status = self.knows(daemon, lambda status: self.vendor(status).get("labels") == "not written")
        self.assertIn("gfd", self.vendor(status)["why"])
        (self.features / "gfd").unlink()
        self.published(daemon, lambda labels: COUNT in labels, SECONDS)

    def test_no_child_is_left(self):
        """A helper that hangs ends with the daemon."""
        self.install()
        daemon = self.run_daemon("hang")
        status = self.knows(daemon, lambda status: status.get("nvml", {}).get("state") == "is being asked")
        children = self.children_of(status["pid"])
        self.assertTrue(children)
        daemon.stop()
        wait_for(lambda: not any(self.is_alive(pid) for pid in children), 10, "end of the helper")

    @staticmethod
    def is_alive(pid):
        """Whether a process of that id runs."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    @staticmethod
    def children_of(pid):
        """Ids of a process's children."""
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
