# SPDX-License-Identifier: GPL-2.0-or-later
"""A seccomp filter that refuses openat2, as container runtimes older than that system call do.

Use deny_openat2 as preexec_fn of a subprocess: the program then has to follow links below its root by itself.
"""

import ctypes
import struct

SYS_OPENAT2 = 437  # the same number on every architecture
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
RETURN_EPERM, RETURN_ALLOW = 0x00050001, 0x7FFF0000


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def deny_openat2():
    """Install the filter in this process; OSError when the kernel refuses it."""
    steps = ((LOAD_WORD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, SYS_OPENAT2), (RETURN, 0, 0, RETURN_EPERM),
             (RETURN, 0, 0, RETURN_ALLOW))
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(steps), code)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")
