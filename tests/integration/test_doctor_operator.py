# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: the GPU Operator's traces and the device plugin (field case J5), by files alone."""

from doctor_case import BOOT_S, UBUNTU, DoctorTest
from test_doctor_driver import VERSION

VALIDATIONS = "run/nvidia/validations"
FOLDER = "var/lib/kubelet/device-plugins"
CHECKPOINT = f"{FOLDER}/kubelet_internal_checkpoint"
PLUGIN = f"{FOLDER}/nvidia-gpu.sock"


def checkpoint(resources):
    """Lines that put another record in the place of the kubelet's."""
    text = f'{{"Data":{{"PodDeviceEntries":null,"RegisteredDevices":{{{resources}}}}},"Checksum":0}}'
    return [f"file {CHECKPOINT} {text}\\c", f"mtime {CHECKPOINT} {BOOT_S + 61}"]


class Operator(DoctorTest):
    """Validation files, driver container, validator."""

    def test_toolkit(self):
        """driver-ready without toolkit-ready."""
        root = self.machine(UBUNTU, f"remove {VALIDATIONS}/toolkit-ready", f"remove {VALIDATIONS}/cuda-ready")
        self.both_ways(root, "GPU-TK-NOTREADY", "warning",
                       {f"{VALIDATIONS}/driver-ready": "there", f"{VALIDATIONS}/toolkit-ready": "missing"}, ["toolkit"])
        self.silent(root, "GPU-VAL-CUDA")

    def test_cuda(self):
        """toolkit-ready without cuda-ready."""
        self.both_ways(self.machine(UBUNTU, f"remove {VALIDATIONS}/cuda-ready"), "GPU-VAL-CUDA", "warning",
                       {f"{VALIDATIONS}/toolkit-ready": "there", f"{VALIDATIONS}/cuda-ready": "missing"},
                       ["kubectl logs -n gpu-operator"])

    def test_misread(self):
        """A host driver that fails, and a validator that waits: blocked by the mismatch."""
        finding = self.both_ways(self.machine("doctor/story"), "GPU-OP-HOSTMISREAD", "warning",
                                 {f"{VALIDATIONS}/driver-ready": "missing"}, ["not the operator"])
        self.assertEqual(finding["blockedBy"], "GPU-DRV-MISMATCH")
        self.silent(self.machine(UBUNTU, f"remove {VALIDATIONS}/driver-ready"), "GPU-OP-HOSTMISREAD")

    def test_driver_container(self):
        """One that runs and is not ready."""
        root = self.machine(UBUNTU, "file run/nvidia/nvidia-driver.pid 4242")
        self.both_ways(root, "GPU-OP-DRVCTR-WAIT", "warning", {f"{VALIDATIONS}/.driver-ctr-ready": "missing"},
                       ["kubectl logs -n gpu-operator -l app=nvidia-driver-daemonset"])
        self.change(root, f"file {VALIDATIONS}/.driver-ctr-ready GDRCOPY_ENABLED: false")
        self.silent(root, "GPU-OP-DRVCTR-WAIT")

    def test_stale_mount(self):
        """The validator's view of the driver's directory was replaced."""
        line = "812 799 0:25 /nvidia/driver{} /run/nvidia/driver rw,nosuid - tmpfs tmpfs rw"
        process = "process 3000 nvidia-validator start=100"
        self.both_ways(self.machine(UBUNTU, process, "file proc/3000/mountinfo " + line.format("//deleted")),
                       "GPU-OP-STALEMOUNT", "critical", {"proc/3000/mountinfo": "//deleted"},
                       ["kubectl delete pod -n gpu-operator -l app=nvidia-operator-validator"])
        self.silent(self.machine(UBUNTU, process, "file proc/3000/mountinfo " + line.format("")), "GPU-OP-STALEMOUNT")

    def test_no_operator(self):
        """Not there: not checked."""
        report = self.report(self.machine("doctor/k3s"))
        for name in ("GPU-TK-NOTREADY", "GPU-VAL-CUDA", "GPU-OP-DRVCTR-WAIT"):
            self.not_checked(report, name, "no GPU Operator")

    def test_container_driver(self):
        """A driver container in order: its root has the library, the host none."""
        root = self.machine(
            UBUNTU, "remove usr/lib/x86_64-linux-gnu", "remove usr/lib/modules", "remove var/lib/dpkg",
            "remove run/cdi",
            "remove var/log/kern.log", f"file {VALIDATIONS}/.driver-ctr-ready x", "file run/nvidia/nvidia-driver.pid 1",
            f"elf run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{VERSION} 64",
            "link run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 "
            f"libnvidia-ml.so.{VERSION}", "dir var/lib/dpkg", "dpkg bash 5.2")
        report = self.report(root)
        self.assertIn(report["verdict"], ("ok", "info"), self.brief(report))


class Plugin(DoctorTest):
    """Socket and checkpoint."""

    def test_FC_J5_not_registered(self):
        """(a) kubelet.sock only."""
        root = self.machine(UBUNTU, f"remove {PLUGIN}")
        self.both_ways(root, "GPU-DP-NOTREG", "critical", {FOLDER: "nvidia"}, ["kubectl delete pod"])

    def test_FC_J5_older_socket(self):
        """(b) older than the kubelet's; (c) newer."""
        root = self.machine(UBUNTU, f"mtime {FOLDER}/kubelet.sock {BOOT_S + 4000}")
        finding = self.both_ways(root, "GPU-DP-DEADSOCK", "warning",
                                 {PLUGIN: "2026-02-02T02:41:00Z", f"{FOLDER}/kubelet.sock": "2026-02-02T03:46:40Z"},
                                 ["kubectl delete pod"])
        self.assertIn("restarted", finding["cause"])

    def test_FC_J5_no_directory(self):
        """(d) not checked, said so."""
        report = self.report(self.machine(UBUNTU, "remove var/lib/kubelet"))
        for name in ("GPU-DP-NOTREG", "GPU-DP-DEADSOCK", "GPU-DP-NODEV", "GPU-DP-REBOOTADMIT"):
            self.not_checked(report, name, "no kubelet")

    def test_other_sockets(self):
        """Shared and MIG sockets are the plugin's, others are not."""
        for name in ("nvidia-gpu.shared.sock", "nvidia-mig-1g.5gb.sock"):
            with self.subTest(name):
                root = self.machine(UBUNTU, f"remove {PLUGIN}", f"file {FOLDER}/{name} \\c",
                                    f"mtime {FOLDER}/{name} {BOOT_S + 60}")
                self.silent(root, "GPU-DP-NOTREG", "GPU-DP-DEADSOCK")
        root = self.machine(UBUNTU, f"remove {PLUGIN}", f"file {FOLDER}/intel.com-gpu.sock \\c")
        self.fires(root, "GPU-DP-NOTREG", "critical")

    def test_no_device(self):
        """The plugin runs and the kubelet knows no GPU of it."""
        for resources in ("", '"nvidia.com/gpu":[]', '"nvidia.com/gpu":null', '"intel.com/gpu":["a"]'):
            with self.subTest(resources):
                root = self.machine(UBUNTU, *checkpoint(resources))
                self.both_ways(root, "GPU-DP-NODEV", "critical",
                               {CHECKPOINT: "nvidia.com/gpu", "proc": "pid 2000"}, ["kubectl delete pod"])
        root = self.machine(UBUNTU, "remove proc/2000", *checkpoint(""))
        self.fires(root, "GPU-DP-NOTREG", "critical", {CHECKPOINT: "nvidia.com/gpu"})

    def test_devices(self):
        """MIG devices, shared ones."""
        for resources in ('"nvidia.com/mig-1g.5gb":["MIG-1"]', '"nvidia.com/gpu.shared":["GPU-1::0"]',
                          '"nvidia.com/gpu":["GPU-1::0","GPU-1::1"]'):
            with self.subTest(resources):
                self.silent(self.machine(UBUNTU, *checkpoint(resources)), "GPU-DP-NODEV", "GPU-DP-NOTREG")

    def test_no_checkpoint(self):
        """Missing, no JSON, or JSON of another shape: not checked, never a fault."""
        for line in (f"remove {CHECKPOINT}", f"file {CHECKPOINT} {{", f"file {CHECKPOINT} []", f"file {CHECKPOINT} \\c",
                     f'file {CHECKPOINT} {{"Data":5}}'):
            with self.subTest(line):
                report = self.report(self.machine(UBUNTU, line))
                self.assertIsNone(report["cause"], self.brief(report))
                self.not_checked(report, "GPU-DP-NODEV", "kubelet_internal_checkpoint")

    def test_older_than_the_boot(self):
        """The record of before the reboot still lists the GPUs."""
        root = self.machine(UBUNTU, f"mtime {CHECKPOINT} {BOOT_S - 1000}")
        self.both_ways(root, "GPU-DP-REBOOTADMIT", "warning", {CHECKPOINT: "2026-02-02T02:23:20Z"},
                       ["status.phase=Failed"])

    def test_two_folders(self):
        """A second kubelet root with a folder of its own."""
        for other in ("var/lib/k0s/kubelet/device-plugins",
                      "var/snap/microk8s/common/var/lib/kubelet/device-plugins"):
            with self.subTest(other):
                root = self.machine(UBUNTU, f"file {other}/kubelet.sock \\c")
                self.both_ways(root, "GPU-DP-WRONGDIR", "warning", {FOLDER: "there", other: "there"}, ["kubelet.sock"])

    def test_kubelet_root_is_a_link(self):
        """microk8s links var/lib/kubelet to its own place by an absolute path; both are one folder."""
        line = "link var/lib/kubelet /var/snap/microk8s/common/var/lib/kubelet"
        root = self.machine(UBUNTU)
        (root / "var/snap/microk8s/common/var/lib").mkdir(parents=True)
        (root / "var/lib/kubelet").rename(root / "var/snap/microk8s/common/var/lib/kubelet")
        self.change(root, line)
        report = self.report(root)
        self.assertEqual(report["findings"], [], self.brief(report))
        base = "var/snap/microk8s/common/var/lib/kubelet/device-plugins"
        self.change(root, f"mtime {base}/kubelet.sock {BOOT_S + 4000}")
        self.fires(root, "GPU-DP-DEADSOCK", "warning")
