# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: whether each GPU works (kernel log, the driver's files), fabric manager, persistence daemon."""

from doctor_case import UBUNTU, DoctorTest
from test_doctor_driver import FIRST, LOG, SECOND, VERSION, log

GPUS = "proc/driver/nvidia/gpus"
HGX = "doctor/hgx"
FM_LOG = "var/log/fabricmanager.log"


def xid(number, words="pid=1234, name=python"):
    """A line of a fault."""
    return log(f"NVRM: Xid (PCI:{FIRST[:-2]}): {number}, {words}")


class Faults(DoctorTest):
    """What the kernel's log says."""

    def test_off_the_bus(self):
        """Xid 79."""
        self.both_ways(self.machine(UBUNTU, xid(79, "GPU has fallen off the bus.")), "GPU-HW-XID79", "critical",
                       {LOG: "Xid (PCI:0000:3b:00): 79"}, ["kubectl drain", "poweroff"])

    def test_unresponsive(self):
        """The same without a log: the kernel has given the device up."""
        base = f"sys/devices/pci{FIRST[:7]}/{FIRST}"
        root = self.machine(UBUNTU, f"remove {LOG}", f"file {base}/power_state error")
        finding = self.fires(root, "GPU-HW-XID79", "critical", {"sys/bus/pci/devices": FIRST}, ["poweroff"])
        self.assertIn(FIRST, finding["cause"])

    def test_faults(self):
        """Each Xid that means hardware is a warning that names the GPU; the meaning is only a hint."""
        for number in (48, 63, 64, 74, 94, 95, 119, 120, 140):
            with self.subTest(number):
                finding = self.fires(self.machine(UBUNTU, xid(number)), "GPU-HW-XID", "warning",
                                     {LOG: f": {number},"}, ["kubectl drain", f"nvidia-smi --gpu-reset -i {FIRST}"])
                self.assertIn(FIRST, finding["cause"])
        self.silent(self.machine(), "GPU-HW-XID")

    def test_faults_of_programs(self):
        """Xids that a program causes are no fault of the node."""
        for number in (13, 31, 43, 45, 68, 109):
            with self.subTest(number):
                self.silent(self.machine(UBUNTU, xid(number)), "GPU-HW-XID", "GPU-HW-XID79")

    def test_before_the_boot(self):
        """Lines before the last boot do not count."""
        stamp = "2026-02-01T00:00:00+00:00 gpu-1 kernel:"
        for words in (f"NVRM: Xid (PCI:{FIRST[:-2]}): 79, GPU has fallen off the bus.",
                      "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x40:2393)"):
            with self.subTest(words):
                root = self.machine(UBUNTU, f"file {LOG} {stamp} {words}\\n{stamp} Linux version 6.8.0-48-generic (x)")
                self.silent(root, "GPU-HW-XID79", "GPU-HW-XID", "GPU-DRV-INIT")

    def test_large_domain(self):
        """The address of a GPU behind an Intel VMD has five digits (field case B1)."""
        finding = self.fires(self.machine(UBUNTU, log("NVRM: Xid (PCI:10000:01:00): 48, x")), "GPU-HW-XID", "warning")
        self.assertIn("10000:01:00.0", finding["cause"])

    def test_no_log(self):
        """Without a log these rows are not checked."""
        report = self.report(self.machine(UBUNTU, f"remove {LOG}"))
        for name in ("GPU-HW-XID", "GPU-HW-XID79", "GPU-DRV-GSPFW", "GPU-DRV-LEGACY"):
            self.not_checked(report, name, "log")

    def test_other_log_files(self):
        """messages, where there is no kern.log."""
        self.fires(self.machine(UBUNTU, f"remove {LOG}", xid(79).replace(LOG, "var/log/messages")),
                   "GPU-HW-XID79", "critical", {"var/log/messages": "Xid"})

    def test_legacy(self):
        """A GPU that the branch dropped."""
        line = log(f"NVRM: The NVIDIA GPU {FIRST} is supported by the 580.xx driver; ignoring the legacy GPU")
        self.both_ways(self.machine(UBUNTU, line), "GPU-DRV-LEGACY", "critical", {LOG: "legacy"}, ["580"])

    def test_firmware(self):
        """Firmware of the loaded version is missing."""
        line = log(f"nvidia {FIRST}: Direct firmware load for nvidia/{VERSION}/gsp_ga10x.bin failed with error -2")
        self.both_ways(self.machine(UBUNTU, line), "GPU-DRV-GSPFW", "critical",
                       {LOG: "gsp_", f"lib/firmware/nvidia/{VERSION}": "missing"}, ["nvidia-firmware", "modprobe"])

    def test_firmware_of_another_version(self):
        """A line about a version that is no longer loaded says nothing of now."""
        line = log(f"nvidia {FIRST}: Direct firmware load for nvidia/570.86.15/gsp_ga10x.bin failed with error -2")
        root = self.machine(UBUNTU, line, f"file usr/lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin x")
        self.silent(root, "GPU-DRV-GSPFW")


class Started(DoctorTest):
    """What the driver shows of each GPU."""

    def test_no_information(self):
        """Bound to nvidia, and the driver knows nothing of it."""
        finding = self.both_ways(
            self.machine(UBUNTU, f"remove {GPUS}/{SECOND}"), "GPU-DRV-INIT", "critical",
            {f"{GPUS}/{SECOND}/information": "missing"}, ["dmesg", "kubectl drain", "pci=realloc"])
        self.assertIn(SECOND, finding["cause"])

    def test_init_failed(self):
        """The log's words."""
        for words in (f"NVRM: GPU {FIRST}: RmInitAdapter failed! (0x62:0x40:2393)",
                      f"NVRM: GPU {FIRST}: rm_init_adapter failed, device minor number 0"):
            with self.subTest(words):
                self.fires(self.machine(UBUNTU, log(words)), "GPU-DRV-INIT", "critical", {LOG: "failed"})

    def test_loaded_again(self):
        """What failed before the driver was loaded anew does not count."""
        stamp = "2026-02-02T02:41:00+00:00 gpu-1 kernel:"
        failed = f"NVRM: GPU {FIRST}: RmInitAdapter failed! (0x62:0x40:2393)"
        loading = f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {VERSION}  Release Build"
        self.silent(self.machine(UBUNTU, f"file {LOG} {stamp} {failed}\\n{stamp} {loading}"), "GPU-DRV-INIT")
        self.fires(self.machine(UBUNTU, f"file {LOG} {stamp} {loading}\\n{stamp} {failed}"), "GPU-DRV-INIT", "critical")

    def test_excluded(self):
        """By an option: a warning, and no failed start."""
        text = f"file {GPUS}/{FIRST}/information Model: \\t L4\\nDevice Minor: \\t 0\\nGPU Excluded:\\t Yes"
        root = self.machine(UBUNTU, text)
        self.both_ways(root, "GPU-HW-EXCLUDED", "warning", {f"{GPUS}/{FIRST}/information": "Excluded: Yes"},
                       ["ExcludedGpus"])
        self.silent(root, "GPU-DRV-INIT")

    def test_virtual_functions(self):
        """A virtual function has no file there, and that is right."""
        root = self.machine(UBUNTU, "pci 0000:3b:00.4 030200 10de:27b8 driver=nvidia physfn=0000:3b:00.0")
        self.silent(root, "GPU-DRV-INIT")

    def test_flavor(self):
        """Blackwell needs the open modules, Volta the others; what has started is right whatever it is."""
        rows = (("2901", "proprietary", True, "open"), ("2901", "open", False, ""),
                ("1db6", "open", True, "proprietary"), ("1db6", "proprietary", False, ""),
                ("2330", "open", False, ""), ("2330", "proprietary", False, ""))
        for device, flavor, wrong, wanted in rows:
            with self.subTest((device, flavor)):
                root = self.tree("file etc/os-release ID=ubuntu", f"nvidia {VERSION} {flavor} loaded",
                                 f"pci {FIRST} 030200 10de:{device} driver=nvidia", f"dir {GPUS}",
                                 f"elf usr/lib64/libnvidia-ml.so.{VERSION} 64")
                if not wrong:
                    self.silent(root, "GPU-DRV-FLAVOUR")
                    continue
                finding = self.fires(root, "GPU-DRV-FLAVOUR", "critical", {"proc/driver/nvidia/version": flavor},
                                     ["apt-get install nvidia-driver-580", f"kernelModuleType={wanted}"])
                self.assertIn(f"10de:{device}", finding["cause"])
                self.change(root, f"file {GPUS}/{FIRST}/information Model: \\t x\\nDevice Minor: \\t 0")
                self.silent(root, "GPU-DRV-FLAVOUR")


class Fabric(DoctorTest):
    """NVSwitches, and who counts on the persistence daemon."""

    def test_not_running(self):
        """Needed and absent."""
        self.both_ways(
            self.machine(HGX, "remove proc/650"), "GPU-FM-MISSING", "critical",
            {"proc/driver/nvidia-nvswitch/devices/0000:05:00.0": "there", "proc": "nv-fabricmanager"},
            ["apt-get install nvidia-fabricmanager-570", "systemctl enable --now nvidia-fabricmanager"],
            healthy=self.machine(HGX))

    def test_by_vpd(self):
        """NVLink 5: the management function of a switch."""
        root = self.machine(UBUNTU, "file sys/class/infiniband/mlx5_0/device/vpd \\x82\\x10\\0SW_MNG\\x78\\0\\c")
        self.fires(root, "GPU-FM-MISSING", "critical", {"sys/class/infiniband/mlx5_0/device/vpd": "there"})
        root = self.machine(UBUNTU, "file sys/class/infiniband/mlx5_0/device/vpd \\x82\\x10\\0ConnectX-7\\c")
        self.silent(root, "GPU-FM-MISSING")

    def test_not_needed(self):
        """No switch, no fabric manager."""
        self.silent(self.machine(), "GPU-FM-MISSING", "GPU-FM-MISMATCH")

    def test_processes_are_not_visible(self):
        """Unknown is not missing."""
        root = self.machine(HGX)
        pids = [f"remove proc/{pid}" for pid in (1, 650, 700, 800, 900, 2000)]
        self.not_checked(self.report(self.change(root, *pids)), "GPU-FM-MISSING", "processes")

    def test_other_version(self):
        """By the package, and by its own log."""
        package = "nvidia-fabricmanager-570"
        other = "570.124.06-0ubuntu0.24.04.1"
        root = self.machine(HGX)
        text = (root / "var/lib/dpkg/status").read_text()
        before, after = text.split(f"Package: {package}\n")
        changed = after.replace("570.86.15-0ubuntu0.24.04.1", other, 1)
        (root / "var/lib/dpkg/status").write_text(f"{before}Package: {package}\n{changed}")
        self.both_ways(root, "GPU-FM-MISMATCH", "critical", {f"var/lib/dpkg/status: {package}": other},
                       [f"{package}=570.86.15", "systemctl restart nvidia-fabricmanager", f"apt-mark hold {package}"],
                       healthy=self.machine(HGX))
        root = self.machine(HGX, f"file {FM_LOG} fabric manager NVIDIA GPU driver interface version 570.124.06 "
                                 "don't match with driver version 570.86.15. Please update")
        self.fires(root, "GPU-FM-MISMATCH", "critical", {FM_LOG: "570.124.06"})

    def test_persistence_socket(self):
        """A CDI specification that mounts what is not there."""
        self.both_ways(self.machine(UBUNTU, "remove run/nvidia-persistenced/socket"), "GPU-PERSISTD-SOCK", "critical",
                       {"run/nvidia-persistenced/socket": "missing", "var/run/cdi/nvidia.yaml": "socket"},
                       ["systemctl enable --now nvidia-persistenced", "nvidia-ctk cdi generate"])
