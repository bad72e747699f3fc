# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source writes the labels of gpu-feature-discovery, as the real gpu-feature-discovery writes them.

Each case is a host; CASES has what gpu-feature-discovery makes of it, and where nfd-source differs on purpose. Keys are
without "nvidia.com/", and the time stamp is left out: it is no fact about a host.
"""

import pathlib
import shutil
import tempfile
import unittest
from typing import NamedTuple

import discovery
import program
from discovery import gpu, machine

CLUSTER = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
OTHER_CLUSTER = "ffffffff-0000-1111-2222-333333333333"
NO_CLUSTER = "00000000-0000-0000-0000-000000000000"
FIRST, SECOND = "0000:3b:00.0", "0000:5e:00.0"
NEW = "580.159.03"
MAX_Q = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"
VIRTUAL_MACHINE = "file proc/cpuinfo processor\\t: 0\\nflags\\t\\t: fpu hypervisor\n"
BARE_METAL = "file proc/cpuinfo processor\\t: 0\\nflags\\t\\t: fpu\n"

ONE_L4 = machine(gpu(FIRST, "NVIDIA L4"))
TWO_L4 = machine(gpu(FIRST, "NVIDIA L4") + gpu(SECOND, "NVIDIA L4", number=1))
EIGHT_H100 = machine("".join(gpu(f"0000:{0x1b + 8 * number:02x}:00.0", "NVIDIA H100 80GB HBM3", "10de:2330",
                                 number=number) for number in range(8)))
TWO_A100 = machine(gpu(FIRST, "NVIDIA A100-SXM4-40GB", "10de:20b0") +
                   gpu(SECOND, "NVIDIA A100-SXM4-40GB", "10de:20b0", number=1))
A100 = "* memory=40960 compute=8.0 mig="
# MIG devices by their names: NVML's profiles, MB, multiprocessors, engines.
G1 = " migdev=0:0:4864:14:1:0:0:0:0"
G2 = " migdev=1:1:9856:28:2:1:0:0:0"
G3 = " migdev=2:2:19968:42:3:2:0:1:1"
C1_G3 = " migdev=2:0:19968:14:3:2:0:1:1"
G1_ME = " migdev=7:0:4864:14:1:1:0:1:1"


def driver(major="580", minor="126", revision="09", cuda=("13", "0")):
    """Labels about versions; three parts are written under two names each."""
    full = f"{major}.{minor}.{revision}".removesuffix(".")
    labels = {"cuda.driver-version.full": full, "cuda.runtime-version.full": ".".join(cuda)}
    for new, old, value in (("major", "major", major), ("minor", "minor", minor), ("revision", "rev", revision)):
        labels |= {f"cuda.driver-version.{new}": value, f"cuda.driver.{old}": value}
    for name, value in zip(("major", "minor"), cuda):
        labels |= {f"cuda.runtime-version.{name}": value, f"cuda.runtime.{name}": value}
    return labels


def full_gpu(product, count, memory, compute, family):
    """Labels about whole GPUs on an ordinary host."""
    major, minor = compute.split(".")
    return driver() | {
        "gpu.product": product, "gpu.count": str(count), "gpu.memory": str(memory), "gpu.family": family,
        "gpu.compute.major": major, "gpu.compute.minor": minor, "gpu.replicas": "1", "gpu.sharing-strategy": "none",
        "gpu.machine": "PowerEdge-R760", "gpu.mode": "compute", "mig.capable": "false", "mps.capable": "false",
        "vgpu.present": "false"}


def mig(stem, product, count, memory, slices, multiprocessors, copy, decoder, ofa=0):
    """Labels about MIG devices of one profile. slices: of the GPU instance and of the compute instance."""
    labels = {"product": product, "count": count, "memory": memory, "replicas": 1, "sharing-strategy": "none",
              "multiprocessors": multiprocessors, "slices.gi": slices[0], "slices.ci": slices[1],
              "engines.copy": copy, "engines.decoder": decoder, "engines.encoder": 0, "engines.jpeg": ofa,
              "engines.ofa": ofa}
    return {f"{stem}.{key}": str(value) for key, value in labels.items()}


def mig_1g(stem, count, product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"):
    """Labels about devices of profile 1g.5gb (G1)."""
    return mig(stem, product, count, 4864, (1, 1), 14, 1, 0)


L4 = full_gpu("NVIDIA-L4", 1, 23028, "8.9", "ada-lovelace")
L4_TWICE = L4 | {"gpu.count": "2"}
H100 = full_gpu("NVIDIA-H100-80GB-HBM3", 8, 81559, "9.0", "hopper")
A100_TWICE = full_gpu("NVIDIA-A100-SXM4-40GB", 2, 40960, "8.0", "ampere") | {"mig.capable": "true"}
A100_PARTED = A100_TWICE | {"gpu.replicas": "0"}
SINGLE, MIXED = {"mig.strategy": "single"}, {"mig.strategy": "mixed"}
INVALID = A100_PARTED | SINGLE | {"gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID", "gpu.count": "0",
                                  "gpu.memory": "0", "gpu.sharing-strategy": ""}
NO_GPU = {"vgpu.present": "false"}


class AtLeast(dict):
    """Labels that must be there (None: must not), whatever others are."""


# What files tell, without NVML.
FILES = AtLeast({key: L4[key] for key in (
    "cuda.driver-version.full", "cuda.driver-version.major", "cuda.driver.rev", "gpu.machine", "gpu.mode",
    "vgpu.present")} | {"gpu.memory": None, "gpu.family": None, "cuda.runtime.major": None})


def sharing(kind, *resources, rename=False):
    """A configuration file. resources: (name, replicas)."""
    rows = "".join(f"\n    - name: nvidia.com/{name}\n      replicas: {replicas}" for name, replicas in resources)
    return f"version: v1\nsharing:\n  {kind}:\n    renameByDefault: {str(rename).lower()}\n    resources:{rows}\n"


class Case(NamedTuple):
    """One host.

    tree, devices, version, configs, without: as discovery.Host takes them. strategy: for MIG. config: text of the
    configuration file. fault, addresses: as Host.discover() takes them. arguments: further ones, for
    gpu-feature-discovery alone.
    theirs: gpu-feature-discovery's labels; a list of several when it takes one of them by chance.
    status, words: how it ends, and what it says (a regular expression).
    ours: what nfd-source has instead (key -> value, None for no such label), over the first of theirs; or AtLeast.
    """

    name: str
    tree: str
    theirs: object
    devices: str = ""
    ours: object = {}
    strategy: str = ""
    config: str = ""
    version: str | None = discovery.VERSION
    configs: dict = {}
    without: tuple = ()
    fault: str | None = None
    addresses: str = "keep"
    arguments: tuple = ()
    status: int = 0
    words: str = "."


PLAIN = [
    Case("one L4", ONE_L4, L4),
    Case("eight H100", EIGHT_H100, H100 | {"mig.capable": "true"}, "* memory=81559 compute=9.0 mig=0"),
    Case("DGX Display is none", machine(gpu(FIRST, "NVIDIA L4") + gpu(SECOND, "NVIDIA DGX Display", number=1)), L4),
    Case("only DGX Display", machine(gpu(FIRST, "DGX Display")), NO_GPU),
    Case("class of a display", machine(gpu(FIRST, "NVIDIA L4", pci_class="030000")), L4 | {"gpu.mode": "graphics"}),
    Case("both classes", machine(gpu(FIRST, "NVIDIA L4") + gpu(SECOND, "NVIDIA L4", pci_class="030000", number=1)),
         L4_TWICE | {"gpu.mode": "unknown"}),
    Case("no compute capability", ONE_L4,
         {key: value for key, value in L4.items() if "compute" not in key or key == "gpu.mode"} | {"gpu.family": None},
         "* compute=0.0"),
    Case("no memory", ONE_L4, L4 | {"gpu.memory": None}, "* memory=0"),
    Case("driver version of two parts", machine(gpu(FIRST, "NVIDIA L4"), "570.86"), L4 | driver("570", "86", ""),
         version="570.86"),
    Case("CUDA 12.8", ONE_L4 + "file standin/cuda 12080\n", L4 | driver(cuda=("12", "8"))),
    Case("no DMI", machine(gpu(FIRST, "NVIDIA L4"), product=""), L4 | {"gpu.machine": "unknown"}),
    Case("no MIG calls", ONE_L4, L4, "* mig=1", without=("nvmlDeviceGetMigMode",)),
    Case("no fabric call", ONE_L4, L4, f"* fabric={CLUSTER}/1/3/0", without=("nvmlDeviceGetGpuFabricInfo",)),
]

NAMES = [
    Case("cleaned", machine(gpu(FIRST, "NVIDIA  GeForce (TM) RTX 4090/24GB, X"),
                            product="  To be [filled]  by O.E.M. (x)"),
         L4 | {"gpu.product": "NVIDIA-GeForce-TM-RTX-409024GB-X", "gpu.machine": "To-be-filled-by-O.E.M.-x"}),
    Case("ends trimmed", machine(gpu(FIRST, "(-NVIDIA L4-)"), product="Board_"),
         L4 | {"gpu.product": "-NVIDIA-L4-", "gpu.machine": "Board_"},
         ours={"gpu.product": "NVIDIA-L4", "gpu.machine": "Board"}),
    Case("63 bytes", machine(gpu(FIRST, "N" * 63), product="M" * 63),
         L4 | {"gpu.product": "N" * 63, "gpu.machine": "M" * 63}),
    Case("cut at 63", machine(gpu(FIRST, "N" * 64), product="M" * 62 + " x"),
         L4 | {"gpu.product": "N" * 64, "gpu.machine": "M" * 62 + "-x"},
         ours={"gpu.product": "N" * 63, "gpu.machine": "M" * 62}),
    Case("nothing left", machine(gpu(FIRST, "[]"), product="()"), L4 | {"gpu.product": "", "gpu.machine": ""},
         ours={"gpu.product": None, "gpu.machine": None}),
    Case("suffix kept", machine(gpu(FIRST, MAX_Q)),
         full_gpu(f"{MAX_Q.replace(' ', '-')}-MIG-1g.24gb", 1, 24192, "12.0", "blackwell") | SINGLE |
         {"mig.capable": "true"} |
         mig("gpu", f"{MAX_Q.replace(' ', '-')}-MIG-1g.24gb", 1, 24192, (1, 1), 46, 1, 1, 1),
         "* memory=97887 compute=12.0 mig=1 migdev=0:0:24192:46:1:1:0:1:1", strategy="single",
         ours={"gpu.product": "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edi-MIG-1g.24gb"}),
]

MODELS = [
    # gpu-feature-discovery takes either by chance; ours is the one with more cards, then of the lower address.
    Case("two models", machine(gpu(FIRST, "NVIDIA T4") + gpu(SECOND, "NVIDIA L4", number=1) +
                               gpu("0000:86:00.0", "NVIDIA L4", number=2)),
         [L4_TWICE, full_gpu("NVIDIA-T4", 1, 15360, "7.5", "turing")], f"{FIRST} memory=15360 compute=7.5"),
    Case("two models, as many of each", machine(gpu(FIRST, "NVIDIA T4") + gpu(SECOND, "NVIDIA L4", number=1)),
         [full_gpu("NVIDIA-T4", 1, 15360, "7.5", "turing"), L4], f"{FIRST} memory=15360 compute=7.5"),
]

MIG = [
    Case("none, not on", TWO_A100, A100_TWICE, f"{A100}0"),
    Case("none, on", TWO_A100, A100_PARTED, f"{A100}1{G1}{G1}"),
    Case("none, waiting for a reset", TWO_A100, A100_TWICE, f"{A100}0/1"),
    Case("none, on one card", TWO_A100, A100_TWICE, f"{A100}0\n{FIRST} mig=1{G1}"),
    Case("none, on one card, shared", TWO_A100,
         A100_TWICE | {"gpu.replicas": "4", "gpu.sharing-strategy": "time-slicing",
                       "gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED"},
         f"{A100}0\n{FIRST} mig=1{G1}", config=sharing("timeSlicing", ("gpu", 4))),
    Case("none, on, shared", TWO_A100, A100_PARTED, f"{A100}1{G1}", config=sharing("timeSlicing", ("gpu", 4))),
    Case("single, not on", TWO_A100, A100_TWICE | SINGLE, f"{A100}0", strategy="single"),
    Case("single", TWO_A100, A100_TWICE | SINGLE | mig_1g("gpu", 14), f"{A100}1{G1 * 7}", strategy="single"),
    Case("single, over empty places", TWO_A100, A100_TWICE | SINGLE | mig_1g("gpu", 4),
         f"{A100}1 migdev=-{G1} migdev=- migdev=-{G1}", strategy="single"),
    Case("single, media extensions", TWO_A100,
         A100_TWICE | SINGLE | mig("gpu", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb.me", 2, 4864, (1, 1), 14, 1, 1, 1),
         f"{A100}1{G1_ME}", strategy="single"),
    Case("single, fewer compute slices", TWO_A100,
         A100_TWICE | SINGLE | mig("gpu", "NVIDIA-A100-SXM4-40GB-MIG-1c.3g.20gb", 4, 19968, (3, 1), 14, 3, 2, 1),
         f"{A100}1{C1_G3}{C1_G3}", strategy="single"),
    Case("single, shared", TWO_A100,
         A100_TWICE | SINGLE | mig_1g("gpu", 4, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED") |
         {"gpu.replicas": "2", "gpu.sharing-strategy": "time-slicing"},
         f"{A100}1{G1}{G1}", strategy="single", config=sharing("timeSlicing", ("gpu", 2))),
    Case("single, two profiles", TWO_A100, INVALID, f"{A100}1{G1}{G2}", strategy="single"),
    Case("single, a card without devices", TWO_A100, INVALID, f"{A100}1\n{FIRST}{G1}", strategy="single"),
    Case("single, no card with devices", TWO_A100, INVALID, f"{A100}1", strategy="single"),
    Case("single, on one card", TWO_A100, INVALID, f"{A100}0\n{SECOND} mig=1{G1}", strategy="single"),
    Case("mixed, not on", TWO_A100, A100_TWICE | MIXED, f"{A100}0", strategy="mixed"),
    Case("mixed, no devices", TWO_A100, A100_PARTED | MIXED, f"{A100}1", strategy="mixed"),
    Case("mixed", TWO_A100,
         A100_PARTED | MIXED | mig_1g("mig-1g.5gb", 3) |
         mig("mig-2g.10gb", "NVIDIA-A100-SXM4-40GB-MIG-2g.10gb", 1, 9856, (2, 2), 28, 2, 1) |
         mig("mig-3g.20gb", "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb", 1, 19968, (3, 3), 42, 3, 2, 1) |
         mig("mig-1c.3g.20gb", "NVIDIA-A100-SXM4-40GB-MIG-1c.3g.20gb", 1, 19968, (3, 1), 14, 3, 2, 1) |
         mig("mig-1g.5gb.me", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb.me", 1, 4864, (1, 1), 14, 1, 1, 1),
         f"{A100}1\n{FIRST}{G1}{G2}{G3}{G1_ME}\n{SECOND}{C1_G3}{G1}{G1}", strategy="mixed"),
    Case("mixed, on one card", TWO_A100, A100_TWICE | MIXED | mig_1g("mig-1g.5gb", 2),
         f"{A100}0\n{SECOND} mig=1{G1}{G1}", strategy="mixed"),
    Case("mixed, both shared", TWO_A100,
         A100_TWICE | MIXED | {"gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED", "gpu.replicas": "3",
                               "gpu.sharing-strategy": "time-slicing"} |
         mig_1g("mig-1g.5gb", 1, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED") |
         {"mig-1g.5gb.replicas": "2", "mig-1g.5gb.sharing-strategy": "time-slicing"},
         f"{A100}0\n{SECOND} mig=1{G1}", strategy="mixed",
         config=sharing("timeSlicing", ("gpu", 3), ("mig-1g.5gb", 2))),
    Case("mixed, another profile shared", TWO_A100, A100_PARTED | MIXED | mig_1g("mig-1g.5gb", 2),
         f"{A100}1{G1}", strategy="mixed", config=sharing("timeSlicing", ("mig-2g.10gb", 2))),
    Case("strategy in the file", TWO_A100, A100_TWICE | SINGLE | mig_1g("gpu", 2), f"{A100}1{G1}",
         config="version: v1\nflags:\n  migStrategy: single\n"),
    Case("strategy over the file", TWO_A100, A100_PARTED | MIXED | mig_1g("mig-1g.5gb", 2), f"{A100}1{G1}",
         strategy="mixed", config="version: v1\nflags:\n  migStrategy: single\n"),
]

SHARED = [
    Case("time-slicing", TWO_L4, L4_TWICE | {"gpu.replicas": "4", "gpu.sharing-strategy": "time-slicing",
                                             "gpu.product": "NVIDIA-L4-SHARED"},
         config=sharing("timeSlicing", ("gpu", 4))),
    Case("time-slicing, renamed", TWO_L4, L4_TWICE | {"gpu.replicas": "4", "gpu.sharing-strategy": "time-slicing"},
         config=sharing("timeSlicing", ("gpu", 4), rename=True)),
    Case("time-slicing, a name of its own", TWO_L4,
         L4_TWICE | {"gpu.replicas": "4", "gpu.sharing-strategy": "time-slicing", "gpu.product": "NVIDIA-L4-SHARED"},
         config=sharing("timeSlicing", ("gpu", 4)) + "      rename: nvidia.com/mine\n"),
    Case("time-slicing, of another resource", TWO_L4, L4_TWICE, config=sharing("timeSlicing", ("mig-1g.5gb", 4))),
    Case("MPS", TWO_L4, L4_TWICE | {"gpu.replicas": "3", "gpu.sharing-strategy": "mps", "mps.capable": "true",
                                    "gpu.product": "NVIDIA-L4-SHARED"},
         config=sharing("mps", ("gpu", 3))),
    Case("MPS, renamed", TWO_L4, L4_TWICE | {"gpu.replicas": "3", "gpu.sharing-strategy": "mps",
                                             "mps.capable": "true"},
         config=sharing("mps", ("gpu", 3), rename=True)),
    Case("MPS and MIG", TWO_A100, {}, f"{A100}1{G1}", config=sharing("mps", ("gpu", 3)), status=1,
         words="MPS sharing is not supported for mig devices",
         ours=AtLeast({"mps.capable": "false", "mig.capable": "true", "gpu.count": "2"})),
    Case("parts that are ignored", TWO_L4, L4_TWICE,
         config="version: v1\nflags:\n  plugin:\n    passDeviceSpecs: true\nresources:\n  gpus:\n"
                "  - pattern: '*L4*'\n    name: nvidia.com/l4\n"),
    Case("JSON", TWO_L4, L4_TWICE | {"gpu.replicas": "2", "gpu.sharing-strategy": "time-slicing",
                                     "gpu.product": "NVIDIA-L4-SHARED"},
         config='{"version": "v1", "sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", '
                '"replicas": 2}]}}}\n'),
]


def fabric(first, second):
    """Properties of two GPUs at a fabric."""
    return f"{FIRST} fabric={first}\n{SECOND} fabric={second}"


CLIQUE = {"gpu.clique": f"{CLUSTER}.7"}
FABRIC = [
    Case("all agree", TWO_L4, L4_TWICE | CLIQUE, fabric(f"{CLUSTER}/7/3/0", f"{CLUSTER}/7/3/0")),
    Case("clusters differ", TWO_L4, L4_TWICE, fabric(f"{CLUSTER}/7/3/0", f"{OTHER_CLUSTER}/7/3/0")),
    Case("cliques differ", TWO_L4, L4_TWICE, fabric(f"{CLUSTER}/7/3/0", f"{CLUSTER}/8/3/0")),
    Case("one is not attached", TWO_L4, L4_TWICE | CLIQUE, f"{SECOND} fabric={CLUSTER}/7/3/0"),
    Case("one is not ready", TWO_L4, L4_TWICE | CLIQUE, fabric(f"{OTHER_CLUSTER}/1/2/0", f"{CLUSTER}/7/3/0")),
    Case("one has failed", TWO_L4, L4_TWICE | CLIQUE, fabric(f"{OTHER_CLUSTER}/1/3/999", f"{CLUSTER}/7/3/0")),
    Case("no cluster", TWO_L4, L4_TWICE, fabric(f"{NO_CLUSTER}/7/3/0", f"{NO_CLUSTER}/7/3/0")),
    Case("the largest clique", TWO_L4, L4_TWICE | {"gpu.clique": f"{CLUSTER}.4294967295"},
         fabric(f"{CLUSTER}/4294967295/3/0", f"{CLUSTER}/4294967295/3/0")),
]

VGPU = [
    Case("a vGPU", ONE_L4 + VIRTUAL_MACHINE,
         L4 | {"vgpu.present": "true", "vgpu.host-driver-version": "460.16", "vgpu.host-driver-branch": "r460_00"},
         "* virtualization=2", configs={FIRST: discovery.pci_config(("460.16", "r460_00"))}),
    Case("passed through", ONE_L4 + VIRTUAL_MACHINE, L4, "* virtualization=1"),
    # There is no vGPU but in a virtual machine, so nothing needs to be read on another host.
    Case("configuration space for the unprivileged", ONE_L4 + BARE_METAL, L4 | {"vgpu.present": None},
         configs={FIRST: bytes(64)}, ours={"vgpu.present": "false"}),
    Case("the same where it is not known", ONE_L4, L4 | {"vgpu.present": None}, configs={FIRST: bytes(64)}),
    Case("a vGPU for the unprivileged", ONE_L4 + VIRTUAL_MACHINE, L4 | {"vgpu.present": None}, "* virtualization=2",
         configs={FIRST: discovery.pci_config(("460.16", "r460_00"))[:64]}, ours={"vgpu.present": "true"}),
]

GO_ON = ("--fail-on-init-error=false",)
BROKEN = [
    Case("no devices", machine(), NO_GPU),
    Case("no devices for NVML", ONE_L4, NO_GPU, fault="nodevices", ours=AtLeast({"vgpu.present": "false"})),
    Case("no library", ONE_L4, {}, version=None, status=1, words="unsupported strategy auto", ours=FILES),
    Case("no library, go on", ONE_L4, NO_GPU, version=None, arguments=GO_ON, ours=FILES),
    Case("mismatch", ONE_L4, {}, version=NEW, status=1, words="(?i)driver/library version mismatch", ours=FILES),
    Case("mismatch, go on", ONE_L4, NO_GPU, version=NEW, arguments=GO_ON, ours=FILES),
    Case("driver is lost", ONE_L4, {}, fault="lost", status=1, words="(?i)gpu is lost", ours=FILES),
    Case("a GPU is lost", TWO_L4, {}, fault="lost-device", status=1, words="(?i)gpu is lost", ours=AtLeast(
        {"cuda.driver-version.full": "580.126.09", "gpu.machine": "PowerEdge-R760", "gpu.memory": None})),
    Case("memory fails", ONE_L4, L4 | {"gpu.memory": None}, "* fail=nvmlDeviceGetMemoryInfo:999"),
    Case("compute capability fails", ONE_L4, {}, "* fail=nvmlDeviceGetCudaComputeCapability:999", status=1,
         words="failed to determine CUDA compute capability",
         ours=AtLeast({"gpu.product": "NVIDIA-L4", "gpu.memory": "23028", "gpu.family": None,
                       "gpu.compute.major": None})),
    Case("MIG mode fails", ONE_L4, {}, "* fail=nvmlDeviceGetMigMode:999", status=1, words="error getting MIG mode",
         ours=AtLeast({"cuda.driver-version.full": "580.126.09", "mig.capable": None})),
    Case("a call is missing", ONE_L4, {}, without=("nvmlDeviceGetMemoryInfo",), status=127,
         words="symbol lookup error", ours=L4 | {"gpu.memory": None}),
    Case("driver version of four parts", machine(gpu(FIRST, "NVIDIA L4"), "580.1.2.3"), {}, version="580.1.2.3",
         status=1, words="does not match format", ours=AtLeast({"gpu.machine": "PowerEdge-R760"})),
    Case("an address that sysfs does not have", ONE_L4, L4 | {"gpu.mode": "unknown"}, addresses="",
         ours=AtLeast({"gpu.product": "NVIDIA-L4"})),
    Case("an address of no GPU", ONE_L4 + "pci fade:3b:00.0 068000 10de:22a3\n", {}, addresses="", status=2,
         words="panic", ours=AtLeast({"gpu.product": "NVIDIA-L4"})),
]

FAMILIES = {"1.3": "tesla", "2.0": "fermi", "3.7": "kepler", "4.0": "undefined", "5.2": "maxwell", "6.1": "pascal",
            "7.0": "volta", "7.4": "volta", "7.5": "turing", "8.0": "ampere", "8.6": "ampere", "8.8": "ampere",
            "8.9": "ada-lovelace", "9.0": "hopper", "10.3": "blackwell", "11.0": "undefined", "12.1": "blackwell",
            "13.0": "undefined"}
FAMILY = [Case(compute, ONE_L4, full_gpu("NVIDIA-L4", 1, 23028, compute, family), f"* compute={compute}")
          for compute, family in FAMILIES.items()]

CASES = {"plain": PLAIN, "names": NAMES, "models": MODELS, "mig": MIG, "shared": SHARED, "fabric": FABRIC,
         "vgpu": VGPU, "broken": BROKEN, "family": FAMILY}


def present(labels):
    """Labels without those that are None."""
    return {key: value for key, value in labels.items() if value is not None}


def bare(labels):
    """Keys without "nvidia.com/"."""
    return {key.removeprefix(discovery.PREFIX): value for key, value in labels.items()}


class DiscoveryCase(unittest.TestCase):
    """Base: cases on hosts in a directory of their own."""

    maxDiff = None

    def setUp(self):
        if discovery.missing():
            self.skipTest(discovery.missing())
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-e2e-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def make_host(self, case):
        """The host of a case."""
        return discovery.Host(self.directory, case.tree, case.devices, case.version, case.configs, case.without)

    def check_all(self, group):
        """All cases of a group."""
        for case in CASES[group]:
            with self.subTest(group, case=case.name):
                self.check(case)

    def check(self, case):
        """One case; a subclass says of what."""
        raise NotImplementedError


def add_tests(kind):
    """Give a class one test for each group of cases."""
    for group in CASES:
        setattr(kind, f"test_{group}", lambda self, group=group: self.check_all(group))
    return kind


@add_tests
class Upstream(DiscoveryCase):
    """What the cases say of gpu-feature-discovery is so."""

    def setUp(self):
        super().setUp()
        discovery.tools()

    def check(self, case):
        host = self.make_host(case)
        arguments = list(case.arguments)
        if case.strategy:
            arguments.append(f"--mig-strategy={case.strategy}")
        if case.config:
            arguments.append(f"--config-file={host.write_config(case.config)}")
        done, labels = host.discover(*arguments, fault=case.fault, addresses=case.addresses)
        self.assertEqual(done.returncode, case.status, done.stderr)
        self.assertRegex(done.stderr, case.words)
        allowed = [present(each) for each in (case.theirs if isinstance(case.theirs, list) else [case.theirs])]
        if bare(labels) not in allowed:
            self.assertEqual(bare(labels), allowed[0])


@add_tests
class Ours(DiscoveryCase):
    """nfd-source writes the same, but for what it does on purpose."""

    def setUp(self):
        super().setUp()
        if program.missing():
            self.skipTest(program.missing())

    def check(self, case):
        host = self.make_host(case)
        settings = [f"sources.vendor.nvidia.migStrategy={case.strategy}"] if case.strategy else []
        if case.config:
            settings.append(f"sources.vendor.nvidia.config={host.write_config(case.config)}")
        labels = bare(host.scan(*settings, fault=case.fault, addresses=case.addresses))
        if isinstance(case.ours, AtLeast):
            self.assertEqual({key: labels.get(key) for key in case.ours}, dict(case.ours), labels)
        else:
            theirs = case.theirs[0] if isinstance(case.theirs, list) else case.theirs
            self.assertEqual(labels, present(theirs | case.ours))


if __name__ == "__main__":
    unittest.main()
