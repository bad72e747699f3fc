# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source-nvml with a stand-in of NVIDIA's library: its report for each way that NVML ends, and doctor's word."""

import os
import select
import signal
import subprocess
import time
import unittest
from pathlib import Path

import nvml_standin
from program import BINARY, ProgramTest, clean_environment, load_json

HELPER = os.environ.get("NFD_SOURCE_NVML_BIN") or str(Path(BINARY).with_name("nfd-source-nvml"))
LIBRARIES = "usr/lib/x86_64-linux-gnu"
OLD, NEW = "580.126.09", "580.159.03"
DEADLINE_S = 10  # doctor's, for NVML
SLACK_S = 5
MISMATCH = {"code": 18, "text": "Driver/library version mismatch"}

CLUSTER = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
MIG = f"memory=40960 mig=1 migdev=0:0:4864 virtualization=1 fabric={CLUSTER}/7/3/0"

HOST = """
file etc/os-release ID=ubuntu\\nVERSION_ID="24.04"
file proc/sys/kernel/osrelease 6.8.0-48-generic
"""
CHAOS = {
    "empty": b"",
    "text": b"hello\n",
    "ELF magic alone": b"\x7fELF",
    "ELF header cut": b"\x7fELF\2\1\1" + bytes(20),
    "ELF of 32 bits": b"\x7fELF\1\1\1" + bytes(9) + b"\3\0\3\0\1\0\0\0" + bytes(40),
    "ELF header and rubbish": b"\x7fELF\2\1\1" + bytes(9) + b"\3\0\x3e\0\1\0\0\0" + b"\xff" * 4000,
}


def gpu(number):
    """One GPU: PCI function and what the driver says of it."""
    address = f"0000:{0x3b + number:02x}:00.0"
    information = "\\n".join((
        "Model: \\t\\t NVIDIA L4", f"GPU UUID: \\t GPU-11111111-2222-3333-4444-{number:012x}",
        f"Device Minor: \\t {number}", "GPU Excluded:\\t No"))
    return (f"pci {address} 030200 10de:27b8 10de:16ca driver=nvidia\n"
            f"file proc/driver/nvidia/gpus/{address}/information {information}\n")


def machine(gpus=1, version=OLD):
    """Description of a host with a loaded driver."""
    return HOST + f"nvidia {version} open loaded\n" + "".join(map(gpu, range(gpus)))


class NvmlTest(ProgramTest):
    """Base: the helper is there, and a compiler."""

    def setUp(self):
        super().setUp()
        if not os.access(HELPER, os.X_OK):
            self.fail(f"no helper at {HELPER}; build it or set NFD_SOURCE_NVML_BIN")
        if nvml_standin.missing():
            self.skipTest(nvml_standin.missing())

    def call(self, *arguments, env=None, timeout=60):
        """Run the helper to its end: CompletedProcess with bytes."""
        done = subprocess.run([HELPER, *map(str, arguments)], env=clean_environment(env), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=timeout, check=False)
        self.assertNotIn(b"Sanitizer", done.stderr)
        return done

    def report(self, library, env=None):
        """What the helper prints about a library file: one JSON object, nothing else, exit 0."""
        done = self.call(library, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        report = load_json(done.stdout.decode())
        self.assertEqual((report["schema"], report["library"]), (1, str(library)))
        return report

    def ask(self, root, version=OLD, fault=None, without=()):
        """The report about the stand-in on a root."""
        library = nvml_standin.install(root / LIBRARIES, version, without=without)
        return self.report(library, nvml_standin.environment(root, fault))


class Report(NvmlTest):
    """The fields of the report."""

    def test_one_gpu(self):
        """All that the library says."""
        report = self.ask(self.tree(machine()))
        self.assertEqual(report["init"], {"code": 0, "text": "Success"})
        self.assertEqual(report["driverVersion"], OLD)
        self.assertEqual(report["nvmlVersion"], f"13.{OLD}")
        self.assertEqual(report["cudaVersion"], 13000)
        self.assertEqual(report["devices"], [{
            "index": 0, "name": "NVIDIA L4", "uuid": "GPU-11111111-2222-3333-4444-000000000000",
            "busId": "0000FADE:3B:00.0", "memoryBytes": 23028 << 20, "computeMajor": 8, "computeMinor": 9}])
        self.assertNotIn("loadError", report)

    def test_eight_gpus(self):
        """In the library's order, each its own."""
        devices = self.ask(self.tree(machine(8)))["devices"]
        self.assertEqual([device["index"] for device in devices], list(range(8)))
        self.assertEqual(len({device["uuid"] for device in devices}), 8)
        self.assertEqual([device["busId"] for device in devices],
                         [f"0000FADE:{0x3b + number:02X}:00.0" for number in range(8)])

    def test_no_gpu(self):
        """A start without devices is a good start."""
        self.assertEqual(self.ask(self.tree(machine()), fault="nodevices")["devices"], [])
        self.assertEqual(self.ask(self.tree(machine(0)))["devices"], [])

    def test_mig(self):
        """Both modes, also where they differ: a change waits for a reset."""
        for modes in ((0, 0), (1, 1), (0, 1), (1, 0)):
            with self.subTest(modes):
                root = self.tree(machine(), f"file standin/devices * mig={modes[0]}/{modes[1]}")
                device = self.ask(root)["devices"][0]
                self.assertEqual((device["migMode"], device["migPending"]), modes)

    def ask_device(self, properties, without=()):
        """The entry of the only GPU, which has further properties."""
        root = self.tree(machine(), f"file standin/devices 0000:3b:00.0 {properties}")
        return self.ask(root, without=without)["devices"][0]

    def test_more_facts(self):
        """Each where the library has it."""
        device = self.ask_device(
            f"memory=143771 compute=9.0 virtualization=2 fabric={CLUSTER.upper()}/4294967295/3/0")
        self.assertEqual(device, {
            **device, "memoryBytes": 143771 << 20, "computeMajor": 9, "computeMinor": 0, "virtualization": 2,
            "fabric": {"state": 3, "status": 0, "clusterUuid": CLUSTER, "cliqueId": 4294967295}})
        device = self.ask_device("fabric=00000000-0000-0000-0000-000000000000/0/2/-1")
        self.assertEqual(device["fabric"], {"state": 2, "status": -1, "cliqueId": 0,
                                            "clusterUuid": "00000000-0000-0000-0000-000000000000"})
        self.assertFalse({"virtualization", "migMode", "migPending", "mig", "failures"} & device.keys())

    def test_mig_devices(self):
        """In NVML's order, over empty places; only where MIG is on."""
        device = self.ask_device("memory=143771 mig=1 migdev=- migdev=0:0:16384:16:1:1:0:1:2 "
                                 "migdev=2:0:70144:26:3:3:0:3:0 migdev=- migdev=7:0:16384")
        zero = dict.fromkeys(("multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines"), 0)
        self.assertEqual(device["mig"], [
            {"profile": "1g.18gb", "memoryMb": 16384, "multiprocessors": 16, "gpuInstanceSlices": 1,
             "computeInstanceSlices": 1, "copyEngines": 1, "decoders": 1, "encoders": 0, "jpegEngines": 1,
             "ofaEngines": 2},
            {"profile": "1c.3g.71gb", "memoryMb": 70144, "multiprocessors": 26, "gpuInstanceSlices": 3,
             "computeInstanceSlices": 1, "copyEngines": 3, "decoders": 3, "encoders": 0, "jpegEngines": 3,
             "ofaEngines": 0},
            {**zero, "profile": "1g.18gb+me", "memoryMb": 16384, "gpuInstanceSlices": 1, "computeInstanceSlices": 1}])
        self.assertNotIn("failures", device)
        self.assertEqual(self.ask_device("mig=1")["mig"], [])
        self.assertNotIn("mig", self.ask_device("mig=0/1 migdev=0:0:4864"))

    def test_failures(self):
        """A call that fails is told with its code, and what it was to give is absent; all else is there."""
        rows = [
            ("nvmlDeviceGetName", 999, "name"),
            ("nvmlDeviceGetUUID", 4, "uuid"),
            ("nvmlDeviceGetPciInfo_v3", 15, "busId"),
            ("nvmlDeviceGetMemoryInfo", 999, "memoryBytes"),
            ("nvmlDeviceGetCudaComputeCapability", 999, "computeMajor"),
            ("nvmlDeviceGetMigMode", 999, "migMode"),
            ("nvmlDeviceGetVirtualizationMode", 999, "virtualization"),
            ("nvmlDeviceGetGpuFabricInfo", 10, "fabric"),
            ("nvmlDeviceGetMaxMigDeviceCount", 999, "mig"),
        ]
        properties = f"mig=1 virtualization=0 fabric={CLUSTER}/1/3/0"
        whole = self.ask_device(properties)
        for call, code, fact in rows:
            with self.subTest(call):
                device = self.ask_device(f"{properties} fail={call}:{code}")
                self.assertEqual([(entry["call"], entry["code"]) for entry in device["failures"]], [(call, code)])
                self.assertTrue(device["failures"][0]["text"])
                missing = whole.keys() - device.keys()
                self.assertIn(fact, missing)
                self.assertLessEqual(missing, {fact, "computeMinor", "migPending", "mig"})

    def test_no_failures(self):
        """What a GPU does not have (3), or the driver does not know (13), is absent and no failure."""
        for code in (3, 13):
            device = self.ask_device(f"mig=1 fail=nvmlDeviceGetMigMode:{code} fail=nvmlDeviceGetMemoryInfo:{code}")
            self.assertFalse({"migMode", "mig", "memoryBytes", "failures"} & device.keys())

    def test_mig_failures(self):
        """A MIG device of which little is known is listed all the same; one failure for many devices."""
        properties = "memory=40960 mig=1 migdev=0:0:4864 migdev=0:0:4864"
        for call in ("nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetGpuInstanceById",
                     "nvmlGpuInstanceGetComputeInstanceById", "nvmlGpuInstanceGetInfo",
                     "nvmlComputeInstanceGetInfo_v2", "nvmlDeviceGetGpuInstanceProfileInfo",
                     "nvmlGpuInstanceGetComputeInstanceProfileInfo", "nvmlDeviceGetAttributes_v2"):
            with self.subTest(call):
                device = self.ask_device(f"{properties} fail={call}:999")
                self.assertEqual([entry["call"] for entry in device["failures"]], [call])
                self.assertEqual(len(device["mig"]), 2)
                self.assertFalse(any("profile" in mig for mig in device["mig"]))
        device = self.ask_device(f"{properties} fail=nvmlDeviceGetMigDeviceHandleByIndex:15")
        self.assertEqual((device["mig"], len(device["failures"])), ([], 1))

    def test_missing_functions(self):
        """An older library: what is missing is not called, the rest is asked."""
        whole = self.ask_device(MIG)
        for name, facts in (("nvmlDeviceGetMigMode", {"migMode", "migPending", "mig"}),
                            ("nvmlDeviceGetAttributes_v2", {"mig"}), ("nvmlDeviceGetGpuInstanceProfileInfo", {"mig"}),
                            ("nvmlDeviceGetGpuFabricInfo", {"fabric"}), ("nvmlDeviceGetMemoryInfo", {"memoryBytes"}),
                            ("nvmlDeviceGetVirtualizationMode", {"virtualization"})):
            with self.subTest(name):
                device = self.ask_device(MIG, without=(name,))
                self.assertEqual(whole.keys() - device.keys(), facts)
                self.assertNotIn("failures", device)

    def test_lost_device(self):
        """One device that does not answer: its code, and the others as ever."""
        devices = self.ask(self.tree(machine(2)), fault="lost-device")["devices"]
        self.assertEqual(devices[0], {"index": 0, "error": {"code": 15, "text": "GPU is lost"}})
        self.assertEqual(devices[1]["name"], "NVIDIA L4")

    def test_init_codes(self):
        """A start that fails: code and words, and only the library's version."""
        loaded, bare = self.tree(machine()), self.tree(HOST)
        rows = [
            ("not loaded", bare, OLD, None, {"code": 9, "text": "Driver Not Loaded"}),
            ("lost", loaded, OLD, "lost", {"code": 15, "text": "GPU is lost"}),
            ("mismatch", loaded, NEW, None, MISMATCH),
            ("unknown", loaded, OLD, "unknown", {"code": 999, "text": "Unknown Error"}),
        ]
        for name, root, version, fault, init in rows:
            with self.subTest(name):
                report = self.ask(root, version, fault)
                self.assertEqual(report["init"], init)
                self.assertEqual(report["nvmlVersion"], f"13.{version}")
                self.assertEqual(report.keys(), {"schema", "library", "init", "nvmlVersion"})

    def test_link(self):
        """The soname link is followed; the version is the file's."""
        root = self.tree(machine())
        nvml_standin.install(root / LIBRARIES, OLD)
        report = self.report(root / LIBRARIES / nvml_standin.SONAME, nvml_standin.environment(root))
        self.assertEqual(report["init"]["code"], 0)

    def test_names_that_are_no_text(self):
        """What a device calls itself is any bytes; the report is JSON all the same, in UTF-8."""
        root = self.tree(machine())
        library = nvml_standin.install(root / LIBRARIES, OLD)
        done = self.call(library, env=nvml_standin.environment(root, "bytes"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("NVIDIA", load_json(done.stdout.decode())["devices"][0]["name"])


class Failures(NvmlTest):
    """Libraries that are none, and ends that are no report."""

    def test_missing(self):
        """No file: said by the loader's words."""
        report = self.report(self.tmp / "libnvidia-ml.so.1")
        self.assertIn("No such file", report["loadError"])
        self.assertNotIn("init", report)

    def test_rubbish(self):
        """Files that are no library of this machine."""
        for name, content in CHAOS.items():
            with self.subTest(name):
                path = nvml_standin.install(self.name("lib"), OLD, content)
                self.assertTrue(self.report(path)["loadError"])

    def test_directory(self):
        """A directory of that name."""
        self.assertTrue(self.report(self.tmp)["loadError"])

    def test_library_without_the_call(self):
        """A library that has no nvmlInit_v2."""
        path = nvml_standin.compile_library("int nvmlInit(void); int nvmlInit(void) { return 0; }",
                                            self.name("lib"))
        report = self.report(path)
        self.assertIn("nvmlInit_v2", report["loadError"])
        self.assertNotIn("init", report)

    def test_library_with_one_call(self):
        """All calls but the first may lack."""
        path = nvml_standin.compile_library("int nvmlInit_v2(void); int nvmlInit_v2(void) { return 0; }",
                                            self.name("lib"))
        report = self.report(path)
        self.assertEqual(report["init"], {"code": 0, "text": ""})
        self.assertEqual(report["devices"], [])

    def test_many_devices(self):
        """A count that makes no sense does not make an endless report."""
        text = ("int nvmlInit_v2(void); int nvmlInit_v2(void) { return 0; }\n"
                "int nvmlDeviceGetCount_v2(unsigned int *n);\n"
                "int nvmlDeviceGetCount_v2(unsigned int *n) { *n = -1; return 0; }\n"
                "int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **d);\n"
                "int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **d) { (void)i; *d = 0; return 0; }\n")
        report = self.report(nvml_standin.compile_library(text, self.name("lib")))
        self.assertEqual(len(report["devices"]), 256)

    def test_many_mig_devices(self):
        """As little does a count of MIG devices."""
        calls = ("nvmlInit_v2", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetAttributes_v2",
                 "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetGpuInstanceById",
                 "nvmlGpuInstanceGetComputeInstanceById", "nvmlGpuInstanceGetInfo", "nvmlComputeInstanceGetInfo_v2",
                 "nvmlDeviceGetGpuInstanceProfileInfo", "nvmlGpuInstanceGetComputeInstanceProfileInfo",
                 "nvmlDeviceGetHandleByIndex_v2")
        text = "".join(f"int {name}(void); int {name}(void) {{ return 0; }}\n" for name in calls)
        text += ("int nvmlDeviceGetCount_v2(unsigned int *n);\n"
                 "int nvmlDeviceGetCount_v2(unsigned int *n) { *n = 1; return 0; }\n"
                 "int nvmlDeviceGetMaxMigDeviceCount(void *d, unsigned int *n);\n"
                 "int nvmlDeviceGetMaxMigDeviceCount(void *d, unsigned int *n) { (void)d; *n = -1; return 0; }\n"
                 "int nvmlDeviceGetMigMode(void *d, unsigned int *c, unsigned int *p);\n"
                 "int nvmlDeviceGetMigMode(void *d, unsigned int *c, unsigned int *p)\n"
                 "{ (void)d; *c = *p = 1; return 0; }\n")
        device, = self.report(nvml_standin.compile_library(text, self.name("lib")))["devices"]
        self.assertEqual(len(device["mig"]), 16)
        self.assertNotIn("profile", device["mig"][0])

    def test_crash(self):
        """A crash is one: no report, a signal."""
        root = self.tree(machine())
        library = nvml_standin.install(root / LIBRARIES, OLD)
        done = self.call(library, env=nvml_standin.environment(root, "crash"))
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGABRT, b""))

    def test_usage(self):
        """It takes one absolute path."""
        for arguments in ((), ("libnvidia-ml.so.1",), ("",), ("/a", "/b"), ("--help",)):
            with self.subTest(arguments):
                done = self.call(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(b"absolute path", done.stderr)

    def test_parent_ends(self):
        """A hanging helper goes with its parent."""
        root = self.tree(machine())
        library = nvml_standin.install(root / LIBRARIES, OLD)
        script = f"'{HELPER}' '{library}' & echo $!; read x"
        env = clean_environment(nvml_standin.environment(root, "hang"))
        with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as parent:
            pid = int(parent.stdout.readline())
            self.addCleanup(kill_quietly, pid)
            descriptor = os.pidfd_open(pid)
            self.addCleanup(os.close, descriptor)
            self.await_library(pid)
            parent.kill()
            parent.wait()
            self.assertTrue(ended(descriptor, SLACK_S), "the helper outlives its parent")

    def await_library(self, pid):
        """Until the helper has mapped the library: from then on it is about to hang, and its death signal is set."""
        end = time.monotonic() + SLACK_S
        while time.monotonic() < end:
            if nvml_standin.STEM in Path(f"/proc/{pid}/maps").read_text():
                return
        self.fail("the helper does not load the library")


def kill_quietly(pid):
    """End a process, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def ended(descriptor, seconds):
    """Whether the process of a pidfd ends in that time."""
    return bool(select.select([descriptor], [], [], seconds)[0])


class Doctor(NvmlTest):
    """doctor starts the helper on the library that it finds below the root."""

    def doctor(self, root, fault=None, version=OLD, content=None):
        """doctor -o json on a root with the library: (findings by id, checks by id, report, seconds)."""
        nvml_standin.install(root / LIBRARIES, version, content)
        start = time.monotonic()
        result = self.run_program(root, "doctor", "-o", "json", "--no-api", env=nvml_standin.environment(root, fault))
        seconds = time.monotonic() - start
        self.assertIn(result.code, (0, 1), result)
        report = load_json(result.out)
        return ({finding["id"]: finding for finding in report["findings"]},
                {check["id"]: check["verdict"] for check in report["checks"]}, report, seconds)

    def test_healthy(self):
        """Nothing to say of NVML and of the library."""
        for gpus in (1, 8):
            with self.subTest(gpus):
                findings, checks, _, seconds = self.doctor(self.tree(machine(gpus)))
                for name in ("GPU-NVML-INIT", "GPU-NVML-HANG", "GPU-DRV-MISMATCH", "GPU-DRV-TWOLIBS"):
                    self.assertEqual((checks[name], findings.get(name)), ("ok", None))
                self.assertLess(seconds, DEADLINE_S)

    def test_mismatch(self):
        """NVML's code 18 is the consequence, the versions are the cause."""
        findings, _, report, _ = self.doctor(self.tree(machine()), version=NEW)
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")
        mismatch, init = findings["GPU-DRV-MISMATCH"], findings["GPU-NVML-INIT"]
        self.assertEqual((mismatch["verdict"], mismatch["blockedBy"]), ("critical", None))
        self.assertIn(OLD, mismatch["cause"])
        self.assertIn(NEW, mismatch["cause"])
        self.assertEqual((init["verdict"], init["blockedBy"]), ("critical", "GPU-DRV-MISMATCH"))
        self.assertIn("18", init["cause"])
        self.assertIn({"path": "nvmlInit_v2", "value": "18"}, init["evidence"])

    def test_mismatch_text(self):
        """What people see: the cause with its fix, then what it blocks."""
        root = self.tree(machine())
        nvml_standin.install(root / LIBRARIES, NEW)
        result = self.run_program(root, "doctor", "--no-api", env=nvml_standin.environment(root))
        self.assertEqual(result.code, 1)
        self.assertRegex(result.out, r"(?s)\Acritical: .*\ncritical GPU-DRV-MISMATCH: .*  fix: kubectl drain .*"
                                     r"critical GPU-NVML-INIT: [^\n]*\n  blocked by GPU-DRV-MISMATCH\n")

    def test_not_started(self):
        """--no-nvml starts nothing, and says so."""
        root = self.tree(machine())
        nvml_standin.install(root / LIBRARIES, OLD)
        result = self.run_program(root, "doctor", "-o", "json", "--no-api", "--no-nvml",
                                  env=nvml_standin.environment(root, "crash"))
        checks = {check["id"]: check for check in load_json(result.out)["checks"]}
        self.assertEqual(checks["GPU-NVML-INIT"]["verdict"], "not-checked")

    def test_hang(self):
        """It is killed at its deadline; that is all that a hang costs."""
        findings, checks, report, seconds = self.doctor(self.tree(machine()), "hang")
        self.assertEqual(report["cause"], "GPU-NVML-HANG")
        self.assertEqual(findings["GPU-NVML-HANG"]["verdict"], "critical")
        self.assertNotIn("GPU-NVML-INIT", findings)
        self.assertEqual(checks["GPU-NVML-INIT"], "not-checked")
        self.assertGreater(seconds, DEADLINE_S - 1)
        self.assertLess(seconds, DEADLINE_S + SLACK_S)
        self.assertEqual(helpers_of(self.tmp), [])

    def test_hang_of_a_device(self):
        """Also behind a good start."""
        findings, _, _, seconds = self.doctor(self.tree(machine()), "hang-device")
        self.assertIn("GPU-NVML-HANG", findings)
        self.assertLess(seconds, DEADLINE_S + SLACK_S)

    def test_faults(self):
        """Every other fault is a failed start with its own words, at once."""
        rows = [
            ("crash", "crash", None, "critical", "crash"),
            ("lost", "lost", None, "critical", "15"),
            ("unknown", "unknown", None, "critical", "Unknown Error"),
            ("no devices", "nodevices", None, "warning", "0 of the 1"),
            ("writes to standard output", "chatter", None, "critical", "no report"),
            ("empty file", None, CHAOS["empty"], "critical", "loaded"),
            ("no ELF file", None, CHAOS["text"], "critical", "loaded"),
            ("rubbish", None, CHAOS["ELF header and rubbish"], "critical", "loaded"),
        ]
        for name, fault, content, verdict, words in rows:
            with self.subTest(name):
                findings, _, _, seconds = self.doctor(self.tree(machine()), fault, content=content)
                self.assertEqual(findings["GPU-NVML-INIT"]["verdict"], verdict)
                self.assertIn(words, findings["GPU-NVML-INIT"]["cause"])
                self.assertNotIn("GPU-NVML-HANG", findings)
                self.assertLess(seconds, DEADLINE_S)

    def test_one_of_two_lost(self):
        """A device that is listed and does not answer counts as one that NVML does not see."""
        findings, _, _, _ = self.doctor(self.tree(machine(2)), "lost-device")
        self.assertIn("GPU-NVML-INIT", findings)

    def test_driver_not_loaded(self):
        """Without a module the library is not started: the cause stands before it."""
        root = self.tree(HOST, "pci 0000:3b:00.0 030200 10de:27b8")
        findings, checks, _, _ = self.doctor(root, "crash")
        self.assertNotIn("GPU-NVML-INIT", findings)
        self.assertEqual(checks["GPU-NVML-INIT"], "not-checked")

    def test_mig_pending(self):
        """A MIG change that waits for a reset is told."""
        findings, _, _, _ = self.doctor(self.tree(machine(), "file standin/devices * mig=0/1"))
        self.assertIn("GPU-MIG-PENDING", findings)
        findings, _, _, _ = self.doctor(self.tree(machine(), "file standin/devices * mig=1"))
        self.assertNotIn("GPU-MIG-PENDING", findings)

    def test_names_that_are_no_text(self):
        """doctor's JSON is UTF-8 whatever a device calls itself."""
        root = self.tree(machine())
        nvml_standin.install(root / LIBRARIES, OLD)
        result = self.run_program(root, "doctor", "-o", "json", "--no-api",
                                  env=nvml_standin.environment(root, "bytes"), binary_output=True)
        load_json(result.out.decode())


def helpers_of(directory):
    """Command lines of running processes that name a path below a directory."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if str(directory).encode() in command:
            found.append(command)
    return found


if __name__ == "__main__":
    unittest.main()
