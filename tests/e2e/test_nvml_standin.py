# SPDX-License-Identifier: GPL-2.0-or-later
"""NVIDIA's real clients load the stand-in of libnvidia-ml.so.1 as they would the real one.

gpu-feature-discovery and the device plugin are built from NVIDIA's sources; neither a GPU nor a cluster is needed. So
what the tests show with the stand-in is what these programs would see.
"""

import pathlib
import shutil
import tempfile
import unittest

import cluster
import process
from testcase import mktree

import nvml_standin  # found by the line above

LIBRARIES = "usr/lib/x86_64-linux-gnu"
OLD, NEW = "580.126.09", "580.159.03"
KUBECONFIG = """{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}],
"contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}], "users": [{"name": "u", "user": {}}]}"""


def machine(gpus):
    """Description of a host with that many GPUs and a loaded driver."""
    lines = [f"nvidia {OLD} open loaded"]
    for number in range(gpus):
        address = f"0000:{0x3b + number:02x}:00.0"
        lines += [f"pci {address} 030200 10de:27b8 10de:16ca driver=nvidia",
                  f"file proc/driver/nvidia/gpus/{address}/information Model: \\t NVIDIA L4\\n"
                  f"GPU UUID: \\t GPU-11111111-2222-3333-4444-{number:012x}\\nDevice Minor: \\t {number}"]
    return "\n" + "\n".join(lines) + "\n"


class Clients(unittest.TestCase):
    """One run of a client on one root."""

    def setUp(self):
        for reason in (nvml_standin.missing(), "" if shutil.which("setpriv") else "needs the program 'setpriv'"):
            if reason:
                self.skipTest(reason)
        self.tools = cluster.build_tools("nvidia")[0]
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def make_root(self, gpus, version=OLD):
        """A fixture root with the library of a version; the module's is OLD."""
        root = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=self.directory))
        mktree.make_tree(machine(gpus), str(root))
        nvml_standin.install(root / LIBRARIES, version)
        return root

    def environment(self, root, fault=None):
        """What a client gets: the loader's path and the stand-in's variables."""
        return {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(root / LIBRARIES), "NODE_NAME": "n",
                **nvml_standin.environment(root, fault)}

    def discover(self, root, *arguments, fault=None):
        """Run gpu-feature-discovery once: CompletedProcess, labels that it wrote."""
        kubeconfig, output = self.directory / "kubeconfig", self.directory / "gfd"
        kubeconfig.write_text(KUBECONFIG)
        output.unlink(missing_ok=True)
        done = process.attempt([self.tools / "gpu-feature-discovery", "--oneshot", "--use-node-feature-api=false",
                                f"--output-file={output}", f"--kubeconfig={kubeconfig}", *arguments],
                               env=self.environment(root, fault))
        lines = output.read_text().splitlines() if output.exists() else []
        return done, dict(line.split("=", 1) for line in lines)

    def test_gpu_feature_discovery(self):
        """Its labels are the fixture's."""
        done, labels = self.discover(self.make_root(2))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(labels["nvidia.com/gpu.product"], "NVIDIA-L4")
        self.assertEqual(labels["nvidia.com/gpu.count"], "2")
        self.assertEqual(labels["nvidia.com/gpu.memory"], "23028")
        self.assertEqual(labels["nvidia.com/cuda.driver-version.full"], OLD)
        self.assertEqual(labels["nvidia.com/cuda.runtime-version.full"], "13.0")
        self.assertEqual(labels["nvidia.com/gpu.compute.major"], "8")
        self.assertEqual(labels["nvidia.com/mig.capable"], "false")

    def test_mismatch(self):
        """A library of another version: its start fails as it does on a host after an upgrade."""
        done, labels = self.discover(self.make_root(1, NEW), "--fail-on-init-error=true")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("nvidia.com/gpu.product", labels)
        self.assertRegex(done.stderr, r"(?i)driver/library version mismatch")

    def test_faults(self):
        """Codes of NVML reach it."""
        for fault, words in (("lost", r"(?i)gpu is lost"), ("unknown", r"(?i)unknown error")):
            with self.subTest(fault):
                done, labels = self.discover(self.make_root(1), fault=fault)
                self.assertNotIn("nvidia.com/gpu.product", labels)
                self.assertRegex(done.stderr, words)

    def test_device_plugin(self):
        """It finds the devices, serves them, watches their health, and stops when it is told to."""
        if cluster.missing():
            self.skipTest(cluster.missing())
        # Its folder of sockets is fixed, so it gets one of its own.
        script = ("mount -t tmpfs none /var/lib && mkdir -p /var/lib/kubelet/device-plugins && "
                  'exec env LD_LIBRARY_PATH="$1" "$2" --kubelet-socket=')
        root = self.make_root(2)
        variables = {key: value for key, value in self.environment(root).items() if key != "LD_LIBRARY_PATH"}
        part = process.Part("nvidia-device-plugin",
                            ["unshare", "-m", "sh", "-c", script, "sh", root / LIBRARIES,
                             self.tools / "nvidia-device-plugin"],
                            self.directory / "log", env=variables)
        self.addCleanup(part.end)
        process.wait_until("the plugin watches health", lambda: "for health checks" in part.log_text(), [part])
        self.assertEqual(part.end(), 0)
        self.assertIn("Starting to serve 'nvidia.com/gpu'", part.log_text())
        self.assertNotRegex(part.log_text(), "(?i)symbol lookup error|No devices found|unhealthy|failed")


if __name__ == "__main__":
    unittest.main()
