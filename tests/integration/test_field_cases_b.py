# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases B (PCI) of spec/field-cases.md, each under its id."""

import errno
import json
import os
import re
import shutil
import stat
import time

from program import PCI_DEVICES, SMALL, ProgramTest, select

ADDRESS = re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]\b")
FILE_CAP = 65536

# A misc device number that no driver uses: opening it gives ENODEV, as a device does that is just going away.
MISC_MAJOR, UNUSED_MINOR = 10, 211


def numbers(address):
    """A PCI address as numbers, to sort by."""
    return [int(part, 16) for part in re.split("[:.]", address)]


def enodev_or_directory(path):
    """Make path something that cannot be read: ENODEV where we may make device nodes, else EISDIR."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(MISC_MAJOR, UNUSED_MINOR))
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        os.unlink(path)
    except OSError as error:
        if error.errno == errno.ENODEV:
            return
        if os.path.lexists(path):
            os.unlink(path)
    os.mkdir(path)


class FieldCasesB(ProgramTest):
    """B1 to B7."""

    def test_FC_B1_wide_domains(self):
        """Domains of five digits: found, printed in full, sorted by number."""
        root = self.machine("vmd")
        self.config.write_text("sources:\n  pci:\n    deviceClassWhitelist: ['01', '03', '06']\n")
        labels = self.labels(root)
        expected = ("0104_8086", "0108_1344", "0302_10de", "0604_8086", "10de", "1344", "8086")
        self.assertEqual(select(labels, "pci-"), {f"pci-{stem}.present": "true" for stem in expected})
        table = list(dict.fromkeys(ADDRESS.findall(self.ok(root, "scan", "-o", "table").out)))
        features = json.loads(self.ok(root, "scan", "-o", "json").out)["features"]
        functions = features["instances"]["nfd-source.pci"]["elements"]
        for found in table, [function["attributes"]["address"] for function in functions]:
            self.assertIn("10000:01:00.0", found)
            self.assertEqual(found, sorted(found, key=numbers))

    def half_state(self):
        """Two healthy GPUs and one entry of each bad kind."""
        root = self.machine("unplug-half-state")
        bad = root / "sys/devices/pci0000:24/0000:24:00.0"
        bad.mkdir(parents=True)
        for name in ("uevent", "class", "vendor", "device"):
            enodev_or_directory(bad / name)
        (root / PCI_DEVICES / "0000:24:00.0").symlink_to("../../../devices/pci0000:24/0000:24:00.0")
        return root

    def test_FC_B2_vanishing_devices(self):
        """Bad entries are skipped, one debug line each; the healthy GPUs are labelled; exit 0."""
        result = self.ok(self.half_state(), "-v", "scan")
        self.assertIn("gpu-10de.count=2\n", result.out)
        self.assertIn("pci-0300_10de.present=true\n", result.out)
        for entry in ("0000:21:00.0", "0000:22:00.0", "0000:23:00.0", "0000:24:00.0", "not-an-address"):
            with self.subTest(entry):
                self.assertEqual(len([line for line in result.err.splitlines() if entry in line]), 1, result.err)

    def test_FC_B2_quiet_without_debug(self):
        """At the default level the skipped entries fill no log."""
        result = self.ok(self.half_state(), "scan")
        self.assertLessEqual(len(result.err.splitlines()), 1, result.err)

    def test_FC_B2_daemon_rescans_soon(self):
        """An incomplete view is looked at again long before the interval."""
        root = self.half_state()
        daemon = self.daemon(root)
        self.published(daemon, lambda labels: labels.get("gpu-10de.count") == "2")
        self.grow(root, "pci 0000:25:00.0 030000 10de:2204")
        self.published(daemon, lambda labels: labels.get("gpu-10de.count") == "3", 30)

    def test_FC_B3_vendor_label_is_always_there(self):
        """pci-<vendor>.present in every variant of class and configuration, finer keys beside it."""
        configs = {
            "": "{0}_10de",
            "sources: {pci: {deviceLabelFields: [vendor, device]}}\n": "10de_1eb8",
            "sources: {pci: {deviceLabelFields: [class, vendor, device, subsystem_vendor, subsystem_device]}}\n":
                "{0}_10de_1eb8_10de_12a2",
        }
        for accelerator in ("030200", "030000", "120000"):
            root = self.tree(
                f"pci 0000:3b:00.0 {accelerator} 10de:1eb8 10de:12a2", "pci 0000:00:03.0 030000 1d0f:1111"
            )
            for config, stem in configs.items():
                with self.subTest(accelerator=accelerator, config=config):
                    self.config.write_text(config)
                    labels = self.labels(root)
                    self.assertEqual(labels.get("pci-10de.present"), "true")
                    self.assertEqual(labels.get(f"pci-{stem.format(accelerator[:4])}.present"), "true")
                    self.assertEqual(labels.get("pci-1d0f.present"), "true")
                    self.assertEqual(labels.get("gpu-10de.count"), "1")
                    self.assert_none(labels, "gpu-1d0f")

    def test_FC_B3_keys_in_the_file(self):
        """Every key in the file carries its namespace (FeatureFile checks it)."""
        self.assertIn("pci-10de.present", self.publish(self.tree(SMALL)).labels)

    def test_FC_B3_label_white_list_cannot_take_it(self):
        """'Always written, whatever else is configured' (design.md 4): also against a white list."""
        self.config.write_text("core: {labelWhiteList: '^kernel-'}\n")
        labels = self.labels(self.tree(SMALL))
        self.assertEqual(select(labels, "pci-"), {"pci-10de.present": "true", "pci-14e4.present": "true"})
        self.assertIn("kernel-version.full", labels)

    def test_FC_B4_config_space_is_not_opened(self):
        """500 devices whose config is a FIFO without a writer: done within a second."""
        root = self.tree(*(f"pci 0000:{n >> 3:02x}:{n & 7:02x}.0 030000 10de:1eb8" for n in range(500)))
        for device in (root / PCI_DEVICES).iterdir():
            os.mkfifo(device / "config")
        start = time.monotonic()
        labels = self.labels(root, timeout=20)
        self.assertLess(time.monotonic() - start, 1.0)
        self.assertEqual(labels["gpu-10de.count"], "500")

    def test_FC_B4_without_uevent(self):
        """The same by the small attribute files, where uevent is missing."""
        root = self.tree(*(f"pci 0000:{n:02x}:00.0 030000 10de:1eb8 nouevent" for n in range(16)))
        for device in (root / PCI_DEVICES).iterdir():
            os.mkfifo(device / "config")
        labels = self.labels(root, timeout=20)
        self.assertEqual(labels["gpu-10de.count"], "16")
        self.assertEqual(labels["pci-0300_10de.present"], "true")

    def test_FC_B5_virtual_functions(self):
        """Physical and virtual functions are counted apart; no label per virtual function."""
        labels = self.labels(self.machine("intel-flex-sriov"))
        self.assertEqual(labels["gpu-8086.count"], "1")
        self.assertEqual(labels["gpu-8086.vf-count"], "63")
        self.assertEqual(labels["gpu-8086.driver.i915"], "1")
        self.assertNotIn("gpu-8086.driver.none", labels)
        self.assertEqual(labels["pci-8086.present"], "true")
        self.assertEqual(len(select(labels, "pci-8086", "pci-0300_8086")), 3)
        self.assertLess(len(labels), 30)

    def many(self):
        """More labels than a feature file may hold: 3,000 device ids, each with a label of its own."""
        self.config.write_text("sources: {pci: {deviceLabelFields: [class, vendor, device]}}\n")
        lines = (f"pci 0000:{n >> 8:02x}:{n >> 3 & 31:02x}.{n & 7} 020000 8086:{n + 4096:04x}" for n in range(3000))
        return self.tree(SMALL, *lines)

    def test_FC_B5_file_stays_under_the_cap(self):
        """Lower-value lines are left out first, the file stays small enough for NFD, and that is said."""
        root = self.many()
        result = self.ok(root, "publish", "--no-wait")
        file = self.feature_file()
        self.assertLessEqual(len(file.bytes), FILE_CAP)
        self.assertGreater(len(file.bytes), FILE_CAP // 2)
        for key in ("pci-10de.present", "pci-8086.present", "gpu-10de.count", "kernel-version.full"):
            self.assertIn(key, file.labels)
        self.assertTrue(result.err.strip(), "leaving lines out is worth a message")
        self.assertEqual(self.publish(root).identity, file.identity)
        self.assertLessEqual(len(self.ok(root, "scan", "-o", "feature-file").out.encode()), FILE_CAP)

    def test_FC_B6_who_holds_the_gpu(self):
        """A count per driver; audio functions are no GPUs; versions are those of the nvidia driver."""
        labels = self.labels(self.machine("drivers-mixed"))
        expected = {"none": "1", "nouveau": "1", "nvidia": "1", "vfio-pci": "1"}
        self.assertEqual(labels["gpu-10de.count"], "4")
        self.assertEqual(
            select(labels, "gpu-10de.driver."), {f"gpu-10de.driver.{name}": n for name, n in expected.items()}
        )
        self.assert_none(labels, "pci-0403", "driver-nouveau", "driver-vfio")
        self.assertEqual(labels["driver-nvidia.version.full"], "535.183.01")

    def test_FC_B7_no_pci_bus(self):
        """Without a PCI bus: exit 0, no PCI labels, USB and the rest as usual, no complaint."""
        for machine in ("arm-board", "vm-no-pci"):
            with self.subTest(machine):
                result = self.ok(self.machine(machine), "scan")
                self.assertNotIn("/pci-", result.out)
                self.assertIn("kernel-version.full=", result.out)
                self.assertEqual(result.err, "")
        self.assertIn("usb-fe_1a6e_089a.present", self.labels(self.machine("arm-board")))

    def test_FC_B7_jetson(self):
        """A Tegra GPU has a label; no pci-10de.present; the device tree's text is in no value."""
        labels = self.labels(self.machine("jetson"))
        self.assertTrue([key for key in labels if "tegra" in key.lower()], labels)
        self.assert_none(labels, "pci-")
        self.assert_legal(labels)
        self.assertFalse([value for value in labels.values() if "p3768" in value])

    def test_FC_B7_device_tree_alone(self):
        """The compatible list is split at NUL: tegra in the second entry counts, in the middle of a word not."""
        root = self.machine("jetson")
        shutil.rmtree(root / "sys/devices/soc0")
        self.assertTrue([key for key in self.labels(root) if "tegra" in key.lower()])
        (root / "proc/device-tree/compatible").write_bytes(b"example,not-nvidia,tegra234-like\0")
        self.assertFalse([key for key in self.labels(root) if "tegra" in key.lower()])
