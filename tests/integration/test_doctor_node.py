# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: what the Node object says, by the scripted API server; each row on a fault and on a Node without it."""

from api_helper import NODE
from doctor_case import BAD, UBUNTU, DoctorNodeTest
from fake_api import status
from https_server import Silence
from test_doctor_driver import FIRST, UNLOADED, held_by
from test_doctor_library import library

N = "nvidia.com/"
DEPLOY = f"{N}gpu.deploy."
UPGRADE = f"{N}gpu-driver-upgrade-state"
ALLOCATABLE, CAPACITY = "Node status.allocatable", "Node status.capacity"


class Healthy(DoctorNodeTest):
    """A Node in order."""

    def test_silent(self):
        """No finding, the rows of the Node were looked at, one request was made."""
        report = self.report(self.machine())
        self.assertEqual(report["findings"], [], self.brief(report))
        skipped = {check["id"] for check in report["checks"] if check["verdict"] == "not-checked"}
        self.assertEqual({name for name in skipped if name.startswith(("GPU-OP", "GPU-NODE", "GPU-MIG"))}, set())
        self.assertEqual(self.api.counts(), {"get": 1})

    def test_no_answer(self):
        """What the API server refuses or is too slow for is not checked, and the reason is told."""
        for reply, words in ((status(403, "nodes is forbidden"), "forbidden"), (status(404, "not found"), "404"),
                             (status(500, "broken"), "500")):
            with self.subTest(words):
                self.api.inject("GET", "/nodes/", *[reply] * 5)
                report = self.report(self.machine())
                self.not_checked(report, "GPU-NODE-CAPACITY", words)
                self.not_checked(report, "GPU-NFD-NOLABEL", words)
                self.assertEqual(report["verdict"], "ok")
                self.api.calm()

    def test_silence(self):
        """A server that says nothing costs the deadline, no more."""
        self.api.always("GET", "/nodes/", Silence())
        report = self.report(self.machine(), settings={"api.deadline": "1s"})
        self.not_checked(report, "GPU-NODE-CAPACITY", "Node")

    def test_not_asked(self):
        """--no-api."""
        report = self.report(self.machine(), "--no-api")
        self.not_checked(report, "GPU-NODE-CAPACITY", "not to be asked")
        self.assertEqual(self.api.counts(), {})

    def test_no_credentials(self):
        """The reason says what would be needed."""
        report = self.report(self.machine(), settings={"api.kubeconfig": ""})
        self.not_checked(report, "GPU-NODE-CAPACITY", "credentials")

    def test_hostile_node(self):
        """Labels and resources of other types and sizes."""
        node = self.api.node
        for labels, resources in (({}, {}), (None, None), ([], "x"),
                                  ({"a": 5, "b": None, "c": ["x"]}, {"nvidia.com/gpu": 2}),
                                  ({f"{DEPLOY}x\x1b": "false\x1b[31m\n"}, {f"{N}gpu": "9" * 400}), ("x", [1])):
            with self.subTest((labels, resources)):
                node["metadata"]["labels"] = labels
                node["status"] = {"capacity": resources, "allocatable": resources}
                self.report(self.machine())
                self.assertNotRegex(self.run_doctor(self.machine()).out, "[\x00-\x09\x0b-\x1f\x7f]")


class Capacity(DoctorNodeTest):
    """What it advertises."""

    def test_none(self):
        """0, or nothing at all."""
        for resources, words in (({f"{N}gpu": "0"}, "gpu: 0"), ({}, "missing")):
            with self.subTest(words):
                self.resources({f"{N}gpu": "2"}, resources)
                self.node_fires("GPU-NODE-CAPACITY", "critical",
                                {ALLOCATABLE: words, "sys/bus/pci/devices": "2 NVIDIA GPUs"})

    def test_blocked(self):
        """The mismatch explains it, and what lies between."""
        self.resources({f"{N}gpu": "2"}, {f"{N}gpu": "0"})
        report = self.report(self.machine("doctor/story"))
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")
        for name in ("GPU-NODE-CAPACITY", "GPU-DP-NOTREG", "GPU-OP-HOSTMISREAD"):
            self.assertEqual(self.find(report, name)["blockedBy"], "GPU-DRV-MISMATCH")

    def test_other_resources(self):
        """MIG devices, and shared GPUs under the name that the plugin gives them."""
        for resources in ({f"{N}mig-1g.5gb": "7"}, {f"{N}gpu.shared": "8", f"{N}gpu": "0"}, {f"{N}gpu.shared": "8"}):
            with self.subTest(resources):
                self.resources(resources)
                self.silent(self.machine(), "GPU-NODE-CAPACITY")

    def test_fewer(self):
        """One of two, though all are healthy for the plugin: the row says that it finds this."""
        self.resources({f"{N}gpu": "1"})
        report = self.report(self.machine())
        self.assertIn(self.find(report, "GPU-NODE-CAPACITY")["verdict"], BAD)

    def test_unhealthy(self):
        """allocatable below capacity."""
        self.resources({f"{N}gpu": "2"}, {f"{N}gpu": "1"})
        finding = self.node_fires("GPU-DP-UNHEALTHY", "warning", {ALLOCATABLE: "gpu: 1", CAPACITY: "gpu: 2"},
                                  ["kubectl delete pod"])
        self.assertIn("1 of 2", finding["cause"])

    def test_leftover(self):
        """A name at 0 beside MIG resources."""
        self.resources({f"{N}gpu": "0", f"{N}mig-1g.5gb": "7"})
        self.node_fires("GPU-DP-LEFTOVER", "info", {CAPACITY: "gpu: 0"}, ["systemctl restart kubelet"])


class Operator(DoctorNodeTest):
    """Its labels."""

    def test_disabled(self):
        """Switched off by a label."""
        for part in ("operands", "device-plugin"):
            with self.subTest(part):
                self.labelled({f"{DEPLOY}{part}": "false"})
                self.node_fires("GPU-OP-DISABLED", "warning", {f"{DEPLOY}{part}": "false"},
                                [f"kubectl label node {NODE} {DEPLOY}{part}-"])
                self.labelled({}, f"{DEPLOY}{part}")

    def test_paused(self):
        """An upgrade paused every operand: each label has to be set again."""
        parts = ("dcgm", "dcgm-exporter", "device-plugin", "gpu-feature-discovery")
        self.labelled({f"{DEPLOY}{part}": "paused-for-driver-upgrade" for part in parts})
        finding = self.node_fires("GPU-OP-PAUSED", "critical", {f"{DEPLOY}dcgm": "paused"}, ["kubectl label node"])
        for part in parts:
            self.assertIn(f"{DEPLOY}{part}=true", " ".join(finding["fix"]))
        self.assertEqual(finding["fix"][-1], f"kubectl uncordon {NODE}")

    def test_upgrade(self):
        """Each state but the last."""
        for state, verdict in (("upgrade-required", "warning"), ("drain-required", "warning"),
                               ("upgrade-failed", "critical")):
            with self.subTest(state):
                self.labelled({UPGRADE: state})
                self.node_fires("GPU-OP-UPGRADESTUCK", verdict, {f"Node {UPGRADE}": state}, ["reboot"])
        self.labelled({UPGRADE: "upgrade-done"})
        self.silent(self.machine(), "GPU-OP-UPGRADESTUCK")

    def test_busy(self):
        """A module that holds the driver is a fault only while that is to be replaced."""
        for module in ("gdrdrv", "nvidia_peermem", "nvidia_fs"):
            with self.subTest(module):
                root = self.machine(UBUNTU, f"module {module}")
                self.labelled({UPGRADE: "pod-restart-required"})
                self.node_fires("GPU-OP-DRVMGR-BUSY", "warning", {f"sys/module/{module}": "there"},
                                ["kubectl drain", f"rmmod {module}"], root)
                self.labelled({UPGRADE: "upgrade-done"})
                self.silent(root, "GPU-OP-DRVMGR-BUSY")

    def test_driver_container(self):
        """The label wants one."""
        self.labelled({f"{DEPLOY}driver": "true"})
        self.node_fires("GPU-OP-DRVCTR-WAIT", "warning", None, [f"spec.nodeName={NODE}"])

    def test_system_labels(self):
        """Each one missing is named."""
        for key in ("kernel-version.full", "system-os_release.ID", "system-os_release.VERSION_ID"):
            with self.subTest(key):
                value = self.api.labels.pop(f"feature.node.kubernetes.io/{key}")
                self.node_fires("GPU-OP-NOOSLABEL", "warning", {f"feature.node.kubernetes.io/{key}": "missing"},
                                ["nfd-source"])
                self.labelled({f"feature.node.kubernetes.io/{key}": value})
        del self.api.labels["feature.node.kubernetes.io/system-os_release.VERSION_ID"]
        self.silent(self.machine(UBUNTU, "file etc/os-release ID=arch"), "GPU-OP-NOOSLABEL")

    def test_mofed(self):
        """The network driver is waited for, until its file is there."""
        key = "network.nvidia.com/operator.mofed.wait"
        self.labelled({key: "true"})
        self.node_fires("GPU-MOFED-WAIT", "warning", {f"Node {key}": "true",
                                                      "run/mellanox/drivers/.driver-ready": "missing"})
        self.silent(self.machine(UBUNTU, "file run/mellanox/drivers/.driver-ready x"), "GPU-MOFED-WAIT")
        self.labelled({key: "false"})
        self.silent(self.machine(), "GPU-MOFED-WAIT")

    def test_mps(self):
        """The control daemon."""
        self.labelled({f"{N}gpu.sharing-strategy": "mps"})
        self.node_fires("GPU-MPS-DAEMON", "warning", {f"Node {N}gpu.sharing-strategy": "mps"},
                        [f"kubectl label node {NODE} {N}mps.capable=true"])
        self.silent(self.machine(UBUNTU, "file run/nvidia/mps/.ready x"), "GPU-MPS-DAEMON")
        self.labelled({f"{N}gpu.sharing-strategy": "time-slicing"})
        self.silent(self.machine(), "GPU-MPS-DAEMON")

    def test_vfio(self):
        """GPUs of virtual machines: an error where the Node is meant for another workload."""
        root = self.machine(UBUNTU, *held_by(FIRST, "vfio-pci"))
        for workload, verdict in (("container", "critical"), ("vm-vgpu", "critical"), ("vm-passthrough", "info")):
            with self.subTest(workload):
                self.labelled({f"{N}gpu.workload.config": workload})
                self.node_fires("GPU-DRV-VFIO", verdict, {f"Node {N}gpu.workload.config": workload}, root=root)

    def test_driver_is_the_operators(self):
        """No driver yet, and the label says that the operator brings one: the container is waited for (spec 6)."""
        self.labelled({f"{DEPLOY}driver": "true"})
        root = self.machine(UBUNTU, *UNLOADED, "remove usr/lib/modules",
                            *[line for line in library("x") if line.startswith("remove")])
        report = self.report(root)
        verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
        self.assertNotEqual(verdicts["GPU-DRV-ABSENT"], "critical", self.brief(report))


class Mig(DoctorNodeTest):
    """MIG, IMEX, vGPU."""

    def test_invalid(self):
        """The product label says so."""
        self.labelled({f"{N}gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID"})
        self.node_fires("GPU-MIG-INVALID", "critical", {f"Node {N}gpu.product": "MIG-INVALID"}, [f"{N}mig.config="])

    def test_pending(self):
        """The MIG manager failed."""
        self.labelled({f"{N}mig.config.state": "failed"})
        self.node_fires("GPU-MIG-PENDING", "warning", {f"Node {N}mig.config.state": "failed"},
                        ["kubectl drain", "nvidia-smi --gpu-reset"])
        self.labelled({f"{N}mig.config.state": "success"})
        self.silent(self.machine(), "GPU-MIG-PENDING", "GPU-MIG-INVALID")

    def test_imex(self):
        """A clique without a channel."""
        self.labelled({f"{N}gpu.clique": "7b968a6d.1"})
        self.node_fires("GPU-IMEX-CHANNEL", "warning", {"dev/nvidia-caps-imex-channels": "missing"},
                        ["NVreg_CreateImexChannel0=1"])
        root = self.change(self.machine(), "file dev/nvidia-caps-imex-channels/channel0 \\c")
        self.silent(root, "GPU-IMEX-CHANNEL")
        self.labelled({}, f"{N}gpu.clique")
        self.silent(self.machine(), "GPU-IMEX-CHANNEL")

    def test_FC_M1_nfd_is_active(self):
        """An annotation of NFD's, while our patcher is told to patch always; as a fallback that is how it should be."""
        always = {"outputs.nodeLabels.mode": "always"}
        name = "GPU-NFD-ACTIVE"
        self.assertEqual(self.report(self.machine(), settings=always)["findings"], [])
        self.api.annotate("pci-10de.present")
        finding = self.find(self.report(self.machine(), settings=always), name)
        self.assertEqual(finding["verdict"], "info")
        self.assertIn("feature-labels", finding["evidence"][0]["value"])
        self.silent(self.machine(), name)

    def test_license(self):
        """A virtual GPU without a token."""
        self.labelled({f"{N}vgpu.present": "true"})
        self.node_fires("GPU-VGPU-LICENSE", "warning", {"etc/nvidia/ClientConfigToken": "missing"}, ["nvidia-gridd"])
        self.silent(self.machine(UBUNTU, "file etc/nvidia/ClientConfigToken/a.tok x"), "GPU-VGPU-LICENSE")
        self.labelled({f"{N}vgpu.present": "false"})
        self.silent(self.machine(), "GPU-VGPU-LICENSE")
