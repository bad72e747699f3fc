# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases K (platforms) of spec/field-cases.md, each under its id."""

import os
import random
import shutil
from pathlib import Path

from mktree import make_tree
from program import MACHINES, PCI_DEVICES, ProgramTest, mask_expiry, select

SCANS = 20


class FieldCasesK(ProgramTest):
    """K1 and K2."""

    def test_FC_K1_wsl(self):
        """The paravirtual GPU has a label of its own; NVIDIA is named only with its library; never pci-10de."""
        root = self.machine("wsl2")
        labels = self.labels(root)
        self.assertEqual(labels["pci-1414.present"], "true")
        self.assert_none(labels, "pci-10de", "gpu-10de")
        own = select(labels, "gpu-")
        self.assertTrue(own)
        shutil.rmtree(root / "usr/lib/wsl")
        without = select(self.labels(root), "gpu-")
        self.assertTrue(without)
        self.assertTrue(set(without) < set(own), (without, own))
        self.assertFalse([key for key, value in without.items() if "nvidia" in key + value])

    def test_FC_K1_not_wsl(self):
        """The same device on another kernel (a Hyper-V guest) without dxg is just a PCI device."""
        root = self.tree("pci 1f3e:00:00.0 030000 1414:5353", "file proc/sys/kernel/osrelease 6.8.0-48-generic")
        self.assert_none(self.labels(root), "gpu-")

    def test_FC_K2_order_does_not_matter(self):
        """20 scans with the directory in another order each: byte-identical in every form."""
        text = (MACHINES / "mixed-gpus.tree").read_text()
        lines = [line for line in text.splitlines() if line.startswith("pci ")]
        # On tmpfs the order of a directory is that of its making; elsewhere it may be a hash.
        parent = self.temporary_directory("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        generator = random.Random(2)
        first, orders = {}, set()
        for number in range(SCANS):
            generator.shuffle(lines)
            root = Path(make_tree("\n".join(lines) + "\n", str(parent / f"root-{number}")))
            orders.add(tuple(os.listdir(root / PCI_DEVICES)))
            for form in ("text", "json", "feature-file", "nodefeature", "table"):
                out = self.ok(root, "--node-name", "a", "scan", "-o", form).out
                out = mask_expiry(out).replace(str(root), "ROOT")
                self.assertEqual(out, first.setdefault(form, out), form)
        if len(orders) < 2:
            self.skipTest("this file system does not show a directory in another order")

    def test_FC_K2_count_per_device(self):
        """All are counted, each device id for itself; the product is the compute GPUs', which agree."""
        labels = self.labels(self.machine("mixed-gpus"))
        self.assertEqual(labels["gpu-10de.count"], "5")
        self.assertEqual(labels["gpu-10de.device-20b2.count"], "4")
        self.assertEqual(labels["gpu-10de.device-1fb0.count"], "1")
        self.assertEqual(select(labels, "nvidia.com/gpu.product", "nvidia.com/gpu.count"), {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "4"})

    def test_FC_K2_repeated_publication(self):
        """Scan after scan of one machine rewrites nothing."""
        root = self.machine("mixed-gpus")
        first = self.publish(root)
        for _ in range(5):
            self.assertEqual(self.publish(root).identity, first.identity)
