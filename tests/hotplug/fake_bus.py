# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices that come and go in a umockdev testbed, and the uevents that go with it.

The daemon reads the testbed as its --root; only its netlink socket is umockdev's. The testbed keeps the kernel's
order: a device is complete before its add event, and off the bus before its remove event.
"""

import os
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

import program
from hotplug import PATIENCE, compile_c
from program import PCI_DEVICES, clean_environment

PRELOAD = "libumockdev-preload.so.0"


def build(directory):
    """Build the testbed's program; skips when umockdev's development files are not there."""
    if b"libasan.so" in Path(program.BINARY).read_bytes():
        raise unittest.SkipTest("a program with ASan's shared runtime cannot be preloaded")
    try:
        done = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "umockdev-1.0"],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise unittest.SkipTest(f"no umockdev (libumockdev-dev): {error}") from error
    return compile_c("fake_bus.c", directory / "fake_bus", *shlex.split(done.stdout))


class FakeBus:
    """A testbed and the process that holds it."""

    def __init__(self, helper):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [str(helper)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment({"LD_PRELOAD": PRELOAD}),
        )
        self.root = Path(self.process.stdout.readline().strip())
        if not self.root.is_dir():
            self.close()
            raise unittest.SkipTest("umockdev's testbed does not start")

    def environment(self):
        """What a program needs to hear the testbed's events."""
        return {"LD_PRELOAD": PRELOAD, "UMOCKDEV_DIR": str(self.root)}

    def close(self):
        """End the process, which takes the testbed away; so do we, should it have been killed."""
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if self.root.name.startswith("umockdev."):
            shutil.rmtree(self.root, ignore_errors=True)

    def tell(self, *fields):
        """One command, and its answer."""
        self.process.stdin.write("\t".join(fields) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise AssertionError(f"testbed: {fields}: {answer!r}")

    def add_pci(self, address, pci_class, vendor, device, driver=None):
        """Plug a PCI function."""
        fields = [f"A:class=0x{pci_class}", f"A:vendor=0x{vendor}", f"A:device=0x{device}"]
        fields += [f"E:PCI_CLASS={int(pci_class, 16):X}", f"E:PCI_ID={vendor}:{device}".upper()]
        fields += [f"E:PCI_SLOT_NAME={address}"] + ([f"E:DRIVER={driver}"] if driver else [])
        self.tell("add", "pci", address, *fields)

    def add_usb(self, name, usb_class, vendor, product):
        """Plug a USB device."""
        fields = [f"A:bDeviceClass={usb_class}", f"A:idVendor={vendor}", f"A:idProduct={product}"]
        self.tell("add", "usb", name, *fields)

    def remove(self, name):
        """Unplug a device."""
        self.tell("remove", f"/sys/devices/{name}")

    def event(self, name, action):
        """An event about a device that is there."""
        self.tell("event", f"/sys/devices/{name}", action)

    def set_driver(self, address, driver):
        """Bind a PCI function to a driver, or to none, and send the kernel's event."""
        path = self.root / PCI_DEVICES / address / "uevent"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("DRIVER=")]
        aside = path.with_name(".uevent")
        aside.write_text("\n".join(lines + ([f"DRIVER={driver}"] if driver else [])) + "\n")
        os.rename(aside, path)
        self.event(address, "bind" if driver else "unbind")

    def load_module(self, name, version):
        """Load a module: the kernel's folder is complete before the event."""
        folder = self.root / "sys/module" / name
        folder.mkdir(parents=True)
        (folder / "refcnt").write_text("0\n")
        (folder / "version").write_text(f"{version}\n")
        self.tell("add", "module", name)

    def unload_module(self, name):
        """Unload a module."""
        folder = self.root / "sys/module" / name
        for file in list(folder.iterdir()):
            file.unlink()
        folder.rmdir()
        self.remove(name)
