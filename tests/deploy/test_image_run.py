# SPDX-License-Identifier: GPL-2.0-or-later
"""The built image as the pods of deploy/kustomize run it: runc, their exact securityContext, their volumes.

The host is a fixture, or this very machine. tests/lib/oci.py and tests/lib/pods.py say how a container comes to be.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import namespace
import oci
import pods
from certificates import Certificates
from fake_api import FakeApi
from https_server import HttpsServer
from mktree import make_tree
from program import FEATURE_FILE, PREFIX, SMALL, STAGING, FeatureFile, bare, full, invoke, parse_lines, wait_for

FEATURES_DIR = "/etc/kubernetes/node-feature-discovery/features.d"
RUNTIME_DIR = "/run/nfd-source"
NODE = "node-1"
SOON_S = 60
LATER_CARD = "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core\n"
LATER_LABEL = "pci-15b3.present"
# What the container runtime itself puts into every container.
OF_RUNTIME = ("/dev", "/proc")
CAPABILITY_VERSION_3 = 0x20080522
LIBC = ctypes.CDLL(None, use_errno=True)


def writable_paths(pid, uid, gid):
    """Paths that a container's program may write to, topmost ones. For a child: it becomes a process in there."""
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    if LIBC.setns(mounts, namespace.CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "setns")
    os.setgroups([gid])
    os.setgid(gid)
    os.setuid(uid)
    if LIBC.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capset")
    found = []
    for folder, folders, files in os.walk("/"):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.access(path, os.W_OK):
                found.append(path)
        folders[:] = [name for name in folders if os.path.join(folder, name) not in (*OF_RUNTIME, *found)]
    return [path for path in found if path not in OF_RUNTIME]


def check_writable(pid, uid, gid, expected):
    """For a child: AssertionError unless just these paths are writable."""
    found = writable_paths(pid, uid, gid)
    if sorted(found) != sorted(expected):
        raise AssertionError(f"writable: {found}")


def status_fields(pid):
    """/proc/PID/status: texts by name."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: text.strip() for name, _, text in (line.partition(":") for line in lines)}


def writable_mounts(pid):
    """Mount points of a process that are not read-only."""
    lines = pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    return {fields[4] for fields in map(str.split, lines) if "ro" not in fields[5].split(",")}


class ImageCase(unittest.TestCase):
    """One host (a fixture root), one features.d, containers that end with the test."""

    def setUp(self):
        oci.image()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-image-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.directory.chmod(0o755)
        self.features = self.directory / "features.d"
        self.root = pathlib.Path(make_tree(SMALL, str(self.directory / "host")))
        self.serial = 0

    def host(self, path):
        """What the host has at a path."""
        return pods.fixture_host(self.root, {FEATURES_DIR: self.features})(path)

    def make(self, folder, *settings, account=None, server=None):
        """The containers of a pod of deploy/kustomize/FOLDER; settings: KEY=VALUE beside the ConfigMap's."""
        spec = pods.pod_spec(folder)
        container = spec["containers"][0]
        container["args"] = [word for text in settings for word in ("--set", text)] + container["args"]
        self.serial += 1
        directory = self.directory / f"pod-{self.serial}"
        self.volumes = pods.Volumes(spec, directory / "volumes", self.host, pods.config_map(folder), account)
        variables = pods.environment(spec, {"spec.nodeName": NODE, "metadata.name": "nfd-source-1"}, server)
        return oci.Runc(directory / "runc", spec, self.volumes.sources, variables)

    def start(self, runc):
        """Start the daemon of a pod; it ends with the test."""
        self.serial += 1
        running = runc.start(self.directory / f"log-{self.serial}")
        self.addCleanup(running.remove)
        self.wait("the container runs", running, lambda: running.pid)
        return running

    def wait(self, what, running, condition):
        """Wait for something while the container runs."""
        def look():
            if not running.alive():
                raise AssertionError(f"{what}: the container has ended\n{running.log}")
            return condition()

        try:
            return wait_for(look, SOON_S, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{running.log}") from None

    def feature_file(self, wanted=lambda labels: True):
        """The feature file with wanted labels, None while there is none."""
        with contextlib.suppress(FileNotFoundError):
            file = FeatureFile(self.features / FEATURE_FILE)
            return file if wanted(file.labels) else None
        return None

    def published(self, running, wanted=lambda labels: True):
        """Wait for the feature file; returns it."""
        return self.wait("the feature file", running, lambda: self.feature_file(wanted))

    def scan_outside(self, root):
        """The labels that the program finds outside of the container."""
        result = invoke("--root", root, "scan")
        self.assertEqual(result.code, 0, result.err)
        return bare(parse_lines(result.out))

    def check_confined(self, running, uid):
        """The kernel's own words about the program."""
        fields = status_fields(running.pid)
        self.assertEqual(fields["Name"], "nfd-source")
        self.assertEqual(set(fields["Uid"].split() + fields["Gid"].split()), {str(uid)})
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(fields[name], 16), 0, name)
        self.assertEqual(fields["NoNewPrivs"], "1")
        self.assertEqual(fields["Seccomp"], "2")
        self.assertEqual(fields["NSpid"].split()[-1], "1")

    def check_probe(self, running):
        """The pod's own liveness probe."""
        done = running.execute(*running.runc.pod["containers"][0]["livenessProbe"]["exec"]["command"])
        self.assertEqual(done.returncode, 0, done.stderr)


class BasePod(ImageCase):
    """deploy/kustomize/base: uid 0, the feature file."""

    def test_labels(self):
        """Those of a scan outside; the program is confined; its probe is content; SIGTERM ends it well."""
        running = self.start(self.make("base"))
        file = self.published(running)
        self.check_confined(running, 0)
        self.assertEqual(file.labels, self.scan_outside(self.root))
        self.assertIn("pci-10de.present", file.labels)
        self.check_probe(running)
        self.assertEqual(running.stop(), 0, running.log)
        self.assertEqual(self.feature_file().bytes, file.bytes)

    def test_commands(self):
        """Each command of the pod's program works in there, and the names of devices are known."""
        runc = self.make("base")
        table = runc.run("nfd-source", "--root", "/host", "scan", "-o", "table")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("NVIDIA Corporation AD104GL [L4]", table.stdout)
        for words in (["publish", "--no-wait"], ["settings"], ["doctor"], ["cleanup"]):
            done = runc.run("nfd-source", "--root", "/host", *words)
            # doctor ends with what it found.
            self.assertIn(done.returncode, (0, 1, 2, 3) if words == ["doctor"] else (0,), f"{words}: {done.stderr}")
            self.assertTrue(done.stdout or done.stderr or words[0] == "publish", words)

    def test_nothing_else_is_writable(self):
        """Only features.d and the folder of the status file, though everything belongs to its uid."""
        running = self.start(self.make("base"))
        self.published(running)
        namespace.run_in_child(check_writable, running.pid, 0, 0, [FEATURES_DIR, RUNTIME_DIR])

    def test_follows_the_hardware(self):
        """A card that comes, by way of SIGHUP, because no event tells of a fixture."""
        running = self.start(self.make("base"))
        self.published(running)
        make_tree(LATER_CARD, str(self.root))
        running.process.send_signal(oci.signal.SIGHUP)
        self.published(running, lambda labels: LATER_LABEL in labels)


class Killed(ImageCase):
    """SIGKILL while the feature file is written."""

    def kill_at(self, running, call):
        """Have the container killed at its next call of that name, before that is done."""
        log = self.directory / f"strace-{call}"
        with open(log, "wb") as output:
            tracer = subprocess.Popen(
                ["strace", "-p", str(running.pid), "-e", f"trace={call}", "-e", f"inject={call}:error=EIO:signal=KILL"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        self.wait("strace is attached", running, lambda: b" attached" in log.read_bytes())
        make_tree(LATER_CARD, str(self.root))
        running.process.send_signal(oci.signal.SIGHUP)
        self.assertEqual(running.process.wait(SOON_S), 128 + oci.signal.SIGKILL)
        self.assertEqual(tracer.wait(SOON_S), 0)

    def check_step(self, call):
        """The old file is whole, a half-made one is hidden, and the next container puts all right."""
        oci.lacking("strace")
        # So that the only file that it writes is the one in question.
        runc = self.make("base", "status.path=/none/status.json")
        running = self.start(runc)
        before = self.published(running)
        self.kill_at(running, call)
        self.assertEqual(self.feature_file().bytes, before.bytes)
        self.assertEqual(sorted(os.listdir(self.features)), [STAGING, FEATURE_FILE])
        self.assertEqual(len(os.listdir(self.features / STAGING)), 1, "it was not killed while it wrote")
        running.remove()
        again = self.start(runc)
        file = self.published(again, lambda labels: LATER_LABEL in labels)
        self.assertEqual(file.labels, self.scan_outside(self.root))
        self.assertEqual(os.listdir(self.features / STAGING), [])

    def test_before_it_is_synced(self):
        """Its content may be anywhere."""
        self.check_step("fsync")

    def test_before_the_rename(self):
        """All is done but the last step."""
        self.check_step("renameat")


class OwnHost(ImageCase):
    """The same on this machine: its own /sys, /proc, /usr and /etc/os-release."""

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path("/")

    def host(self, path):
        """The machine's own, but for folders that the kubelet would make."""
        if path in (FEATURES_DIR, "/run/nvidia"):
            return self.directory / path.lstrip("/").replace("/", "-")
        return pathlib.Path(path)

    def test_labels(self):
        """Those of a scan outside; of all the host's mounts, also those below others, only features.d is writable."""
        self.features = self.host(FEATURES_DIR)
        running = self.start(self.make("base"))
        file = self.published(running)
        self.check_confined(running, 0)
        self.assertEqual(file.labels, self.scan_outside("/"))
        self.assertTrue(file.labels)
        of_host = {path for path in writable_mounts(running.pid) if not path.startswith(OF_RUNTIME)}
        self.assertEqual(of_host, {FEATURES_DIR, RUNTIME_DIR})
        self.assertEqual(running.stop(), 0, running.log)


class ApiPod(ImageCase):
    """deploy/kustomize/overlays/standalone: uid 65534, labels by the API server, a token that rotates."""

    def setUp(self):
        super().setUp()
        self.pki = Certificates(self.directory / "pki")
        self.api = FakeApi(NODE, served=False)
        self.server = HttpsServer(self.api, (self.pki.path("server.crt"), self.pki.path("server.key")))
        self.server.__enter__()
        self.addCleanup(self.server.close)

    def account(self, token):
        """The files of a token's volume."""
        return {"token": token, "namespace": "nfd-source", "ca.crt": self.pki.text("ca.crt")}

    def has_label(self, key):
        """Whether the Node has a label."""
        return f"{PREFIX}{key}" in self.api.labels

    def test_token_rotates(self):
        """The kubelet swaps the token, the old one ends: not one request is refused."""
        self.api.tokens = {"first"}
        runc = self.make("overlays/standalone", "outputs.nodeLabels.resync=1s", account=self.account("first"),
                         server=("127.0.0.1", self.server.port))
        running = self.start(runc)
        self.wait("labels arrive", running, lambda: self.has_label("pci-10de.present"))
        self.check_confined(running, 65534)
        namespace.run_in_child(check_writable, running.pid, 65534, 65534, [RUNTIME_DIR])
        self.assertEqual({request.token for request in self.api.requests}, {"first"})
        self.api.tokens = {"first", "second"}
        self.volumes.token.write(self.account("second"))
        self.wait("the new token is used", running, lambda: self.api.requests[-1].token == "second")
        self.api.tokens = {"second"}
        make_tree(LATER_CARD, str(self.root))
        running.process.send_signal(oci.signal.SIGHUP)
        self.wait("a new label arrives", running, lambda: self.has_label(LATER_LABEL))
        expected = full(self.scan_outside(self.root))
        self.wait("all labels are there", running,
                  lambda: {key: self.api.labels[key] for key in self.api.owned()} == expected)
        tokens = [request.token for request in self.api.requests]
        self.assertEqual(tokens, sorted(tokens))
        self.assertNotIn("refused", running.log)
        self.check_probe(running)
        self.assertIsNone(self.server.fault)
        self.assertEqual(running.stop(), 0, running.log)
