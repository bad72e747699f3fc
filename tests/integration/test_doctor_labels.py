# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: labels on the Node, files of features.d, leftovers of older set-ups (field case M1)."""

from doctor_case import UBUNTU, DoctorNodeTest, DoctorTest
from program import PREFIX

PRESENT = f"{PREFIX}pci-10de.present"
CLASS_FORM = f"{PREFIX}pci-0302_10de.present"
DEVICE_FORM = f"{PREFIX}pci-0302_10de_27b8.present"
LABELS = "Node metadata.labels"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"


class NodeLabels(DoctorNodeTest):
    """What operators select on."""

    def test_none(self):
        """No label of the GPU."""
        self.labelled({}, PRESENT)
        self.node_fires("GPU-NFD-NOLABEL", "critical", {LABELS: PRESENT}, ["nfd-source"])
        self.silent(self.machine(), "GPU-NFD-CLASS")

    def test_there(self):
        """Silent."""
        self.silent(self.machine(), "GPU-NFD-NOLABEL", "GPU-NFD-CLASS", "GPU-GFD-NOLABEL", "GPU-GFD-MIXED")

    def test_other_form(self):
        """The class in it: the GPU Operator takes that; a form with the device's number nobody takes."""
        for key, verdict in ((CLASS_FORM, "info"), (DEVICE_FORM, "warning")):
            with self.subTest(key):
                self.labelled({key: "true"}, PRESENT)
                self.node_fires("GPU-NFD-CLASS", verdict, {LABELS: key}, ["nfd-source"])
                self.silent(self.machine(), "GPU-NFD-NOLABEL")
                self.labelled({}, key)

    def test_apart(self):
        """Labels are no part of the chain: a mismatch does not explain that they are missing."""
        self.labelled({}, PRESENT)
        report = self.report(self.machine("doctor/story"))
        self.assertIsNone(self.find(report, "GPU-NFD-NOLABEL")["blockedBy"])
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")

    def test_no_product(self):
        """GFD ran and found nothing."""
        self.labelled({}, "nvidia.com/gpu.product")
        self.node_fires("GPU-GFD-NOLABEL", "warning", {"Node nvidia.com/gfd.timestamp": "1770000100",
                                                       "Node nvidia.com/gpu.product": "missing"},
                        ["gpu-feature-discovery"])
        self.labelled({}, "nvidia.com/gfd.timestamp")
        self.silent(self.machine(), "GPU-GFD-NOLABEL")

    def test_mixed(self):
        """Two models, one product label."""
        text = "file proc/driver/nvidia/gpus/0000:86:00.0/information Model: \\t\\t NVIDIA A10\\nDevice Minor: \\t 1"
        self.node_fires("GPU-GFD-MIXED", "info", {"proc/driver/nvidia/gpus": "NVIDIA L4, NVIDIA A10",
                                                  "Node nvidia.com/gpu.product": "NVIDIA-L4"},
                        root=self.machine(UBUNTU, text))

    def test_no_node(self):
        """Not checked without the Node."""
        report = self.report(self.machine(), "--no-api")
        for name in ("GPU-NFD-NOLABEL", "GPU-NFD-CLASS", "GPU-GFD-NOLABEL", "GPU-GFD-MIXED"):
            self.not_checked(report, name, "Node")


class FeatureFiles(DoctorTest):
    """features.d as nfd-worker sees it."""

    def put(self, name, text, mode=0o644):
        """A file in features.d; returns its path as evidence has it."""
        path = self.features / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return str(path)

    def fires_for(self, path, name, verdict, value, fix=()):
        """A row fires for a file; the file's path is the setting's, so it has a slash in front."""
        report = self.checked_loosely(self.run_doctor(self.machine(), "-o", "json"))
        finding = self.find(report, name)
        self.assertEqual(finding["verdict"], verdict, finding)
        self.assertTrue(any(one["path"].endswith(path.lstrip("/")) and value in one["value"]
                            for one in finding["evidence"]), finding)
        self.assert_fix(finding, *fix)

    def checked_loosely(self, result):
        """The report; features.d is no path below the root."""
        check, self.check_finding = self.check_finding, lambda *_: None
        try:
            return self.check_report(result)
        finally:
            self.check_finding = check

    def test_skipped(self):
        """What NFD does not read: a name with a dot, a mode, a size, a time."""
        rows = [
            (".gpu", "a=1\n", 0o644, "dot", "mv "),
            ("gpu", "a=1\n", 0o600, "0600", "chmod 0644"),
            ("gpu", "a=1\n" * 20000, 0o644, "65,536", "smaller"),
            ("gpu", f"# +expiry-time={PAST}\na=1\n", 0o644, PAST, "rm "),
        ]
        for name, text, mode, words, fix in rows:
            with self.subTest(words):
                path = self.put(name, text, mode)
                self.fires_for(path, "GPU-NFD-FEATFILE", "warning", words, [fix])
                (self.features / name).unlink()
        self.put("gpu", f"# +expiry-time={FUTURE}\nexample.com/a=1\n# comment\n\nb\n")
        (self.features / ".staging").mkdir()
        self.silent(self.machine(), "GPU-NFD-FEATFILE", "GPU-GFD-BADVALUE", "GPU-NFD-TWOWRITERS")

    def test_every_file_is_named(self):
        """Two files that are skipped are both in the evidence."""
        paths = [self.put("one", "a=1\n", 0o600), self.put("two", "b=1\n", 0o600)]
        report = self.checked_loosely(self.run_doctor(self.machine(), "-o", "json"))
        evidence = [one["path"] for one in self.find(report, "GPU-NFD-FEATFILE")["evidence"]]
        self.assertEqual(evidence, paths)

    def test_own_file(self):
        """What the program itself publishes is well."""
        self.publish(self.machine())
        self.silent(self.machine(), "GPU-NFD-FEATFILE", "GPU-GFD-BADVALUE", "GPU-NFD-TWOWRITERS")

    def test_bad_value(self):
        """A value that is no label value."""
        for value in ("x" * 64, "-x", "a b", "NVIDIA L4", "ä"):
            with self.subTest(value):
                path = self.put("gfd", f"nvidia.com/gpu.machine={value}\nnvidia.com/gpu.count=1\n")
                self.fires_for(path, "GPU-GFD-BADVALUE", "warning", "nvidia.com/gpu.machine=", ["63"])
        self.put("gfd", "nvidia.com/gpu.machine=PowerEdge-R750\na=@file\n")
        self.silent(self.machine(), "GPU-GFD-BADVALUE")

    def test_FC_M1_two_writers(self):
        """Two files with one key: a warning when they differ."""
        for value, verdict in (("true", "info"), ("false", "warning")):
            with self.subTest(value):
                self.put("a-ours", "pci-10de.present=true\n")
                path = self.put("gfd", f"{PRESENT}={value}\n")
                self.fires_for(path, "GPU-NFD-TWOWRITERS", verdict, value, ["writers"])
        (self.features / "gfd").unlink()
        self.silent(self.machine(), "GPU-NFD-TWOWRITERS")

    def test_FC_M1_hooks(self):
        """Executables in source.d; also on a node without a GPU."""
        hooks = self.tmp / "source.d"
        hooks.mkdir()
        (hooks / "README").write_text("x")
        self.silent(self.machine(), "GPU-NFD-HOOKS")
        (hooks / "gpu-hook").write_text("#!/bin/sh\n")
        (hooks / "gpu-hook").chmod(0o755)
        path = str(hooks / "gpu-hook")
        self.fires_for(path, "GPU-NFD-HOOKS", "warning", "executable", [f"rm {path}"])
        report = self.checked_loosely(self.run_doctor(self.machine("vm-no-pci"), "-o", "json"))
        self.assertEqual(self.find(report, "GPU-NFD-HOOKS")["verdict"], "warning")

    def test_no_directory(self):
        """Not checked."""
        report = self.report(self.machine(), settings={"outputs.featureFile.dir": self.tmp / "nowhere"})
        for name in ("GPU-NFD-FEATFILE", "GPU-GFD-BADVALUE", "GPU-NFD-TWOWRITERS"):
            self.not_checked(report, name, "nowhere")
