#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a root with a PCI bus of many functions, in the shape that a kernel shows.

Usage: make_bus.py DIR COUNT. One function in twenty is a network card, one in fifty a GPU; the rest
are bridges, disks and memory controllers that get no label.
"""

import os
import sys
from pathlib import Path

DISK, BRIDGE, NETWORK, GPU = ("010802", "144d", "a80a", "nvme"), ("060400", "8086", "352a", "pcieport"), \
    ("020000", "15b3", "101d", "mlx5_core"), ("030200", "10de", "2330", "nvidia")


def kind_of(number):
    """Class, vendor, device and driver of the function with this number."""
    if number % 50 == 0:
        return GPU
    if number % 20 == 0:
        return NETWORK
    return DISK if number % 2 else BRIDGE


def add_function(root, number):
    """Add one function as the kernel does: a folder below sys/devices and a link on the bus."""
    address = f"{number >> 16:04x}:{number >> 8 & 0xff:02x}:{number >> 3 & 0x1f:02x}.{number & 7}"
    class_code, vendor, device, driver = kind_of(number)
    folder = root / "sys/devices" / f"pci{address[:7]}" / address
    folder.mkdir(parents=True)
    (folder / "uevent").write_text(
        f"DRIVER={driver}\nPCI_CLASS={int(class_code, 16):04X}\nPCI_ID={vendor.upper()}:{device.upper()}\n"
        f"PCI_SUBSYS_ID={vendor.upper()}:0001\nPCI_SLOT_NAME={address}\n"
        f"MODALIAS=pci:v0000{vendor.upper()}d0000{device.upper()}sv00000000sd00000001bc{class_code[:2]}sc00i00\n")
    for name, text in (("class", class_code), ("vendor", vendor), ("device", device),
                       ("subsystem_vendor", vendor), ("subsystem_device", "0001")):
        (folder / name).write_text(f"0x{text}\n")
    if class_code == NETWORK[0]:
        (folder / "sriov_totalvfs").write_text("8\n")
    os.symlink(f"../../../devices/pci{address[:7]}/{address}", root / "sys/bus/pci/devices" / address)


def main():
    """Command line."""
    root, count = Path(sys.argv[1]), int(sys.argv[2])
    # The rest of sysfs is empty, but there: nfd gives up where a folder is missing.
    for folder in ("bus/pci/devices", "bus/usb/devices", "bus/cpu/devices", "bus/node/devices", "bus/nd/devices", "block",
                   "fs", "class/net", "devices/system/cpu", "kernel/mm", "module"):
        (root / "sys" / folder).mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    (root / "proc/sys/kernel").mkdir(parents=True)
    (root / "proc/sys/kernel/osrelease").write_text("6.1.0-25-amd64\n")
    for number in range(count):
        add_function(root, number)


if __name__ == "__main__":
    main()
