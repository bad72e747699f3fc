# SPDX-License-Identifier: GPL-2.0-or-later
"""The stand-in libnvidia-ml.so.1 (nvml_standin*.c): built once a process, put where a test wants it.

    install(root / "usr/lib/x86_64-linux-gnu", "580.126.09")     # the file and the link libnvidia-ml.so.1
    environment(root)                                            # variables that make it answer from that root
"""

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCES = tuple(Path(__file__).with_name(f"nvml_standin{part}.c") for part in ("", "_fixture", "_mig"))
SONAME = "libnvidia-ml.so.1"
STEM = "libnvidia-ml.so"
FLAGS = ("-O1", "-g", "-Wall", "-Wextra", "-shared", "-fPIC", f"-Wl,-soname,{SONAME}", "-pthread")


def compiler():
    """The C compiler: $CC, else cc; None without one."""
    words = os.environ.get("CC", "cc").split()
    return [shutil.which(words[0]), *words[1:]] if words and shutil.which(words[0]) else None


def missing():
    """One line when it cannot be built, else an empty string."""
    return "" if compiler() else "no C compiler (cc) for the stand-in of libnvidia-ml.so.1"


def compile_library(source, target, *flags):
    """Build a shared library from C files (paths) or a text."""
    words = [*compiler(), *FLAGS, *flags, "-o", str(target), "-x", "c"]
    text = source.encode() if isinstance(source, str) else None
    subprocess.run([*words, *(["-"] if text else map(str, source))], input=text, check=True)
    return Path(target)


@functools.lru_cache(maxsize=None)
def _built(*without):
    """Bytes of the library."""
    renamed = [f"-D{name}=standin_without_{name}" for name in without]
    with tempfile.TemporaryDirectory(prefix="nfd-source-test-") as directory:
        target = Path(directory) / SONAME
        return compile_library(SOURCES, target, "-fvisibility=hidden", *renamed).read_bytes()


def install(directory, version, content=None, without=()):
    """Put the library (or content, bytes) there as libnvidia-ml.so.VERSION with the link .so.1; returns the file.

    without: names of functions that this one lacks, as older ones do.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{STEM}.{version}"
    path.write_bytes(_built(*without) if content is None else content)
    path.chmod(0o755)
    link = directory / SONAME
    link.unlink(missing_ok=True)
    link.symlink_to(path.name)
    return path


def environment(root, fault=None):
    """The variables that it obeys."""
    variables = {"NFD_STANDIN_ROOT": str(root)}
    return variables if fault is None else {**variables, "NFD_STANDIN_FAULT": fault}
