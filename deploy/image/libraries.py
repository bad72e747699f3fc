#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Picks what the programs need out of extracted Debian packages: the first layer of the image.

    deploy/image/libraries.py PACKAGES OUTPUT

PACKAGES: folder of .deb files. OUTPUT has what make-root.sh left: sysroot/ (the packages, extracted), lists/ (the files
of each) and program/ (the programs). libraries/ is made there: the shared objects that the programs load, found in
their ELF headers; a few files of data; and of each package that gave one its copyright file and its record, where
scanners look for them. So nothing is listed twice, and no shell, no interpreter and no setuid program can come along.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

LOADED = re.compile(r"\(NEEDED\) +Shared library: \[(.+)\]|\[Requesting program interpreter: (.+)\]")
DATA = ("etc/debian_version", "etc/os-release", "usr/share/misc/pci.ids")
DATA_FOLDERS = ("usr/share/common-licenses",)
MERGED = re.compile(r"^(lib|lib64)/")  # these are links into usr/
RECORDS = "var/lib/dpkg/status.d"

FILES = {
    "etc/passwd": "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    # Without it the C library would ask a name server before it reads /etc/hosts.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def output_of(*command):
    """What a program prints."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def merged(path):
    """A path of a package, relative to the root, as it is with a merged /usr."""
    return MERGED.sub(r"usr/\1/", os.path.normpath(path.lstrip("./")))


class Sysroot:
    """The extracted packages: which file is where, and which package it is from."""

    def __init__(self, packages, output):
        self.root = output / "sysroot"
        self.debs = {deb.stem: deb for deb in packages.glob("*.deb")}
        self.owners = {merged(line): stem for stem in self.debs
                       for line in (output / "lists" / stem).read_text().splitlines() if not line.endswith("/")}

    def chain(self, path):
        """The path, and as long as it is a link those it leads to."""
        path = merged(path)
        while True:
            yield path
            if not (self.root / path).is_symlink():
                return
            path = merged(os.path.join("/", os.path.dirname(path), os.readlink(self.root / path)))

    def library(self, name, folders):
        """The path of a shared object; an interpreter has one already."""
        if name.startswith("/"):
            return name
        for folder in folders:
            if (self.root / folder / name).exists():
                return f"{folder}/{name}"
        raise SystemExit(f"libraries: no package has {name}")

    def loaded(self, programs):
        """The paths of all shared objects that these programs load, links included, in no order."""
        # The default search path of Debian's dynamic linker, which is all that there is without a cache.
        folders = [str(folder.relative_to(self.root)) for folder in self.root.glob("usr/lib/*-linux-gnu")]
        found, left = set(), [str(program) for program in programs]
        while left:
            for match in LOADED.finditer(output_of("readelf", "-W", "-l", "-d", left.pop())):
                links = list(self.chain(self.library(match[1] or match[2], folders)))
                if not found.issuperset(links):
                    found.update(links)
                    left.append(str(self.root / links[-1]))
        return found

    def data(self):
        """The paths of the files of data, links included."""
        folders = [str(path.relative_to(self.root)) for folder in DATA_FOLDERS
                   for path in (self.root / folder).iterdir()]
        return {link for path in (*DATA, *folders) for link in self.chain(path)}


def write(root, path, text):
    """Write a file below root."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def copy_files(sysroot, paths, target):
    """Copy files and links; a link that led out of the root in a package leads there still."""
    for path in sorted(paths):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(sysroot.root / path, target / path, follow_symlinks=False)


def write_record(sysroot, stem, paths, target):
    """What a scanner needs of a package: its control fields, the sums of its files that are here, its copyright."""
    control = output_of("dpkg-deb", "--field", str(sysroot.debs[stem]))
    name = re.search("^Package: (.+)$", control, re.M)[1]
    write(target, f"{RECORDS}/{name}", control)
    sums = output_of("dpkg-deb", "--info", str(sysroot.debs[stem]), "md5sums").splitlines()
    kept = [line for line in sums if merged(line.split(maxsplit=1)[1]) in paths]
    write(target, f"{RECORDS}/{name}.md5sums", "".join(f"{line}\n" for line in kept))
    *_, copyright_file = sysroot.chain(f"usr/share/doc/{name}/copyright")
    write(target, f"usr/share/doc/{name}/copyright", (sysroot.root / copyright_file).read_text())


def main(packages, output):
    """Make libraries/."""
    sysroot, target = Sysroot(packages, output), output / "libraries"
    programs = [path for path in (output / "program").rglob("*/nfd-source*") if path.is_file()]
    paths = sysroot.data() | sysroot.loaded(programs)
    (target / "usr/lib64").mkdir(parents=True)
    for name in ("lib", "lib64"):
        (target / name).symlink_to(f"usr/{name}")
    copy_files(sysroot, paths, target)
    for stem in sorted({sysroot.owners[path] for path in paths}):
        write_record(sysroot, stem, paths, target)
    for path, text in FILES.items():
        write(target, path, text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
