# SPDX-License-Identifier: GPL-2.0-or-later
"""A host with a real containerd, a real kubelet and NVIDIA's real device plugin on a fixture root.

Each runs in a private mount namespace in which /etc, /run, /var/lib and /var/log are those of the root, so they find
and leave everything where they do on a host, the root shows it to nfd-source, and nothing of this machine's own is
seen or touched. Nobody schedules pods, so containerd starts no shim: each process here is a child of ours.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import unittest

import access
import cluster
import process
import worker

PROGRAMS = ("containerd", "runc")
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\n", "group": "root:x:0:\n", "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
# Folders that processes of the host see as theirs.
SHARED = ("etc", "run", "var/lib", "var/log")
# What the kubelet wants of the kernel. It gets files that say so, or it would set them for this machine.
TUNABLES = {
    "vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}
# containerd's, as nvidia-ctk leaves it; those snapshotters would load modules, and /opt is this machine's.
CONTAINERD_CONFIG = """version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
	"io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[plugins."io.containerd.internal.v1.opt"]
path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
default_runtime_name = "nvidia"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
"""
INSTALLED_S = 1767258000  # time of that file, before any process: 2026-01-01 09:00:00 UTC
SOCKET = "unix:///run/containerd/containerd.sock"

# Mounts SOURCE on TARGET for each pair of words before "--", then becomes the command after it.
ENTER = """
while [ "$1" != -- ]; do
	mount --bind "$1" "$2"
	shift 2
done
shift
exec "$@"
"""


@functools.cache
def missing():
    """What this machine lacks for a host: one line, or an empty string."""
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"needs the program '{name}'"
    return ""


@functools.cache
def nvidia_tools():
    """Folder of NVIDIA's programs. Raises as cluster.build_tools()."""
    return cluster.build_tools("nvidia")[0]


def kubelet_config(port, health_port):
    """The KubeletConfiguration: no cgroups, no firewall rules, no kernel settings of this machine."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": "127.0.0.1", "port": port, "healthzBindAddress": "127.0.0.1", "healthzPort": health_port,
        "authentication": {"x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
                           "anonymous": {"enabled": False}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "containerRuntimeEndpoint": SOCKET, "cgroupDriver": "cgroupfs", "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [], "failSwapOn": False, "failCgroupV1": False,
        "localStorageCapacityIsolation": False, "makeIPTablesUtilChains": False, "protectKernelDefaults": True,
        "nodeStatusUpdateFrequency": "2s", "resolvConf": "", "volumePluginDir": "/var/lib/kubelet/volume-plugins",
    }


class Host:
    """The processes of one node.

    cluster: its API server. node: name of its Node. root: fixture root, which becomes the host's. directory: for logs
    and what is no part of the root. libraries: folder of libnvidia-ml.so.1; variables: environment of who loads it.
    device_plugins: the kubelet's folder of sockets.
    """

    def __init__(self, of_cluster, node, root, directory, libraries, variables):
        if missing():
            raise unittest.SkipTest(missing())
        self.cluster, self.node, self.root = of_cluster, node, pathlib.Path(root)
        self.directory = pathlib.Path(directory)
        self.plugin_variables = {"LD_LIBRARY_PATH": str(libraries), "NODE_NAME": node, **variables}
        self.device_plugins = self.root / "var/lib/kubelet/device-plugins"
        self._fill()

    def _fill(self):
        """Put into the root what these processes read, and make the folders that they share."""
        for folder in (*SHARED, "etc/kubernetes/pki", "etc/containerd", "usr/bin"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name, text in ETC.items():
            (self.root / "etc" / name).write_text(text)
        access.write_kubelet_config(self.cluster, self.node, self.root)
        shutil.copyfile(self.cluster.pki.file("ca.crt"), self.root / "etc/kubernetes/pki/ca.crt")
        config = self.root / "etc/containerd/config.toml"
        config.write_text(CONTAINERD_CONFIG)
        os.utime(config, (INSTALLED_S, INSTALLED_S))
        runtime = self.root / "usr/bin/nvidia-container-runtime"
        runtime.touch()
        runtime.chmod(0o755)
        for name, value in TUNABLES.items():
            path = self.directory / "tunables" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value + "\n")

    def enter(self, *command):
        """The words that become a command on the host."""
        mounts = []
        for name in TUNABLES:
            if os.path.exists(f"/proc/sys/{name}"):
                mounts += [self.directory / "tunables" / name, f"/proc/sys/{name}"]
        for name in SHARED:
            mounts += [self.root / name, f"/{name}"]
        return ["unshare", "-m", "sh", "-ec", ENTER, "sh", *mounts, "--", *command]

    def environment(self, **variables):
        """Environment of a process of the host: nothing of ours but the path."""
        return {"PATH": os.environ["PATH"], **variables}

    def start_containerd(self):
        """Start containerd and wait until it serves. Returns the part, which the caller ends."""
        part = process.Part("containerd", self.enter("containerd"), self.directory / "containerd.log",
                            env=self.environment())
        try:
            process.wait_until("containerd serves", lambda: "successfully booted" in part.log_text(), [part])
        except BaseException:
            part.end()
            raise
        return part

    def start_kubelet(self):
        """Start the kubelet and wait until it is healthy. Returns the part, which the caller ends."""
        config = self.root / "var/lib/kubelet/config.json"

        def command(*ports):
            config.write_text(json.dumps(kubelet_config(*ports)))
            return self.enter(
                self.cluster.kubernetes / "kubelet", "--config=/var/lib/kubelet/config.json",
                "--kubeconfig=/etc/kubernetes/kubelet.conf", f"--hostname-override={self.node}",
                "--root-dir=/var/lib/kubelet", "--cert-dir=/var/lib/kubelet/pki")

        part, _ = process.start_part("kubelet", command, lambda _, health: worker.answers(health, "/healthz"),
                                     self.directory / "kubelet.log", ports=2, env=self.environment())
        return part

    def plugin_command(self):
        """The words of the device plugin."""
        return self.enter(nvidia_tools() / "nvidia-device-plugin", "--mig-strategy=none",
                          "--device-discovery-strategy=nvml", "--device-list-strategy=envvar")

    def start_plugin(self):
        """Start the device plugin. Returns the part, which the caller ends; who ends it by TERM gets 0."""
        return process.Part("nvidia-device-plugin", self.plugin_command(), self.directory / "plugin.log",
                            env=self.environment(**self.plugin_variables))

    def attempt_plugin(self):
        """Start a device plugin that does not come up: CompletedProcess, as process.attempt()."""
        return process.attempt(self.plugin_command(), env=self.environment(**self.plugin_variables))

    def gpus(self, field="allocatable"):
        """nvidia.com/gpu in the Node's status, or None where it has none."""
        value = self.cluster.api.node(self.node)["status"].get(field, {}).get("nvidia.com/gpu")
        return None if value is None else int(value)

    def registrations(self):
        """What the kubelet told of device plugins, for a failure: lines of its log."""
        lines = (self.directory / "kubelet.log").read_text(errors="replace").splitlines()
        return [line for line in lines if re.search("device plugin|nvidia.com", line, re.IGNORECASE)]
