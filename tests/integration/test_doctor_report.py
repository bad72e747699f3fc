# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: its outputs, options and exit codes; what it may not do: write, execute, raise a false alarm."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from doctor_case import BAD, BOOT_S, ELSEWHERE, HEALTHY, UBUNTU, DoctorTest
from namespace import CLONE_NEWNS, bind, enter_root, run_in_child, unshare
from program import BINARY, clean_environment, load_json
from test_doctor_driver import UNLOADED, held_by

IDS = """
GPU-PCI-NONE
GPU-DRV-NOUVEAU GPU-DRV-NOVA GPU-DRV-VFIO GPU-DRV-ABSENT GPU-DRV-NOMODULE GPU-DRV-SECUREBOOT GPU-DRV-NOTLOADED
GPU-DRV-UVMWEDGED
GPU-HW-XID79 GPU-DRV-LEGACY GPU-DRV-FLAVOUR GPU-DRV-GSPFW GPU-HW-EXCLUDED GPU-DRV-INIT GPU-HW-XID
GPU-DEV-NODES GPU-DEV-CHARLINK
GPU-DRV-TWOLIBS GPU-DRV-MISMATCH GPU-DRV-KMODLAG GPU-LIB-MISSING GPU-DRV-RELOAD-PENDING
GPU-NVML-HANG GPU-NVML-INIT
GPU-FM-MISSING GPU-FM-MISMATCH GPU-PERSISTD-SOCK
GPU-CRI-DROPINVER GPU-CRI-WRONGFILE GPU-CRI-NOIMPORT GPU-CRI-NORUNTIME GPU-CRI-NORTTYPE GPU-CRI-BINARY
GPU-CRI-NOTRESTARTED GPU-CRI-NODEFAULT
GPU-CDI-STALE GPU-CDI-UNRESOLVED GPU-CDI-OFF
GPU-OP-HOSTMISREAD GPU-OP-DRVCTR-WAIT GPU-OP-STALEMOUNT GPU-OP-DRVMGR-BUSY GPU-TK-NOTREADY GPU-VAL-CUDA
GPU-MOFED-WAIT GPU-MPS-DAEMON
GPU-DP-WRONGDIR GPU-DP-NOTREG GPU-DP-DEADSOCK GPU-DP-NODEV GPU-DP-UNHEALTHY GPU-DP-REBOOTADMIT
GPU-OP-DISABLED GPU-OP-PAUSED GPU-OP-UPGRADESTUCK GPU-OP-NOOSLABEL GPU-DP-LEFTOVER GPU-MIG-INVALID GPU-MIG-PENDING
GPU-IMEX-CHANNEL GPU-VGPU-LICENSE GPU-NODE-CAPACITY
GPU-DCGM-DOWN GPU-DCGM-EMPTY
GPU-NFD-NOLABEL GPU-NFD-CLASS GPU-NFD-FEATFILE GPU-GFD-NOLABEL GPU-GFD-BADVALUE GPU-GFD-MIXED
GPU-DRV-UNPINNED GPU-DRV-PINPARTIAL
GPU-NFD-HOOKS GPU-NFD-TWOWRITERS GPU-NFD-ACTIVE
""".split()

STORY = "doctor/story"
SCREEN = 24
# What the pods of deploy/ have of the host.
PARTS = ("sys", "proc", "usr", "etc/os-release", "run/nvidia")
METRIC = re.compile(r'nfd_source_doctor_check\{id="(GPU-[A-Z0-9-]+)"\} (-1|[0-3])')
WARNED = f"mtime etc/containerd/conf.d/99-nvidia.toml {BOOT_S + 5000}"


class Outputs(DoctorTest):
    """text, json, npd, metrics."""

    def test_ids(self):
        """Ids are an interface: scripts and alerts name them. The order is that of the chain."""
        report = self.report(self.machine())
        self.assertEqual([check["id"] for check in report["checks"]], IDS)

    def test_healthy_text_fits(self):
        """One screen, the verdict first."""
        for name in ("doctor/ubuntu", "doctor/rhel", "doctor/sles", "vm-no-pci"):
            with self.subTest(name):
                result = self.run_doctor(self.machine(name))
                self.assertEqual(result.code, 0)
                self.assertLessEqual(len(result.out.splitlines()), SCREEN)
                self.assertRegex(result.out, r"\A(ok|info): ")

    def test_all(self):
        """--all names every row, also those that could not be checked, with the reason."""
        result = self.run_doctor(self.machine(), "--all")
        for name in IDS:
            self.assertRegex(result.out, rf"(?m)^[a-z-]+ {name}: ")
        self.assertIn("not-checked GPU-NVML-INIT: NVML was not to be started", result.out)

    def test_count_of_one(self):
        """One GPU is no plural."""
        self.assertNotIn("1 NVIDIA GPUs", self.run_doctor(self.machine("server-mismatch")).out)

    def test_npd(self):
        """One line of at most 80 bytes; 0 ok, 1 problem, 2 unknown."""
        rows = [(UBUNTU, [], 0, "GPU"), (STORY, [], 1, "GPU-DRV-MISMATCH"), (UBUNTU, [WARNED], 0, "GPU"),
                ("vm-no-pci", [], 0, "GPU"), (UBUNTU, held_by("0000:3b:00.0", "nouveau"), 1, "GPU-DRV-NOUVEAU"),
                (UBUNTU, UNLOADED, 1, "GPU-DRV-NOTLOADED")]
        for name, lines, code, start in rows:
            with self.subTest((name, lines)):
                result = self.run_doctor(self.machine(name, *lines), "-o", "npd")
                self.assertEqual(result.code, code, result)
                self.assert_one_line(result.out, start)
        result = self.run_doctor(self.machine(UBUNTU, WARNED), "-o", "npd", "--fail-on", "warning")
        self.assertEqual(result.code, 1)
        self.assert_one_line(result.out, "GPU-CRI-NOTRESTARTED")
        result = self.run_doctor(self.tree("dir etc"), "-o", "npd")
        self.assertEqual(result.code, 2)
        self.assert_one_line(result.out, "it cannot be told")

    def assert_one_line(self, text, start):
        """What node-problem-detector takes."""
        self.assertTrue(text.startswith(start), text)
        self.assertEqual(text.count("\n"), 1)
        self.assertLessEqual(len(text.encode().rstrip(b"\n")), 80)

    def test_metrics(self):
        """A valid exposition: one sample a row, with HELP and TYPE before."""
        for name, worst in ((UBUNTU, "0"), (STORY, "3")):
            with self.subTest(name):
                out = self.run_doctor(self.machine(name), "-o", "metrics").out
                lines = out.splitlines()
                samples = [line for line in lines if line.startswith("nfd_source_doctor_check{")]
                samples = dict(METRIC.fullmatch(line).groups() for line in samples)
                self.assertEqual(list(samples), IDS)
                self.assertEqual(samples["GPU-NVML-INIT"], "-1")
                self.assertEqual(samples["GPU-DRV-MISMATCH"], worst)
                self.assertIn(f"nfd_source_doctor_verdict {worst}", lines)
                for metric in ("nfd_source_doctor_check", "nfd_source_doctor_verdict"):
                    self.assertEqual(sum(line.startswith(f"# TYPE {metric} gauge") for line in lines), 1)
                    self.assertEqual(sum(line.startswith(f"# HELP {metric} ") for line in lines), 1)

    def test_fail_on(self):
        """warning or critical, by option and by setting."""
        root = self.machine(UBUNTU, WARNED)
        self.assertEqual(self.run_doctor(root).code, 0)
        self.assertEqual(self.run_doctor(root, "--fail-on", "critical").code, 0)
        self.assertEqual(self.run_doctor(root, "--fail-on", "warning").code, 1)
        self.assertEqual(self.run_doctor(root, settings={"doctor.failOn": "warning"}).code, 1)
        self.assertEqual(self.run_doctor(self.machine(), "--fail-on", "warning").code, 0)
        self.assertEqual(self.run_doctor(root, "--fail-on", "info").code, 2)
        self.assertEqual(self.run_doctor(root, "-o", "yaml").code, 2)

    def test_undecided(self):
        """3 only when it cannot be told whether there is a GPU: no sysfs, or nothing mounted there."""
        for root in (self.tree("dir etc"), self.machine("no-sysfs")):
            with self.subTest(sorted(os.listdir(root))):
                result = self.run_doctor(root, "-o", "json")
                self.assertEqual(result.code, 3, result)
                report = load_json(result.out)
                self.not_checked(report, "GPU-PCI-NONE", "")
                self.assertEqual((report["verdict"], report["cause"]), ("not-checked", None))
                self.assertNotRegex(self.run_doctor(root).out, r"\Aok")
                self.assertIn("nfd_source_doctor_verdict -1", self.run_doctor(root, "-o", "metrics").out.splitlines())
        for name in ("vm-no-pci", "arm-board", "jetson"):
            self.assertEqual(self.run_doctor(self.machine(name)).code, 0)

    def test_hostile_text(self):
        """No byte of the host reaches the terminal as a control character, and JSON stays JSON."""
        for text in ("a\\x1b[31mb", "a\\x07\\x08\\x7f", "a\\xc2\\x9b31mb", "a\\x9b31mb", "\\xff\\xfe\\xc3",
                     "\\xe2\\x80\\xae"):
            with self.subTest(text):
                root = self.machine(UBUNTU, f"file var/log/kern.log kernel: NVRM: Xid (PCI:0000:3b:00): 48, {text}")
                raw = self.run_doctor(root, "--all", binary_output=True).out
                shown = raw.decode(errors="replace")
                self.assertNotRegex(shown, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                self.assertNotIn(b"\x9b", raw.replace("\u202e".encode(), b""))
                raw = self.run_doctor(root, "-o", "json", binary_output=True).out
                self.find(load_json(raw.decode()), "GPU-HW-XID")


class Harmless(DoctorTest):
    """It changes nothing and executes nothing."""

    def snapshot(self, root):
        """Every entry with its kind, size, times and content."""
        seen = {}
        for folder, folders, files in os.walk(root):
            for name in [*folders, *files]:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                content = None
                if stat.S_ISREG(info.st_mode):
                    with open(path, "rb") as file:
                        content = file.read()
                seen[path] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, content)
        return seen

    def test_writes_nothing(self):
        """Root, features.d and the test's folder are as they were."""
        root = self.machine(STORY)
        before = self.snapshot(self.tmp)
        for form in ("text", "json", "npd", "metrics"):
            self.run_doctor(root, "-o", form)
        self.assertEqual(self.snapshot(self.tmp), before)

    def test_executes_nothing(self):
        """No program is started, no file opened for writing, no directory changed."""
        strace = shutil.which("strace")
        if not strace:
            self.skipTest("no strace")
        trace = self.name("trace")
        calls = "execve,execveat,openat,openat2,open,chroot,mkdir,unlink,rename,connect,fork,vfork,clone3"
        command = [strace, "-f", "-o", str(trace), "-e", f"trace={calls}", BINARY, *self.options(self.machine(STORY)),
                   "doctor", "--no-nvml", "--no-api"]
        done = subprocess.run(command, env=clean_environment({"ASAN_OPTIONS": "detect_leaks=0"}), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if "PTRACE" in done.stderr.decode(errors="replace") or not trace.exists():
            self.skipTest("strace may not trace here")
        self.assertEqual(done.returncode, 1, done)
        calls = trace.read_text(errors="replace").splitlines()
        self.assertEqual(sum("execve" in call for call in calls), 1)
        for call in calls:
            self.assertNotRegex(call, r"O_WRONLY|O_RDWR|O_CREAT|\b(chroot|mkdir|unlink|rename|connect|v?fork|clone3)\(")

    def test_elsewhere(self):
        """Machines without an NVIDIA GPU give no finding above information."""
        for name in ELSEWHERE:
            with self.subTest(name):
                report = self.report(self.machine(name))
                self.assertEqual([one for one in report["findings"] if one["verdict"] in BAD], [])

    def test_no_host(self):
        """An os-release that names no system: a pod without folders of the host misses what is there all the same."""
        root = self.machine(STORY)
        self.assertEqual(self.report(root)["cause"], "GPU-DRV-MISMATCH")
        (root / "etc/os-release").write_text("")
        result = self.run_doctor(root, "-o", "json")
        self.assertEqual(result.code, 0)
        report = load_json(result.out)
        self.assertEqual((report["cause"], report["findings"]), (None, []))
        for check in report["checks"][1:]:
            self.assertEqual(check["verdict"], "not-checked", check)
            self.assertIn("etc/os-release", check["reason"])

    def test_parts_of_a_host(self):
        """The folders that pods mount: what is missing may be on the host, so a healthy machine gives no alarm."""
        causes = {STORY: "GPU-DRV-MISMATCH"}
        for name in (*(f"doctor/{each}" for each in HEALTHY), STORY):
            with self.subTest(name):
                host = self.machine(name)
                run_in_child(self.check_in_pod, host, causes.get(name))

    def check_in_pod(self, host, cause):
        """For a child: what doctor says in a pod on that host."""
        unshare(CLONE_NEWNS)
        own = self.name("own")
        own.mkdir()
        enter_root(own)
        for part in PARTS:
            if (host / part).exists():
                bind(host / part, Path("/host", part))
        report = self.report("/host")
        self.assertEqual(report["cause"], cause, report["findings"])

    def test_this_host(self):
        """The host that runs the tests, whatever it is: a verdict, no crash; without a GPU no alarm."""
        result = self.run_program("/", "doctor", "--no-nvml", "--no-api", "-o", "json")
        self.assertIn(result.code, (0, 1, 3))
        report = load_json(result.out)
        if not os.path.exists("/proc/driver/nvidia") and not os.path.exists("/sys/module/nvidia"):
            alarms = [one["id"] for one in report["findings"] if one["verdict"] in BAD]
            self.assertNotIn("GPU-PCI-NONE", alarms)

    def test_no_root_rights(self):
        """An ordinary user gets every verdict that readable files allow, and is told what could not be read."""
        setpriv = shutil.which("setpriv")
        if os.geteuid() != 0 or not setpriv:
            self.skipTest("needs root and setpriv")
        root = self.machine(STORY)
        (root / "var/log/kern.log").chmod(0o600)
        (root / "var/lib/kubelet/device-plugins").chmod(0o700)
        (root / "etc/apt/apt.conf.d/50unattended-upgrades").chmod(0o600)
        command = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", BINARY, *self.options(root), "doctor",
                   "--no-nvml", "--no-api", "-o", "json"]
        done = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode in (126, 127):
            self.skipTest(f"user 65534 cannot start {BINARY}")
        self.assertEqual(done.returncode, 1, done)
        report = load_json(done.stdout.decode())
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")
        self.not_checked(report, "GPU-HW-XID79", "log", "ermission")
        self.not_checked(report, "GPU-DP-NOTREG", "device-plugins")
        self.find(report, "GPU-DRV-UNPINNED")
