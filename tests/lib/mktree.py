#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Expand a compact machine description into a root directory for --root.

    python3 tests/lib/mktree.py FILE.tree DIR

One directive a line; a line whose first character is '#' is a comment. Paths are relative to the root.

    dir PATH
    file PATH TEXT...           C escapes \\n \\t \\0 \\xHH \\\\; a final newline is added unless TEXT ends in \\c
    gzip PATH TEXT...           the same, packed
    link PATH TARGET            TARGET is written as it stands
    elf PATH 64|32              the ELF header of a shared library, nothing else
    modinfo PATH version=V [license=TEXT]
                                a kernel module file: ELF of 64 bits with a section .modinfo
    ldcache PATH LIBRARY...     a linker's cache that lists these paths of x86-64 libraries
    node PATH c|b MAJOR MINOR   a device node; needs CAP_MKNOD, else NotPermitted
    mtime PATH SECONDS          time of the last change, seconds since 1970; of a link itself
    remove PATH                 take away what an earlier line made, a directory with all in it
    process PID COMM [start=SECONDS] [cmdline=WORD WORD...]
                                proc/PID/{comm,cmdline,stat}; start: seconds after the boot; cmdline comes last
    dpkg NAME VERSION [hold] [arch=A]
                                one more installed package in var/lib/dpkg/status
    module NAME [version=V] [refcnt=N]
    nvidia VERSION open|proprietary [loaded]
                                proc/driver/nvidia/version; with 'loaded' also sys/module/nvidia
    pci ADDRESS CLASS VENDOR:DEVICE [SUBVENDOR:SUBDEVICE] [driver=NAME] [totalvfs=N] [numvfs=N]
        [physfn=ADDRESS] [numa=N] [nouevent]
    vfs ADDRESS COUNT VENDOR:DEVICE [driver=NAME]
                                COUNT virtual functions of a 'pci' line above, at the routing ids that follow it
    usb NAME CLASS VENDOR:PRODUCT [serial=TEXT] [if=CLASS,CLASS...]

The result is what a real kernel shows: device directories below sys/devices, links to them below sys/bus.
No line can write outside the root.
"""

import gzip
import os
import re
import shutil
import stat
import struct
import sys

ADDRESS = re.compile(r"([0-9a-f]{4,8}):([0-9a-f]{2}):([01][0-9a-f])\.([0-7])")
PAIR = re.compile(r"([0-9a-f]{4}):([0-9a-f]{4})")
USB_NAME = re.compile(r"usb([0-9]+)|([0-9]+)-[0-9]+(?:\.[0-9]+)*")
ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|c\n|(.?))", re.DOTALL)
ESCAPES = {b"n": b"\n", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}

PCI_OPTIONS = ("driver", "totalvfs", "numvfs", "physfn", "numa")

NVRM = {
    "open": "NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (builder@host)",
    "proprietary": "NVIDIA UNIX x86_64 Kernel Module  {}",
}
NVRM_DATE = "  Tue Jan  6 10:00:00 UTC 2026"
NVRM_COMPILER = "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2)"
NVRM_TAINT = {"open": "OE", "proprietary": "POE"}


class TreeError(ValueError):
    """A description that is wrong or would leave the root."""


class NotPermitted(TreeError):
    """A line needs a privilege that this process lacks."""


class Tree:
    """A root directory that is being filled; every write stays below it."""

    def __init__(self, top):
        os.makedirs(top, exist_ok=True)
        self.top = os.path.realpath(top)
        self.pci = {}
        self.vf_count = {}

    def path(self, name):
        """The full path of name, with its parent made; links on the way must stay inside."""
        parts = name.split("/")
        if not name or name.startswith("/") or "\0" in name or ".." in parts:
            raise TreeError(f"path {name!r} is not below the root")
        full = os.path.join(self.top, name)
        parent = os.path.realpath(os.path.dirname(full))
        if parent != self.top and not parent.startswith(self.top + os.sep):
            raise TreeError(f"path {name!r} leaves the root by a link")
        os.makedirs(parent, exist_ok=True)
        return os.path.join(parent, os.path.basename(full))

    def mkdir(self, name):
        """Make a directory; one that is there already is fine."""
        os.makedirs(self.path(name.rstrip("/") + "/."), exist_ok=True)

    def write(self, name, data):
        """Write a file anew; one that is there is replaced, a link is never followed."""
        path = self.path(name)
        if os.path.lexists(path):
            os.unlink(path)
        if isinstance(data, str):
            data = data.encode()
        with open(path, "xb") as file:
            file.write(data)

    def append(self, name, text):
        """Add to a file, made when missing."""
        path = self.path(name)
        if os.path.islink(path):
            raise TreeError(f"{name!r} is a link")
        with open(path, "ab") as file:
            file.write(text.encode())

    def link(self, name, target):
        """Make a symbolic link."""
        os.symlink(target, self.path(name))

    def link_to(self, name, target):
        """Make a relative symbolic link to another path of this tree."""
        self.link(name, os.path.relpath(target, os.path.dirname(name)))


def unescape(text):
    """The bytes of a file's TEXT."""
    data = text.encode() + b"\n"

    def replace(match):
        if match[1]:
            return bytes([int(match[1], 16)])
        if match[0] == b"\\c\n" and match.end() == len(data):
            return b""
        if match[2] not in ESCAPES:
            raise TreeError(f"unknown escape in {text!r}")
        return ESCAPES[match[2]]

    return ESCAPE.sub(replace, data)


def match_or_fail(pattern, text, what):
    """The match of the whole text, or an error that names it."""
    match = pattern.fullmatch(text)
    if not match:
        raise TreeError(f"{text!r} is not {what}")
    return match


def split_options(words, allowed, flags=()):
    """Words after the fixed ones as a dictionary; a flag's value is True."""
    options = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key in allowed:
            options[key] = value
        elif not equals and key in flags:
            options[key] = True
        else:
            raise TreeError(f"unknown option {word!r}")
    return options


def do_dir(tree, rest):
    """dir PATH"""
    (name,) = rest.split()
    tree.mkdir(name)


def do_file(tree, rest):
    """file PATH TEXT..."""
    name, _, text = rest.partition(" ")
    tree.write(name, unescape(text))


def do_gzip(tree, rest):
    """gzip PATH TEXT..."""
    name, _, text = rest.partition(" ")
    tree.write(name, gzip.compress(unescape(text), mtime=0))


def do_link(tree, rest):
    """link PATH TARGET"""
    name, target = rest.split()
    tree.link(name, target)


def do_elf(tree, rest):
    """elf PATH 64|32"""
    name, bits = rest.split()
    if bits not in ("64", "32"):
        raise TreeError(f"{bits!r} is not 64 or 32")
    wide = bits == "64"
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    machine = 62 if wide else 3
    head = ident + (3).to_bytes(2, "little") + machine.to_bytes(2, "little") + (1).to_bytes(4, "little")
    tree.write(name, head.ljust(64 if wide else 52, b"\0"))


def section_header(name, kind, offset, size):
    """An Elf64_Shdr."""
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)


def do_modinfo(tree, rest):
    """modinfo PATH version=V [license=TEXT]"""
    name, *words = rest.split()
    options = split_options(words, ("version", "license"))
    if "version" not in options:
        raise TreeError("no version=")
    info = f"license={options.get('license', 'NVIDIA')}\0version={options['version']}\0srcversion=0\0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    start, table = 64, (64 + len(info) + len(names) + 7) // 8 * 8
    head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    sections = bytes(64) + section_header(1, 1, start, len(info))
    sections += section_header(10, 3, start + len(info), len(names))
    tree.write(name, (head + info + names).ljust(table, b"\0") + sections)


def do_ldcache(tree, rest):
    """ldcache PATH LIBRARY..."""
    name, *libraries = rest.split()
    texts, entries = b"", []
    start = 48 + 24 * len(libraries)
    for library in libraries:
        key, value = start + len(texts), start + len(texts) + len(os.path.basename(library)) + 1
        texts += f"{os.path.basename(library)}\0{library}\0".encode()
        entries.append(struct.pack("<iIIIQ", 0x0303, key, value, 0, 0))
    head = b"glibc-ld.so.cache1.1" + struct.pack("<IIB3xI12x", len(libraries), len(texts), 2, 0)
    tree.write(name, head + b"".join(entries) + texts)


def do_node(tree, rest):
    """node PATH c|b MAJOR MINOR"""
    name, kind, major, minor = rest.split()
    kinds = {"c": stat.S_IFCHR, "b": stat.S_IFBLK}
    if kind not in kinds:
        raise TreeError(f"{kind!r} is not c or b")
    try:
        os.mknod(tree.path(name), kinds[kind] | 0o666, os.makedev(int(major), int(minor)))
    except PermissionError as error:
        raise NotPermitted(f"device node {name!r} needs CAP_MKNOD: {error}") from error


def do_mtime(tree, rest):
    """mtime PATH SECONDS"""
    name, seconds = rest.split()
    os.utime(tree.path(name), (int(seconds), int(seconds)), follow_symlinks=False)


def do_remove(tree, rest):
    """remove PATH"""
    (name,) = rest.split()
    path = tree.path(name)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def do_process(tree, rest):
    """process PID COMM [start=SECONDS] [cmdline=WORD WORD...]"""
    fixed, _, command = rest.partition(" cmdline=")
    pid, comm, *words = fixed.split()
    start = int(split_options(words, ("start",)).get("start", "0"))
    base = f"proc/{int(pid)}"
    arguments = command.split() or [comm]
    # Fields 3 to 52; field 22 is the start in hundredths of a second.
    fields = ["S", *["0"] * 18, str(start * 100), *["0"] * 30]
    tree.write(f"{base}/comm", f"{comm[:15]}\n")
    tree.write(f"{base}/cmdline", "".join(f"{word}\0" for word in arguments))
    tree.write(f"{base}/stat", f"{int(pid)} ({comm[:15]}) {' '.join(fields)}\n")


def do_dpkg(tree, rest):
    """dpkg NAME VERSION [hold] [arch=A]"""
    name, version, *words = rest.split()
    options = split_options(words, ("arch",), ("hold",))
    status = "hold" if options.get("hold") else "install"
    tree.append(
        "var/lib/dpkg/status",
        f"Package: {name}\nStatus: {status} ok installed\nPriority: optional\n"
        f"Architecture: {options.get('arch', 'amd64')}\nVersion: {version}\nDescription: of a test\n .\n\n",
    )


def add_module(tree, name, version=None, refcnt="0"):
    """A loaded module: one with a reference count."""
    base = f"sys/module/{name}"
    tree.write(f"{base}/refcnt", f"{refcnt}\n")
    tree.write(f"{base}/initstate", "live\n")
    if version is not None:
        tree.write(f"{base}/version", f"{version}\n")


def do_module(tree, rest):
    """module NAME [version=V] [refcnt=N]"""
    name, *words = rest.split()
    add_module(tree, name, **split_options(words, ("version", "refcnt")))


def do_nvidia(tree, rest):
    """nvidia VERSION open|proprietary [loaded]"""
    version, flavor, *words = rest.split()
    loaded = split_options(words, (), ("loaded",))
    if flavor not in NVRM:
        raise TreeError(f"{flavor!r} is not open or proprietary")
    line = "NVRM version: " + NVRM[flavor].format(version) + NVRM_DATE
    tree.write("proc/driver/nvidia/version", f"{line}\n{NVRM_COMPILER}\n")
    if loaded:
        add_module(tree, "nvidia", version, "3")
        tree.write("sys/module/nvidia/taint", NVRM_TAINT[flavor] + "\n")


def pci_directory(address):
    """The real directory of a PCI function."""
    domain, bus, _, _ = match_or_fail(ADDRESS, address, "a PCI address").groups()
    return f"sys/devices/pci{domain}:{bus}/{address}"


def pci_modalias(pci_class, ids, subsystem):
    """The modalias text of a PCI function, as the kernel prints it."""
    base, sub, prog = pci_class[:2].upper(), pci_class[2:4].upper(), pci_class[4:].upper()
    vendor, device, sub_vendor, sub_device = (i.upper().rjust(8, "0") for i in ids + subsystem)
    return f"pci:v{vendor}d{device}sv{sub_vendor}sd{sub_device}bc{base}sc{sub}i{prog}"


def pci_uevent(address, pci_class, ids, subsystem, driver):
    """The uevent file of a PCI function: class without leading zeros, ids in capitals."""
    lines = [f"DRIVER={driver}"] if driver else []
    lines += [
        f"PCI_CLASS={int(pci_class, 16):04X}",
        "PCI_ID=" + ":".join(ids).upper(),
        "PCI_SUBSYS_ID=" + ":".join(subsystem).upper(),
        f"PCI_SLOT_NAME={address}",
        f"MODALIAS={pci_modalias(pci_class, ids, subsystem)}",
    ]
    return "\n".join(lines) + "\n"


def add_pci(tree, address, pci_class, ids, subsystem, options):
    """A PCI function with its attributes and links."""
    base = pci_directory(address)
    if address in tree.pci:
        raise TreeError(f"{address} is there already")
    tree.pci[address] = (pci_class, subsystem)
    attributes = {
        "class": f"0x{pci_class}",
        "vendor": f"0x{ids[0]}",
        "device": f"0x{ids[1]}",
        "subsystem_vendor": f"0x{subsystem[0]}",
        "subsystem_device": f"0x{subsystem[1]}",
        "revision": "0x01",
        "irq": "0",
        "modalias": pci_modalias(pci_class, ids, subsystem),
        "numa_node": options.get("numa", "-1"),
        "power_state": "D0",
        "resource": "\n".join(["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * 7),
    }
    if "totalvfs" in options:
        attributes["sriov_totalvfs"] = options["totalvfs"]
        attributes["sriov_numvfs"] = options.get("numvfs", "0")
    for name, value in attributes.items():
        tree.write(f"{base}/{name}", f"{value}\n")
    driver = options.get("driver")
    if not options.get("nouevent"):
        tree.write(f"{base}/uevent", pci_uevent(address, pci_class, ids, subsystem, driver))
    if driver:
        tree.mkdir(f"sys/bus/pci/drivers/{driver}")
        tree.link_to(f"{base}/driver", f"sys/bus/pci/drivers/{driver}")
        tree.link_to(f"sys/bus/pci/drivers/{driver}/{address}", base)
    if "physfn" in options:
        add_physfn(tree, address, options["physfn"])
    tree.link_to(f"sys/bus/pci/devices/{address}", base)


def add_physfn(tree, address, parent):
    """The links between a virtual function and its physical one."""
    if parent not in tree.pci:
        raise TreeError(f"physical function {parent} is not there")
    number = tree.vf_count.get(parent, 0)
    tree.vf_count[parent] = number + 1
    tree.link_to(f"{pci_directory(address)}/physfn", pci_directory(parent))
    tree.link_to(f"{pci_directory(parent)}/virtfn{number}", pci_directory(address))


def do_pci(tree, rest):
    """pci ADDRESS CLASS VENDOR:DEVICE [SUBVENDOR:SUBDEVICE] [option]..."""
    address, pci_class, ids, *words = rest.split()
    match_or_fail(re.compile("[0-9a-f]{6}"), pci_class, "a class of six hex digits")
    ids = match_or_fail(PAIR, ids, "VENDOR:DEVICE").groups()
    subsystem = ("0000", "0000")
    if words and PAIR.fullmatch(words[0]):
        subsystem = PAIR.fullmatch(words.pop(0)).groups()
    add_pci(tree, address, pci_class, ids, subsystem, split_options(words, PCI_OPTIONS, ("nouevent",)))


def do_vfs(tree, rest):
    """vfs ADDRESS COUNT VENDOR:DEVICE [driver=NAME]"""
    parent, count, ids, *words = rest.split()
    domain, *numbers = match_or_fail(ADDRESS, parent, "a PCI address").groups()
    if parent not in tree.pci:
        raise TreeError(f"physical function {parent} is not there")
    pci_class, subsystem = tree.pci[parent]
    ids = match_or_fail(PAIR, ids, "VENDOR:DEVICE").groups()
    options = split_options(words, ("driver",))
    bus, slot, function = (int(n, 16) for n in numbers)
    first = (bus << 8 | slot << 3 | function) + 1
    for rid in range(first, first + int(count)):
        address = f"{domain}:{rid >> 8:02x}:{rid >> 3 & 0x1f:02x}.{rid & 7}"
        add_pci(tree, address, pci_class, ids, subsystem, {**options, "physfn": parent})
    tree.write(f"{pci_directory(parent)}/sriov_numvfs", f"{count}\n")


def do_usb(tree, rest):
    """usb NAME CLASS VENDOR:PRODUCT [serial=TEXT] [if=CLASS,CLASS...]"""
    name, usb_class, ids, *words = rest.split()
    hub, bus = match_or_fail(USB_NAME, name, "a USB device name").groups()
    vendor, product = match_or_fail(PAIR, ids, "VENDOR:PRODUCT").groups()
    options = split_options(words, ("serial", "if"))
    base = f"sys/devices/platform/xhci.{hub or bus}/usb{hub or bus}" + ("" if hub else f"/{name}")
    tree.write(f"{base}/bDeviceClass", f"{usb_class}\n")
    tree.write(f"{base}/idVendor", f"{vendor}\n")
    tree.write(f"{base}/idProduct", f"{product}\n")
    if "serial" in options:
        tree.write(f"{base}/serial", options["serial"] + "\n")
    stem = f"{hub}-0" if hub else name
    for number, interface_class in enumerate(filter(None, options.get("if", "").split(","))):
        interface = f"{stem}:1.{number}"
        tree.write(f"{base}/{interface}/bInterfaceClass", f"{interface_class}\n")
        tree.link_to(f"sys/bus/usb/devices/{interface}", f"{base}/{interface}")
    tree.link_to(f"sys/bus/usb/devices/{name}", base)


DIRECTIVES = {
    "dir": do_dir,
    "file": do_file,
    "gzip": do_gzip,
    "link": do_link,
    "elf": do_elf,
    "modinfo": do_modinfo,
    "ldcache": do_ldcache,
    "node": do_node,
    "mtime": do_mtime,
    "remove": do_remove,
    "process": do_process,
    "dpkg": do_dpkg,
    "module": do_module,
    "nvidia": do_nvidia,
    "pci": do_pci,
    "vfs": do_vfs,
    "usb": do_usb,
}


def make_tree(source, directory):
    """Fill directory by a description: its text (more than one line, or none), or the path of a file."""
    if "\n" in source or not source:
        text = source
    else:
        with open(source, encoding="utf-8") as file:
            text = file.read()
    tree = Tree(directory)
    for number, line in enumerate(text.split("\n"), 1):
        line = line.lstrip()
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word not in DIRECTIVES:
            raise TreeError(f"line {number}: unknown directive {word!r}")
        try:
            DIRECTIVES[word](tree, rest)
        except NotPermitted as error:
            raise NotPermitted(f"line {number}: {word}: {error}") from error
        except (ValueError, OSError) as error:
            raise TreeError(f"line {number}: {word}: {error}") from error
    return directory


def main(arguments):
    """Command line: FILE.tree DIR."""
    if len(arguments) != 2:
        print("usage: mktree.py FILE.tree DIR", file=sys.stderr)
        return 2
    try:
        make_tree(*arguments)
    except (TreeError, OSError) as error:
        print(f"mktree.py: {arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
