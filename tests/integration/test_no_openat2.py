# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole program where openat2 is refused (old kernels and container runtimes): same labels, same recordings."""

import io
import tarfile

from refuse_calls import deny_openat2
from program import ProgramTest, invoke
from test_golden import machines

MERGED = """
file etc/os-release ID=debian
file proc/sys/kernel/osrelease 6.1.0-26-amd64
link lib usr/lib
nvidia 580.126.09 open loaded
pci 0000:3b:00.0 030200 10de:27b8 10de:16ca driver=nvidia
elf usr/lib/x86_64-linux-gnu/nvidia/libnvidia-ml.so.580.126.09 64
link usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 /etc/alternatives/libnvidia-ml.so.1
link etc/alternatives/libnvidia-ml.so.1 /lib/x86_64-linux-gnu/nvidia/libnvidia-ml.so.580.126.09
"""


class NoOpenat2(ProgramTest):
    """With a seccomp filter that answers openat2 with EPERM."""

    def out(self, root, *arguments, **options):
        """Output of the program on a root."""
        done = invoke(*self.options(root), *arguments, **options)
        self.assertEqual(done.code, 0, done.err)
        return done.out

    def test_same_labels(self):
        """Every machine scans to the same output with and without openat2."""
        for machine in machines():
            with self.subTest(machine):
                root = self.machine(machine)
                self.assertEqual(self.out(root, "scan", preexec_fn=deny_openat2), self.out(root, "scan"))

    def test_recording(self):
        """A recording made without openat2 replays to the same labels, links on the way included."""
        for root in (self.machine("intel-flex-sriov"), self.tree(MERGED)):
            data = self.out(root, "record", binary_output=True, preexec_fn=deny_openat2)
            target = self.name("unpacked")
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                tar.extractall(target, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
            labels = self.out(root, "scan")
            self.assertEqual(self.out(target, "scan"), labels)
            self.assertEqual(self.out(target, "scan", preexec_fn=deny_openat2), labels)
