# SPDX-License-Identifier: GPL-2.0-or-later
"""The cpu scanner gives the labels and raw features of a stock nfd-worker's source "cpu".

Both run on the same processor: this one, and models of qemu-user. Made roots take the place of /sys for the
worker. On arm64 (needs a cross compiler with a C library, $NFD_SOURCE_ARM64_CC) the values of the same models are
compared that a real nfd-worker v0.19.0 for arm64 gave under them.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import cluster
from program import BINARY
from testcase import mktree

import cpu_program  # tests/lib, which testcase puts on the path

PATIENCE_S = 120
MODELS = ("Haswell", "SapphireRapids", "EPYC", "Nehalem", "EPYC-Milan", "Icelake-Server", "KnightsMill", "Opteron_G5",
          "Dhyana", "Snowridge", "Conroe", "max")

# "root" binds a folder over /sys before the command starts.
ENTER = 'mount --bind "$1" /sys; shift; exec "$@"'

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""

CPUS = "".join(
    f"file sys/bus/cpu/devices/cpu{cpu}/topology/thread_siblings_list {cpu % 2},{cpu % 2 + 2}\n"
    f"file sys/bus/cpu/devices/cpu{cpu}/topology/physical_package_id {cpu % 2}\n" for cpu in range(4)
)
PSTATE = ("file sys/devices/system/cpu/intel_pstate/status active\n"
          "file sys/devices/system/cpu/intel_pstate/no_turbo 0\n")
POLICIES = "".join(
    f"file sys/devices/system/cpu/cpufreq/policy{cpu}/affected_cpus {cpu}\n"
    f"file sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_governor powersave\n" for cpu in range(4)
)
IDLE = ("file sys/devices/system/cpu/cpuidle/current_driver intel_idle\n"
        "file sys/module/intel_idle/parameters/max_cstate 9\n")
SEV = "".join(f"file sys/module/kvm_amd/parameters/{name} Y\n" for name in ("sev", "sev_es", "sev_snp"))
TDX = "file sys/module/kvm_intel/parameters/tdx Y\n"

ROOTS = {
    "nothing": "dir sys/devices\n",
    "server": CPUS + PSTATE + POLICIES + IDLE,
    "one thread a core": "file sys/bus/cpu/devices/cpu0/topology/thread_siblings_list 0\n"
                         "file sys/bus/cpu/devices/cpu0/topology/physical_package_id 36\n",
    "no CPU": "dir sys/bus/cpu/devices\n",
    "a CPU is offline": CPUS + "dir sys/bus/cpu/devices/cpu4/power\n",
    "governors differ": PSTATE + POLICIES + "file sys/devices/system/cpu/cpufreq/policy9/affected_cpus 9\n"
                        "file sys/devices/system/cpu/cpufreq/policy9/scaling_governor performance\n",
    "a policy without CPUs": PSTATE + POLICIES + "file sys/devices/system/cpu/cpufreq/policy9/affected_cpus \\c\n"
                             "file sys/devices/system/cpu/cpufreq/policy9/scaling_governor performance\n",
    "a policy without a governor": PSTATE + POLICIES + "file sys/devices/system/cpu/cpufreq/policy9/affected_cpus 9\n",
    "passive": "file sys/devices/system/cpu/intel_pstate/status passive\n"
               "file sys/devices/system/cpu/intel_pstate/no_turbo 1\n" + POLICIES,
    "pstate off": "file sys/devices/system/cpu/intel_pstate/status off\n"
                  "file sys/devices/system/cpu/intel_pstate/no_turbo 1\n" + POLICIES,
    "pstate without status": "file sys/devices/system/cpu/intel_pstate/no_turbo 1\n",
    "pstate without turbo": "file sys/devices/system/cpu/intel_pstate/status passive\n",
    "C states off": IDLE + "file sys/module/intel_idle/parameters/max_cstate 0\n",
    "C states below zero": IDLE + "file sys/module/intel_idle/parameters/max_cstate -3\n",
    "C states are no number": IDLE + "file sys/module/intel_idle/parameters/max_cstate many\n",
    "C states without limit": "file sys/devices/system/cpu/cpuidle/current_driver intel_idle\n",
    "C states of ACPI": "file sys/devices/system/cpu/cpuidle/current_driver acpi_idle\n",
    "C states without driver": "dir sys/devices/system/cpu/cpuidle\n",
    "no C states": "dir sys/devices/system/cpu\n",
    "base frequency": CPUS + "file sys/bus/cpu/devices/cpu0/cpufreq/base_frequency 9000000\n",
    "base frequency is no number": CPUS + "file sys/bus/cpu/devices/cpu0/cpufreq/base_frequency fast\n",
    "SEV": SEV + "file sys/fs/cgroup/misc.capacity sev 410\\nsev_es 99\n",
    "SEV, lines the other way round": SEV + "file sys/fs/cgroup/misc.capacity sev_es 99\\nsev 410\n",
    "SEV without numbers": SEV + "file sys/fs/cgroup/misc.capacity sev max\\nsev_es  3\n",
    "SEV without the controller": SEV,
    "SEV by cgroup v1": SEV + "file sys/fs/cgroup/misc/misc.capacity sev 0\\nsev_es -1\n",
    "SEV of old kernels": "file sys/module/kvm_amd/parameters/sev 1\nfile sys/module/kvm_amd/parameters/sev_es 0\n"
                          "file sys/module/kvm_amd/parameters/sev_snp N\n",
    "TDX": TDX + "file sys/fs/cgroup/misc.capacity tdx 15\n",
    "TDX without a newline": "file sys/module/kvm_intel/parameters/tdx Y\\c\n",
    "what is not x86-64's": "file sys/firmware/uv/prot_virt_host 1\n"
                            "file sys/devices/vio/ibm,compression-v1/nx_gzip_caps/x y\n",
}

# What nfd-worker v0.19.0 for arm64 found under models of qemu-aarch64 7.2.
ARM64 = {
    "cortex-a72": ("ARM", 15, 53379, "AES ASIMD CPUID CRC32 FP PMULL SHA1 SHA2"),
    "cortex-a53": ("ARM", 15, 53300, "AES ASIMD CPUID CRC32 FP PMULL SHA1 SHA2"),
    "a64fx": ("Fujitsu", 31, 16,
              "AES ASIMD ASIMDHP ASIMDRDM ATOMICS CPUID CRC32 DCPOP FCMA FP FPHP PMULL SHA1 SHA2 SVE"),
}


def parse_dump(text):
    """A nested mapping as the worker logs it, in YAML of two blanks a level."""
    result = {}
    path = [result]
    for line in text.splitlines():
        line = line.removeprefix("\t")
        key, _, value = line.strip().partition(":")
        depth = (len(line) - len(line.lstrip())) // 2
        del path[depth + 1:]
        value = value.strip()
        if not value:
            path[-1][key] = {}
            path.append(path[-1][key])
        else:
            path[-1][key] = json.loads(value) if value[0] in '"{[' else value
    return result


def block(log, start):
    """The mapping behind a line of the log that ends with start."""
    match = re.search(re.escape(start) + r"=<\n(.*?)\n >\n", log, re.DOTALL)
    return parse_dump(match[1]) if match else {}


def knows(emulator, model):
    """Whether an emulator is there and has a model."""
    if not shutil.which(emulator):
        return False
    done = subprocess.run([emulator, "-cpu", "help"], capture_output=True, text=True, check=False)
    return model in done.stdout.split()


@functools.cache
def scan_program():
    """tests/unit/cpu_scan of the build that is under test."""
    build = BINARY.parents[1]
    if not (build / "Makefile").exists():
        raise unittest.SkipTest(f"no build folder at {build}")
    subprocess.run(["make", "-s", "-C", build, "tests/unit/cpu_scan"], check=True, capture_output=True, text=True)
    return build / "tests/unit/cpu_scan"


class CpuParity(unittest.TestCase):
    """x86-64: labels and features."""

    maxDiff = None

    def setUp(self):
        if os.uname().machine != "x86_64":
            self.skipTest("needs an x86-64 host")
        if cluster.missing():
            self.skipTest(cluster.missing())
        self.program = scan_program()
        self.worker = cluster.build_tools("nfd")[0] / "nfd-worker"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cpu-parity-"))
        self.addCleanup(shutil.rmtree, self.directory)
        (self.directory / "kubeconfig").write_text(KUBECONFIG)

    def nfd(self, before):
        """Labels and features of nfd-worker; before: words that go before the command."""
        command = [*before, self.worker, "-oneshot", "-no-publish", "-v=3", "-config=", "-owner-refs=",
                   f"-kubeconfig={self.directory}/kubeconfig", "-feature-sources=cpu", "-label-sources=cpu"]
        environment = {"PATH": os.environ["PATH"], "NODE_NAME": "n", "KUBERNETES_NAMESPACE": "ns"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
        features = block(done.stderr, 'featureSource="cpu" features')
        self.assertIn("cpuid", features.get("flags", {}), done.stderr)
        named = {kind: {f"cpu.{name}": value for name, value in values.items()} for kind, values in features.items()}
        return {"labels": block(done.stderr, "labels"), "features": named}

    def ours(self, before, root="/"):
        """Labels and features of the scanner."""
        done = subprocess.run([*before, self.program, root], capture_output=True, text=True, timeout=PATIENCE_S,
                              check=True)
        return json.loads(done.stdout)

    def test_this_host(self):
        self.assertEqual(self.ours([]), self.nfd([]))

    def test_models(self):
        tried = 0
        for model in MODELS:
            if knows("qemu-x86_64", model):
                with self.subTest(model=model):
                    before = ["qemu-x86_64", "-cpu", model]
                    self.assertEqual(self.ours(before), self.nfd(before))
                tried += 1
        if not tried:
            self.skipTest("no qemu-x86_64 (qemu-user)")

    def test_roots(self):
        for number, (name, source) in enumerate(ROOTS.items()):
            root = self.directory / str(number)
            root.mkdir()
            mktree.make_tree(source, str(root))
            with self.subTest(root=name):
                before = ["unshare", "-m", "sh", "-ec", ENTER, "sh", root / "sys"]
                self.assertEqual(self.ours([], root), self.nfd(before))


class Arm64(unittest.TestCase):
    """arm64 under qemu-user: model and flags."""

    def test_models(self):
        compiler = os.environ.get("NFD_SOURCE_ARM64_CC", "aarch64-linux-gnu-gcc")
        models = [model for model in ARM64 if knows("qemu-aarch64", model)]
        if not models:
            self.skipTest("no qemu-aarch64 (qemu-user)")
        with tempfile.TemporaryDirectory() as directory:
            try:
                program = cpu_program.build(directory, compiler, ["-static"])
            except (OSError, subprocess.CalledProcessError) as error:
                self.skipTest(f"{compiler} cannot build for arm64: {error}")
            for model in models:
                facts = cpu_program.live(program, ["qemu-aarch64", "-cpu", model])
                vendor, family, number, flags = ARM64[model]
                with self.subTest(model=model):
                    self.assertEqual((facts.vendor, facts.family, facts.model), (vendor, family, number))
                    self.assertEqual(sorted(facts.flags), flags.split())
                    self.assertEqual(facts.hypervisor, "none")


if __name__ == "__main__":
    unittest.main()
