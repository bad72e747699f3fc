# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: the mismatch of library and module in its kinds, and the story of design.md 8."""

from doctor_case import BAD, HEALTHY, UBUNTU, DoctorTest
from test_doctor_driver import MODULES, VERSION, log

NEW = "580.159.03"
STORY = "doctor/story"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
ON_DISK = f"{MODULES}/kernel/nvidia-580-open/nvidia.ko"
LOADED = "sys/module/nvidia/version"
SET = ("libnvidia-cfg1-580", "libnvidia-common-580", "libnvidia-compute-580", "libnvidia-decode-580",
       "linux-modules-nvidia-580-open-6.8.0-48-generic", "nvidia-compute-utils-580", "nvidia-driver-580-open",
       "nvidia-kernel-common-580", "nvidia-utils-580")


def library(version, folder=LIBRARIES, old=VERSION):
    """Lines that put another version in the place of the old one."""
    lines = [f"elf {folder}/libnvidia-ml.so.{version} 64", f"link {folder}/libnvidia-ml.so.1 libnvidia-ml.so.{version}"]
    if old:
        lines = [f"remove {folder}/libnvidia-ml.so.1", f"remove {folder}/libnvidia-ml.so.{old}",
                 f"remove {folder}/libcuda.so.1", f"remove {folder}/libcuda.so.{old}", *lines]
    return lines


def on_disk(version):
    """The module's file in another version."""
    return f"modinfo usr/{ON_DISK} version={version}"


class Mismatch(DoctorTest):
    """The table of spec/gpu-stack.md 2.4."""

    def test_reload_pending_with_library(self):
        """On disk = library, not loaded yet."""
        root = self.machine(UBUNTU, *library(NEW), on_disk(NEW))
        finding = self.both_ways(
            root, "GPU-DRV-MISMATCH", "critical",
            {LOADED: VERSION, f"{LIBRARIES}/libnvidia-ml.so.{NEW}": NEW, ON_DISK: NEW},
            ["kubectl drain", "rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia", "kubectl uncordon"])
        self.assertIn(VERSION, finding["cause"])
        self.assertIn(NEW, finding["cause"])
        self.silent(root, "GPU-DRV-KMODLAG", "GPU-DRV-RELOAD-PENDING", "GPU-DRV-TWOLIBS")

    def test_strings_are_compared(self):
        """The branch is the same, leading zeros count."""
        for version in ("580.126.9", "580.126.090", "580.126", "581.126.09"):
            with self.subTest(version):
                self.fires(self.machine(UBUNTU, *library(version)), "GPU-DRV-KMODLAG", "critical")

    def test_module_lags(self):
        """On disk = loaded: a reboot does not help."""
        root = self.machine(UBUNTU, *library(NEW))
        finding = self.both_ways(
            root, "GPU-DRV-KMODLAG", "critical",
            {LOADED: VERSION, f"{LIBRARIES}/libnvidia-ml.so.{NEW}": NEW, ON_DISK: VERSION},
            ["linux-modules-nvidia-580-open-$(uname -r)", "modprobe"])
        self.assertIn("reboot", finding["cause"])
        self.silent(root, "GPU-DRV-MISMATCH")

    def test_module_lags_elsewhere(self):
        """The command does not speak apt on a system of rpm."""
        root = self.machine("doctor/rhel", *library(NEW, "usr/lib64", "570.124.06"),
                            "remove usr/lib/modules", "modinfo usr/lib/modules/5.14.0-427.13.1.el9_4.x86_64/extra/"
                            "nvidia.ko version=570.124.06",
                            "file usr/lib/modules/5.14.0-427.13.1.el9_4.x86_64/modules.dep extra/nvidia.ko:")
        finding = self.fires(root, "GPU-DRV-KMODLAG", "critical", None, ["dkms autoinstall", "dnf versionlock add"])
        self.assertNotIn("apt", " ".join(finding["fix"]))

    def test_library_lags(self):
        """The library is the older one (held alone, say): no package of modules helps, the library's does."""
        root = self.machine(UBUNTU, *library("580.95.05"))
        report = self.report(root)
        found = [one for one in report["findings"] if one["id"] in ("GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG")]
        self.assertEqual([one["verdict"] for one in found], ["critical"], self.brief(report))
        commands = " ".join(command for command in found[0]["fix"] if not command.startswith("apt-mark"))
        self.assertIn("libnvidia-compute-580", commands)
        self.assertNotIn("linux-modules-nvidia", commands)

    def test_all_differ(self):
        """Three versions: loading the module on disk does not end the mismatch (spec 2.4)."""
        finding = self.fires(self.machine(UBUNTU, *library(NEW), on_disk("580.140.02")), "GPU-DRV-MISMATCH", "critical",
                             {LOADED: VERSION, ON_DISK: "580.140.02"})
        self.assertIn("install", " ".join(finding["fix"]))

    def test_reload_pending(self):
        """The module on disk is newer, the library still fits."""
        root = self.machine(UBUNTU, on_disk(NEW))
        self.both_ways(root, "GPU-DRV-RELOAD-PENDING", "warning", {LOADED: VERSION, ON_DISK: NEW},
                       ["kubectl drain", "rmmod"])
        self.silent(root, "GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG")

    def test_two_libraries(self):
        """Two installations; a driver container beside a host's leftovers is information."""
        run_file = ["elf usr/lib64/libnvidia-ml.so.570.86.15 64", "file usr/bin/nvidia-uninstall \\c"]
        root = self.machine(UBUNTU, *run_file)
        self.both_ways(root, "GPU-DRV-TWOLIBS", "warning",
                       {"usr/lib64/libnvidia-ml.so.570.86.15": "570.86.15",
                        f"{LIBRARIES}/libnvidia-ml.so.{VERSION}": "in force"}, ["nvidia-uninstall"])
        root = self.machine(UBUNTU, *library("570.86.15"),
                            *library(VERSION, "run/nvidia/driver/usr/lib/x86_64-linux-gnu", None))
        report = self.report(root)
        self.fires(root, "GPU-DRV-TWOLIBS", "info", report=report)
        self.assertEqual([one for one in report["findings"] if one["verdict"] in BAD], [], self.brief(report))

    def test_FC_J4_empty_container_root(self):
        """An empty leftover of a driver container is skipped; its place is named where it is not."""
        self.silent(self.machine(UBUNTU, "dir run/nvidia/driver"), "GPU-DRV-MISMATCH", "GPU-DRV-TWOLIBS")
        folder = "run/nvidia/driver/usr/lib/x86_64-linux-gnu"
        root = self.machine(UBUNTU, *library(NEW, folder, None))
        report = self.report(root)
        found = [one for one in report["findings"] if one["id"] in ("GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG")]
        self.assertEqual([one["verdict"] for one in found], ["critical"], self.brief(report))
        self.assertIn(f"{folder}/libnvidia-ml.so.{NEW}", [one["path"] for one in found[0]["evidence"]])

    def test_library_is_missing(self):
        """Loaded, and no library in any known place."""
        lines = [line for line in library(NEW) if line.startswith("remove")]
        self.both_ways(self.machine(UBUNTU, *lines), "GPU-LIB-MISSING", "critical",
                       {LOADED: VERSION, "libnvidia-ml.so.1": "not found"}, ["apt-get install libnvidia-compute-580"])
        root = self.machine("doctor/debian", "remove usr/lib/x86_64-linux-gnu")
        self.fires(root, "GPU-LIB-MISSING", "critical", None, ["apt-get install libnvidia-ml1"])

    def test_not_loaded(self):
        """Without a module nothing can be compared."""
        report = self.report(self.machine(UBUNTU, "remove sys/module/nvidia", "remove proc/driver/nvidia/version"))
        for name in ("GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG", "GPU-DRV-RELOAD-PENDING", "GPU-LIB-MISSING"):
            self.not_checked(report, name, "module")

    def test_FC_J2(self):
        """The case as it was reported, and its healthy variant."""
        machine = ["file etc/os-release ID=ubuntu\\nID_LIKE=debian", "pci 0000:3b:00.0 030200 10de:27b8 driver=nvidia",
                   "nvidia 550.90.07 proprietary loaded", "file proc/driver/nvidia/gpus/0000:3b:00.0/information "
                   "Model: \\t NVIDIA L4\\nDevice Minor: \\t 0",
                   'file etc/apt/apt.conf.d/20auto-upgrades APT::Periodic::Unattended-Upgrade "1";']
        packages = ("nvidia-driver-550", "libnvidia-compute-550")
        root = self.tree(*machine, *library("550.107.02", old=None),
                         *(f"dpkg {name} 550.107.02-0ubuntu0.22.04.1" for name in packages))
        report = self.report(root)
        finding = self.fires(root, "GPU-DRV-MISMATCH", "critical", report=report)
        self.assertIn("550.90.07", finding["cause"])
        self.assertIn("550.107.02", finding["cause"])
        pin = self.fires(root, "GPU-DRV-UNPINNED", "warning", report=report)
        for name in packages:
            self.assertIn(name, pin["fix"][0])
        root = self.tree(*machine, *library("550.90.07", old=None),
                         *(f"dpkg {name} 550.90.07-0ubuntu0.22.04.1 hold" for name in packages))
        self.assertEqual(self.report(root)["findings"], [])


class Story(DoctorTest):
    """What design.md 8 wants to be told."""

    def test_report(self):
        """Versions, package, time, boot, hold, upgrader, the commands, and what it does to the cluster."""
        root = self.machine(STORY)
        report = self.report(root)
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")
        finding = self.fires(root, "GPU-DRV-MISMATCH", "critical", {
            LOADED: VERSION,
            f"{LIBRARIES}/libnvidia-ml.so.{NEW}": NEW,
            ON_DISK: NEW,
            "var/log/apt/history.log": f"{VERSION}-0ubuntu0.24.04.1 -> {NEW}-0ubuntu0.24.04.1 on 2026-02-03  06:11:12 "
                                       "by /usr/bin/unattended-upgrade",
            "proc/stat": "booted 2026-02-02T02:40:00Z",
            "etc/apt/apt.conf.d": "${distro_id}:${distro_codename}-security",
        }, ["kubectl drain", "reboot", "apt-mark hold", "kubectl uncordon"], report=report)
        states = [one["value"] for one in finding["evidence"] if one["path"].startswith("var/lib/dpkg/status: libnv")]
        self.assertTrue(any("not held" in state for state in states), finding)
        (consequence,) = [one["value"] for one in finding["evidence"] if "Pending" in one["value"]]
        self.assertRegex(consequence, "validator.*device plugin.*nvidia.com/gpu: 0")
        (hold,) = [command for command in finding["fix"] if command.startswith("apt-mark hold ")]
        self.assertEqual(set(hold.split()[2:]) - {f"nvidia-firmware-580-{NEW}"}, set(SET))

    def test_blocked(self):
        """Findings of operator, plugin and Node are explained by the mismatch."""
        report = self.report(self.machine(STORY))
        blocked = {one["id"]: one["blockedBy"] for one in report["findings"]}
        for name in ("GPU-OP-HOSTMISREAD", "GPU-DP-NOTREG"):
            self.assertEqual(blocked[name], "GPU-DRV-MISMATCH", blocked)
        self.assertIsNone(blocked["GPU-DRV-MISMATCH"])
        self.assertIsNone(blocked["GPU-DRV-UNPINNED"])

    def test_text(self):
        """The cause comes first, with its commands; what it blocks is one line each."""
        result = self.run_doctor(self.machine(STORY))
        self.assertEqual(result.code, 1)
        lines = result.out.splitlines()
        self.assertIn("critical", lines[0])
        findings = [line for line in lines if line.split(" ")[0] in ("critical", "warning", "info")]
        self.assertIn("GPU-DRV-MISMATCH", findings[0])
        for words in (VERSION, NEW, "unattended-upgrade", "2026-02-03  06:11:12", "2026-02-02T02:40:00Z", "not held",
                      "kubectl drain", "reboot", "apt-mark hold", "nvidia.com/gpu: 0", "blocked by GPU-DRV-MISMATCH"):
            self.assertIn(words, result.out)

    def test_hold_removes_the_warning(self):
        """What the advice says helps: after it only the mismatch is left, after the reload nothing."""
        root = self.machine(STORY)
        self.fires(root, "GPU-DRV-UNPINNED", "warning")
        status = root / "var/lib/dpkg/status"
        status.write_text(status.read_text().replace("install ok installed", "hold ok installed"))
        report = self.silent(root, "GPU-DRV-UNPINNED", "GPU-DRV-PINPARTIAL")
        finding = self.fires(root, "GPU-DRV-MISMATCH", "critical", report=report)
        self.assertNotIn("apt-mark hold", " ".join(finding["fix"]))
        self.change(root, f"nvidia {NEW} open loaded")
        self.silent(root, "GPU-DRV-MISMATCH", "GPU-DRV-KMODLAG", "GPU-DRV-RELOAD-PENDING")

    def test_FC_J4_named_folder(self):
        """The folder of the setting decides alone, for doctor and for the labels."""
        root = self.machine(UBUNTU, *library(NEW, "opt/odd", None))
        self.silent(root, "GPU-DRV-KMODLAG")
        setting = {"sources.nvidia.libraryDir": "/opt/odd"}
        finding = self.find(self.report(root, settings=setting), "GPU-DRV-KMODLAG")
        self.assertIn("opt/odd", " ".join(one["path"] for one in finding["evidence"]))
        labels = self.run_program(root, "scan", settings=setting).out
        self.assertIn(f"driver-nvidia.library.version.full={NEW}\n", labels)
        self.assertIn("driver-nvidia.match=false\n", labels)

    def test_refusal_in_the_log(self):
        """The kernel's own words are proof, when they name the library that is there now."""
        for version, told in ((NEW, True), ("570.86.15", False)):
            with self.subTest(version):
                words = f"NVRM: API mismatch: the client has the version {version}, but"
                finding = self.find(self.report(self.machine(STORY, log(words))), "GPU-DRV-MISMATCH")
                self.assertEqual(any("API mismatch" in one["value"] for one in finding["evidence"]), told)

    def test_what_a_pin_holds_is_not_in_the_command(self):
        """Packages that apt's preferences hold need no hold."""
        pin = "file etc/apt/preferences.d/nvidia Package: nvidia-utils-*\\nPin: version 580.126.*\\nPin-Priority: 1001"
        for lines, free in (((), True), ((pin,), False)):
            finding = self.find(self.report(self.machine(STORY, *lines)), "GPU-DRV-MISMATCH")
            (command,) = [one for one in finding["fix"] if one.startswith("apt-mark hold")]
            self.assertEqual("nvidia-utils-580" in command, free)
            self.assertIn("libnvidia-compute-580", command)

    def test_small_fixture(self):
        """The first machine of the story, with no device nodes and no operator."""
        report = self.report(self.machine("server-mismatch"))
        self.assertEqual(report["cause"], "GPU-DRV-MISMATCH")

    def test_drained_node_is_this_one(self):
        """The command names the Node of the host that is looked at, or leaves the name open; never another host."""
        for arguments, env, name in (((), None, ("<node>", "gpu-1")), ((), {"NODE_NAME": "n7"}, ("n7",)),
                                     (("--node-name", "n8"), None, ("n8",))):
            with self.subTest((arguments, env)):
                report = self.report(self.machine(STORY), *arguments, env=env)
                command = self.find(report, "GPU-DRV-MISMATCH")["fix"][0]
                self.assertIn(command.split()[2], name)


class Healthy(DoctorTest):
    """No false alarm."""

    def test_machines(self):
        """Every healthy machine: nothing above information, exit 0."""
        for name in HEALTHY:
            with self.subTest(name):
                report = self.report(self.machine(f"doctor/{name}"))
                self.assertIn(report["verdict"], ("ok", "info"), self.brief(report))
                self.assertIsNone(report["cause"])

    def test_layers_that_were_looked_at(self):
        """The healthy Ubuntu machine is really looked at."""
        report = self.report(self.machine())
        self.assertEqual(report["findings"], [])
        skipped = {check["id"] for check in report["checks"] if check["verdict"] == "not-checked"}
        for name in ("GPU-HW-XID79", "GPU-DRV-MISMATCH", "GPU-FM-MISSING", "GPU-CRI-NORUNTIME", "GPU-CDI-STALE",
                     "GPU-TK-NOTREADY", "GPU-DP-NOTREG", "GPU-DRV-UNPINNED"):
            self.assertNotIn(name, skipped)
