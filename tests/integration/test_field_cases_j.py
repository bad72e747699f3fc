# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases J (driver), as far as labels go, of spec/field-cases.md, each under its id."""

from program import PCI_DEVICES, SMALL, ProgramTest, select

COMPILER = "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2)"
LOADED = "module nvidia refcnt=3"

# First line after "NVRM version: ", version, flavor.
SHAPES = (
    ("NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024", "550.90.07", "proprietary"),
    (
        "NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build  (builder@host)  "
        "Thu Oct 10 12:29:05 UTC 2024",
        "565.57.01",
        "open",
    ),
    ("NVIDIA UNIX Open Kernel x86_64 Kernel Module  590.48.01  Mon Dec  8 13:05:00 UTC 2025", "590.48.01", "open"),
    ("NVIDIA UNIX Open Kernel Module for aarch64  35.3.1  Release Build  (builder@host)", "35.3.1", "open"),
    ("NVIDIA UNIX x86_64 Kernel Module  470.42", "470.42", "proprietary"),
)

# Library directories below the root, and one that must not count.
LIBRARY_DIRECTORIES = (
    "usr/lib64",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib/x86_64-linux-gnu/nvidia/current",
    "lib64",
    "home/kubernetes/bin/nvidia/lib64",
    "opt/nvidia/lib64",
    "usr/local/nvidia/lib64",
    "run/nvidia/driver/usr/lib/x86_64-linux-gnu",
)


def library(directory, version, bits=64):
    """The description lines of an installed libnvidia-ml."""
    name = f"libnvidia-ml.so.{version}"
    return f"elf {directory}/{name} {bits}\nlink {directory}/libnvidia-ml.so.1 {name}"


class FieldCasesJ(ProgramTest):
    """J1, and the labels of J2."""

    def driver(self, *texts):
        """The NVIDIA driver labels of a root."""
        labels = self.labels(self.tree(SMALL, *texts))
        self.assert_legal(labels)
        self.assertEqual(labels["pci-10de.present"], "true")
        stem = "driver-nvidia."
        return {key[len(stem) :]: value for key, value in select(labels, stem).items()}

    def test_FC_J1_shapes(self):
        """Each shape of the version line gives version, its parts and flavor; never the compiler's or the date's."""
        for line, version, flavor in SHAPES:
            with self.subTest(line):
                labels = self.driver(LOADED, f"file proc/driver/nvidia/version NVRM version: {line}\\n{COMPILER}")
                parts = dict(zip(("version.major", "version.minor", "version.revision"), version.split(".")))
                self.assertEqual(labels, {"flavor": flavor, "version.full": version, **parts})

    def test_FC_J1_module_file_wins(self):
        """The module's own version file is the better source where both are there."""
        labels = self.driver("nvidia 550.90.07 open loaded", "file sys/module/nvidia/version 550.90.12")
        self.assertEqual(labels["version.full"], "550.90.12")
        self.assertEqual(labels["flavor"], "open")

    def test_FC_J1_fallback(self):
        """Only sys/module/nvidia/version: the version is known, the flavor is not guessed."""
        for more in ("", "file proc/driver/nvidia/version \\c"):
            with self.subTest(more):
                labels = self.driver("module nvidia version=550.90.07 refcnt=0", more)
                self.assertEqual(labels["version.full"], "550.90.07")
                self.assertEqual(labels["version.revision"], "07")
                self.assertNotIn("flavor", labels)

    def test_FC_J1_taint_tells(self):
        """The kernel marks itself with P for the proprietary module."""
        labels = self.driver("module nvidia version=550.90.07 refcnt=0", "file sys/module/nvidia/taint POE")
        self.assertEqual(labels.get("flavor"), "proprietary")

    def test_FC_J1_empty_or_garbage(self):
        """An empty file, or one without a version: no version label."""
        for text in ("\\c", "", "NVRM version: unknown", COMPILER, "\\xff\\xfe\\0\\0", "NVRM version: Module  x.y.z"):
            with self.subTest(text):
                self.assertEqual(select(self.driver(LOADED, f"file proc/driver/nvidia/version {text}"), "version"), {})

    def test_FC_J1_not_loaded(self):
        """No module: no driver labels, the device's label stays."""
        self.assertEqual(self.driver(), {})
        self.assertEqual(self.driver("dir sys/module/nvidia/parameters"), {})

    def test_FC_J2_labels_of_a_mismatch(self):
        """The labels give the loaded version; match compares the two strings."""
        for installed, match in (("550.90.07", "true"), ("550.107.02", "false"), ("550.90", "false")):
            with self.subTest(installed):
                labels = self.driver("nvidia 550.90.07 proprietary loaded", library("usr/lib64", installed))
                self.assertEqual(labels["version.full"], "550.90.07")
                self.assertEqual(labels["library.version.full"], installed)
                self.assertEqual(labels["match"], match)

    def test_FC_J2_match_needs_both(self):
        """Unknown is not false: without library or without module there is no match label."""
        self.assertNotIn("match", self.driver("nvidia 550.90.07 open loaded"))
        labels = self.driver(library("usr/lib64", "550.107.02"))
        self.assertEqual(labels, {"library.version.full": "550.107.02"})

    def test_FC_J2_library_places(self):
        """Every place of spec/gpu-stack.md 2.3 is looked at."""
        for directory in LIBRARY_DIRECTORIES:
            with self.subTest(directory):
                labels = self.driver("nvidia 550.90.07 open loaded", library(directory, "550.90.07"))
                self.assertEqual(labels.get("match"), "true")

    def test_FC_J2_32_bit_library(self):
        """A 32-bit library is none."""
        labels = self.driver("nvidia 550.90.07 open loaded", library("usr/lib64", "550.107.02", 32))
        self.assertNotIn("match", labels)
        self.assertNotIn("library.version.full", labels)

    def test_FC_J2_links_stay_inside(self):
        """An absolute link is resolved below the root, one out of the root or in a circle is no library."""
        labels = self.driver(
            "nvidia 550.90.07 open loaded",
            "elf opt/driver/libnvidia-ml.so.550.90.07 64",
            "link usr/lib64/libnvidia-ml.so.1 /opt/driver/libnvidia-ml.so.550.90.07",
        )
        self.assertEqual(labels.get("match"), "true")
        for target in ("libnvidia-ml.so.1", "../../../../../../etc/hostname", "libnvidia-ml.so.550.1.1"):
            with self.subTest(target):
                labels = self.driver("nvidia 550.90.07 open loaded", f"link usr/lib64/libnvidia-ml.so.1 {target}")
                self.assertNotIn("match", labels)

    def test_FC_J4_container_driver(self):
        """The driver container's root comes first; an empty leftover of it is skipped."""
        host = library("usr/lib64", "550.107.02")
        container = library("run/nvidia/driver/usr/lib64", "550.90.07")
        loaded = "nvidia 550.90.07 open loaded"
        self.assertEqual(self.driver(loaded, host, container)["library.version.full"], "550.90.07")
        self.assertEqual(self.driver(loaded, host, "dir run/nvidia/driver")["library.version.full"], "550.107.02")

    def test_FC_J_driver_of_other_vendors(self):
        """A version file of a loaded module gives labels; a module that states none, or is not loaded, does not."""
        root = self.tree(
            SMALL,
            "module amdgpu version=6.10.5 refcnt=1",
            "module i915 refcnt=1",
            "dir sys/module/habanalabs/parameters",
        )
        labels = select(self.labels(root), "driver-")
        parts = {"full": "6.10.5", "major": "6", "minor": "10", "revision": "5"}
        self.assertEqual(labels, {f"driver-amdgpu.version.{part}": value for part, value in parts.items()})
        self.assertTrue((root / PCI_DEVICES).is_dir())
