# SPDX-License-Identifier: GPL-2.0-or-later
"""What the checks share: the tree, the program, its tables as it prints them, and how a check fails or is skipped."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from mktree import make_tree

TOP = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("NFD_SOURCE_BIN") or str(TOP / "build/nfd-source/nfd-source")
MACHINES = TOP / "tests/fixtures/machines"
PREFIX = "feature.node.kubernetes.io/"
COMPLETION = TOP / "completions/nfd-source"

# What a tarball has beside the tree: made by autoconf and automake.
GENERATED = (
    *("Makefile.in", "aclocal.m4", "config.h.in", "configure"),
    *(f"build-aux/{name}" for name in ("ar-lib", "compile", "depcomp", "install-sh", "missing", "test-driver")),
)


class Skip(Exception):
    """A check that cannot be made here."""


def run(*command, **options):
    """Output of a command, both streams together, and its exit code."""
    options.setdefault("cwd", TOP)
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    return done.stdout, done.returncode


def program(*arguments, expect=0):
    """Standard output of the program, which must end with the expected exit code."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [PROGRAM, "--config", "/dev/null", *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != expect:
        raise AssertionError(f"nfd-source {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def need(tool):
    """Skip the check without a tool; under CI a missing tool is a failure."""
    if shutil.which(tool):
        return
    if os.environ.get("CI") == "true":
        raise AssertionError(f"{tool} is missing, and under CI nothing is skipped")
    raise Skip(f"no {tool}")


def same(what, found, expected):
    """Two sets of words must be equal."""
    found, expected = set(found), set(expected)
    wrong = []
    if expected - found:
        wrong.append("lacks " + ", ".join(sorted(expected - found)))
    if found - expected:
        wrong.append("has but should not " + ", ".join(sorted(found - expected)))
    if wrong:
        raise AssertionError(f"{what} {'; '.join(wrong)}")


def tree_files():
    """Every file of the tree that is in git or would be added; without git (a tarball) every file but those of builds."""
    if (TOP / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\0")
        return sorted(TOP / name for name in set(names) if name and (TOP / name).is_file())
    found = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = [name for name in folders if name == "build-aux" or not name.startswith(("build", "autom4te", "_"))]
        found += [Path(folder) / name for name in names]
    return sorted(path for path in found if path.is_file() and str(path.relative_to(TOP)) not in GENERATED)


# The program's tables.

OPTION = re.compile(r"^  (?:-(\w),|   ) --([\w-]+)(?: ([A-Z=]+))?(?:  +(.*))?$")
COMMAND = re.compile(r"^  ([a-z]+)(?: (\S+))?  +(.*)$")


def sections(text):
    """{title: [lines]} of a help text."""
    found, title = {}, None
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
            found[title] = []
        elif line.startswith("  ") and title:
            found[title].append(line)
        elif not line:
            title = None
    return found


def options_of(lines):
    """[(letter or None, name, argument or None)] of option lines of a help text."""
    matches = [OPTION.match(line) for line in lines]
    if not all(matches):
        raise AssertionError(f"cannot read this help text: {lines}")
    return [(match[1], match[2], match[3]) for match in matches]


def commands():
    """{command: operand or None}."""
    lines = sections(program("help"))["Commands"]
    return {match[1]: match[2] for match in map(COMMAND.match, lines)}


def global_options():
    """Options of every command."""
    return options_of(sections(program("help"))["Options of every command"])


def own_options(command):
    """Options of one command."""
    return options_of(sections(program("help", command)).get("Options of this command", []))


def words_of(options):
    """Options as they are typed: --output, -o."""
    return {f"--{name}" for _, name, _ in options} | {f"-{letter}" for letter, _, _ in options if letter}


def settings():
    """{key: default}."""
    found = {}
    for line in program("settings").splitlines():
        if line.startswith("# output "):
            continue
        key, rest = line.split(": ", 1)
        value, origin = rest.rsplit("  # ", 1)
        found[key] = value.strip()
    return found


# Man pages.


def variable_of(key):
    """The environment variable of a setting."""
    return "NFD_SOURCE_" + re.sub("[A-Z]", r"_\g<0>", key).replace(".", "_").upper()


def machine(name, folder):
    """A made root of a fixture machine."""
    root = Path(folder) / name
    make_tree((MACHINES / f"{name}.tree").read_text(encoding="utf-8"), root)
    return root
