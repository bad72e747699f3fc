# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes of the end-to-end tests: start, wait for, end, and show their logs.

Every child is started through setpriv(1) with a parent-death signal, so that none outlives the test
runner, however that ends. Ports are found free at start; a port that another process took meanwhile
costs a second try.
"""

import collections
import os
import pathlib
import signal
import socket
import subprocess
import time

DEADLINE_S = 90
POLL_S = 0.05
START_TRIES = 5
END_GRACE_S = 10
PORT_TAKEN = "address already in use"
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")


class PartFailed(Exception):
    """A part ended when it should run, or did not become ready; the text holds the end of its log."""


def free_ports(count):
    """Return count different TCP ports of the loopback address that nobody listens on right now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_until(what, condition, parts=(), deadline_s=DEADLINE_S):
    """Poll condition() until it is true and return its value.

    what: said in the failure. parts: processes that must stay alive meanwhile.
    Raises TimeoutError after deadline_s, PartFailed as soon as one of parts has ended.
    """
    end = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        for part in parts:
            part.check_alive()
        if time.monotonic() > end:
            raise TimeoutError(f"not within {deadline_s} s: {what}")
        time.sleep(POLL_S)


class Part:
    """One running child process with its log in a file.

    name: for messages; command: list of words; log: path, appended to.
    Keyword arguments are those of subprocess.Popen (env, umask, ...).
    """

    def __init__(self, name, command, log, **options):
        self.name = name
        self.log = pathlib.Path(log)
        self.ending = False
        with open(self.log, "ab") as output:
            # The parent-death signal is tied to the starting thread: start parts from the main one.
            self.process = subprocess.Popen(
                [*DIE_WITH_PARENT, *map(str, command)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, **options)

    @property
    def pid(self):
        """Process id; setpriv and the wrappers we use all exec, so it is the program's own."""
        return self.process.pid

    def check_alive(self):
        """Raise PartFailed if the process has ended without end()."""
        status = self.process.poll()
        if status is not None and not self.ending:
            raise PartFailed(f"{self.name} ended with status {status}\n{self.log_tail()}")

    def send(self, number):
        """Send a signal; a process that is gone already is an error here."""
        self.check_alive()
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        """End the process (after a grace time by SIGKILL), reap it, return its exit status."""
        self.ending = True
        self.process.send_signal(number)  # does nothing once the process has been reaped
        try:
            return self.process.wait(END_GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def log_text(self):
        """The whole log so far."""
        return self.log.read_text(errors="replace")

    def log_tail(self, lines=25):
        """The last lines of the log under a headline."""
        with open(self.log, errors="replace") as file:
            tail = collections.deque(file, lines)
        return f"--- {self.name}, last {len(tail)} log lines\n" + "".join(tail)


def start_part(name, make_command, ready, log, ports=1, **options):
    """Start a part that listens on ports and wait until it is ready.

    make_command(*ports) -> command; ready(*ports) -> true when it serves.
    Tries again with other ports when one was taken between the search and the bind.
    Returns (part, ports). Raises PartFailed or TimeoutError; nothing is left running then.
    """
    for tries_left in reversed(range(START_TRIES)):
        numbers = free_ports(ports)
        start = log.stat().st_size if log.exists() else 0
        part = Part(name, make_command(*numbers), log, **options)
        try:
            wait_until(f"{name} is ready", lambda: ready(*numbers), [part])
            return part, numbers
        except PartFailed:
            if not tries_left or PORT_TAKEN not in part.log_text()[start:]:
                raise
        except BaseException as error:
            part.end()
            if isinstance(error, TimeoutError):
                raise PartFailed(f"{error}\n{part.log_tail()}") from error
            raise


def attempt(command, timeout_s=60, stdin="", **options):
    """Run a command to its end, with a text on its stdin; CompletedProcess with stdout and stderr as text.

    Raises PartFailed when it takes too long.
    """
    words = [*DIE_WITH_PARENT, *map(os.fspath, command)]
    try:
        return subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=timeout_s,
                              check=False, **options)
    except subprocess.TimeoutExpired as error:
        raise PartFailed(f"{error}\n{error.stdout or ''}{error.stderr or ''}") from error


def run(command, timeout_s=60, **options):
    """As attempt(), and return stdout; raises PartFailed with command, status and stderr when it fails."""
    done = attempt(command, timeout_s, **options)
    if done.returncode:
        raise PartFailed(f"status {done.returncode}: {done.args}\n{done.stdout}{done.stderr}")
    return done.stdout
