# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock nfd-worker that sees a host of our making.

It runs in a mount namespace of its own, where /etc is a directory of the test (with features.d in
it) and, on request, /sys and parts of /proc are those of a fixture root. It runs, as in its
container image, as an unprivileged user without capabilities, so a feature file or directory that
others may not read fails the test. Nothing of this is visible or lasting on the host.
"""

import json
import os
import pathlib
import shutil
import urllib.error
import urllib.request

NOBODY = 65534
FEATURES_DIR = "kubernetes/node-feature-discovery/features.d"

# Mounts SOURCE on TARGET for each pair of words before "--", then becomes the command after it.
BIND = """
while [ "$1" != -- ]; do
	mount --bind "$1" "$2"
	shift 2
done
shift
"""
ENTER = BIND + """
exec setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --no-new-privs \
	--pdeathsig KILL -- "$@"
"""

# Where nfd-worker looks, by the path below a root. Directories, so that what a fixture root does not
# have is missing for the worker too.
ROOT_MOUNTS = ("sys", "proc/sys/kernel")


def answers(port, path):
    """Whether http://127.0.0.1:port/path answers with success."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
            return True
    except (OSError, urllib.error.URLError):
        return False


def environment(namespace, node):
    """Environment variables of NFD's programs."""
    return {
        "PATH": os.environ["PATH"], "KUBERNETES_NAMESPACE": namespace,
        "NODE_NAME": node, "POD_NAME": "e2e",
    }


class Worker:
    """One nfd-worker of a cluster, for one node.

    directory: made here. root: fixture root (path), or None for this very host.
    sources: its feature and label sources; options: its "sources" configuration.
    features_dir: the features.d that it reads; exists from the start.
    owner_refs: kinds of owners of its object; variables: further environment.
    """

    owner_refs = ""

    def __init__(self, cluster, node, namespace, directory, root=None, sources=("local",), options=None):
        self.cluster = cluster
        self.node = node
        self.namespace = namespace
        self.root = pathlib.Path(root) if root else None
        self.variables = {}
        self.etc = pathlib.Path(directory) / "etc"
        self.features_dir = self.etc / FEATURES_DIR
        self.features_dir.mkdir(parents=True)
        self._write_etc(sources, options or {})

    def _write_etc(self, sources, options):
        """Fill the worker's /etc: os-release, its configuration and credentials, room for its program."""
        nfd = self.etc / "nfd"
        (nfd / "bin").mkdir(parents=True)
        os_release = (self.root or pathlib.Path("/")) / "etc/os-release"
        if os_release.exists():
            shutil.copyfile(os_release, self.etc / "os-release")
        # One hour: within a test nothing but an inotify event makes it look again.
        core = {"sleepInterval": "1h", "featureSources": list(sources), "labelSources": list(sources)}
        (nfd / "worker.conf").write_text(json.dumps({"core": core, "sources": options}))
        kubeconfig = nfd / "kubeconfig"
        kubeconfig.touch(0o600)
        kubeconfig.write_text(self.cluster.pki.kubeconfig("admin", self.cluster.port))
        os.chown(kubeconfig, NOBODY, NOBODY)

    def _mounts(self):
        """Pairs (source, target) of the worker's mount namespace, in order."""
        if self.root:
            for name in ROOT_MOUNTS:
                source = self.root / name
                if not source.is_dir():
                    source = self.etc.parent / "missing"
                    source.mkdir(exist_ok=True)
                yield source, "/" + name
        yield self.etc, "/etc"
        yield self.cluster.nfd, "/etc/nfd/bin"

    def command(self, *arguments):
        """The command that becomes nfd-worker with arguments."""
        mounts = [path for pair in self._mounts() for path in pair]
        return ["unshare", "-m", "sh", "-ec", ENTER, "sh", *mounts, "--",
                "/etc/nfd/bin/nfd-worker", "-kubeconfig=/etc/nfd/kubeconfig",
                "-config=/etc/nfd/worker.conf", f"-owner-refs={self.owner_refs}", *arguments]

    def enter(self, program):
        """Let a Program run on the very host that we see, also where that is of a fixture root."""
        mounts = [path for pair in self._mounts() for path in pair]
        program.prefix += ("unshare", "-m", "sh", "-ec", BIND + 'exec "$@"', "sh", *mounts, "--")

    def environment(self):
        """Its environment variables."""
        return environment(self.namespace, self.node) | self.variables
