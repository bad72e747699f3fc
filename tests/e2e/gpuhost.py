# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixture root of an Ubuntu server with two NVIDIA GPUs, and what package manager and administrator do to it.

Its libnvidia-ml.so is the stand-in of tests/lib, a real shared library; the versions of module and library are in the
same files as on a host.
"""

import os
import pathlib
import shutil
import stat
import sys
import unittest

import process
from testcase import mktree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import nvml_standin  # noqa: E402 (found by the line above)

KERNEL = "6.8.0-48-generic"
OLD, NEW = "580.126.09", "580.159.03"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PACKAGES = ("libnvidia-compute-580", "nvidia-dkms-580-open", "nvidia-kernel-common-580", "nvidia-utils-580")
UPGRADED = "2026-02-03  06:11:12"
BOOTED_S = 1768208400  # 2026-01-12 09:00:00 UTC
MAJOR_NVIDIA, MAJOR_UVM = 195, 511
DEVICE_NODES = {"nvidiactl": (MAJOR_NVIDIA, 255), "nvidia0": (MAJOR_NVIDIA, 0), "nvidia1": (MAJOR_NVIDIA, 1),
                "nvidia-uvm": (MAJOR_UVM, 0)}
INFORMATION = (r"Model: \t\t NVIDIA L4\nIRQ:   \t\t 130\nGPU UUID: \t GPU-00000000-0000-4000-8000-0000000000{0}\n"
               r"Bus Type: \t PCIe\nBus Location: \t {1}\nDevice Minor: \t {2}\nGPU Excluded:\t No")
ADDRESSES = ("0000:3b:00.0", "0000:af:00.0")

TREE = rf"""
file etc/os-release NAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian
file proc/sys/kernel/osrelease {KERNEL}
file proc/stat cpu 0 0 0 0\nbtime {BOOTED_S}
file proc/devices Character devices:\n  1 mem\n{MAJOR_NVIDIA} nvidia\n{MAJOR_UVM} nvidia-uvm
dir dev
pci 0000:00:02.0 020000 8086:10d3 driver=e1000e
pci {ADDRESSES[0]} 030200 10de:27b8 10de:16ca driver=nvidia numa=0
pci {ADDRESSES[1]} 030200 10de:27b8 10de:16ca driver=nvidia numa=1
nvidia {OLD} open loaded
module nvidia_uvm
file proc/driver/nvidia/gpus/{ADDRESSES[0]}/information {INFORMATION.format("a1", ADDRESSES[0], 0)}
file proc/driver/nvidia/gpus/{ADDRESSES[1]}/information {INFORMATION.format("a2", ADDRESSES[1], 1)}
file lib/modules/{KERNEL}/modules.dep updates/dkms/nvidia.ko:
file usr/bin/nvidia-container-runtime #!/bin/sh
file etc/apt/apt.conf.d/20auto-upgrades APT::Periodic::Unattended-Upgrade "1";
file etc/apt/apt.conf.d/50unattended-upgrades Unattended-Upgrade::Allowed-Origins {{ "Ubuntu:noble-security"; }};
"""


class GpuHost:
    """The host's files. root: the fixture root, filled here. directory: for what is no part of it."""

    def __init__(self, root, directory):
        if nvml_standin.missing():
            raise unittest.SkipTest(nvml_standin.missing())
        self.root = pathlib.Path(root)
        self.libraries = self.root / LIBRARIES
        self.libraries.mkdir(parents=True)
        self.held = ()
        mktree.make_tree(TREE, str(self.root))
        self._make_device_nodes()
        self.standin = nvml_standin.install(pathlib.Path(directory) / "standin", OLD)
        self._unpack_library(OLD)
        self._install_module(OLD)
        self._write_status(OLD)

    def variables(self):
        """Environment of a process that loads the stand-in."""
        return nvml_standin.environment(self.root)

    def _make_device_nodes(self):
        """As nvidia-modprobe makes them; numbers only, nothing opens them."""
        for name, numbers in DEVICE_NODES.items():
            os.mknod(self.root / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(*numbers))

    def _unpack_library(self, version):
        """As dpkg does: beside the target and renamed, the link too."""
        name = f"libnvidia-ml.so.{version}"
        aside = self.libraries / f"{name}.dpkg-new"
        shutil.copyfile(self.standin, aside)
        aside.rename(self.libraries / name)
        link = self.libraries / "libnvidia-ml.so.1.dpkg-new"
        link.symlink_to(name)
        link.rename(self.libraries / "libnvidia-ml.so.1")

    def _install_module(self, version):
        """A kernel module on disk, as far as its version: an object file with a .modinfo section."""
        text = f'const char version[] __attribute__((section(".modinfo"))) = "version={version}";\n'
        path = self.root / f"lib/modules/{KERNEL}/updates/dkms/nvidia.ko"
        path.parent.mkdir(parents=True, exist_ok=True)
        process.run([*nvml_standin.compiler(), "-xc", "-c", "-o", path, "-"], stdin=text)

    def _write_status(self, version):
        """dpkg's status of the driver packages, by the names that are held."""
        self.installed = version
        stanzas = [f"Package: {name}\nStatus: {'hold' if name in self.held else 'install'} ok installed\n"
                   f"Architecture: amd64\nVersion: {version}-0ubuntu0.24.04.1\n" for name in PACKAGES]
        path = self.root / "var/lib/dpkg/status"
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name("status-new")
        aside.write_text("\n".join(stanzas))
        aside.rename(path)

    def show_process(self, part):
        """Let the root's /proc have a real process: its name, its words, its start."""
        target = self.root / f"proc/{part.pid}"
        target.mkdir()
        for name in ("comm", "cmdline", "stat"):
            (target / name).write_bytes(pathlib.Path(f"/proc/{part.pid}/{name}").read_bytes())

    def hide_process(self, part):
        """Take a process that has ended out of the root's /proc."""
        shutil.rmtree(self.root / f"proc/{part.pid}")

    def upgrade(self):
        """unattended-upgrades installs the next driver; the loaded module stays."""
        self._install_module(NEW)
        self._unpack_library(NEW)
        (self.libraries / f"libnvidia-ml.so.{OLD}").unlink()
        self._write_status(NEW)
        moved = ", ".join(f"{name}:amd64 ({OLD}-0ubuntu0.24.04.1, {NEW}-0ubuntu0.24.04.1)" for name in PACKAGES)
        path = self.root / "var/log/apt/history.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"\nStart-Date: {UPGRADED}\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: {moved}\n"
                        "End-Date: 2026-02-03  06:13:40\n")

    def reload(self):
        """rmmod and modprobe: the module on disk becomes the loaded one."""
        mktree.make_tree(f"\nnvidia {NEW} open loaded\n", str(self.root))

    def hold(self):
        """apt-mark hold of all driver packages."""
        self.held = PACKAGES
        self._write_status(self.installed)
