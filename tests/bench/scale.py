#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a thousand nodes cost the API server: a real one, with as many Nodes and as many processes of ours.

    tests/bench/scale.py [--nodes N] [--at-once N] [--spread S] [--json FILE]

Three phases, each of one process for each node: start-up (`nfd-source publish`, as in the standalone overlay, which
also looks once whether a vendor's own program labels the node), resync (one run of `nfd-source-api` that finds nothing
to do, as the daemon makes it), both begun at random times within the spread, and a rush: resync again, as many at once
as allowed.
All is on the loopback of this machine, so API server, etcd, programs and this script share its processors.

Prints a Markdown table. The requests and their durations are the API server's own: its audit log of our user.
Exit: 0 done, 1 a run failed, or requests were more or others than they should be, 77 a prerequisite is missing.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "e2e"), str(HERE.parent / "lib")]

# pylint: disable=wrong-import-position
import cluster as clusters
import process
from mktree import make_tree
from program import API_BINARY, BINARY

OVERLAY = TOP / "deploy/kustomize/overlays/standalone"
NAMESPACE = "nfd-source"
GROUP = "/apis/nfd.k8s-sigs.io"
TIMEOUT_S = 60
# How long the API server is looked at while nobody asks it for anything; its CPU time is not counted as ours.
IDLE_S = 10
SKIPPED = 77

# A node with eight GPUs and as many network cards.
MACHINE = TOP / "tests/fixtures/machines/server-h100-8.tree"


class Run:
    """One process: when it ran, and how it ended."""

    def __init__(self, command, environment, text=""):
        begin = time.monotonic()
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                              env=environment)
        self.seconds = time.monotonic() - begin
        self.fault = done.stderr.strip() or done.stdout.strip() if done.returncode else ""
        self.output = done.stdout


class Requests:
    """The requests of our user since some place in the audit log: counts by (verb, kind of path), and durations."""

    def __init__(self, log, begin, user):
        self.counts, self.seconds = collections.Counter(), []
        with open(log, "rb") as file:
            file.seek(begin)
            for line in file:
                event = json.loads(line) if line.endswith(b"\n") else None
                if event and event["user"]["username"] == user:
                    self.add(event)

    def add(self, event):
        """Count one."""
        path, _, query = event["requestURI"].partition("?")
        kind = "node" if path.startswith("/api/v1/nodes/") else "group" if path == GROUP else path
        # The look for a vendor's own program; without a selector it would be a list of everybody's.
        if path.startswith(GROUP) and path.endswith("/nodefeatures") and "labelSelector=" in query:
            kind = "own nodefeatures"
        self.counts[event["verb"], kind] += 1
        moments = [datetime.datetime.fromisoformat(event[name].replace("Z", "+00:00"))
                   for name in ("requestReceivedTimestamp", "stageTimestamp")]
        self.seconds.append((moments[1] - moments[0]).total_seconds())

    def text(self):
        """The counts in words."""
        return ", ".join(f"{count} {verb.upper()} {kind}" for (verb, kind), count in sorted(self.counts.items()))


class Phase:
    """The runs of one phase, the requests they made, and the time that the API server worked."""

    def __init__(self, name, runs, wall, server_seconds, requests, expected):
        self.name, self.runs, self.wall, self.server_seconds = name, runs, wall, server_seconds
        self.requests, self.expected = requests, expected

    def faults(self):
        """What is not as it should be: list of texts."""
        found = [run.fault for run in self.runs if run.fault]
        found = [f"{len(found)} of {len(self.runs)} runs failed, the first: {found[0]}"] if found else []
        if dict(self.requests.counts) != self.expected:
            found.append(f"requests: {self.requests.text()}")
        return [f"{self.name}: {text}" for text in found]

    def figures(self):
        """The row of the table."""
        return {
            "phase": self.name, "runs": len(self.runs), "wall_s": round(self.wall, 1), "requests": self.requests.text(),
            "request_ms": quantiles(self.requests.seconds), "process_ms": quantiles([run.seconds for run in self.runs]),
            "server_cpu_ms_per_node": round(self.server_seconds * 1000 / len(self.runs), 1),
        }


def quantiles(seconds):
    """p50, p99 and the most, in milliseconds."""
    if len(seconds) < 2:
        return [0, 0, 0]
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return [round(value * 1000, 1) for value in (cuts[49], cuts[98], max(seconds))]


def cpu_seconds(pid):
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Fleet:
    """A cluster without NFD, its Nodes, and what a process of ours needs to run for one of them."""

    def __init__(self, options, directory):
        self.options, self.directory = options, Path(directory)
        self.cluster = clusters.without_nfd()
        self.user = f"system:serviceaccount:{NAMESPACE}:nfd-source"
        self.nodes = [f"scale-{number}" for number in range(options.nodes)]
        self.root = self.directory / "root"
        make_tree(MACHINE.read_text(encoding="utf-8"), self.root)
        self.kubeconfig = self.directory / "kubeconfig"
        self.idle_cpu = 0

    def prepare(self):
        """Apply the overlay, make the kubeconfig of its service account, and all Nodes; look at the idle API server."""
        admin = self.directory / "admin"
        for path in (admin, self.kubeconfig):
            path.touch(0o600)
        admin.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port), encoding="utf-8")
        process.run([self.cluster.kubernetes / "kubectl", "--kubeconfig", admin, "apply", "-k", OVERLAY],
                    env={"HOME": str(self.directory)})
        answer = self.cluster.api.request(
            "POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/nfd-source/token", {"spec": {}})
        self.kubeconfig.write_text(
            self.cluster.pki.kubeconfig_of(self.cluster.port, {"token": answer["status"]["token"]}), encoding="utf-8")
        self.in_parallel(self.nodes, self.cluster.create_node)
        server, begin = self.cluster.apiserver.pid, time.monotonic()
        before = cpu_seconds(server)
        time.sleep(IDLE_S)
        self.idle_cpu = (cpu_seconds(server) - before) / (time.monotonic() - begin)

    def in_parallel(self, items, work):
        """work(item) for all, as many at once as allowed; the results in order."""
        with concurrent.futures.ThreadPoolExecutor(self.options.at_once) as pool:
            return list(pool.map(work, items))

    def command(self, *words):
        """The words of the program, with the settings of the standalone overlay."""
        return [BINARY, "--config", OVERLAY / "nfd-source.yaml", "--root", self.root, "--kubeconfig", self.kubeconfig,
                "--set", f"status.path={self.directory / 'status.json'}", *words]

    def measure(self, name, work, each):
        """One phase: work(node) -> Run for each node, in random order.

        each: the requests of a node, (verb, kind) -> how many.
        """
        order = random.sample(self.nodes, len(self.nodes))
        log, server = self.cluster.audit_log, self.cluster.apiserver.pid
        begin_log, begin_cpu, begin = log.stat().st_size, cpu_seconds(server), time.monotonic()
        runs = self.in_parallel(order, work)
        wall = time.monotonic() - begin
        cpu = cpu_seconds(server) - begin_cpu - self.idle_cpu * wall
        expected = {request: len(order) * count for request, count in each.items()}

        def logged():
            requests = Requests(log, begin_log, self.user)
            return requests if len(requests.seconds) >= sum(expected.values()) else None

        # A client may have its answer before the log has the line.
        with contextlib.suppress(TimeoutError):
            process.wait_until("the audit log is complete", logged, deadline_s=10)
        return Phase(name, runs, wall, cpu, Requests(log, begin_log, self.user), expected)

    def spread(self, work):
        """work at random times within the spread, for measure()."""
        begin = time.monotonic()
        moments = iter(sorted(random.uniform(0, self.options.spread) for _ in self.nodes))

        def later(node):
            # Not to wait for anything: this is when the node does it. What is late then begins at once.
            time.sleep(max(0, begin + next(moments) - time.monotonic()))
            return work(node)

        return later

    def start_up(self):
        """Every node's first publication."""
        work = self.spread(lambda node: Run(self.command("publish"), {"NODE_NAME": node, "PATH": os.environ["PATH"]}))
        look = {("get", "node"): 1, ("list", "own nodefeatures"): 1}
        labels = {("get", "group"): 1, ("get", "node"): 1, ("patch", "node"): 1}
        return self.measure("start-up", work, collections.Counter(look) + collections.Counter(labels))

    def resync(self, name, labels, rush=False):
        """Every node's check that finds nothing to do, as the daemon's helper makes it."""
        credentials = {"kubeconfig": str(self.kubeconfig)}

        def work(node):
            run = Run([API_BINARY], {"PATH": os.environ["PATH"]}, json.dumps({
                "schema": 1, "action": "node-labels", "node": node, "credentials": credentials, "labels": labels,
                "bring": "now", "nfdServed": False}))
            # It ends with 0 also when it tells of an error.
            run.fault = run.fault or json.dumps(json.loads(run.output).get("error", ""))[1:-1]
            return run

        return self.measure(name, work if rush else self.spread(work), {("get", "node"): 1})

    def lacking(self, labels):
        """Nodes that lack one of the labels."""
        items = self.cluster.api.request("GET", "/api/v1/nodes")["items"]
        return [item["metadata"]["name"] for item in items if item["metadata"]["name"] in set(self.nodes)
                and not labels.items() <= item["metadata"]["labels"].items()]


def table(phases):
    """The figures in Markdown."""
    yield "| phase | processes | wall time | requests, as the API server counted them | request p50 / p99 / most |" \
          " process p50 / p99 / most | API server's CPU, each node |"
    yield "|---|---|---|---|---|---|---|"
    for row in (phase.figures() for phase in phases):
        request, whole = (" / ".join(f"{value:g}" for value in row[key]) + " ms"
                          for key in ("request_ms", "process_ms"))
        yield f"| {row['phase']} | {row['runs']} | {row['wall_s']} s | {row['requests']} | {request} | {whole} |" \
              f" {row['server_cpu_ms_per_node']} ms |"


def measure(options, directory):
    """All phases, and what is wrong with them."""
    fleet = Fleet(options, directory)
    fleet.prepare()
    lines = process.run(fleet.command("scan"), env={"NODE_NAME": "scan"}).splitlines()
    labels = dict(line.split("=", 1) for line in lines)
    first = fleet.start_up()
    faults = first.faults()
    if lacking := fleet.lacking(labels):
        faults.append(f"{len(lacking)} Nodes lack labels after start-up, one of them: {lacking[0]}")
    others = [fleet.resync("resync", labels), fleet.resync(f"rush, {options.at_once} at a time", labels, rush=True)]
    return [first, *others], faults + [text for phase in others for text in phase.faults()]


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--at-once", type=int, default=20, help="most processes at one time (default 20)")
    parser.add_argument("--spread", type=float, default=60, help="seconds in which each has its turn (default 60)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="nfd-source-scale-") as directory:
            phases, faults = measure(options, directory)
    except unittest.SkipTest as reason:
        print(f"skip: {reason}", file=sys.stderr)
        return SKIPPED
    print("\n".join(table(phases)))
    for text in faults:
        print(f"FAILS: {text}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps([phase.figures() for phase in phases], indent=2) + "\n", encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
