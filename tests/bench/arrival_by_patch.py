#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How soon a card is on the Node by our own patch, and what the daemon that patches costs at rest.

    tests/bench/arrival_by_patch.py [--tries N] [--rest-seconds S] [--json FILE]

arrival: from a card that is plugged into a umockdev bus, with its uevent, to the watch on the Node that shows its
label: `nfd-source run` with outputs.nodeLabels.mode=always, the certificate of the Node's kubelet, a real API server.
rest: the same daemon on a fixture root with the default resync, its memory, its CPU time, and processes that it keeps.
Exit: 0 done, 1 a figure is over its limit or a fault, 77 a prerequisite is missing.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
# lib's "program" is meant, which fake_bus wants, not that of e2e.
sys.path[:0] = [str(HERE.parent / name) for name in ("lib", "hotplug", "e2e")]

# pylint: disable=wrong-import-position
import cluster as clusters
import process
from bench import cpu_ms, memory_kb
from fake_bus import FakeBus, build
from mktree import make_tree
from program import BINARY, PREFIX, SMALL, clean_environment

ARRIVAL_LIMIT_S = 1.0
MEMORY_LIMIT_KB = 3072
CPU_LIMIT_MS = 0.5
PATIENCE_S = 60
SKIPPED = 77
SETTINGS = {"outputs.featureFile.mode": "off", "outputs.nodeFeature.mode": "off", "outputs.nodeLabels.mode": "always"}
# So that it scans for no reason but an event.
NO_INTERVAL = {"core.sleepInterval": "1h"}


class Watch:
    """A WATCH on one Node from now on."""

    def __init__(self, cluster, node):
        version = cluster.api.node(node)["metadata"]["resourceVersion"]
        self.connection = cluster.api.connect(PATIENCE_S)
        self.connection.request("GET", f"/api/v1/nodes?watch=1&fieldSelector=metadata.name={node}"
                                       f"&resourceVersion={version}")
        self.answer = self.connection.getresponse()

    def wait_for(self, key):
        """Read until a label is there; the time at which it was."""
        for line in self.answer:
            now = time.monotonic()
            if key in json.loads(line)["object"]["metadata"]["labels"]:
                return now
        raise process.PartFailed("the API server ended the watch")

    def close(self):
        """End it."""
        self.connection.close()


def children(pid):
    """Process ids of the children of all threads of a process."""
    return [child for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text(encoding="ascii").split()]


class Daemon:
    """nfd-source run on a root, as the kubelet of a new Node of the cluster; a context."""

    def __init__(self, cluster, directory, root, settings=None, environment=None):
        self.cluster, self.node = cluster, cluster.create_node()
        self.status = Path(directory) / f"{self.node}.json"
        kubeconfig = Path(directory) / f"{self.node}.kubeconfig"
        kubeconfig.touch(0o600)
        kubeconfig.write_text(cluster.pki.kubeconfig(cluster.pki.node(self.node), cluster.port), encoding="utf-8")
        settings = {**SETTINGS, **(settings or {}), "status.path": self.status, "api.kubeconfig": kubeconfig}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [BINARY, "--config", "/dev/null", "--root", root, "--node-name", self.node, *words, "run"],
            env=clean_environment(environment), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        # Labels of the first scan are there, and the helper that brought them has ended.
        process.wait_until("the first labels are on the Node", lambda: self.cluster.labels(self.node))
        self.wait_until_idle()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.communicate(timeout=10)
        finally:
            self.process.kill()

    def events(self):
        """Uevents that it has seen."""
        return json.loads(self.status.read_text(encoding="utf-8"))["watch"]["events"]

    def wait_until_idle(self):
        """Wait until no helper runs."""
        process.wait_until("no helper runs", lambda: not children(self.process.pid))


def measure_arrivals(cluster, directory, tries):
    """Seconds from each plugged card to its label on the Node, and what the API server was asked for."""
    bus = FakeBus(build(directory))
    with contextlib.closing(bus):
        bus.add_pci("0000:00:00.0", "060000", "8086", "09a2")
        (bus.root / "sys/bus/usb/devices").mkdir(parents=True)
        # A release that gives the first labels, which are waited for.
        (bus.root / "proc/sys/kernel").mkdir(parents=True)
        (bus.root / "proc/sys/kernel/osrelease").write_text("6.8.0\n", encoding="ascii")
        with Daemon(cluster, directory, bus.root, NO_INTERVAL, bus.environment()) as daemon:
            times = [plug(daemon, bus, number) for number in range(tries)]
            requests = [request.verb for request in cluster.requests(f"system:node:{daemon.node}")]
    return times, {verb: requests.count(verb) for verb in sorted(set(requests))}


def plug(daemon, bus, number):
    """Plug one card more; the seconds until its label is there. No helper runs before and after."""
    vendor = f"{0x1100 + number:04x}"
    watch = Watch(daemon.cluster, daemon.node)
    with contextlib.closing(watch):
        begin = time.monotonic()
        bus.add_pci(f"0000:{0x10 + number:02x}:00.0", "020000", vendor, "0001", driver="driver")
        seconds = watch.wait_for(f"{PREFIX}pci-{vendor}.present") - begin
    daemon.wait_until_idle()
    return seconds


def measure_rest(cluster, directory, seconds):
    """Memory, CPU time and children of the daemon at rest, with the resync of the default."""
    root = Path(directory) / "rest"
    make_tree(SMALL, root)
    with Daemon(cluster, directory, root) as daemon:
        pid = daemon.process.pid
        before, events = cpu_ms(pid), daemon.events()
        time.sleep(seconds)
        # Events of this host's kernel cost CPU time too: other programs may cause some.
        return {"seconds": seconds, "kB": memory_kb(pid), "children": len(children(pid)),
                "cpu_ms_per_minute": round((cpu_ms(pid) - before) * 60 / seconds, 3),
                "events": daemon.events() - events}


def measure(options, directory):
    """All figures."""
    cluster = clusters.shared()
    times, requests = measure_arrivals(cluster, Path(directory), options.tries)
    arrival = {"tries": len(times), "median_s": round(statistics.median(times), 3),
               "p90_s": round(statistics.quantiles(times, n=10, method="inclusive")[8], 3),
               "max_s": round(max(times), 3), "requests": requests}
    return {"arrival": arrival, "rest": measure_rest(cluster, directory, options.rest_seconds)}


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=20, help="cards (default 20, at most 64)")
    parser.add_argument("--rest-seconds", type=int, default=60, help="how long at rest (default 60)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="nfd-source-arrival-") as directory:
            figures = measure(options, directory)
    except unittest.SkipTest as reason:
        print(f"skip: {reason}", file=sys.stderr)
        return SKIPPED
    for name, row in figures.items():
        print(f"{name}: " + "  ".join(f"{key}={value}" for key, value in row.items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    rest = figures["rest"]
    return int(figures["arrival"]["max_s"] > ARRIVAL_LIMIT_S or rest["kB"] > MEMORY_LIMIT_KB
               or rest["cpu_ms_per_minute"] > CPU_LIMIT_MS or rest["children"] > 0)


if __name__ == "__main__":
    sys.exit(main())
