# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of `nfd-source doctor` share: a machine with a fault, its report, and what a finding must have.

The machines are those of tests/fixtures/machines/doctor; a test adds lines of the same language. NVML is never
loaded, and the API server is only asked where a test has one (DoctorNodeTest).
"""

import re

from api_helper import NODE, ApiTest
from mktree import NotPermitted, make_tree
from program import MACHINES, ProgramTest, load_json

UBUNTU = "doctor/ubuntu"
VERDICTS = ("ok", "info", "warning", "critical", "not-checked")
BAD = ("warning", "critical")
DEV_LINE = re.compile("[a-z]+ dev/")
BOOT_S = 1770000000
HEALTHY = ("bottlerocket", "debian", "gke", "hgx", "k3s", "rhel", "sles", "talos", "ubuntu")
ELSEWHERE = ("amd-mi300", "arm-board", "ec2-vga", "gaudi", "intel-flex-sriov", "jetson", "laptop", "vm-no-pci", "wsl2")


class DoctorTest(ProgramTest):
    """Base of the tests of doctor.

    needs_nodes: whether the tests are about device nodes. They need a privilege; without it such tests are skipped,
    and the others get their machines without a dev.
    """

    needs_nodes = False

    def tree(self, *texts):
        """A root made of description texts."""
        try:
            return super().tree(*texts)
        except NotPermitted as error:
            if self.needs_nodes:
                self.skipTest(str(error))
        lines = "\n".join(texts).split("\n")
        return super().tree(*(line for line in lines if not DEV_LINE.match(line)))

    def machine(self, name=UBUNTU, *lines):  # pylint: disable=keyword-arg-before-vararg,arguments-differ
        """A machine of the fixtures, with these lines after its own."""
        text = (MACHINES / f"{name}.tree").read_text()
        return self.tree(text, *lines)

    def change(self, root, *lines):
        """Add lines to a root that is there; returns it."""
        make_tree("\n".join(lines) + "\n", str(root))
        return root

    def run_doctor(self, root, *arguments, **options):
        """Run doctor without NVML and API."""
        return self.run_program(root, "doctor", "--no-nvml", "--no-api", *arguments, **options)

    def report(self, root, *arguments, **options):
        """The JSON report, checked by the schema; the exit code fits it."""
        return self.check_report(self.run_doctor(root, "-o", "json", *arguments, **options))

    def check_report(self, result):
        """The parsed report of a run with -o json."""
        self.assertIn(result.code, (0, 1, 3), result)
        self.assertEqual(result.err, "", result)
        report = load_json(result.out)
        self.assertEqual(sorted(report), ["cause", "checks", "findings", "schema", "verdict"])
        self.assertEqual(report["schema"], 1)
        ids = [check["id"] for check in report["checks"]]
        self.assertEqual(len(ids), len(set(ids)))
        for check in report["checks"]:
            self.assertEqual(sorted(check), ["id", "reason", "verdict"])
            self.assertIn(check["verdict"], VERDICTS)
            self.assertEqual(bool(check["reason"]), check["verdict"] == "not-checked", check)
        verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
        for finding in report["findings"]:
            self.check_finding(finding, verdicts)
        stated = {finding["id"] for finding in report["findings"]}
        self.assertEqual(stated, {one for one, verdict in verdicts.items() if verdict in ("info", *BAD)})
        worst = max((finding["verdict"] for finding in report["findings"]), key=VERDICTS.index, default="ok")
        self.assertEqual(report["verdict"], "not-checked" if result.code == 3 else worst)
        if report["cause"]:
            self.assertEqual(verdicts[report["cause"]], "critical")
        if result.code != 3:
            self.assertEqual(result.code, int(worst == "critical"), report)
        return report

    def check_finding(self, finding, verdicts):
        """The fields of one finding."""
        self.assertEqual(sorted(finding), ["blockedBy", "cause", "evidence", "fix", "id", "verdict"])
        self.assertEqual(finding["verdict"], verdicts[finding["id"]])
        self.assertTrue(finding["cause"])
        self.assertNotIn("\n", finding["cause"])
        self.assertTrue(finding["evidence"], finding)
        for evidence in finding["evidence"]:
            self.assertEqual(sorted(evidence), ["path", "value"])
            self.assertTrue(evidence["path"] and evidence["value"], finding)
            self.assertFalse(evidence["path"].startswith("/"), finding)
        for command in finding["fix"]:
            self.assertIsInstance(command, str)
            self.assertNotIn("\n", command)
        if finding["verdict"] in BAD:
            self.assertTrue(finding["fix"], f"no advice: {finding}")

    def find(self, report, name):
        """The finding of an id."""
        found = [finding for finding in report["findings"] if finding["id"] == name]
        self.assertTrue(found, f"{name} is silent: {self.brief(report)}")
        return found[0]

    @staticmethod
    def brief(report):
        """What was found, and what was not checked, for messages."""
        found = [(one["id"], one["verdict"], one["cause"]) for one in report["findings"]]
        return f"{found}, not checked: {[c['id'] for c in report['checks'] if c['verdict'] == 'not-checked']}"

    def fires(self, root, name, verdict, evidence=None, fix=(), report=None):
        """A row fires: with this verdict, evidence (path to a part of the value) and parts of the fix, in order."""
        report = report or self.report(root)
        finding = self.find(report, name)
        self.assertEqual(finding["verdict"], verdict, finding)
        for path, value in (evidence or {}).items():
            values = [one["value"] for one in finding["evidence"] if one["path"] == path]
            self.assertTrue(any(value in one for one in values), f"{path}: {value} not in {finding['evidence']}")
        self.assert_fix(finding, *fix)
        return finding

    def assert_fix(self, finding, *parts):
        """Each part is in a command, the next one in the same or a later one."""
        at = 0
        for part in parts:
            hits = [index for index, command in enumerate(finding["fix"]) if index >= at and part in command]
            self.assertTrue(hits, f"{part!r} not in {finding['fix'][at:]}")
            at = hits[0]

    def silent(self, root, *names, report=None, checked=True):
        """Rows that do not fire; checked: and were looked at."""
        report = report or self.report(root)
        verdicts = {check["id"]: check["verdict"] for check in report["checks"]}
        for name in names:
            self.assertEqual(verdicts[name], "ok" if checked else "not-checked", f"{name}: {self.brief(report)}")
        return report

    def both_ways(self, root, name, verdict, evidence=None, fix=(), healthy=None):
        """A row fires on root, and is silent on the healthy machine (or healthy)."""
        finding = self.fires(root, name, verdict, evidence, fix)
        self.silent(healthy or self.machine(), name)
        return finding

    def not_checked(self, report, name, *words):
        """A row was not looked at, and the reason has the words."""
        (check,) = [check for check in report["checks"] if check["id"] == name]
        self.assertEqual(check["verdict"], "not-checked", check)
        for word in words:
            self.assertIn(word, check["reason"])


class DoctorNodeTest(ApiTest, DoctorTest):
    """Doctor with a Node, by the scripted API server."""

    def setUp(self):
        DoctorTest.setUp(self)
        ApiTest.setUp(self)
        self.server = self.serve()
        self.kubeconfig_path = self.kubeconfig(self.server)
        self.labelled({
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "feature.node.kubernetes.io/kernel-version.full": "6.8.0-48-generic",
            "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
            "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
            "nvidia.com/gpu.product": "NVIDIA-L4",
            "nvidia.com/gfd.timestamp": "1770000100",
            "nvidia.com/gpu.deploy.driver": "pre-installed",
            "nvidia.com/gpu.deploy.device-plugin": "true",
        })
        self.resources({"nvidia.com/gpu": "2"})

    def labelled(self, labels, *without):
        """Add labels to the Node, take others away."""
        self.api.labels.update(labels)
        for key in without:
            self.api.labels.pop(key, None)

    def resources(self, capacity, allocatable=None):
        """What the Node advertises beside its CPUs."""
        self.api.node["status"] = {
            "capacity": {"cpu": "2", **capacity},
            "allocatable": {"cpu": "2", **(capacity if allocatable is None else allocatable)},
        }

    def run_doctor(self, root, *arguments, settings=None, env=None, **options):
        """Run doctor with the Node."""
        return self.run_program(root, "doctor", "--no-nvml", *arguments,
                                settings={"api.kubeconfig": self.kubeconfig_path, **(settings or {})},
                                env={"NODE_NAME": NODE, **(env or {})}, **options)

    def node_fires(self, name, verdict, evidence=None, fix=(), root=None):
        """A row fires on the Node as it is now, with a healthy machine."""
        return self.fires(root or self.machine(), name, verdict, evidence, fix)
