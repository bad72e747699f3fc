# SPDX-License-Identifier: GPL-2.0-or-later
"""A small inotify reader: what a process that watches a directory is told, and when."""

import ctypes
import os
import select
import struct
import time
from typing import NamedTuple

ACCESS, MODIFY, ATTRIB, CLOSE_WRITE, CLOSE_NOWRITE, OPEN = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20
MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
ISDIR = 0x40000000

# The mask of nfd-worker (spec/nfd.md 1.5).
WORKER_MASK = CREATE | MODIFY | ATTRIB | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF

_HEADER = struct.Struct("iIII")
_LIBC = ctypes.CDLL(None, use_errno=True)


class Event(NamedTuple):
    """One event, with the monotonic time at which it was read."""

    when: float
    mask: int
    name: str


class Watch:
    """Watches one directory, not recursively; use as a context manager."""

    def __init__(self, path, mask=WORKER_MASK):
        self.fd = _LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.fd < 0 or _LIBC.inotify_add_watch(self.fd, os.fsencode(path), mask) < 0:
            raise OSError(ctypes.get_errno(), f"inotify on {path}")
        self.left = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, seconds=0.0):
        """The events that are there, waiting up to seconds for the first."""
        if self.left:
            events, self.left = self.left, []
            return events
        if not select.select([self.fd], [], [], max(seconds, 0))[0]:
            return []
        data, now, events = os.read(self.fd, 65536), time.monotonic(), []
        while data:
            _, mask, _, length = _HEADER.unpack_from(data)
            end = _HEADER.size + length
            events.append(Event(now, mask, os.fsdecode(data[_HEADER.size : end].rstrip(b"\0"))))
            data = data[end:]
        return events

    def collect(self, seconds):
        """All events of the next seconds."""
        end, events = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            events += self.read(left)
        return events

    def until(self, wanted, seconds):
        """Events up to the first for which wanted(event) holds; the last is that one, or TimeoutError."""
        end, events = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            batch = self.read(left)
            for number, event in enumerate(batch, 1):
                if wanted(event):
                    self.left = batch[number:]
                    return events + batch[:number]
            events += batch
        raise TimeoutError(f"no such event in {seconds} s; seen: {events}")
