# SPDX-License-Identifier: GPL-2.0-or-later
"""A real control plane for the tests: etcd, kube-apiserver, NFD's CRDs, nfd-master; and nfd-workers.

shared() gives the one cluster of this run. All its state lies in one temporary directory, all its
processes are its children; both go away when the run ends.
"""

import atexit
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import traceback
import unittest

import worker
from api import Api, ApiError
from pki import Pki
from process import DIE_WITH_PARENT, PartFailed, start_part, wait_until

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACE = "node-feature-discovery"
PROGRAMS = ("etcd", "mount", "openssl", "setpriv", "unshare")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NO_TOOLS = 77


@functools.cache
def missing():
    """What this host lacks for the tests of this folder: one line, or an empty string."""
    if os.geteuid() != 0:
        return "needs root (private mount namespaces)"
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"needs the program '{name}'"
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True, check=False)
    return "" if probe.returncode == 0 else "no mount namespaces: " + probe.stderr.strip()


def build_tools():
    """Build what is not in the cache yet; return the folders of the sets kubernetes and nfd.

    Raises unittest.SkipTest where there is no Go to build with, PartFailed when the build fails.
    """
    command = [*DIE_WITH_PARENT, HERE / "build-tools.sh", "kubernetes", "nfd"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == NO_TOOLS:
        raise unittest.SkipTest(done.stderr.strip())
    if done.returncode:
        raise PartFailed(done.stderr)
    return [pathlib.Path(line) for line in done.stdout.splitlines()]


@functools.cache
def _start_shared():
    """The cluster of this run, or the exception that its start ended with (printed, if a fault)."""
    try:
        if missing():
            raise unittest.SkipTest(missing())
        cluster = Cluster(*build_tools())
        atexit.register(cluster.close)
        cluster.start()
        return cluster
    except unittest.SkipTest as reason:
        return reason
    except Exception as error:
        traceback.print_exc()
        return error


def shared():
    """The cluster of this run, started by the first call.

    Raises unittest.SkipTest when a prerequisite is missing; a failed start fails every caller.
    """
    result = _start_shared()
    if isinstance(result, unittest.SkipTest):
        raise unittest.SkipTest(str(result))
    if isinstance(result, Exception):
        raise PartFailed(f"the cluster did not start, see the first failure: {type(result).__name__}")
    return result


class Cluster:
    """etcd, kube-apiserver and nfd-master in processes of their own.

    kubernetes, nfd: folders of the built programs. directory: all state, temporary.
    parts: the running processes, in the order of their start. api: client with all rights.
    """

    def __init__(self, kubernetes, nfd):
        self.kubernetes = kubernetes
        self.nfd = nfd
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-e2e-"))
        self.parts = []
        self.nodes = 0

    def start(self):
        """Start everything and wait until it serves. On failure close() still cleans up."""
        os.umask(0o022)  # nfd-worker, which is another user, reads what tests make
        self.pki = Pki(self.directory / "pki")
        self._start_etcd()
        self._start_apiserver()
        self.api.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self._apply_crds()
        self._start_master()

    def close(self):
        """End all parts in reverse order and remove the directory. May be called at any time."""
        for part in reversed(self.parts):
            part.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def add_part(self, name, make_command, ready, ports=1, **options):
        """As start_part(), with the log in our directory; the part is ended by close()."""
        part, numbers = start_part(name, make_command, ready, self.directory / f"{name}.log", ports, **options)
        self.parts.append(part)
        return part, numbers

    def _start_etcd(self):
        """Start etcd with one member; sets etcd_url."""
        def command(client, peer):
            return [
                "etcd", "--name=default", f"--data-dir={self.directory / f'etcd-{client}'}",
                f"--listen-client-urls=http://127.0.0.1:{client}",
                f"--advertise-client-urls=http://127.0.0.1:{client}",
                f"--listen-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-cluster=default=http://127.0.0.1:{peer}",
            ]

        _, ports = self.add_part("etcd", command, lambda client, _: worker.answers(client, "/health"), ports=2)
        self.etcd_url = f"http://127.0.0.1:{ports[0]}"

    def _start_apiserver(self):
        """Start kube-apiserver; sets api."""
        pki = self.pki

        def command(port):
            return [
                self.kubernetes / "kube-apiserver", f"--etcd-servers={self.etcd_url}",
                f"--secure-port={port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none", f"--cert-dir={self.directory / 'apiserver'}",
                f"--tls-cert-file={pki.file('server.crt')}",
                f"--tls-private-key-file={pki.file('server.key')}",
                f"--client-ca-file={pki.file('ca.crt')}",
                "--service-account-issuer=https://localhost",
                f"--service-account-key-file={pki.file('tokens.key')}",
                f"--service-account-signing-key-file={pki.file('tokens.key')}",
                "--service-cluster-ip-range=10.0.0.0/24",
                # Its list cost estimate logs a time-out every second with the etcd of Debian.
                "--feature-gates=SizeBasedListCostEstimate=false",
                "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
            ]

        _, (port,) = self.add_part("kube-apiserver", command, lambda port: Api(port, pki).is_ready())
        self.port = port
        self.api = Api(port, pki)

    def _apply_crds(self):
        """Create NFD's resource definitions, one for each YAML document, and wait until they serve."""
        text = (self.nfd / "nfd-api-crds.yaml").read_text()
        for document in text.split("\n---\n"):
            self.api.request("POST", CRDS, document, "application/yaml")

        def established():
            return all(
                any(state["type"] == "Established" and state["status"] == "True"
                    for state in item["status"]["conditions"] or ())
                for item in self.api.request("GET", CRDS)["items"])

        wait_until("NFD's CRDs are established", established)

    def _start_master(self):
        """Start nfd-master, on a Node of its own (it wants to clean up that Node's annotations)."""
        node = self.create_node()
        kubeconfig = self.directory / "kubeconfig"
        kubeconfig.write_text(self.pki.kubeconfig("admin", self.port))
        kubeconfig.chmod(0o600)

        def command(port):
            return [self.nfd / "nfd-master", f"-kubeconfig={kubeconfig}", f"-port={port}",
                    "-config=/nonexistent"]

        self.add_part("nfd-master", command, lambda port: worker.answers(port, "/healthz"),
                      env=worker.environment(NAMESPACE, node))

    def create_node(self):
        """Create a Node with a name of its own and return that name.

        It has a label and an annotation, as a kubelet gives them: nfd-master cannot patch a Node
        that has none.
        """
        self.nodes += 1
        name = f"node-{self.nodes}"
        self.api.request("POST", "/api/v1/nodes", {
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name},
                         "annotations": {"e2e.nfd-source/node": name}}})
        return name

    def labels(self, node, prefix="feature.node.kubernetes.io/"):
        """The labels of a Node whose key starts with prefix: key -> value."""
        labels = self.api.node(node)["metadata"].get("labels", {})
        return {key: value for key, value in labels.items() if key.startswith(prefix)}

    def node_feature(self, node):
        """The NodeFeature object that an nfd-worker published for a node, or None."""
        path = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NAMESPACE}/nodefeatures/{node}"
        try:
            return self.api.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
