# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: each file of a machine replaced by something hostile, one at a time: no crash, no hang, a verdict."""

import os
import shutil

from doctor_case import DoctorTest

# Generous: a hang has no end, and a slow machine under a sanitizer has.
LIMIT_S = 60
HUGE = 64 << 20
RUBBISH = bytes(range(256)) * 64
DEEP = b"[" * 40000 + b"{" * 40000 + b'"' + b"a" * 40000
MACHINES_TRIED = ("doctor/story", "doctor/rhel", "doctor/sles", "doctor/k3s")


def rubbish(path):
    """Every byte there is."""
    path.write_bytes(RUBBISH)


def deep(path):
    """Brackets that never close, one endless word."""
    path.write_bytes(DEEP)


def empty(path):
    """Nothing."""
    path.write_bytes(b"")


def huge(path):
    """More than anybody wants to read, sparse."""
    with open(path, "wb") as file:
        file.truncate(HUGE)


def long_line(path):
    """The first line of the file a million times, without an end."""
    path.write_bytes(path.read_bytes().split(b"\n")[0][:64] * 20000)


def truncated(path):
    """Half of it."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def swap(path, make):
    """Something else in a file's place."""
    path.unlink()
    make(path)


def fifo(path):
    """Nobody writes into it."""
    swap(path, os.mkfifo)


def directory(path):
    """A directory."""
    swap(path, os.mkdir)


def dangling(path):
    """A link to nowhere."""
    swap(path, lambda name: os.symlink("nowhere", name))


def circle(path):
    """A link to itself."""
    swap(path, lambda name: os.symlink(path.name, name))


def upwards(path):
    """A link that would leave the root."""
    swap(path, lambda name: os.symlink("../" * 40 + "dev/zero", name))


class Hostile(DoctorTest):
    """One test a kind of damage, so that they run apart."""

    def damage(self, *kinds):
        """Each file of each machine, damaged in each of these ways and put back."""
        for name in MACHINES_TRIED:
            root = self.machine(name)
            files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()
                     and "sys/devices" not in str(path)]
            files.append(root / "sys/devices/pci0000:3b/0000:3b:00.0/uevent")
            for path in filter(lambda one: one.is_file(), files):
                self.damage_one(root, path, kinds)

    def damage_one(self, root, path, kinds):
        """One file."""
        keep = self.tmp / "keep"
        shutil.copy2(path, keep)
        for kind in kinds:
            with self.subTest((str(path.relative_to(root)), kind.__name__)):
                try:
                    kind(path)
                    result = self.run_doctor(root, "-o", "json", timeout=LIMIT_S, binary_output=True)
                    self.assertIn(result.code, (0, 1, 3), result)
                    self.assertTrue(result.out.startswith(b"{"), result)
                    self.assertTrue(result.out.endswith(b"}\n"), result.out[-80:])
                finally:
                    if path.is_dir() and not path.is_symlink():
                        path.rmdir()
                    else:
                        path.unlink(missing_ok=True)
                    shutil.copy2(keep, path)

    def test_content(self):
        """Rubbish, depth, nothing, half."""
        self.damage(rubbish, deep, empty, truncated)

    def test_size(self):
        """Too much."""
        self.damage(huge, long_line)

    def test_kind(self):
        """No file at all."""
        self.damage(fifo, directory)

    def test_links(self):
        """Links to nowhere, in a circle, out of the root."""
        self.damage(dangling, circle, upwards)

    def test_directories(self):
        """A directory replaced by a file, and one full of names."""
        root = self.machine()
        for name in ("proc/driver/nvidia/gpus", "etc/apt/apt.conf.d", "run/cdi", "etc/containerd/conf.d", "proc",
                     "run/nvidia/validations", "var/lib/kubelet/device-plugins", "usr/lib/modules",
                     "sys/module/nvidia"):
            with self.subTest(name):
                (root / name).rename(self.tmp / "aside")
                (root / name).write_bytes(RUBBISH)
                result = self.run_doctor(root, "-o", "json", timeout=LIMIT_S, binary_output=True)
                self.assertIn(result.code, (0, 1, 3), result)
                (root / name).unlink()
                (self.tmp / "aside").rename(root / name)
        for name in ("run/cdi", "etc/apt/apt.conf.d", "etc/modprobe.d", "etc/containerd/conf.d", "proc"):
            (root / name).mkdir(exist_ok=True)
            for number in range(2000):
                (root / name / f"{number + 5000}.toml").touch()
        self.assertIn(self.run_doctor(root, timeout=LIMIT_S).code, (0, 1))
