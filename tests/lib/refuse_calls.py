# SPDX-License-Identifier: GPL-2.0-or-later
"""Seccomp filters that refuse system calls, as older kernels and some container runtimes do.

Use deny_openat2 or deny_confinement as preexec_fn of a subprocess.
"""

import ctypes
import errno
import platform
import struct

# The same numbers on every architecture, but for the first two.
SYS_PRCTL, SYS_SECCOMP = {"x86_64": (157, 317)}.get(platform.machine(), (167, 277))
SYS_OPENAT2, SYS_LANDLOCK_CREATE_RULESET = 437, 444
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
AT_NUMBER, AT_FIRST_ARGUMENT = 0, 16  # in struct seccomp_data, little-endian
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def rule(call, error, argument=None):
    """Steps that answer error to a call, or to that call with a first argument."""
    skipped = 1 if argument is None else 3
    yield LOAD_WORD, 0, 0, AT_NUMBER
    yield JUMP_IF_EQUAL, 0, skipped, call
    if argument is not None:
        yield LOAD_WORD, 0, 0, AT_FIRST_ARGUMENT
        yield JUMP_IF_EQUAL, 0, 1, argument
    yield RETURN, 0, 0, RETURN_ERRNO | error


def install(*rules):
    """Install a filter of rules in this process; OSError when the kernel refuses it."""
    steps = [step for each in rules for step in each] + [(RETURN, 0, 0, RETURN_ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(steps), code)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def deny_openat2():
    """As container runtimes older than that call: links below a root have to be followed by the program itself."""
    install(rule(SYS_OPENAT2, errno.EPERM))


def deny_confinement():
    """As kernels without Landlock and without filters."""
    install(rule(SYS_LANDLOCK_CREATE_RULESET, errno.ENOSYS), rule(SYS_SECCOMP, errno.ENOSYS),
            rule(SYS_PRCTL, errno.EINVAL, PR_SET_SECCOMP))
