#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure nfd-source and its peers on the same work, alternating, and print medians and ratios.

Rows: host (one scan of this host), discover (all of nfd-worker's sources on this host, in its place), bus (10,000 PCI
functions), doctor (a healthy machine with eight GPUs, without NVML, with it, and with one that hangs), vendor (NVIDIA's
labels of that machine, by NVML, beside gpu-feature-discovery), rest (daemons at rest), size (binaries), arrival (a change until the label is on the Node, by a real nfd-worker and nfd-master), patch (the same by our own
patch, and that daemon at rest), scale (a thousand nodes on one API server).
Called by run.sh, which builds what is measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))

# pylint: disable=wrong-import-position
import nvml_standin
from mktree import make_tree

BUS_FUNCTIONS = 10_000
# Limits of the design: what we reach divided by what the peer needs, or an absolute figure.
LIMITS = {
    ("host", "time"): 1 / 10, ("host", "memory"): 1 / 6, ("discover", "cpu"): 1 / 8, ("discover", "memory"): 1 / 6,
    ("bus", "time"): 1.5, ("bus", "memory"): 8192,
    ("vendor", "time"): 1 / 5, ("vendor", "memory"): 1 / 4,
    ("doctor", "ms"): 50, ("doctor", "hang"): 1.2, ("rest", "memory"): 3072, ("rest", "cpu"): 0.5, ("size", "bytes"): 300_000, ("arrival", "seconds"): 2.5,
    ("patch", "seconds"): 1.0, ("patch", "memory"): 3072, ("patch", "cpu"): 0.5, ("scale", "faults"): 0,
}


class Sample:
    """Wall time and CPU time in ms and peak memory in kB of runs of one command."""

    def __init__(self, options, name, command, environment=None, may_fail=False):
        self.name, self.command = name, [options.work / "measure", *command]
        self.environment = {**os.environ, **(environment or {})}
        self.wall, self.cpu, self.memory, self.may_fail = [], [], [], may_fail

    def run(self):
        """Run once, output dropped; a run that fails is an error, unless it is known to (no GPU here) or never started."""
        out = subprocess.run(self.command, env=self.environment, stdout=subprocess.PIPE, check=True).stdout
        microseconds, cpu_microseconds, memory, status = map(int, out.split())
        if status > 126 or (status and not self.may_fail):
            raise RuntimeError(f"{self.name}: ended with {status}")
        self.wall.append(microseconds / 1000)
        self.cpu.append(cpu_microseconds / 1000)
        self.memory.append(memory)

    def result(self):
        """Medians and the spread of the time."""
        return {"name": self.name, "ms": round(statistics.median(self.wall), 2), "min_ms": round(min(self.wall), 2),
                "max_ms": round(max(self.wall), 2), "cpu_ms": round(statistics.median(self.cpu), 2), "kB": int(statistics.median(self.memory)), "runs": len(self.wall)}


def alternate(samples, rounds):
    """Run the samples in turn, one round of them unmeasured to warm the caches."""
    for sample in samples:
        sample.run()
        for figures in (sample.wall, sample.cpu, sample.memory):
            figures.clear()
    for _ in range(rounds):
        for sample in samples:
            sample.run()
    return [sample.result() for sample in samples]


def verdict(row, kind, value):
    """Compare a figure with its limit."""
    limit = LIMITS[row, kind]
    return {"what": f"{row} {kind}", "value": round(value, 4), "limit": round(limit, 4), "holds": value <= limit}


def row_host(options):
    """One scan of this host, whole process, beside nfd and gpu-feature-discovery."""
    environment = {"NODE_NAME": "bench"}
    ours, nfd, gfd = alternate([
        Sample(options, "nfd-source scan", [options.work / "nfd-source", "scan"]),
        Sample(options, "nfd export labels", [options.nfd / "nfd", "export", "labels"], environment),
        Sample(options, "gpu-feature-discovery", [options.nvidia / "gpu-feature-discovery", "--oneshot", "--no-timestamp",
                                         "--use-node-feature-api=false", f"--output-file={options.work / 'gfd'}"],
               environment, may_fail=True),
    ], 30)
    return [ours, nfd, gfd], [verdict("host", "time", ours["ms"] / nfd["ms"]),
                              verdict("host", "memory", ours["kB"] / nfd["kB"])]


def write_kubeconfig(options):
    """A kubeconfig of a server that is not there: nfd-worker wants one also where it publishes nothing."""
    path = options.work / "kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
    return path


def row_discover(options):
    """One discovery of all feature and label sources of nfd-worker on this host, whole process, beside nfd-worker.

    The same work or more, in the same mode: both make all labels and raw features, and publish nothing (core.noPublish);
    ours also looks for what only we know (GPUs, vendors' hardware). CPU time, not wall time: that depends on what else
    runs. An empty program shows what of it is the start of a process: in a virtual machine the C
    library's start alone is a hundred trips to the hypervisor, for CPUID.
    """
    environment = {"NODE_NAME": "bench", "KUBERNETES_NAMESPACE": "default"}
    ours, worker, empty = alternate([
        Sample(options, "nfd-source publish, sources: all",
               [options.work / "nfd-source", "--config", "/dev/null", "--set", "sources.mode=all",
                "--set", "core.noPublish=true", "publish"], environment),
        Sample(options, "nfd-worker -oneshot -no-publish",
               [options.nfd / "nfd-worker", "-oneshot", "-no-publish", "-config=", "-owner-refs=",
                f"-kubeconfig={write_kubeconfig(options)}", "-feature-sources=all", "-label-sources=all"], environment),
        Sample(options, "true (an empty program)", ["true"]),
    ], 40)
    return [ours, worker, empty], [verdict("discover", "cpu", ours["cpu_ms"] / worker["cpu_ms"]),
                            verdict("discover", "memory", ours["kB"] / worker["kB"])]


def row_bus(options):
    """A scan of 10,000 PCI functions beside a bare loop of the reads, and nfd in a private mount namespace."""
    root = options.work / "bus"
    subprocess.run([sys.executable, HERE / "make_bus.py", root, str(BUS_FUNCTIONS)], check=True)
    script = 'mount --bind "$0/sys" /sys && exec "$1" export labels'
    ours, bare, nfd = alternate([
        Sample(options, "nfd-source scan", [options.work / "nfd-source", "--root", root, "scan"]),
        Sample(options, "bare loop of reads", [options.work / "bare_loop", root / "sys/bus/pci/devices"]),
        Sample(options, "nfd export labels", ["unshare", "-m", "sh", "-c", script, root, options.nfd / "nfd"],
               {"NODE_NAME": "bench"}),
    ], 15)
    return [ours, bare, nfd], [verdict("bus", "time", ours["ms"] / bare["ms"]), verdict("bus", "memory", ours["kB"])]


def make_hgx(options, name):
    """The fixture of a healthy machine with eight GPUs; NVML is the tests' stand-in. Root and folder of the library."""
    root = options.work / name
    make_tree((HERE.parent / "fixtures/machines/doctor/hgx.tree").read_text(), str(root))
    library = next(path for path in root.rglob("libnvidia-ml.so.*") if not path.is_symlink())
    nvml_standin.install(library.parent, library.name.removeprefix("libnvidia-ml.so."))
    return root, library.parent


def row_vendor(options):
    """One scan with NVML of eight GPUs, whole process with its helper, beside gpu-feature-discovery on the same library."""
    root, folder = make_hgx(options, "vendor")
    standin = nvml_standin.environment(root)
    ours, files, gfd = alternate([
        Sample(options, "nfd-source scan", [options.work / "nfd-source", "--config", "/dev/null", "--root", root, "scan"],
               standin),
        Sample(options, "nfd-source scan, without NVML",
               [options.work / "nfd-source", "--config", "/dev/null", "--root", root, "--set",
                "sources.vendor.nvidia.nvml=off", "-q", "scan"]),
        Sample(options, "gpu-feature-discovery",
               [options.nvidia / "gpu-feature-discovery", "--oneshot", "--no-timestamp", "--use-node-feature-api=false",
                f"--output-file={options.work / 'gfd'}"],
               {**standin, "LD_LIBRARY_PATH": str(folder), "NODE_NAME": "bench"}),
    ], 30)
    return [ours, files, gfd], [verdict("vendor", "time", ours["ms"] / gfd["ms"]),
                                verdict("vendor", "memory", ours["kB"] / gfd["kB"])]


def row_doctor(options):
    """doctor on that machine."""
    deadline_ms = 10_000
    root, _ = make_hgx(options, "hgx")
    command = [options.work / "nfd-source", "--config", "/dev/null", "--root", root, "-q", "doctor", "--no-api"]
    plain, nvml = alternate([
        Sample(options, "doctor without NVML", [*command, "--no-nvml"]),
        Sample(options, "doctor with NVML", command, nvml_standin.environment(root)),
    ], 30)
    hung = Sample(options, "doctor, NVML hangs", command, nvml_standin.environment(root, "hang"), may_fail=True)
    hung.run()
    return [plain, nvml, hung.result()], [verdict("doctor", "ms", plain["ms"]),
                                          verdict("doctor", "hang", hung.wall[0] / deadline_ms)]


def cpu_ms(pid):
    """CPU time of all threads of a process in milliseconds."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e6


def memory_kb(pid):
    """Resident memory of a process in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))


def start_daemons(options):
    """Our daemon and an nfd-worker that publishes nowhere; each writes or reads below the work folder."""
    features = options.work / "features.d"
    features.mkdir(exist_ok=True)
    config = write_kubeconfig(options)
    commands = {
        "nfd-source run": [options.work / "nfd-source", "--set", f"outputs.featureFile.dir={features}", "--set",
                           f"status.path={options.work / 'status.json'}", "--set", "outputs.nodeLabels.mode=off",
                           "--set", "outputs.nodeFeature.mode=off", "run"],
        "nfd-worker": [options.nfd / "nfd-worker", "-no-publish", f"-kubeconfig={config}", "-config=/nonexistent",
                       "-port=0"],
    }
    environment = {**os.environ, "NODE_NAME": "bench", "KUBERNETES_NAMESPACE": "default"}
    return {name: subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name, command in commands.items()}


def row_rest(options):
    """Daemons at rest: memory, and CPU time per minute with each one's default interval."""
    daemons = start_daemons(options)
    try:
        time.sleep(10)
        before = {name: cpu_ms(process.pid) for name, process in daemons.items()}
        time.sleep(options.rest_seconds)
        minutes = options.rest_seconds / 60
        figures = [{"name": name, "cpu_ms_per_minute": round((cpu_ms(process.pid) - before[name]) / minutes, 3),
                    "kB": memory_kb(process.pid), "seconds": options.rest_seconds}
                   for name, process in daemons.items()]
    finally:
        for process in daemons.values():
            process.terminate()
            process.wait()
    return figures, [verdict("rest", "memory", figures[0]["kB"]), verdict("rest", "cpu", figures[0]["cpu_ms_per_minute"])]


def row_size(options):
    """Size of our stripped binaries together beside the peers' (linked with -s -w)."""
    figures = [{"name": path.name, "bytes": path.stat().st_size}
               for path in (*(options.work / name for name in ("nfd-source", "nfd-source-api", "nfd-source-nvml")),
                            options.nfd / "nfd-worker", options.nvidia / "gpu-feature-discovery")]
    return figures, [verdict("size", "bytes", sum(figure["bytes"] for figure in figures[:3]))]


def row_arrival(options):
    """Changes in a row until each is on the Node, through real nfd-worker and nfd-master: what the e2e tests print."""
    del options
    out = subprocess.run([sys.executable, HERE.parent / "e2e/run.py", "six_changes", "soon_after"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    seconds = [float(value) for line in out.splitlines() if " to Node, s:" in line
               for value in line.split(":")[1].split()]
    figure = {"name": "change to label on the Node", "seconds": seconds,
              "median": round(statistics.median(seconds), 2), "worst": max(seconds)}
    return [figure], [verdict("arrival", "seconds", max(seconds))]


def run_script(options, name, *arguments):
    """Run another script of this folder; returns its figures and its exit status."""
    path = options.work / "figures.json"
    path.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, HERE / name, "--json", path, *arguments], stdout=sys.stderr, check=False)
    if not path.exists():
        raise RuntimeError(f"{name}: ended with {done.returncode}")
    return json.loads(path.read_text()), done.returncode


def row_patch(options):
    """Cards that are plugged until their labels are on the Node, patched by us; and that daemon at rest."""
    figures, _ = run_script(options, "arrival_by_patch.py", "--rest-seconds", str(options.rest_seconds))
    rest = figures["rest"]
    return [{"name": name, **row} for name, row in figures.items()], [
        verdict("patch", "seconds", figures["arrival"]["max_s"]), verdict("patch", "memory", rest["kB"]),
        verdict("patch", "cpu", rest["cpu_ms_per_minute"])]


def row_scale(options):
    """A thousand nodes that start, and that check their labels, on one API server."""
    figures, status = run_script(options, "scale.py")
    return [{"name": row.pop("phase"), **row} for row in figures], [verdict("scale", "faults", status)]


ROWS = {"host": row_host, "discover": row_discover, "bus": row_bus, "doctor": row_doctor,
        "vendor": row_vendor, "rest": row_rest, "size": row_size, "arrival": row_arrival,
        "patch": row_patch, "scale": row_scale}


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("work", "nfd", "nvidia"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--rest-seconds", type=int, default=300)
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("rows", nargs="*", default=[], metavar="ROW")
    options = parser.parse_args()
    report = {}
    for row in options.rows or ROWS:
        figures, verdicts = ROWS[row](options)
        report[row] = {"figures": figures, "verdicts": verdicts}
        print(f"== {row}")
        for figure in figures:
            print("  " + "  ".join(f"{key}={value}" for key, value in figure.items()))
        for line in verdicts:
            print(f"  {'holds' if line['holds'] else 'FAILS'}: {line['what']} {line['value']} (limit {line['limit']})")
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if all(line["holds"] for row in report.values() for line in row["verdicts"]) else 1


if __name__ == "__main__":
    sys.exit(main())
