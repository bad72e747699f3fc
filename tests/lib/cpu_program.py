# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds tests/lib/cpu_facts.c with the decoders of nfd-source/scan, for this processor or another, and runs it."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
SCAN = REPOSITORY / "nfd-source/scan"
TABLE = SCAN / "cpuid-flags.tsv"
DECODERS = ("cpu_facts.c", "cpu_live.c", "cpuid.c", "cpuid_model.c", "hwcap.c")
OTHERS = (REPOSITORY / "nfd-source/labels/key.c", REPOSITORY / "nfd-source/base/error.c")
PATIENCE = 120
# Needs a C library for arm64.
ARM64_CC = os.environ.get("NFD_SOURCE_ARM64_CC") or "aarch64-linux-gnu-gcc"


class Facts(NamedTuple):
    """What the program prints for one processor."""

    vendor: str
    family: int
    model: int
    hypervisor: str
    avx10: int
    rdt: int
    mhz: int
    epc: int
    flags: frozenset


def parse(line):
    """One line of the program."""
    vendor, family, model, hypervisor, avx10, rdt, mhz, epc, *flags = line.split()
    numbers = map(int, (avx10, rdt, mhz, epc))
    return Facts(vendor, int(family), int(model), hypervisor, *numbers, frozenset(flags))


def build(directory, compiler=None, options=()):
    """Build the program into a directory: its path; OSError or CalledProcessError when it cannot be built.

    compiler: words of a command; default $CC, else cc. The tree's own configuration is not needed.
    """
    directory = Path(directory)
    words = shlex.split(compiler or os.environ.get("CC") or "cc")
    (directory / "scan").mkdir(exist_ok=True)
    (directory / "config.h").write_text("#define _GNU_SOURCE 1\n")
    with open(directory / "scan/cpuid_flags.h", "wb") as header:
        script = REPOSITORY / "build-aux/cpuid-flags.awk"
        subprocess.run(["awk", "-f", script, TABLE], stdout=header, check=True, timeout=PATIENCE)
    sources = [REPOSITORY / "tests/lib/cpu_facts.c", *(SCAN / name for name in DECODERS), *OTHERS]
    program = directory / "cpu_facts"
    includes = ["-I", directory, "-I", REPOSITORY / "nfd-source"]
    command = [*words, "-std=gnu11", "-O1", "-g", *options, *includes, "-o", program, *sources]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    return program


def live(program, before=()):
    """The facts of the processor that the program runs on; before: words of an emulator."""
    done = subprocess.run([*before, program], check=True, capture_output=True, text=True, timeout=PATIENCE)
    return parse(done.stdout)


def decode(program, dumps):
    """The facts of each dump of a text of dumps."""
    done = subprocess.run(
        [program, "dumps"], input=dumps, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return [parse(line) for line in done.stdout.splitlines()]
