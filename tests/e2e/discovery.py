# SPDX-License-Identifier: GPL-2.0-or-later
"""One described host, and what gpu-feature-discovery and nfd-source make of it.

    host = Host(directory, TREE, devices="0000:3b:00.0 memory=81559 compute=9.0")
    done, theirs = host.discover("--mig-strategy=single")
    ours = host.scan("sources.vendor.nvidia.migStrategy=single")

gpu-feature-discovery is NVIDIA's own, built from its sources. It sees the fixture's /sys in place of this machine's, in
a mount namespace of its own: its readers of PCI devices and of DMI know no other root. Both load the stand-in of
libnvidia-ml.so.1.
"""

import functools
import os
import pathlib
import shutil
import struct
import tempfile

import cluster
import process
import program
from testcase import mktree

import nvml_standin  # found by the line above

LIBRARIES = "usr/lib/x86_64-linux-gnu"
VERSION = "580.126.09"
PREFIX = "nvidia.com/"
TIMESTAMP = f"{PREFIX}gfd.timestamp"
PROGRAMS = ("mount", "setpriv", "unshare")
# Words: the /sys to show, the loader's path, command...
SHOW_SYS = 'mount --bind "$1" /sys && export LD_LIBRARY_PATH="$2" && shift 2 && exec "$@"'


def missing():
    """What this host lacks: one line, or an empty string."""
    if nvml_standin.missing():
        return nvml_standin.missing()
    if os.geteuid() != 0:
        return "needs root (private mount namespaces)"
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"needs the program '{name}'"
    return ""


@functools.cache
def tools():
    """Folder of NVIDIA's programs, built if need be; raises as cluster.build_tools()."""
    return cluster.build_tools("nvidia")[0]


def gpu(address, model, ids="10de:27b8", pci_class="030200", number=0):
    """Lines of a description: one GPU, its PCI function and what the driver says of it."""
    return (f"pci {address} {pci_class} {ids} 10de:16ca driver=nvidia\n"
            f"file proc/driver/nvidia/gpus/{address}/information Model: \\t\\t {model}\\n"
            f"GPU UUID: \\t GPU-11111111-2222-3333-4444-{number:012x}\\nDevice Minor: \\t {number}\\n"
            "GPU Excluded:\\t No\n")


def machine(gpus="", version=VERSION, product="PowerEdge R760"):
    """Description of a host with a loaded driver. gpus: lines of gpu(); product: its name in DMI, "" for none."""
    lines = f'\nfile etc/os-release ID=ubuntu\\nVERSION_ID="24.04"\nnvidia {version} open loaded\n'
    if product:
        lines += f"file sys/class/dmi/id/product_name {product}\n"
    return lines + "dir sys/bus/pci/devices\n" + gpus


def pci_config(host_driver=None, vendor_id=0x10de):
    """The 256 bytes of a function's configuration space.

    host_driver: (version, branch) as a vGPU tells them in its vendor-specific capability; None: no vGPU.
    """
    config = bytearray(256)
    struct.pack_into("<H", config, 0, vendor_id)
    config[0x06] = 0x10  # it has a list of capabilities
    config[0x34] = 0x68
    config[0x68:0x6b] = bytes((0x05, 0xd0, 0x80))  # message signalled interrupts, then
    if host_driver:
        records = bytes((1, 4, 0, 0)) + bytes((0, 22)) + struct.pack("10s10s", *(text.encode() for text in host_driver))
        capability = bytes((0x09, 0, 5 + len(records))) + b"VF" + records
        config[0xd0:0xd0 + len(capability)] = capability
    return bytes(config)


class Host:
    """A fixture root with the stand-in library.

    directory: receives the root and what is no part of it. description: text for mktree. devices: lines of
    standin/devices. version: of the library, None for no library. configs: PCI address -> bytes of its configuration
    space, where that is not pci_config(). without: functions that the library lacks.
    """

    def __init__(self, directory, description, devices="", version=VERSION, configs=None, without=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="host-", dir=directory))
        self.root = self.directory / "root"
        mktree.make_tree(description, str(self.root))
        self._write_configs(configs or {})
        (self.root / LIBRARIES).mkdir(parents=True)
        if devices:
            (self.root / "standin").mkdir()
            (self.root / "standin/devices").write_text(devices)
        if version:
            nvml_standin.install(self.root / LIBRARIES, version, without=without)

    def _write_configs(self, configs):
        """Give each PCI function of NVIDIA's its configuration space; gpu-feature-discovery reads them all."""
        for path in (self.root / "sys/bus/pci/devices").iterdir():
            if (path / "vendor").read_text().strip() == "0x10de":
                (path / "config").write_bytes(configs.get(path.name, pci_config()))

    def variables(self, fault=None, addresses="keep"):
        """What the stand-in obeys. addresses: "keep", or "" for ones that no /sys has."""
        return nvml_standin.environment(self.root, fault) | {"NFD_STANDIN_DOMAIN": addresses}

    def discover(self, *arguments, fault=None, addresses="keep"):
        """Run gpu-feature-discovery once: CompletedProcess, labels that it wrote but the time stamp."""
        output = self.directory / "gfd"
        output.unlink(missing_ok=True)
        done = self._run_discovery("n", "--use-node-feature-api=false", f"--output-file={output}", *arguments,
                                   variables=self.variables(fault, addresses))
        lines = output.read_text().splitlines() if output.exists() else []
        labels = dict(line.split("=", 1) for line in lines)
        labels.pop(TIMESTAMP, None)
        return done, labels

    def discover_into(self, kubeconfig, node, namespace):
        """Run gpu-feature-discovery once, which writes its NodeFeature of a Node; returns the object's name."""
        done = self._run_discovery(node, "--use-node-feature-api=true", f"--kubeconfig={kubeconfig}",
                                   f"--namespace={namespace}", variables=self.variables())
        if done.returncode:
            raise process.PartFailed(done.stdout + done.stderr)
        return f"nvidia-features-for-{node}"

    def _run_discovery(self, node, *arguments, variables):
        """Run gpu-feature-discovery for a Node, with the fixture's /sys; CompletedProcess."""
        return process.attempt(
            ["unshare", "-m", "sh", "-ec", SHOW_SYS, "sh", self.root / "sys", self.root / LIBRARIES,
             tools() / "gpu-feature-discovery", "--oneshot", *arguments],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NODE_NAME": node} | variables)

    def scan(self, *settings, fault=None, addresses="keep"):
        """Run nfd-source's scan: the labels that gpu-feature-discovery could have written. settings: KEY=VALUE."""
        ours = program.Program(self.directory, self.directory, "n", self.root,
                               ["sources.vendor.nvidia.labels=on", *settings])
        ours.variables = self.variables(fault, addresses)
        return {key: value for key, value in ours.scan().items() if key.startswith(PREFIX)}

    def write_config(self, text):
        """gpu-feature-discovery's configuration file; returns its path."""
        path = self.directory / "config.yaml"
        path.write_text(text)
        return path
