# SPDX-License-Identifier: GPL-2.0-or-later
"""Real uevents of this host's kernel, without hardware that moves: a word written into a device's uevent file."""

import os
import unittest
from pathlib import Path

CONCERNED = ("/sys/bus/pci/devices", "/sys/bus/usb/devices")
FOREIGN = Path("/sys/class/mem/null/uevent")


def writable(path):
    """Whether this process may write there."""
    return os.access(path, os.W_OK)


def device():
    """The uevent file of a PCI (else USB) device; skips where there is none that can be written."""
    for folder in map(Path, CONCERNED):
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if writable(entry / "uevent"):
                return entry / "uevent"
    raise unittest.SkipTest("no device of this host has a uevent file that can be written (root?)")


def foreign_device():
    """The uevent file of a device that concerns no scanner."""
    if not writable(FOREIGN):
        raise unittest.SkipTest(f"{FOREIGN} cannot be written (root?)")
    return FOREIGN


def fire(path, action="change"):
    """Let the kernel send an event about a device."""
    with open(path, "w", encoding="ascii") as file:
        file.write(action)


def netlink_drops(pid):
    """Events that the kernel dropped for a process since it listens; None when it does not listen."""
    for line in Path("/proc/net/netlink").read_text().splitlines()[1:]:
        words = line.split()
        if (words[1], words[2]) == ("15", str(pid)):
            return int(words[8])
    return None
