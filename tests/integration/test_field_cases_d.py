# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases D (label text) and the local part of E (node name) of spec/field-cases.md, each under its id.

The sanitiser has unit tests of its own; here is what of it shows from outside.
"""

import ctypes
import socket

from namespace import CLONE_NEWUTS, run_in_child, unshare
from program import SMALL, ProgramTest, load_json, parse_lines, select

NODE_LABEL = "nfd.node.kubernetes.io/node-name"
CLOUD_NAME = "ip-10-67-12-187.ec2.internal"

NAMES = (
    "NVIDIA TITAN X (Pascal)",
    "AMD Instinct MI250X / MI250",
    "Intel® Arc™ A770",
    "GeForce RTX 4090 -",
    "(((",
    "",
    "two\\nlines",
    "-.-",
    "\\xff\\xfe",
    "tab\\tand\\x01control",
    "equals=sign",
    "# comment",
)


class FieldCasesD(ProgramTest):
    """D1 to D3."""

    def kernel(self, release):
        """The kernel labels for a release string."""
        root = self.tree("dir sys/bus/pci/devices", f"file proc/sys/kernel/osrelease {release}")
        labels = self.labels(root)
        self.assert_legal(labels)
        return {key.rsplit(".", 1)[1]: value for key, value in select(labels, "kernel-version.").items()}

    def test_FC_D1_one_bad_text_costs_no_other_label(self):
        """Whatever a file says: labels are legal, lines stay lines, and the other labels are all there."""
        for name in NAMES:
            with self.subTest(name):
                root = self.tree(
                    SMALL,
                    f"file etc/os-release ID={name}\\nVERSION_ID=24.04",
                    f"file proc/sys/kernel/osrelease {name}",
                    f"module nvidia refcnt=1\nfile sys/module/nvidia/version {name}",
                    f"module amdgpu refcnt=1\nfile sys/module/amdgpu/version {name}",
                )
                labels = self.labels(root)
                self.assert_legal(labels)
                self.assertEqual(labels.get("pci-10de.present"), "true")
                self.assertEqual(labels.get("gpu-10de.count"), "1")
                self.assertEqual(labels.get("system-os_release.VERSION_ID"), "24.04")
                self.assertEqual(self.publish(root).labels, labels)

    def test_FC_D1_driver_name_in_a_key(self):
        """A driver's name becomes part of a key: an illegal one gives no illegal key."""
        names = ("my_driver", "drv+x", "a" * 80, "-drv-")
        lines = (f"pci 0000:0{n}:00.0 030000 10de:1eb8 driver={name}" for n, name in enumerate(names, 1))
        labels = self.labels(self.tree(*lines))
        self.assert_legal(labels)
        self.assertEqual(labels["gpu-10de.count"], "4")
        self.assertEqual(labels["gpu-10de.driver.my_driver"], "1")

    def test_FC_D2_long_values(self):
        """63 characters stay; more never give an illegal or a cut-open value."""
        release = "6.8.0-" + "x" * 57
        self.assertEqual(self.kernel(release)["full"], release)
        for tail in ("x" * 58, "x" * 56 + "-yz", "x" * 200):
            with self.subTest(len(tail)):
                found = self.kernel("6.8.0-" + tail)
                self.assertEqual((found["major"], found["minor"], found["revision"]), ("6", "8", "0"))

    def test_FC_D2_model_names_are_no_keys(self):
        """Keys are made of ids and driver names: device names from the id table appear in none."""
        for key in self.labels(self.machine("server-l4")):
            self.assertNotRegex(key, r"(?i)AD104|L4|geforce|tesla")

    def test_FC_D3_kernel_releases(self):
        """Illegal characters become '_'; the numbers are read all the same."""
        rows = {
            "4.9.140-l4t-r32.3.1+g47e7e1cb0b49": ("4.9.140-l4t-r32.3.1_g47e7e1cb0b49", "4", "9", "140"),
            "6.1.0~rc4-amd64": ("6.1.0_rc4-amd64", "6", "1", "0"),
            "5.15.167.4-microsoft-standard-WSL2": ("5.15.167.4-microsoft-standard-WSL2", "5", "15", "167"),
            "6.8.0-48-generic+": ("6.8.0-48-generic", "6", "8", "0"),
        }
        for release, (full, major, minor, revision) in rows.items():
            with self.subTest(release):
                expected = {"full": full, "major": major, "minor": minor, "revision": revision}
                self.assertEqual(self.kernel(release), expected)

    def test_FC_D3_no_version_in_it(self):
        """A release without numbers gives its full text only."""
        self.assertEqual(self.kernel("custom-build"), {"full": "custom-build"})


class FieldCasesE(ProgramTest):
    """E1, as far as it shows without an API server."""

    def node_name(self, *arguments, host_name=None, **options):
        """The node name that a NodeFeature of ours would carry."""
        root = self.tree(SMALL, f"file proc/sys/kernel/hostname {host_name or socket.gethostname()}")
        out = self.ok(root, *arguments, "scan", "-o", "nodefeature", **options).out
        metadata = load_json(out)["metadata"]
        self.assertEqual(metadata["name"], metadata["labels"][NODE_LABEL] + "-nfd-source")
        return metadata["labels"][NODE_LABEL]

    def test_FC_E1_order(self):
        """The option and --set win over NODE_NAME."""
        environment = {"NODE_NAME": CLOUD_NAME}
        self.assertEqual(self.node_name("--node-name", "by-option", env=environment), "by-option")
        self.assertEqual(self.node_name("--set", "core.nodeName=by-set", env=environment), "by-set")
        self.assertEqual(self.node_name(env=environment), CLOUD_NAME)

    def with_host_name(self, name, expected):
        """In a UTS namespace of its own: the host name in lower case."""
        unshare(CLONE_NEWUTS)
        if ctypes.CDLL(None).sethostname(name.encode(), len(name)) != 0:
            self.skipTest("cannot set a host name")
        self.assertEqual(socket.gethostname(), name)
        self.assertEqual(self.node_name(host_name=name), expected)

    def test_FC_E1_host_name(self):
        """Without option and NODE_NAME: the host name in lower case."""
        run_in_child(self.with_host_name, "GPU-Box7", "gpu-box7")

    def without_host_name(self):
        """In a UTS namespace of its own: the kernel's word for no host name is no name of a node."""
        unshare(CLONE_NEWUTS)
        if ctypes.CDLL(None).sethostname(b"(none)", 6) != 0:
            self.skipTest("cannot set a host name")
        result = self.run_program(self.tree(SMALL), "scan", "-o", "nodefeature")
        self.assertEqual(result.code, 1, result)
        self.assertNotIn("none", result.out)
        self.ok(self.tree(SMALL), "scan")

    def test_FC_E1_no_host_name(self):
        """Without any name: no NodeFeature, and everything else works."""
        run_in_child(self.without_host_name)

    def test_FC_E1_empty_variable(self):
        """An empty NODE_NAME counts as unset."""
        self.assertEqual(self.node_name(env={"NODE_NAME": ""}), socket.gethostname().lower())

    def test_FC_E1_feature_file_needs_no_name(self):
        """The feature file does not depend on the node name."""
        root = self.tree(SMALL)
        first = self.ok(root, "--node-name", "a", "scan", "-o", "feature-file").out
        second = self.ok(root, "--node-name", "b", "scan", "-o", "feature-file").out
        self.assertEqual(parse_lines(first), parse_lines(second))
