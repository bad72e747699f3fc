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
import discovery
import process

OLD, NEW = discovery.VERSION, "580.159.03"
TWO = discovery.machine(discovery.gpu("0000:3b:00.0", "NVIDIA L4") +
                        discovery.gpu("0000:3c:00.0", "NVIDIA L4", number=1))


class Clients(unittest.TestCase):
    """One run of a client on one root."""

    def setUp(self):
        if discovery.missing():
            self.skipTest(discovery.missing())
        self.tools = discovery.tools()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def make_host(self, version=OLD):
        """A host with two GPUs and the library of a version; the module's is OLD."""
        return discovery.Host(self.directory, TWO, version=version)

    def test_gpu_feature_discovery(self):
        """Its labels are the fixture's."""
        done, labels = self.make_host().discover()
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
        done, labels = self.make_host(NEW).discover("--fail-on-init-error=true")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("nvidia.com/gpu.product", labels)
        self.assertRegex(done.stderr, r"(?i)driver/library version mismatch")

    def test_faults(self):
        """Codes of NVML reach it."""
        for fault, words in (("lost", r"(?i)gpu is lost"), ("unknown", r"(?i)unknown error")):
            with self.subTest(fault):
                done, labels = self.make_host().discover(fault=fault)
                self.assertNotIn("nvidia.com/gpu.product", labels)
                self.assertRegex(done.stderr, words)

    def test_device_plugin(self):
        """It finds the devices, serves them, watches their health, and stops when it is told to."""
        if cluster.missing():
            self.skipTest(cluster.missing())
        # Its folder of sockets is fixed, so it gets one of its own.
        script = ("mount -t tmpfs none /var/lib && mkdir -p /var/lib/kubelet/device-plugins && "
                  'exec env LD_LIBRARY_PATH="$1" "$2" --kubelet-socket=')
        host = self.make_host()
        part = process.Part("nvidia-device-plugin",
                            ["unshare", "-m", "sh", "-c", script, "sh", host.root / discovery.LIBRARIES,
                             self.tools / "nvidia-device-plugin"],
                            self.directory / "log",
                            env={"PATH": "/usr/bin:/bin", "NODE_NAME": "n"} | host.variables(addresses=""))
        self.addCleanup(part.end)
        process.wait_until("the plugin watches health", lambda: "for health checks" in part.log_text(), [part])
        self.assertEqual(part.end(), 0)
        self.assertIn("Starting to serve 'nvidia.com/gpu'", part.log_text())
        self.assertNotRegex(part.log_text(), "(?i)symbol lookup error|No devices found|unhealthy|failed")


if __name__ == "__main__":
    unittest.main()
