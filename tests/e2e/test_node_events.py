# SPDX-License-Identifier: GPL-2.0-or-later
"""Events that nfd-source writes on the Node about the chain, beside those of the story."""

import unittest

from gpuhost import NEW, OLD, GpuHost
from nodecase import NodeCase, plug

FINDING = "GPU-DEV-NODES"
NOT_WRITTEN = "an event could not be written"


class NodeEvents(NodeCase):
    """nfd-source on a host with GPUs; it patches all labels itself."""

    def setUp(self):
        super().setUp()
        self.gpus = GpuHost(self.directory / "root", self.directory)
        self.program = self.make_patcher(self.gpus.root, "always")

    def look_again(self, daemon, vendor):
        """A change of the labels, after which the daemon goes through the chain."""
        plug(self.gpus.root, vendor, f"0000:{vendor[:2]}:00.0")
        self.change(daemon, self.program)

    def test_chain_that_breaks_and_is_mended(self):
        daemon = self.start_and_arrive(self.program)
        node = self.gpus.root / "dev/nvidia-uvm"
        aside = node.rename(node.with_name("aside"))
        self.look_again(daemon, "1002")
        self.wait_for_event("GPUStackCritical", "Warning", FINDING, "/dev/nvidia-uvm")
        aside.rename(node)
        self.look_again(daemon, "1da3")
        self.wait_for_event("GPUStackRecovered", "Normal", FINDING)
        self.assertEqual(set(self.node_events()), {"GPUStackCritical", "GPUStackRecovered"})

    def test_mismatch_that_is_there_at_the_start_is_told(self):
        self.gpus.upgrade()
        self.start_and_arrive(self.program)
        self.wait_for_event("GPUDriverMismatch", "Warning", OLD, NEW)

    def test_right_that_is_missing_is_told_and_labels_come_all_the_same(self):
        self.gpus.upgrade()
        self.program = self.make_program(self.gpus.root, "outputs.nodeLabels.mode=always")
        self.make_account().enter(self.program)
        daemon = self.start_and_arrive(self.program)
        self.wait_for_log(daemon, NOT_WRITTEN, "GPUDriverMismatch", "403")
        self.assertEqual(self.node_events(), {})
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(daemon.log_text().count(NOT_WRITTEN), 1)


if __name__ == "__main__":
    unittest.main()
