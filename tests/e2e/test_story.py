# SPDX-License-Identifier: GPL-2.0-or-later
"""The story that this project is for, from an unattended upgrade to the Node and back.

Kubelet, containerd, API server, NVIDIA's device plugin, nfd-worker and nfd-master are the real ones; the GPU is a
fixture root and a stand-in for libnvidia-ml.so. nfd-source and the worker poll once an hour: labels come by events.
"""

import json
import pathlib
import sys
import tempfile
import unittest

import kubelet
from gpuhost import NEW, OLD, PACKAGES, GpuHost
from nodecase import NodeCase
from testcase import FEATURE

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hotplug"))
import host_events  # noqa: E402 (found by the line above)

MATCH = FEATURE + "driver-nvidia.match"
NVIDIA = "nvidia.com/"
UNPINNED, MISMATCH = "GPU-DRV-UNPINNED", "GPU-DRV-MISMATCH"


class Story(NodeCase):
    """One node called gpu-1 from a healthy start through the mismatch to a pinned driver."""

    def use_new_node(self):
        self.node = self.cluster.create_node("gpu-1")
        self.user = f"system:node:{self.node}"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gpu-1-", dir=self.cluster.directory))

    def setUp(self):
        super().setUp()
        self.event_source = host_events.device()
        root = self.directory / "root"
        self.gpus = GpuHost(root, self.directory)
        self.host = kubelet.Host(self.cluster, self.node, root, self.directory, self.gpus.libraries,
                                 self.gpus.variables())

    def start_host(self):
        """Start the host's processes, nfd-worker and nfd-source."""
        for start in (self.host.start_containerd, self.host.start_kubelet):
            self.gpus.show_process(self.keep(start()))
        self.start_plugin()
        nfd = self.make_worker()
        self.start_worker(nfd)
        self.features_dir = nfd.features_dir
        # The kubelet's credentials are those that nfd-source finds below the root.
        self.program = self.make_program(self.host.root, "outputs.nodeLabels.mode=fallback")
        self.program.variables |= self.gpus.variables()
        self.daemon = self.start(self.program)

    def start_plugin(self):
        """Start the device plugin and wait until the Node offers both GPUs."""
        self.plugin = self.keep(self.host.start_plugin())
        self.wait_for_gpus(2)
        self.gpus.show_process(self.plugin)

    def wait_for_gpus(self, count):
        """Wait until the Node offers that many GPUs."""
        try:
            self.wait_until(f"{count} GPUs on the Node", lambda: self.host.gpus() == count)
        except TimeoutError:
            self.fail(f"the Node has {self.host.gpus()}; {self.host.registrations()}")

    def wait_for_match(self, value):
        """Wait until the Node has what a scan finds, and that says whether the versions match.

        While they do not, NVML does not answer, and NVIDIA's own labels stay as they were.
        """
        self.wait_for_labels(f"{MATCH}={value}", lambda labels: labels.get(MATCH) == value)
        kept = self.cluster.labels(self.node, NVIDIA) if value == "false" else {}
        self.assertEqual("nvidia.com/gpu.memory" in kept, value == "false")
        self.wait_for_exactly({**self.program.scan(), **kept})

    def diagnose(self, status):
        """What doctor finds, by id: it exits with that status. Sets cause and checks: verdict by id."""
        done = self.program.attempt("doctor", "-o", "json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.cause = report["cause"]
        self.checks = {each["id"]: each["verdict"] for each in report["checks"]}
        return {each["id"]: each for each in report["findings"]}

    def check_sound(self, *expected):
        """Doctor exits with 0, and what is more than worth knowing is expected."""
        findings = self.diagnose(0)
        self.assertIsNone(self.cause)
        serious = {key: each for key, each in findings.items() if each["verdict"] in ("warning", "critical")}
        self.assertEqual(list(serious), list(expected), serious)
        # All of the chain that this host has was looked at.
        for key in ("GPU-DEV-NODES", "GPU-NVML-INIT", "GPU-CRI-NOTRESTARTED", "GPU-DP-NODEV", "GPU-NODE-CAPACITY",
                    "GPU-NFD-FEATFILE", "GPU-NFD-TWOWRITERS"):
            self.assertEqual(self.checks[key], "ok", key)

    def check_mismatch(self):
        """Doctor names the mismatch as the cause, with proof and commands, and what it blocks."""
        findings = self.diagnose(1)
        self.assertEqual(self.cause, MISMATCH)
        found = findings[MISMATCH]
        self.assertEqual(found["verdict"], "critical")
        self.assertIsNone(found["blockedBy"])
        for version in (OLD, NEW):
            self.assertIn(version, found["cause"])
        proof = {each["path"]: each["value"] for each in found["evidence"]}
        self.assertEqual(proof["sys/module/nvidia/version"], f"{OLD} (loaded)")
        self.assertEqual(proof[f"usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{NEW}"], NEW)
        self.assertRegex(proof["var/log/apt/history.log"],
                         rf"{PACKAGES[0]} {OLD}\S* -> {NEW}\S* on 2026-02-03 +06:11:12 by /usr/bin/unattended-upgrade")
        self.assertRegex(proof[f"var/lib/dpkg/status: {PACKAGES[0]}"], rf"{NEW}\S*, not held")
        commands = "\n".join(found["fix"])
        for command in (f"kubectl drain {self.node}", "rmmod nvidia_drm", "modprobe -a nvidia", "or: reboot",
                        f"apt-mark hold {' '.join(PACKAGES)}", f"kubectl uncordon {self.node}"):
            self.assertIn(command, commands)
        for key in ("GPU-NVML-INIT", "GPU-DP-NOTREG", "GPU-NODE-CAPACITY"):
            self.assertEqual(findings[key]["verdict"], "critical")
            self.assertEqual(findings[key]["blockedBy"], MISMATCH)
        self.assertIsNone(findings[UNPINNED]["blockedBy"])
        text = self.program.attempt("doctor")
        self.assertEqual(text.returncode, 1)
        for words in (MISMATCH, OLD, NEW, "unattended-upgrade"):
            self.assertIn(words, text.stdout)

    def upgrade_and_fall(self):
        """The upgrade alone changes the label; the device plugin fails when it is started again."""
        self.gpus.upgrade()
        self.wait_for_match("false")
        # Up to here only nfd-source knows: the plugin has the old library loaded.
        self.assertEqual(self.host.gpus(), 2)
        self.assertNotIn("GPU-DP-NOTREG", self.diagnose(1))
        self.assertEqual(self.cause, MISMATCH)
        self.assertEqual(self.plugin.end(), 0)
        self.parts.remove(self.plugin)
        self.gpus.hide_process(self.plugin)
        done = self.host.attempt_plugin()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nvml init failed: Driver/library version mismatch", done.stderr)
        self.wait_for_gpus(0)

    def reload_and_recover(self):
        """As after rmmod and modprobe, whose uevents say "look again"; the plugin's next start succeeds."""
        self.gpus.reload()
        host_events.fire(self.event_source)
        self.wait_for_match("true")
        self.start_plugin()

    def test_upgrade_behind_the_loaded_module_reload_and_hold(self):
        self.start_host()
        self.wait_for_match("true")
        self.check_sound(UNPINNED)
        self.assertEqual(self.node_events(), {})
        self.upgrade_and_fall()
        self.check_mismatch()
        self.wait_for_event("GPUDriverMismatch", "Warning", OLD, NEW)
        self.reload_and_recover()
        self.wait_for_event("GPUDriverMatch", "Normal", NEW)
        self.check_sound(UNPINNED)
        self.gpus.hold()
        self.check_sound()


if __name__ == "__main__":
    unittest.main()
