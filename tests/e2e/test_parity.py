# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels that NFD writes have exactly the values that a stock nfd-worker gives on the same root.

The worker scans once and publishes a NodeFeature; its labels are compared with those of
"nfd-source scan". Roots: all descriptions in tests/fixtures/machines, made edge cases, this host.
"""

import re
import unittest

import process
from program import TOP, Program
from testcase import FEATURE, E2ETestCase

SOURCES = ("kernel", "pci", "system", "usb")
# Ours is wider than NFD's; the worker gets our class list.
OPTIONS = {"pci": {"deviceClassWhitelist": ["02", "03", "0b40", "12"]}}
# What both write: the two default fields for PCI, the three for USB, the version labels.
COMMON = re.compile(
    re.escape(FEATURE) +
    r"(pci-[0-9a-f]{4}_[0-9a-f]{4}\.(present|sriov\.capable)"
    r"|usb-[0-9a-f]{2}_[0-9a-f]{4}_[0-9a-f]{4}\.present"
    r"|kernel-version\..*|system-os_release\..*)")
NUMBERS = {f"{FEATURE}kernel-version.{part}" for part in ("major", "minor", "revision")}

EDGES = {
    "kernel-two-numbers": "\nfile proc/sys/kernel/osrelease 6.8\n",
    "kernel-four-numbers": "\nfile proc/sys/kernel/osrelease 5.15.167.4-x\n",
    "kernel-plus": "\nfile proc/sys/kernel/osrelease 6.1.0+deb12~1-\n",
    "os-release-quotes": "\nfile etc/os-release ID='rocky'\\nVERSION_ID=\"9\"\\nVERSION_ID=9.4.1\\n# x\\nBAD LINE\n",
    "os-release-rolling": "\nfile etc/os-release ID=arch\\nBUILD_ID=rolling\n",
    "pci-classes": "\npci 0000:01:00.0 0b4000 8086:0001\npci 0000:02:00.0 0b3000 8086:0002\n"
                   "pci 0000:03:00.0 038000 10de:0003 totalvfs=0\npci 0000:04:00.0 120000 1da3:0004\n",
    "pci-attribute-missing": "\npci 0000:01:00.0 030000 10de:0001\n"
                             "dir sys/devices/pci0000:02/0000:02:00.0\n"
                             "file sys/devices/pci0000:02/0000:02:00.0/class 0x030000\n"
                             "file sys/devices/pci0000:02/0000:02:00.0/vendor 0x1002\n"
                             "link sys/bus/pci/devices/0000:02:00.0 "
                             "../../../devices/pci0000:02/0000:02:00.0\n",
    "usb-classes": "\nusb usb1 09 1d6b:0002 if=09\nusb 1-1 00 046d:0825 if=0e,0e,01\n"
                   "usb 1-2 ff 0bda:8153\nusb 1-3 ef 8087:0a2b if=e0\n",
}


def common(labels):
    """The labels that both programs write."""
    return {key: value for key, value in labels.items() if COMMON.fullmatch(key)}


class Parity(E2ETestCase):
    """One comparison for each root."""

    maxDiff = None

    def nfd_labels(self, root):
        """The labels that nfd-worker publishes for a root: key -> value.

        They are those of our own Node's NodeFeature, which each call overwrites.
        """
        worker = self.make_worker(root=root, sources=SOURCES, options=OPTIONS)
        process.run(worker.command("-oneshot"), env=worker.environment())
        return self.cluster.node_feature(self.node)["spec"]["labels"]

    def compare(self, root):
        """Both programs on one root; returns the number of labels compared.

        Where NFD's pattern fails on a kernel release it has no numbers and ours has (FC-D3).
        """
        theirs = common(self.nfd_labels(root))
        ours = common(Program(self.directory, self.directory, self.node, root).scan())
        if not NUMBERS & theirs.keys():
            ours = {key: value for key, value in ours.items() if key not in NUMBERS}
        self.assertEqual(ours, theirs)
        return len(theirs)

    def compare_all(self, sources):
        """Compare on each of the named descriptions; they must not all be empty."""
        compared = 0
        for name, source in sources.items():
            with self.subTest(root=name):
                compared += self.compare(self.make_root(source))
        self.assertGreater(compared, 0, "no label was compared")

    def test_recorded_machines(self):
        machines = sorted((TOP / "tests/fixtures/machines").glob("*.tree"))
        self.compare_all({path.stem: path for path in machines})

    def test_edge_cases(self):
        self.compare_all(EDGES)

    def test_this_host(self):
        self.assertGreater(self.compare(None), 0)


if __name__ == "__main__":
    unittest.main()
