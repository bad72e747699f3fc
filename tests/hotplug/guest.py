# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU guest (no KVM needed) with a real kernel whose PCI bus has hotplug slots; the daemon runs in it.

The kernel comes from Debian's package, which is fetched and unpacked into the cache, not installed. Nothing has a
fixed name or port: QMP is a socket in the test's folder, the serial ports are pipes and a file there.
"""

import json
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from hotplug import PATIENCE, compile_c, need_command
from program import BINARY, load_json, parse_lines, wait_for

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nfd-source/guest"
SLOTS = 8
BOOT_PATIENCE = 300
MODULE = "drivers/misc/eeprom/eeprom_93cx6.ko"
# The module is loaded under the name of a driver in nfd-source/scan/driver.c.
MODULE_NAME = "gdrdrv"
SETTINGS = {
    "outputs.featureFile.dir": "/features.d",
    "outputs.nodeFeature.mode": "off",
    "outputs.nodeLabels.mode": "off",
    "core.sleepInterval": "1h",
    "watch.removalDelay": "1s",
    "sources.pci.deviceClassWhitelist": "0100,0108,02,03,0c03",
    "status.path": "/run/status.json",
}


def shell(*words, cwd=None):
    """Run a program that must succeed; returns its output."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, check=False, timeout=PATIENCE * 5)
    if done.returncode:
        raise unittest.SkipTest(f"{' '.join(words)}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def kernel_package():
    """The package behind linux-image-amd64."""
    text = shell("apt-cache", "depends", "linux-image-amd64").decode()
    match = re.search(r"Depends: (linux-image-\S+)", text)
    if not match:
        raise unittest.SkipTest("no package linux-image-amd64 (Debian, apt-get update?)")
    return match[1]


def unpack(name, wanted):
    """Fetch a package and keep wanted files (pattern, name) of it in the cache, all or none; nothing is installed."""
    for command in ("apt-get", "dpkg-deb"):
        need_command(command)
    if (CACHE / name).is_dir():
        return CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=CACHE))
    try:
        shell("apt-get", "download", name, cwd=aside)
        shell("dpkg-deb", "-x", str(next(aside.glob("*.deb"))), "x", cwd=aside)
        keep = aside / "keep"
        keep.mkdir()
        for pattern, target in wanted:
            shutil.copy(next(aside.glob(f"x/{pattern}")), keep / target)
        os.rename(keep, CACHE / name)
    except StopIteration:
        raise unittest.SkipTest(f"package {name} has other files than expected") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return CACHE / name


def kernel():
    """The folder with vmlinuz and module.ko; $NFD_SOURCE_GUEST_KERNEL names another one."""
    given = os.environ.get("NFD_SOURCE_GUEST_KERNEL")
    if given:
        return Path(given)
    need_command("apt-cache")
    return unpack(kernel_package(), (("boot/vmlinuz-*", "vmlinuz"), (f"lib/modules/*/kernel/{MODULE}", "module.ko")))


def udevd():
    """Debian's udevd; it is udevadm under another name."""
    return shutil.which("udevadm") or str(unpack("udev", (("bin/udevadm", "udevadm"),)) / "udevadm")


def renamed_module(data, name):
    """A kernel module (64-bit ELF) under another name, without the signature that this breaks."""
    offset, size, count, names = struct.unpack_from("<Q8xIH2xHH", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, offset + number * size) for number in range(count)]
    text = sections[names][4]
    for section in sections:
        if data.startswith(b".gnu.linkonce.this_module\0", text + section[0]):
            # struct module: state and list before the name of 56 bytes.
            start = section[4] + 24
            return (data[:start] + name.encode().ljust(56, b"\0") + data[start + 56 :])[: offset + count * size]
    raise AssertionError("no kernel module")


def module_version(data):
    """The version that a kernel module states."""
    return re.search(rb"\0version=([^\0]+)\0", data)[1].decode()


def libraries(binary):
    """What the dynamic linker loads for a program, and the linker."""
    text = shell("ldd", str(binary)).decode()
    if "not found" in text:
        raise unittest.SkipTest(f"{binary}: libraries that are not installed:\n{text}")
    return re.findall(r"(/\S+) \(0x", text)


def build_image(folder, kernel_folder, extra=()):
    """An initramfs: busybox, the daemon and its libraries, the probe, the module, and extra (path, source)."""
    top = folder / "image"
    for name in ("bin", "sbin", "proc", "sys", "dev", "etc", "tmp"):
        (top / name).mkdir(parents=True)
    files = [("bin/busybox", shutil.which("busybox")), ("bin/nfd-source", BINARY), ("init", HERE / "guest/init.sh")]
    files += [*extra, ("etc/os-release", "/etc/os-release")]
    needed = {library for _, source in files for library in program_libraries(source)}
    for path, source in files + [(library.lstrip("/"), library) for library in sorted(needed)]:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, top / path)
    (top / "bin/sh").symlink_to("busybox")
    (top / "init").chmod(0o755)
    compile_c("guest/probe.c", top / "bin/probe", "-static")
    (top / "module.ko").write_bytes(renamed_module((kernel_folder / "module.ko").read_bytes(), MODULE_NAME))
    (top / "settings").write_text(" ".join(f"--set {key}={value}" for key, value in SETTINGS.items()))
    image = folder / "initramfs"
    with open(image, "wb") as file:
        names = subprocess.run(["find", "."], cwd=top, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=top, input=names, stdout=file, check=True)
    return image


def program_libraries(source):
    """The libraries of a file, none when it is no dynamic program."""
    with open(source, "rb") as file:
        data = file.read()
    return libraries(source) if data.startswith(b"\x7fELF") and b"/ld-linux" in data else []


def qemu_words(folder, kernel_folder, image):
    """QEMU's command line: hotplug slots, a display adapter, two serial ports, QMP."""
    words = ["qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-m", "512", "-nodefaults", "-no-reboot"]
    words += ["-display", "none", "-kernel", str(kernel_folder / "vmlinuz"), "-initrd", str(image)]
    words += ["-append", "console=ttyS0 quiet panic=-1", "-device", "ati-vga,romfile="]
    for slot in range(SLOTS):
        words += ["-device", f"pcie-root-port,id=rp{slot},slot={slot},chassis=1"]
    words += ["-serial", "stdio", "-serial", f"file:{folder}/probe"]
    return words + ["-qmp", f"unix:{folder}/qmp,server,nowait"]


def check_host():
    """Skip where a program that the guest needs is missing."""
    for name in ("qemu-system-x86_64", "busybox", "cpio", "ldd"):
        need_command(name)
    if b"/ld-linux" in Path(shutil.which("busybox")).read_bytes():
        raise unittest.SkipTest("busybox is not static (busybox-static)")


class Guest:
    """A running guest."""

    def __init__(self, folder, extra=()):
        check_host()
        self.folder = folder
        kernel_folder = kernel()
        image = build_image(folder, kernel_folder, extra)
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            qemu_words(folder, kernel_folder, image),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(folder / "qemu.log", "wb"),
        )
        self.console = b""
        self.qmp = None
        self.module_version = module_version((kernel_folder / "module.ko").read_bytes())

    def boot(self, *words):
        """Wait for the guest's shell and greet QMP, then start the daemon with more words on its command line."""
        start = time.monotonic()
        self.lines_until(re.compile("ready"), BOOT_PATIENCE)
        print(f"# guest booted in {time.monotonic() - start:.0f} s", flush=True)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(str(self.folder / "qmp"))
        self.qmp = connection.makefile("rw")
        connection.close()
        self.qmp.readline()
        self.tell("qmp_capabilities")
        self.await_probe(0, lambda line: line[0] == "listening")
        self.run(" ".join(["start", *words]))

    def close(self):
        """End QEMU, whatever it does."""
        if self.qmp:
            self.qmp.close()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def tell(self, command, **arguments):
        """One QMP command; events in between are passed over."""
        self.qmp.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.qmp.flush()
        while True:
            answer = json.loads(self.qmp.readline())
            if "error" in answer:
                raise AssertionError(f"QMP: {command} {arguments}: {answer['error']}")
            if "return" in answer:
                return answer["return"]

    def plug(self, slot, model):
        """Plug a card into a slot."""
        arguments = {"serial": f"s{slot}"} if model == "nvme" else {"romfile": ""}
        self.tell("device_add", driver=model, id=f"card{slot}", bus=f"rp{slot}", **arguments)

    def unplug(self, slot):
        """Ask the guest to let a card go."""
        self.tell("device_del", id=f"card{slot}")

    def lines_until(self, pattern, seconds=PATIENCE):
        """Lines of the console up to the one that matches pattern."""
        end, lines = time.monotonic() + seconds, []
        while True:
            line, newline, rest = self.console.partition(b"\n")
            if newline:
                self.console = rest
                lines.append(line.decode(errors="replace").strip("\r"))
                if pattern.fullmatch(lines[-1]):
                    return lines
                continue
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError(f"guest: no {pattern.pattern!r}:\n" + "\n".join([*lines, repr(self.console)]))
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                log = (self.folder / "qemu.log").read_text(errors="replace")
                raise AssertionError("\n".join(["QEMU ended:", log, *lines]))
            self.console += data

    def run(self, command):
        """Run one line of shell in the guest; returns (status, lines)."""
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        lines = self.lines_until(re.compile(r"done \d+"))
        return int(lines[-1].split()[1]), lines[:-1]

    def read(self, path):
        """A file of the guest; "" when it cannot be read."""
        status, lines = self.run(f"cat {path} 2>/dev/null && echo")
        return "\n".join(lines) if status == 0 else ""

    def labels(self):
        """The labels in the guest's feature file, keys without prefix."""
        return {key.partition("/")[2]: value for key, value in parse_lines(self.read("/features.d/nfd-source")).items()}

    def status(self):
        """The daemon's status file."""
        return load_json(self.read("/run/status.json"))

    def await_label(self, key, value="true"):
        """Wait until a label has that value; None: until it is gone."""
        try:
            wait_for(lambda: self.labels().get(key) == value, PATIENCE, f"{key}={value}")
        except AssertionError as error:
            log = self.read("/run/daemon.log")
            raise AssertionError(f"{error}\n{self.labels()}\nlog:\n{log}\nprobe:\n{self.probe()[-20:]}") from None

    def probe(self):
        """What the probe has printed: lists of words."""
        text = (self.folder / "probe").read_bytes().decode(errors="replace").replace("\r", "")
        return [line.split() for line in text[: text.rfind("\n") + 1].splitlines()]

    def await_probe(self, start, wanted):
        """Wait for a line of the probe, behind its first start lines, for which wanted(words) holds; returns it."""

        def look():
            return next((words for words in self.probe()[start:] if words and wanted(words)), None)

        return wait_for(look, PATIENCE, "line of the probe")
