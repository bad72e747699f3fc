# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a part of a test in a child process: in private namespaces, or as another user."""

import ctypes
import os
import sys
import traceback
import unittest

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWUSER = 0x00020000, 0x04000000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE, MS_REMOUNT, MS_RDONLY = 0x1000, 0x4000, 0x40000, 0x20, 0x1

SKIPPED = 77
NOBODY = 65534

_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(result, what):
    """Raise OSError for a libc call that answered -1."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind, flags=0, data=""):
    """mount(2)."""
    kind = kind.encode() if kind else None
    _call(_LIBC.mount(source.encode(), os.fsencode(target), kind, flags, data.encode()), f"mount {target}")


def mount_tmpfs(target, data):
    """A tmpfs of its own on target."""
    mount("tmpfs", target, "tmpfs", 0, data)


def bind(source, target):
    """Show a file or folder, with what is mounted below it, at another place, which is made."""
    os.makedirs(target if os.path.isdir(source) else os.path.dirname(target), exist_ok=True)
    if not os.path.isdir(source):
        with open(target, "wb"):
            pass
    mount(str(source), target, None, MS_BIND | MS_REC)


def enter_root(path):
    """Make an empty folder the root: a tmpfs, as a container's own, with all of the old root's folders in it."""
    mount_tmpfs(path, "mode=755")
    for name in os.listdir("/"):
        source, target = os.path.join("/", name), os.path.join(path, name)
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isdir(source):
            bind(source, target)
    os.chroot(path)
    os.chdir("/")


def remount(target, data, read_only):
    """Make a mounted tmpfs read-only or writable."""
    mount("tmpfs", target, "tmpfs", MS_REMOUNT | (MS_RDONLY if read_only else 0), data)


def unshare(flags):
    """Enter new namespaces; without root in a user namespace in which we are root. Skips where that is refused."""
    uid, gid = os.getuid(), os.getgid()
    try:
        _call(_LIBC.unshare(flags | (CLONE_NEWUSER if uid else 0)), "unshare")
        if uid:
            for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        if flags & CLONE_NEWNS:
            mount("none", "/", None, MS_REC | MS_PRIVATE)
    except OSError as error:
        raise unittest.SkipTest(f"no private namespace here: {error}") from error


def run_in_child(function, *arguments):
    """Call function in a forked child; its failure is ours, its skip is ours."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            try:
                function(*arguments)
                status = 0
            except unittest.SkipTest as reason:
                os.write(writer, str(reason).encode())
                status = SKIPPED
            except BaseException:  # pylint: disable=broad-except
                os.write(writer, traceback.format_exc().encode()[:32768])
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        text = file.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == SKIPPED:
        raise unittest.SkipTest(text)
    if status:
        raise AssertionError(f"in the child (status {status}):\n{text}")


def become_nobody():
    """Give up root for good; a user who is not root stays what it is."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
