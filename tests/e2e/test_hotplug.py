# SPDX-License-Identifier: GPL-2.0-or-later
"""From a real uevent of this host's kernel to the label on the Node, through real nfd-worker and nfd-master.

Both poll once an hour, and so does nfd-source: only the event can have brought the label. What changes is a driver
version in a fixture root; the event is one of a real PCI device, which says nothing but "look again".
"""

import os
import pathlib
import sys
import threading
import time

from running import HOST, RunningCase
from testcase import FEATURE

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hotplug"))
import host_events  # noqa: E402 (found by the line above)

VERSION = FEATURE + "driver-nvidia.version.full"
EVENTS = 20


class Neighbour:
    """Another program that writes its own file into features.d, in the way that uses up the worker's window."""

    def __init__(self, folder):
        self.folder, self.ended = pathlib.Path(folder), threading.Event()
        self.thread = threading.Thread(target=self.write)

    def write(self):
        """A temporary file beside the target, then the rename: two events each time."""
        number = 0
        while not self.ended.wait(0.35):
            number += 1
            aside = self.folder / ".neighbour"
            aside.write_text(f"vendor.example/neighbour={number}\n")
            aside.chmod(0o644)
            aside.rename(self.folder / "neighbour")

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        (self.folder / "neighbour").unlink(missing_ok=True)


class Hotplug(RunningCase):
    """Twenty events in a row, none of which may be lost."""

    def set_version(self, root, version):
        """Load another driver, as far as files tell."""
        path = root / "sys/module/nvidia/version"
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name("version.new")
        aside.write_text(version + "\n")
        os.replace(aside, path)

    def fire_and_wait(self, root, version):
        """Change the version, let the kernel send an event, wait for the Node; return the seconds that it took."""
        self.set_version(root, version)
        begin = time.monotonic()
        host_events.fire(host_events.device())
        self.wait_for_labels(f"{version} is on the Node", lambda labels: labels.get(VERSION) == version)
        return time.monotonic() - begin

    def check_events(self, what):
        """All events arrive; print how long they took."""
        root = self.make_root(HOST)
        self.set_version(root, "580.1.1")
        program = self.make_program(root)
        program.settings.append("core.sleepInterval=1h")
        self.keep(program.start())
        self.wait_for_labels("the first version is on the Node", lambda labels: labels.get(VERSION) == "580.1.1")
        times = [self.fire_and_wait(root, f"580.{number + 2}.1") for number in range(EVENTS)]
        print(f"# uevent to Node, {what}, s:", " ".join(f"{each:.2f}" for each in times), flush=True)

    def test_events_arrive(self):
        self.check_events("alone")

    def test_events_arrive_beside_another_writer(self):
        with Neighbour(self.worker.features_dir):
            self.check_events("beside another writer")
