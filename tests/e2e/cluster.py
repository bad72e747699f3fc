# SPDX-License-Identifier: GPL-2.0-or-later
"""Real control planes for the tests: etcd, kube-apiserver, NFD's CRDs, nfd-master; and nfd-workers.

shared() gives the one cluster of this run, without_nfd() another one that knows nothing of NFD. All
state of a cluster lies in one temporary directory, all its processes are its children; both go away
when the run ends.
"""

import atexit
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import traceback
import unittest
from typing import NamedTuple

import worker
from api import Api
from pki import Pki
from process import DIE_WITH_PARENT, PartFailed, attempt, start_part, wait_until

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACE = "node-feature-discovery"
PROGRAMS = ("etcd", "mount", "openssl", "setpriv", "unshare")
# Of labels that nfd-source writes.
DOMAINS = ("feature.node.kubernetes.io/", "nvidia.com/", "amd.com/", "beta.amd.com/", "gpu.intel.com/",
           "intel.feature.node.kubernetes.io/")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NO_TOOLS = 77
# Who the audit log tells about: nodes and service accounts, never the tests and NFD (admin).
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:nodes", "system:serviceaccounts"]}, {"level": "None"}],
}


class Request(NamedTuple):
    """One request that the API server answered. path: without its query; code: HTTP status."""

    verb: str
    path: str
    code: int
    agent: str


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


def build_tools(*sets):
    """Build what is not in the cache yet; return the folders of the sets.

    Raises unittest.SkipTest where there is no Go to build with, PartFailed when the build fails.
    """
    command = [*DIE_WITH_PARENT, HERE / "build-tools.sh", *sets]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == NO_TOOLS:
        raise unittest.SkipTest(done.stderr.strip())
    if done.returncode:
        raise PartFailed(done.stderr)
    return [pathlib.Path(line) for line in done.stdout.splitlines()]


@functools.cache
def _start(with_nfd):
    """The one cluster of its kind, or the exception that its start ended with (printed, if a fault)."""
    try:
        if missing():
            raise unittest.SkipTest(missing())
        cluster = Cluster(*build_tools("kubernetes", "nfd"), with_nfd)
        atexit.register(cluster.close)
        cluster.start()
        return cluster
    except unittest.SkipTest as reason:
        return reason
    except Exception as error:
        traceback.print_exc()
        return error


def _started(with_nfd):
    """The cluster of that kind, started by the first call.

    Raises unittest.SkipTest when a prerequisite is missing; a failed start fails every caller.
    """
    result = _start(with_nfd)
    if isinstance(result, unittest.SkipTest):
        raise unittest.SkipTest(str(result))
    if isinstance(result, Exception):
        raise PartFailed(f"the cluster did not start, see the first failure: {type(result).__name__}")
    return result


def shared():
    """The cluster of this run. Raises as _started()."""
    return _started(True)


def without_nfd():
    """The cluster of this run that does not serve NFD's API group and has no nfd-master. Raises as _started()."""
    return _started(False)


class Cluster:
    """etcd, kube-apiserver and nfd-master in processes of their own.

    kubernetes, nfd: folders of the built programs; with_nfd: with the CRDs and nfd-master.
    directory: all state, temporary. parts: the running processes, in the order of their start.
    api: client with all rights. master: the running nfd-master, or None; master_port: of its /metrics.
    """

    def __init__(self, kubernetes, nfd, with_nfd=True):
        self.kubernetes = kubernetes
        self.nfd = nfd
        self.with_nfd = with_nfd
        self.master = None
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
        if self.with_nfd:
            self.apply_crds()
            self.start_master()

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
        """Start kube-apiserver; sets api, apiserver and audit_log."""
        pki = self.pki
        policy = self.directory / "audit-policy.json"
        policy.write_text(json.dumps(AUDIT_POLICY))
        self.audit_log = self.directory / "audit.log"

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
                f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}",
                # Its list cost estimate logs a time-out every second with the etcd of Debian.
                "--feature-gates=SizeBasedListCostEstimate=false",
                "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
            ]

        self.apiserver, (port,) = self.add_part(
            "kube-apiserver", command, lambda port: Api(port, pki).is_ready())
        self.port = port
        self.api = Api(port, pki)

    def apply_crds(self):
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

    def remove_crds(self):
        """Delete NFD's resource definitions and wait until the group is not served any more."""
        for item in self.api.request("GET", CRDS)["items"]:
            self.api.request("DELETE", f"{CRDS}/{item['metadata']['name']}")
        wait_until("NFD's group is gone", lambda: not self.api.find("/apis/nfd.k8s-sigs.io"))

    def start_master(self):
        """Start nfd-master, on a Node of its own (it wants to clean up that Node's annotations).

        Sets master and master_port. It may set taints, which nothing but a NodeFeatureRule of a test asks for.
        """
        env = worker.environment(NAMESPACE, self.create_node())
        self.master, (self.master_port,) = self.add_part(
            "nfd-master", lambda port: self._master_command(f"-port={port}", "-enable-taints"),
            lambda port: worker.answers(port, "/healthz"), env=env)

    def _master_command(self, *arguments):
        """The words of nfd-master with arguments."""
        kubeconfig = self.directory / "kubeconfig"
        if not kubeconfig.exists():
            kubeconfig.touch(0o600)
            kubeconfig.write_text(self.pki.kubeconfig("admin", self.port))
        return [self.nfd / "nfd-master", f"-kubeconfig={kubeconfig}", "-config=/nonexistent", *arguments]

    def prune(self):
        """Take all that nfd-master ever did off all Nodes, as NFD's removal does.

        It gives up when a Node changes under it; its Job starts it again then.
        """
        def pruned():
            done = attempt(self._master_command("-prune"), env=worker.environment(NAMESPACE, "prune"))
            if done.returncode and "the object has been modified" not in done.stderr:
                raise PartFailed(done.stdout + done.stderr)
            return done.returncode == 0

        wait_until("NFD has pruned all Nodes", pruned)

    def stop_master(self):
        """End nfd-master; what it did stays."""
        self.master.end()
        self.parts.remove(self.master)
        self.master = None

    @contextlib.contextmanager
    def hung(self):
        """Within: the API server takes connections and never answers."""
        self.apiserver.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.apiserver.send(signal.SIGCONT)

    def requests(self, user):
        """What the API server answered to a user up to now, in order: list of Request."""
        found = []
        for line in self.audit_log.read_text().splitlines(keepends=True):
            if f'"username":"{user}"' in line and line.endswith("\n"):
                event = json.loads(line)
                found.append(Request(event["verb"], event["requestURI"].partition("?")[0],
                                     event["responseStatus"]["code"], event.get("userAgent", "")))
        return found

    def create_node(self, name=None):
        """Create a Node, with a name of its own unless one is given, and return the name.

        It has a label and an annotation, as a kubelet gives them: nfd-master cannot patch a Node
        that has none.
        """
        self.nodes += 1
        name = name or f"node-{self.nodes}"
        self.api.request("POST", "/api/v1/nodes", {
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name[:50]},
                         "annotations": {"e2e.nfd-source/node": name}}})
        return name

    def labels(self, node, prefix=DOMAINS):
        """The labels of a Node whose key starts with prefix, or one of several: key -> value."""
        labels = self.api.node(node)["metadata"].get("labels", {})
        return {key: value for key, value in labels.items() if key.startswith(prefix)}

    def node_feature(self, name):
        """The NodeFeature object of that name (an nfd-worker's has its node's), or None."""
        path = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{NAMESPACE}/nodefeatures/{name}"
        return self.api.find(path)
