# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: presence, driver, start and device nodes, each row on a fault and on a machine without it."""

from doctor_case import DoctorTest

DEVICES = "sys/bus/pci/devices"
FIRST, SECOND = "0000:3b:00.0", "0000:86:00.0"
KERNEL = "6.8.0-48-generic"
MODULES = f"lib/modules/{KERNEL}"
VERSION = "580.126.09"
LOG = "var/log/kern.log"
UNLOADED = ("remove sys/module/nvidia", "remove proc/driver/nvidia/version", "remove sys/module/nvidia_uvm",
            "remove proc/driver/nvidia/gpus")


def log(text):
    """A kernel's log with one line of the driver."""
    stamp = "2026-02-02T02:41:00+00:00 gpu-1 kernel:"
    return f"file {LOG} {stamp} Linux version {KERNEL} (buildd@x)\\n{stamp} {text}"


def held_by(address, driver):
    """Lines that give a GPU to another driver, or to none."""
    base = f"sys/devices/pci{address[:7]}/{address}"
    lines = [f"remove {base}/driver", f"remove {base}/uevent", f"remove proc/driver/nvidia/gpus/{address}"]
    name = f"DRIVER={driver}\\n" if driver else ""
    lines.append(f"file {base}/uevent {name}PCI_CLASS=30200\\nPCI_ID=10DE:27B8\\nPCI_SUBSYS_ID=10DE:16CA\\n"
                 f"PCI_SLOT_NAME={address}")
    if driver:
        lines += [f"dir sys/bus/pci/drivers/{driver}", f"link {base}/driver ../../../bus/pci/drivers/{driver}"]
    return lines


class Presence(DoctorTest):
    """GPU-PCI-NONE."""

    def test_expected_but_gone(self):
        """A loaded module and no GPU: somebody expects one."""
        gone = [f"remove {DEVICES}/{address}" for address in (FIRST, SECOND)]
        finding = self.both_ways(
            self.machine("doctor/ubuntu", *gone), "GPU-PCI-NONE", "critical", {DEVICES: "10de"},
            ["echo 1 > /sys/bus/pci/rescan"])
        self.assertIn("loaded", finding["cause"])

    def test_image_with_driver(self):
        """An image with the driver's packages, on a machine without a GPU: information."""
        gone = [f"remove {DEVICES}/{address}" for address in (FIRST, SECOND)]
        report = self.report(self.machine("doctor/ubuntu", *gone, *UNLOADED))
        self.assertEqual(report["verdict"], "info", self.brief(report))
        self.assertIn("packages", self.find(report, "GPU-PCI-NONE")["cause"])

    def test_no_gpu_at_all(self):
        """No GPU and nothing that expects one: information, exit 0, the other rows are not checked."""
        for name in ("vm-no-pci", "ec2-vga", "amd-mi300"):
            with self.subTest(name):
                report = self.report(self.machine(name))
                self.fires(None, "GPU-PCI-NONE", "info", {DEVICES: "10de"}, report=report)
                self.not_checked(report, "GPU-DRV-MISMATCH", "no NVIDIA GPU")

    def test_platforms(self):
        """WSL2 and Jetson are explained."""
        for name, words in (("wsl2", "WSL2"), ("jetson", "Tegra")):
            with self.subTest(name):
                finding = self.fires(self.machine(name), "GPU-PCI-NONE", "info")
                self.assertIn(words, finding["cause"])

    def test_other_functions_are_no_gpus(self):
        """NVSwitches and audio functions of NVIDIA's do not count."""
        root = self.tree("pci 0000:05:00.0 068000 10de:22a3", "pci 0000:3b:00.1 040300 10de:22bc")
        self.fires(root, "GPU-PCI-NONE", "info")


class Holder(DoctorTest):
    """Who holds the GPUs: field case B6."""

    def test_FC_B6_nouveau(self):
        """nouveau is an error; the commands fit the distribution."""
        evidence = {f"{DEVICES}/{FIRST}/driver": "nouveau"}
        finding = self.both_ways(
            self.machine("doctor/ubuntu", *held_by(FIRST, "nouveau")), "GPU-DRV-NOUVEAU", "critical", evidence,
            ["blacklist nouveau", "update-initramfs -u", "reboot"])
        self.assertIn("1 of 2", finding["cause"])
        for name, address in (("doctor/rhel", "0000:17:00.0"), ("doctor/sles", "0000:17:00.0")):
            with self.subTest(name):
                root = self.machine(name, *held_by(address, "nouveau"))
                self.fires(root, "GPU-DRV-NOUVEAU", "critical", None, ["dracut -f", "reboot"])

    def test_nova(self):
        """nova_core is too."""
        self.both_ways(self.machine("doctor/ubuntu", *held_by(SECOND, "nova_core")), "GPU-DRV-NOVA", "critical",
                       {f"{DEVICES}/{SECOND}/driver": "nova_core"}, ["blacklist nova_core", "reboot"])

    def test_FC_B6_vfio(self):
        """vfio-pci is information as long as nobody says that it is not meant."""
        self.both_ways(self.machine("doctor/ubuntu", *held_by(FIRST, "vfio-pci")), "GPU-DRV-VFIO", "info",
                       {f"{DEVICES}/{FIRST}/driver": "vfio-pci"})

    def test_all_passed_through(self):
        """Every GPU given away, no driver: information only, the driver's links are the guests'."""
        for driver in ("vfio-pci", "nvgrace_gpu_vfio_pci"):
            with self.subTest(driver):
                root = self.tree("file etc/os-release ID=ubuntu",
                                 f"pci 0000:3b:00.0 030200 10de:27b8 driver={driver}",
                                 "dir dev", "dir var/lib/kubelet/device-plugins")
                report = self.report(root)
                self.assertEqual(report["verdict"], "info", self.brief(report))
                self.find(report, "GPU-DRV-VFIO")
                self.not_checked(report, "GPU-DEV-NODES", "virtual machines")

    def test_machine_of_B6(self):
        """The fixture with each kind of holder."""
        report = self.report(self.machine("drivers-mixed"))
        self.assertEqual(report["cause"], "GPU-DRV-NOUVEAU")
        self.fires(None, "GPU-DRV-VFIO", "info", report=report)


class Module(DoctorTest):
    """The module for the running kernel."""

    def test_absent(self):
        """Neither module nor library; each distribution's own command and package."""
        gpu = "pci 0000:3b:00.0 030200 10de:27b8"
        system = {
            "ubuntu": ("ID=ubuntu\\nID_LIKE=debian", "apt-get install nvidia-driver-580-server"),
            "debian": ("ID=debian", "apt-get install nvidia-driver "),
            "rhel": ('ID="rhel"\\nID_LIKE="fedora"', "dnf install nvidia-open"),
            "amazon": ('ID="amzn"\\nID_LIKE="fedora"', "dnf install nvidia-open"),
            "sles": ('ID="sles"\\nID_LIKE="suse"', "zypper install nvidia-open"),
        }
        for name, (text, command) in system.items():
            with self.subTest(name):
                root = self.tree(f"file etc/os-release {text}", f"file proc/sys/kernel/osrelease {KERNEL}", gpu)
                finding = self.fires(root, "GPU-DRV-ABSENT", "critical", {
                    "sys/module/nvidia": "missing", "libnvidia-ml.so.1": "none"}, ["driver.enabled=true"])
                self.assertIn(command, finding["fix"][0] + " ")
        self.silent(self.machine(), "GPU-DRV-ABSENT")

    def test_driver_container_is_a_driver(self):
        """A library below run/nvidia/driver and no module yet: not absent."""
        root = self.tree("file etc/os-release ID=ubuntu", f"file proc/sys/kernel/osrelease {KERNEL}",
                         "pci 0000:3b:00.0 030200 10de:27b8",
                         f"elf run/nvidia/driver/usr/lib64/libnvidia-ml.so.{VERSION} 64")
        self.silent(root, "GPU-DRV-ABSENT")

    def test_not_loaded(self):
        """On disk for this kernel, and not loaded."""
        self.both_ways(self.machine("doctor/ubuntu", *UNLOADED), "GPU-DRV-NOTLOADED", "critical", {
            f"{MODULES}/kernel/nvidia-580-open/nvidia.ko": "there", "sys/module/nvidia": "missing"},
            ["modprobe -a nvidia nvidia_uvm"])

    def test_blacklisted(self):
        """The line that forbids it is named, and the command takes just that line away."""
        for text, command in (("blacklist nvidia", "sed -i '/^blacklist nvidia$/d' /etc/modprobe.d/gpu.conf"),
                              ("install nvidia /bin/false", "sed -i '/^install nvidia /d' /etc/modprobe.d/gpu.conf")):
            with self.subTest(text):
                root = self.machine("doctor/ubuntu", *UNLOADED,
                                    f"file etc/modprobe.d/gpu.conf # ours\\nblacklist nvidiafb\\n{text}")
                self.fires(root, "GPU-DRV-NOTLOADED", "critical", {"etc/modprobe.d/gpu.conf": text},
                           [command, "modprobe"])

    def test_no_module(self):
        """Only another kernel has it."""
        other = "6.8.0-45-generic"
        lines = [*UNLOADED, f"file usr/{MODULES}/modules.dep kernel/fs/ext4.ko.zst:",
                 f"file usr/lib/modules/{other}/modules.dep updates/dkms/nvidia.ko.zst:"]
        root = self.machine("doctor/ubuntu", *lines)
        finding = self.both_ways(root, "GPU-DRV-NOMODULE", "critical", {
            f"{MODULES}/modules.dep": "no nvidia.ko", f"lib/modules/{other}/modules.dep": "has nvidia.ko"},
            ["apt-get install linux-headers-$(uname -r)", "dkms autoinstall"])
        self.assertIn(KERNEL, finding["cause"])
        self.assertIn(other, finding["cause"])

    def test_no_module_elsewhere(self):
        """dnf and zypper have other names for the headers."""
        for name, release, command in (
                ("doctor/rhel", "5.14.0-427.13.1.el9_4.x86_64", "dnf install kernel-devel-$(uname -r)"),
                ("doctor/sles", "6.4.0-150600.23.25-default", "zypper install kernel-default-devel")):
            with self.subTest(name):
                root = self.machine(name, "remove sys/module/nvidia", "remove proc/driver/nvidia",
                                    f"file usr/lib/modules/{release}/modules.dep \\c")
                finding = self.fires(root, "GPU-DRV-NOMODULE", "critical")
                self.assertTrue(finding["fix"][0].startswith(command), finding["fix"])

    def test_secure_boot(self):
        """The loader's words, and the firmware's variable."""
        variable = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        for words in ("nvidia: Loading of unsigned module is rejected",
                      "nvidia: module not signed by a key that is trusted",
                      "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
                      "could not insert 'nvidia': Required key not available"):
            with self.subTest(words):
                root = self.machine("doctor/ubuntu", *UNLOADED, log(words),
                                    f"file {variable} \\x06\\0\\0\\0\\x01\\c")
                report = self.report(root)
                self.fires(root, "GPU-DRV-SECUREBOOT", "critical", {LOG: "nvidia", variable: "on"},
                           ["mokutil --import"], report=report)
                self.assertEqual(report["cause"], "GPU-DRV-SECUREBOOT")
        root = self.machine("doctor/ubuntu", *UNLOADED, log("usb: Loading of unsigned module is rejected"))
        self.silent(root, "GPU-DRV-SECUREBOOT")

    def test_uvm_wedged(self):
        """The state column of proc/modules."""
        line = "nvidia_uvm 2076672 -1 - Unloading 0x0000000000000000 (OE)"
        self.both_ways(self.machine("doctor/ubuntu", f"file proc/modules {line}"), "GPU-DRV-UVMWEDGED", "critical",
                       {"proc/modules": "Unloading"}, ["kubectl drain", "reboot"])


class Nodes(DoctorTest):
    """Device nodes."""

    needs_nodes = True

    def test_missing(self):
        """Each node that is needed."""
        for name, fix in (("nvidiactl", "nvidia-modprobe -u -c 0"), ("nvidia1", "nvidia-modprobe -u -c 0"),
                          ("nvidia-uvm", "modprobe nvidia_uvm")):
            with self.subTest(name):
                root = self.machine("doctor/ubuntu", f"remove dev/{name}")
                self.both_ways(root, "GPU-DEV-NODES", "critical", {f"dev/{name}": "missing"}, [fix])

    def test_wrong(self):
        """A file, a wrong major number, a wrong minor number."""
        for name, line, words in (
                ("nvidiactl", "file dev/nvidiactl x", "no character device"),
                ("nvidia0", "node dev/nvidia0 b 195 0", "no character device"),
                ("nvidia0", "node dev/nvidia0 c 196 0", "major"),
                ("nvidia1", "node dev/nvidia1 c 195 7", "minor"),
                ("nvidia-uvm", "node dev/nvidia-uvm c 509 0", "major"),
                ("nvidia-uvm", "node dev/nvidia-uvm c 510 1", "minor")):
            with self.subTest(line):
                root = self.machine("doctor/ubuntu", f"remove dev/{name}", line)
                self.fires(root, "GPU-DEV-NODES", "critical", {f"dev/{name}": words})

    def test_links_stay_below_the_root(self):
        """A link to an absolute path is the root's, not that of the host that runs doctor."""
        root = self.machine("doctor/ubuntu", "remove dev/nvidiactl", "link dev/nvidiactl /dev/real/ctl",
                            "node dev/real/ctl c 195 255")
        self.silent(root, "GPU-DEV-NODES")
        root = self.machine("doctor/ubuntu", "remove dev/nvidia-uvm", "file proc/devices \\c",
                            "link dev/nvidia-uvm /dev/full")
        self.fires(root, "GPU-DEV-NODES", "critical")

    def test_other_minors(self):
        """The number of the node is the driver's, not the order on the bus."""
        information = f"proc/driver/nvidia/gpus/{SECOND}/information"
        root = self.machine("doctor/ubuntu", f"file {information} Model: \\t L4\\nDevice Minor: \\t 3",
                            "remove dev/nvidia1", "node dev/nvidia3 c 195 3")
        self.silent(root, "GPU-DEV-NODES")

    def test_char_links(self):
        """The links matter with systemd only."""
        self.both_ways(self.machine("doctor/ubuntu", "remove dev/char/195:255"), "GPU-DEV-CHARLINK", "info",
                       {"dev/char/195:255": "missing"}, ["nvidia-ctk system create-dev-char-symlinks --create-all"])
        self.silent(self.machine("doctor/ubuntu", "remove dev/char/195:255", "remove run/systemd"), "GPU-DEV-CHARLINK")

    def test_not_checked(self):
        """Without dev, and without a module."""
        self.not_checked(self.report(self.machine("doctor/ubuntu", "remove dev")), "GPU-DEV-NODES", "no dev")
        self.not_checked(self.report(self.machine("doctor/ubuntu", *UNLOADED)), "GPU-DEV-NODES", "not loaded")
