# SPDX-License-Identifier: GPL-2.0-or-later
"""In the place of a stock nfd-worker's source "cpu" nfd-source gives the same labels and raw features.

Both run on this processor with made roots, and on models of qemu-user. For arm64 (needs a cross compiler with a C library,
$NFD_SOURCE_ARM64_CC) the worker is built, and the decoders of the program by themselves.
"""

import shutil
import subprocess
import tempfile
import unittest

import chroot_worker
import cluster
import stand_in

import cpu_program  # tests/lib, which testcase puts on the path
from worker_features import content

SOURCES = ("cpu",)
MODELS = ("Haswell", "SapphireRapids", "EPYC", "Nehalem", "EPYC-Milan", "Icelake-Server", "KnightsMill", "Opteron_G5",
          "Dhyana", "Snowridge", "Conroe", "max")

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

# What nfd-worker v0.19.0 for arm64 found under models of qemu-aarch64 7.2: vendor, family, model, flags.
ARM64 = {
    "cortex-a72": ("ARM", 15, 53379, "AES ASIMD CPUID CRC32 FP PMULL SHA1 SHA2"),
    "cortex-a53": ("ARM", 15, 53300, "AES ASIMD CPUID CRC32 FP PMULL SHA1 SHA2"),
    "a64fx": ("Fujitsu", 31, 16,
              "AES ASIMD ASIMDHP ASIMDRDM ATOMICS CPUID CRC32 DCPOP FCMA FP FPHP PMULL SHA1 SHA2 SVE"),
}


def known_models(emulator):
    """The models of an emulator; none where it is not there."""
    if not shutil.which(emulator):
        return ()
    return subprocess.run([emulator, "-cpu", "help"], capture_output=True, text=True, check=False).stdout.split()


class CpuParity(stand_in.StandInCase):
    """x86-64: labels and features."""

    def test_models(self):
        known = known_models("qemu-x86_64")
        if not known:
            self.skipTest("no qemu-x86_64 (qemu-user)")
        for model in MODELS:
            if model in known:
                with self.subTest(model=model):
                    found = self.compare(None, SOURCES, before=["qemu-x86_64", "-cpu", model])
                    self.assertTrue(found["features"]["flags"]["cpu.cpuid"]["elements"])

    def test_roots(self):
        for name, source in ROOTS.items():
            with self.subTest(root=name):
                self.compare(self.make_root(source), SOURCES)


class Arm64(unittest.TestCase):
    """arm64 under qemu-user: model and flags."""

    def compare(self, worker, program, model):
        """The decoders, the worker and what was recorded say the same of a model."""
        before = ["qemu-aarch64", "-cpu", model]
        facts = cpu_program.live(program, before)
        published = content(worker.publish(None, SOURCES, before=before))
        found = {"vendor_id": facts.vendor, "family": str(facts.family), "id": str(facts.model),
                 "hypervisor": facts.hypervisor}
        self.assertEqual(found, published["features"]["attributes"]["cpu.model"]["elements"])
        self.assertEqual(sorted(facts.flags), sorted(published["features"]["flags"]["cpu.cpuid"]["elements"]))
        if model in ARM64:
            vendor, family, number, flags = ARM64[model]
            self.assertEqual((facts.vendor, facts.family, facts.model), (vendor, family, number))
            self.assertEqual(sorted(facts.flags), flags.split())

    def test_models(self):
        known = known_models("qemu-aarch64")
        if not known:
            self.skipTest("no qemu-aarch64 (qemu-user)")
        with tempfile.TemporaryDirectory(prefix="nfd-source-e2e-") as directory:
            room = chroot_worker.Room(directory)
            worker = chroot_worker.ChrootWorker(cluster.build_tools("nfd-arm64")[0] / "nfd-worker", room)
            self.addCleanup(worker.close)
            program = cpu_program.build(directory, cpu_program.ARM64_CC, ["-static"])
            for model in (*ARM64, "max"):
                if model in known:
                    with self.subTest(model=model):
                        self.compare(worker, program, model)


if __name__ == "__main__":
    unittest.main()
