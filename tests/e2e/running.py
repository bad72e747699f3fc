# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the tests with a running nfd-worker beside nfd-source."""

from program import Program
from testcase import E2ETestCase

HOST = """
file etc/os-release ID=debian\\nVERSION_ID="12"
file proc/sys/kernel/osrelease 6.1.0-26-amd64
pci 0000:00:02.0 020000 8086:10d3 driver=e1000e
"""


class RunningCase(E2ETestCase):
    """A started worker; nfd-source on a fixture root or on this host."""

    def setUp(self):
        super().setUp()
        self.worker = self.make_worker()
        self.start_worker(self.worker)

    def make_program(self, root=None):
        """nfd-source that writes for our worker."""
        return Program(self.directory, self.worker.features_dir, self.node, root)

    def start(self, program):
        """Start the daemon and wait until exactly the labels of a scan are on the Node."""
        expected = program.scan()
        self.assertTrue(expected, "a scan found nothing")
        daemon = self.keep(program.start())
        self.wait_for_labels("the labels of the scan are on the Node", lambda labels: labels == expected)
        return daemon
