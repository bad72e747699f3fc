# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of this tree, and Debian roots to install them in.

What takes long is made once for each state of the tree and kept in the cache, also for tests of the same run: a lock
makes one of them build, the others wait. Nothing is installed on the host, and nothing in a root reaches a network.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import REPOSITORY

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nfd-source/packages"
KEPT = 3  # of each kind, for trees that are tested in turn
PATIENCE = 1200
PACKAGING = REPOSITORY / "deploy"
# Folders that are no part of a package, or are made.
PASSED_OVER = re.compile(r"\.|_|build|autom4te|tests$")
UNITS = tuple(f"nfd-source{name}" for name in (".service", "-standalone.service", "-publish.service", "-publish.timer"))
FEATURES = "etc/kubernetes/node-feature-discovery/features.d"
SETTINGS = "etc/nfd-source/nfd-source.yaml"
# Of programs in a root: nothing of the host's.
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
# A root has what systemd needs to be its first process; what the package needs comes from the package.
ROOT_PACKAGES = ("systemd", "systemd-sysv", "dbus")


def need(*commands):
    """Skip where a program is missing, or we are not root."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root may enter a root of its own")
    for name in commands:
        if not shutil.which(name):
            raise unittest.SkipTest(f"{name} is not installed")


def run(*words, check=True, **options):
    """Run a program to its end; its output, both streams together, is in the failure and in .stdout."""
    options = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "timeout": PATIENCE, **options}
    words = list(map(str, words))
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, errors="replace", check=False, **options)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-8000:]}")
    return done


def digest(*parts):
    """A name for what is made of these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def tree_digest():
    """A name for the packages of this tree: its files, and what is installed on the host that builds them."""
    found = [Path("/var/lib/dpkg/status")]
    for folder, folders, names in os.walk(REPOSITORY):
        folders[:] = sorted(name for name in folders if name == "build-aux" or not PASSED_OVER.match(name))
        found += [Path(folder) / name for name in sorted(names)]
    made = {"configure", "aclocal.m4", "config.h.in", "Makefile.in", ".git"}
    files = [path for path in found if path.is_file() and path.name.rstrip("~") not in made]
    return digest(*(f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files))


def provide(kind, key, make):
    """The folder of the cache that make(folder) fills, which happens once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    target = CACHE / f"{kind}-{key}"
    with open(CACHE / f"{kind}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            os.utime(target)
            return target
        aside = Path(tempfile.mkdtemp(prefix=f"{kind}.", dir=CACHE))
        try:
            make(aside)
            aside.chmod(0o755)
            aside.rename(target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        ours = sorted(CACHE.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime)
        for old in ours[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    return target


def only(folder, pattern):
    """The one file of a folder that matches."""
    (found,) = folder.glob(pattern)
    return found


def tarball():
    """The release tarball of this tree, made beside it."""

    def make(folder):
        with tempfile.TemporaryDirectory(prefix="nfd-source-dist-") as build:
            run(REPOSITORY / "configure", "--quiet", cwd=build)
            run("make", "-s", "dist", cwd=build)
            shutil.move(only(Path(build), "*.tar.xz"), folder)

    if not (REPOSITORY / "configure").exists():
        raise unittest.SkipTest("no configure: run autogen.sh")
    return only(provide("tarball", tree_digest(), make), "*.tar.xz")


def debian():
    """The folder with the Debian package and what belongs to it. The unit layer has run the tests of the build."""
    need("dpkg-buildpackage", "dh", "make")
    source = tarball()

    def make(folder):
        environment = {**os.environ, "DEB_BUILD_OPTIONS": "nocheck parallel=2"}
        run(PACKAGING / "debian/build.sh", source, folder, env=environment)

    return provide("debian", tree_digest(), make)


def deb():
    """The Debian package."""
    return only(debian(), "nfd-source_*.deb")


def rpm():
    """The RPM package. Its build dependencies are names of other distributions, so nobody asks for them here."""
    need("rpmbuild", "make")
    source = tarball()

    def make(folder):
        with tempfile.TemporaryDirectory(prefix="nfd-source-rpm-") as top:
            define = ("--define", f"_topdir {top}", "--define", "_smp_mflags -j2")
            run("rpmbuild", "-tb", "--nodeps", "--nocheck", *define, source)
            shutil.move(only(Path(top), "RPMS/*/nfd-source-[0-9]*.rpm"), folder)

    return only(provide("rpm", tree_digest(), make), "*.rpm")


def repack(folder, version, change=lambda tree: None):
    """The same Debian package with another version, and whatever change(tree) does to its files."""
    tree = folder / f"tree-{version}"
    run("dpkg-deb", "--raw-extract", deb(), tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    change(tree)
    target = folder / f"nfd-source_{version}.deb"
    run("dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, target)
    return target


def dependencies(package):
    """Names of the packages that a Debian package depends on."""
    text = run("dpkg-deb", "--field", package, "Depends").stdout
    return sorted({re.match(r"[\w.+-]+", part.strip())[0] for part in text.split(",")})


def release():
    """The code name of this host's Debian, whose packages fit the one that was built here."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    match = re.search("(?m)^VERSION_CODENAME=(.*)$", text)
    if not match or not re.search("(?m)^ID=debian$", text):
        raise unittest.SkipTest("this host is no release of Debian")
    return match[1]


def base_tarball():
    """A Debian system that can boot and has what the package depends on, but not the package."""
    need("mmdebstrap", "unshare", "tar")
    packages = ",".join([*ROOT_PACKAGES, *dependencies(deb())])
    words = ("--variant=minbase", "--dpkgopt=path-exclude=/usr/share/locale/*", f"--include={packages}", release())

    def make(folder):
        run("mmdebstrap", *words, folder / "root.tar")

    return provide("root", digest(*words), make) / "root.tar"


def new_root(test):
    """A root of its own for a test or a test class; it goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="nfd-source-root-"))
    add_cleanup = test.addClassCleanup if isinstance(test, type) else test.addCleanup
    add_cleanup(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    run("tar", "-C", folder, "-xf", base_tarball())
    return folder


def beside_root(root, *words, check=True):
    """Run a program that works on root from outside, without a network; what it starts in there has a /proc."""
    script = 'mount -t proc proc "$0/proc" && exec "$@"'
    apart = ("--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child")
    return run("unshare", *apart, "sh", "-c", script, root, *words, check=check, env=ENVIRONMENT)


def in_root(root, *words, check=True):
    """Run a program with root as its whole system, without a network."""
    return beside_root(root, "chroot", root, *words, check=check)


@contextlib.contextmanager
def lent(root, package):
    """The path inside root of a copy of a package."""
    copy = root / package.name
    shutil.copy(package, copy)
    try:
        yield f"/{package.name}"
    finally:
        copy.unlink()


def install(root, package):
    """Install or upgrade to a Debian package, as a person does; what apt said."""
    with lent(root, package) as path:
        return in_root(root, "apt-get", "install", "-q", "-y", "--no-install-recommends", path).stdout


def enabled(root):
    """What systemctl says of each unit."""
    return {unit: in_root(root, "systemctl", "is-enabled", unit, check=False).stdout.strip() for unit in UNITS}


# Every unit as it is after an installation. The one that the timer starts cannot be enabled.
UNTOUCHED = {unit: "static" if unit == "nfd-source-publish.service" else "disabled" for unit in UNITS}
