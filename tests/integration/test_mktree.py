# SPDX-License-Identifier: GPL-2.0-or-later
"""Self-check of tests/lib/mktree.py: the fixtures are only as good as the trees it makes."""

import contextlib
import gzip
import io
import os
import stat
import struct
import tempfile
import unittest
from pathlib import Path

from mktree import NotPermitted, TreeError, main, make_tree
from program import MACHINES

L4 = "pci 0000:3b:00.0 030200 10de:27b8 10de:16ca driver=nvidia numa=1\n"


class MkTree(unittest.TestCase):
    """Each directive makes what a kernel shows, and nothing outside the root."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.base = Path(directory.name)
        self.root = self.base / "root"

    def make(self, text):
        """Expand text into self.root."""
        return make_tree(text, str(self.root))

    def read(self, name):
        """A file of the tree as bytes."""
        return (self.root / name).read_bytes()

    def test_file_escapes(self):
        """Escapes give bytes; the newline is added unless the text ends in \\c."""
        self.make(
            "# comment\n\n"
            "file etc/a two  words # kept\n"
            "file etc/b a\\tb\\n\\0\\xff\\\\c\n"
            "file etc/c no newline\\c\n"
            "file etc/d \\c\n"
            "file etc/e\n"
        )
        self.assertEqual(self.read("etc/a"), b"two  words # kept\n")
        self.assertEqual(self.read("etc/b"), b"a\tb\n\0\xff\\c\n")
        self.assertEqual(self.read("etc/c"), b"no newline")
        self.assertEqual(self.read("etc/d"), b"")
        self.assertEqual(self.read("etc/e"), b"\n")

    def test_gzip(self):
        """The text of a file, packed the same way each time."""
        self.make("gzip proc/config.gz A=1\\nB=2\ngzip proc/same A=1\\nB=2\n")
        self.assertEqual(gzip.decompress(self.read("proc/config.gz")), b"A=1\nB=2\n")
        self.assertEqual(self.read("proc/config.gz"), self.read("proc/same"))

    def test_pci_attributes(self):
        """A function has its attribute files, its uevent and its links."""
        self.make(L4)
        device = "sys/bus/pci/devices/0000:3b:00.0"
        self.assertEqual(os.readlink(self.root / device), "../../../devices/pci0000:3b/0000:3b:00.0")
        self.assertEqual(
            self.read(f"{device}/uevent").decode().splitlines(),
            [
                "DRIVER=nvidia",
                "PCI_CLASS=30200",
                "PCI_ID=10DE:27B8",
                "PCI_SUBSYS_ID=10DE:16CA",
                "PCI_SLOT_NAME=0000:3b:00.0",
                "MODALIAS=pci:v000010DEd000027B8sv000010DEsd000016CAbc03sc02i00",
            ],
        )
        expected = {
            "class": b"0x030200\n",
            "vendor": b"0x10de\n",
            "device": b"0x27b8\n",
            "subsystem_vendor": b"0x10de\n",
            "subsystem_device": b"0x16ca\n",
            "numa_node": b"1\n",
            "power_state": b"D0\n",
        }
        self.assertEqual({name: self.read(f"{device}/{name}") for name in expected}, expected)
        self.assertEqual(os.readlink(self.root / device / "driver"), "../../../bus/pci/drivers/nvidia")
        self.assertTrue((self.root / device / "driver").is_dir())
        self.assertFalse((self.root / device / "sriov_totalvfs").exists())

    def test_pci_class_zero(self):
        """The kernel prints at least four digits of the class."""
        self.make("pci 0000:00:00.0 000000 8086:0001 nouevent\npci 0000:00:01.0 000000 8086:0001\n")
        self.assertFalse((self.root / "sys/bus/pci/devices/0000:00:00.0/uevent").exists())
        self.assertIn(b"\nPCI_CLASS=0000\n", b"\n" + self.read("sys/bus/pci/devices/0000:00:01.0/uevent"))

    def test_virtual_functions(self):
        """vfs numbers on from the physical function, across slots and buses."""
        self.make("pci 10000:4d:1f.6 020000 15b3:1017 totalvfs=8\nvfs 10000:4d:1f.6 3 15b3:1018 driver=mlx5_core\n")
        devices = self.root / "sys/bus/pci/devices"
        self.assertEqual(
            sorted(os.listdir(devices)), ["10000:4d:1f.6", "10000:4d:1f.7", "10000:4e:00.0", "10000:4e:00.1"]
        )
        parent = devices / "10000:4d:1f.6"
        self.assertEqual((parent / "sriov_totalvfs").read_text(), "8\n")
        self.assertEqual((parent / "sriov_numvfs").read_text(), "3\n")
        for number, name in enumerate(["10000:4d:1f.7", "10000:4e:00.0", "10000:4e:00.1"]):
            self.assertEqual((devices / name / "physfn").resolve(), parent.resolve())
            self.assertEqual((parent / f"virtfn{number}").resolve(), (devices / name).resolve())
            self.assertIn("PCI_CLASS=20000\n", (devices / name / "uevent").read_text())

    def test_physfn_option(self):
        """physfn= links one function to another."""
        self.make(
            "pci 0000:4d:00.0 030000 8086:56c0 totalvfs=4 numvfs=1\n"
            "pci 0000:4d:00.1 030000 8086:56c0 physfn=0000:4d:00.0\n"
        )
        self.assertEqual(os.readlink(self.root / "sys/bus/pci/devices/0000:4d:00.1/physfn"), "../0000:4d:00.0")
        self.assertTrue((self.root / "sys/bus/pci/devices/0000:4d:00.0/virtfn0/class").is_file())

    def test_usb(self):
        """A device, its interfaces in both places, and a root hub."""
        self.make("usb usb1 09 1d6b:0002 if=09\nusb 1-2.1 00 046d:0825 serial=A1B2 if=0e,0e,01\n")
        bus = self.root / "sys/bus/usb/devices"
        self.assertEqual(
            sorted(os.listdir(bus)), ["1-0:1.0", "1-2.1", "1-2.1:1.0", "1-2.1:1.1", "1-2.1:1.2", "usb1"]
        )
        self.assertEqual((bus / "1-2.1/idVendor").read_text(), "046d\n")
        self.assertEqual((bus / "1-2.1/serial").read_text(), "A1B2\n")
        self.assertEqual((bus / "1-2.1/1-2.1:1.2/bInterfaceClass").read_text(), "01\n")
        self.assertEqual((bus / "1-2.1:1.2/bInterfaceClass").read_text(), "01\n")
        self.assertFalse((bus / "usb1/serial").exists())

    def test_modules(self):
        """module and nvidia: what 'loaded' means."""
        self.make("module habanalabs version=1.19.2 refcnt=8\nmodule i915\nnvidia 580.126.09 open loaded\n")
        self.assertEqual(self.read("sys/module/habanalabs/version"), b"1.19.2\n")
        self.assertEqual(self.read("sys/module/habanalabs/refcnt"), b"8\n")
        self.assertEqual(self.read("sys/module/i915/refcnt"), b"0\n")
        self.assertFalse((self.root / "sys/module/i915/version").exists())
        self.assertEqual(self.read("sys/module/nvidia/version"), b"580.126.09\n")
        first, second = self.read("proc/driver/nvidia/version").decode().splitlines()
        self.assertTrue(first.startswith("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.126.09  "))
        self.assertTrue(second.startswith("GCC version:  gcc version "))

    def test_nvidia_proprietary(self):
        """Without 'loaded' there is only the proc file."""
        self.make("nvidia 550.90.07 proprietary\n")
        self.assertIn(b"NVIDIA UNIX x86_64 Kernel Module  550.90.07  ", self.read("proc/driver/nvidia/version"))
        self.assertFalse((self.root / "sys/module").exists())

    def test_elf(self):
        """The class byte tells 64 from 32 bits."""
        self.make("elf usr/lib64/a.so 64\nelf usr/lib/a.so 32\n")
        self.assertEqual(self.read("usr/lib64/a.so")[:5], b"\x7fELF\x02")
        self.assertEqual(len(self.read("usr/lib64/a.so")), 64)
        self.assertEqual(self.read("usr/lib/a.so")[:5], b"\x7fELF\x01")
        self.assertEqual(len(self.read("usr/lib/a.so")), 52)

    def test_modinfo(self):
        """A module's file has a section .modinfo with the version, as every ELF reader finds it."""
        self.make("modinfo lib/modules/6.8/nvidia.ko version=580.126.09 license=Dual\n")
        data = self.read("lib/modules/6.8/nvidia.ko")
        (table,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        self.assertEqual((data[:5], size, count), (b"\x7fELF\x02", 64, 3))
        headers = [struct.unpack_from("<IIQQQQ", data, table + 64 * number) for number in range(count)]
        start = headers[names][4]
        found = {data[start + one[0] :].split(b"\0")[0]: data[one[4] : one[4] + one[5]] for one in headers}
        self.assertEqual(found[b".modinfo"].split(b"\0")[:2], [b"license=Dual", b"version=580.126.09"])
        self.assertEqual(len(data), table + 64 * count)

    def test_ldcache(self):
        """The linker's own cache format: names and paths by offsets from its start."""
        self.make("ldcache etc/ld.so.cache /usr/lib/a/libnvidia-ml.so.1 /opt/libcuda.so.1\n")
        data = self.read("etc/ld.so.cache")
        self.assertEqual(data[:20], b"glibc-ld.so.cache1.1")
        count, length = struct.unpack_from("<II", data, 20)
        self.assertEqual((count, 48 + 24 * count + length), (2, len(data)))
        pairs = []
        for number in range(count):
            flags, *offsets = struct.unpack_from("<iII", data, 48 + 24 * number)
            self.assertEqual(flags, 0x303)
            pairs.append(tuple(data[offset:].split(b"\0")[0] for offset in offsets))
        self.assertEqual(pairs, [(b"libnvidia-ml.so.1", b"/usr/lib/a/libnvidia-ml.so.1"),
                                 (b"libcuda.so.1", b"/opt/libcuda.so.1")])

    def test_node(self):
        """A device node of the right numbers, or an error that says which privilege lacks."""
        try:
            self.make("node dev/nvidia0 c 195 3\nnode dev/disk b 259 0\n")
        except NotPermitted as error:
            self.assertIn("CAP_MKNOD", str(error))
            self.skipTest(str(error))
        info = os.lstat(self.root / "dev/nvidia0")
        self.assertTrue(stat.S_ISCHR(info.st_mode))
        self.assertEqual((os.major(info.st_rdev), os.minor(info.st_rdev)), (195, 3))
        self.assertTrue(stat.S_ISBLK(os.lstat(self.root / "dev/disk").st_mode))

    def test_mtime(self):
        """Of files, directories, and links themselves."""
        self.make("file a x\nlink b nowhere\ndir c\nmtime a 1770000000\nmtime b 1770000001\nmtime c 1770000002\n")
        for name, seconds in (("a", 1770000000), ("b", 1770000001), ("c", 1770000002)):
            self.assertEqual(os.lstat(self.root / name).st_mtime_ns, seconds * 10**9)

    def test_remove(self):
        """A file, a link and not what it points to, a whole directory."""
        self.make("file a/b/c x\nfile a/d y\nlink e a\nremove e\nremove a/b\n")
        self.assertEqual(os.listdir(self.root), ["a"])
        self.assertEqual(os.listdir(self.root / "a"), ["d"])

    def test_process(self):
        """comm is cut as the kernel does; the start is field 22 of stat; arguments are separated by NUL."""
        self.make("process 12 nvidia-device-plugin start=7 cmdline=/usr/bin/x --config /etc/y\nprocess 1 init\n")
        self.assertEqual(self.read("proc/12/comm"), b"nvidia-device-p\n")
        self.assertEqual(self.read("proc/12/cmdline"), b"/usr/bin/x\0--config\0/etc/y\0")
        fields = self.read("proc/12/stat").decode().split()
        self.assertEqual((fields[0], fields[1], fields[21], len(fields)), ("12", "(nvidia-device-p)", "700", 52))
        self.assertEqual(self.read("proc/1/cmdline"), b"init\0")

    def test_dpkg(self):
        """One stanza a package."""
        self.make("dpkg a 1.0 hold\ndpkg b 2:3-4 arch=i386\n")
        first, second, rest = self.read("var/lib/dpkg/status").decode().split("\n\n")
        self.assertEqual(rest, "")
        self.assertTrue(first.startswith("Package: a\nStatus: hold ok installed\n"))
        self.assertIn("\nVersion: 1.0\n", first)
        self.assertTrue(second.startswith("Package: b\nStatus: install ok installed\n"))
        self.assertIn("\nArchitecture: i386\n", second)

    def test_file_replaces(self):
        """A later file line overrides an attribute, and replaces a link instead of following it."""
        outside = self.base / "outside"
        outside.write_text("safe")
        self.make(
            L4 + "file sys/bus/pci/devices/0000:3b:00.0/class garbage\n"
            f"link etc/leaf {outside}\nfile etc/leaf mine\n"
        )
        self.assertEqual(self.read("sys/devices/pci0000:3b/0000:3b:00.0/class"), b"garbage\n")
        self.assertEqual(outside.read_text(), "safe")
        self.assertEqual(self.read("etc/leaf"), b"mine\n")

    def test_hostile_paths(self):
        """Nothing is written outside the root, by any directive."""
        lines = [
            "file /etc/passwd x",
            "file ../outside x",
            "file a/../../outside x",
            "dir ..",
            "dir /tmp/x",
            "link ../outside target",
            "elf ../outside 64",
            "module ../../../outside",
            "modinfo ../outside version=1",
            "ldcache ../outside /x",
            "node ../outside c 1 3",
            "mtime ../root 1",
            "remove ../outside",
            "remove ..",
            "link a ..\nremove a/outside",
            "process ../../outside x",
            "link var/lib/dpkg ../../..\ndpkg a 1",
            "link var/lib/dpkg/status ../../../../outside\ndpkg a 1",
            "pci 0000:00:00.0 030000 10de:0001 driver=../../../../../outside",
            "link a /\nfile a/outside x",
            "link a ..\nfile a/outside x",
            "link a ..\ndir a/outside",
        ]
        for line in lines:
            with self.subTest(line), tempfile.TemporaryDirectory(dir=self.base) as directory:
                with self.assertRaises(TreeError):
                    make_tree(line + "\n", os.path.join(directory, "root"))
                self.assertEqual(os.listdir(directory), ["root"])

    def test_malformed_lines(self):
        """A wrong line is an error that names its number."""
        lines = [
            "nonsense x",
            "file a \\q",
            "dir",
            "elf a 16",
            "pci 0000:00:00 030000 10de:0001",
            "pci 0000:00:00.0 0300 10de:0001",
            "pci 0000:00:00.0 030000 10de",
            "pci 0000:00:00.0 030000 10de:0001 colour=red",
            "pci 0000:00:00.1 030000 10de:0001 physfn=0000:00:00.0",
            "vfs 0000:00:00.0 3 10de:0001",
            "usb 1-1:1.0 00 1a6e:089a",
            "nvidia 1.2.3 closed",
            "modinfo a",
            "node a x 1 3",
            "node a c 1",
            "mtime a 1",
            "mtime a x",
            "remove a",
            "process x init",
            "process 1 init start=soon",
            "dpkg a",
            "dpkg a 1 held",
            L4 + L4,
        ]
        for number, line in enumerate(lines):
            with self.subTest(line), self.assertRaisesRegex(TreeError, "line [0-9]+: "):
                make_tree(line + "\n", str(self.base / str(number)))

    def test_command_line(self):
        """The script form: exit codes 0, 1 and 2."""
        description = self.base / "one.tree"
        description.write_text("dir sys\n")
        self.assertEqual(main([str(description), str(self.root)]), 0)
        self.assertTrue((self.root / "sys").is_dir())
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(main([str(self.base / "missing.tree"), str(self.root)]), 1)
            self.assertEqual(main([]), 2)
        self.assertIn("missing.tree", stderr.getvalue())

    def test_all_machines(self):
        """Every machine in the tree expands."""
        machines = sorted(MACHINES.rglob("*.tree"))
        self.assertTrue(machines)
        for machine in machines:
            # Folders of machines may have the same names in them.
            name = machine.relative_to(MACHINES).with_suffix("")
            with self.subTest(str(name)):
                with contextlib.suppress(NotPermitted):
                    make_tree(str(machine), str(self.base / name))
