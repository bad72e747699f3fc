# SPDX-License-Identifier: GPL-2.0-or-later
"""What a daemon at rest costs the API server: one GET of its own Node for each resync, and nothing else.

The API server's audit log is the witness.
"""

import time
import unittest

import cluster
from nodecase import EVENTS, GPUS, NodeCase

RESYNCS = 10


class Rest(NodeCase):
    """No NFD; the labels are there by our patch. One daemon for each mode, at the same time."""

    get_cluster = staticmethod(cluster.without_nfd)

    def begin(self, mode):
        """Start a daemon and wait until it is at rest; how many requests there were, and when that was."""
        # Who else writes the vendor's labels is asked once an hour, and not what is counted here.
        self.start_and_arrive(self.make_patcher(self.make_root(GPUS), mode, "outputs.nodeLabels.resync=1s",
                                                "sources.vendor.nvidia.labels=on"))
        # The run that brought the labels is over when the next one has looked.
        self.wait_for_looks(1)
        return len(self.requests()), time.monotonic()

    def check_rest(self, start, begin):
        """Since begin() nothing but looks at the Node, at most about one a second, and Events apart."""
        self.wait_until("there were enough resyncs", lambda: len(self.requests()) >= start + RESYNCS)
        seconds = time.monotonic() - begin
        rest = [each for each in self.requests()[start:] if each.path != EVENTS]
        self.assertEqual({(each.verb, each.path, each.code) for each in rest},
                         {("get", f"/api/v1/nodes/{self.node}", 200)})
        # A resync is 0.8 s at least; the log may be ahead of our clock by a request.
        self.assertLessEqual(len(rest), seconds / 0.8 + 2)
        self.assertEqual(len(self.requests("patch")), 1)
        for each in self.requests():
            self.assertRegex(each.agent, r"^nfd-source/\d")

    def test_rest_costs_one_get_for_each_resync(self):
        cases = {mode: self.on_new_node() for mode in ("always", "fallback")}
        started = {mode: case.begin(mode) for mode, case in cases.items()}
        for mode, case in cases.items():
            with self.subTest(mode=mode):
                case.check_rest(*started[mode])


if __name__ == "__main__":
    unittest.main()
