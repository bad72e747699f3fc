# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the tests in which nfd-source itself talks to the API server, and small words on what it did."""

import copy
import json
import pathlib
import re
import shutil

import access
import cluster
import process
from program import API_BINARY, Program, rescan
from running import HOST
from testcase import FEATURE, E2ETestCase, mktree

GPU = "0000:3b:00.0"
GPUS = f"{HOST}\npci {GPU} 030200 10de:27b8 driver=nvidia\n"
PRESENT = FEATURE + "pci-10de.present"
OURS = "nfd-source"
EVENTS = "/api/v1/namespaces/default/events"
VERSION = FEATURE + "driver-nvidia.version.full"


def plug(root, vendor, address="0000:81:00.0"):
    """Put an accelerator of a vendor into a fixture root; returns the key of its label."""
    mktree.make_tree(f"\npci {address} 120000 {vendor}:0001\n", str(root))
    return f"{FEATURE}pci-{vendor}.present"


def unplug(root, address):
    """Take a PCI device out of a fixture root, off the bus first as the kernel does."""
    bus = pathlib.Path(root) / "sys/bus/pci"
    device = (bus / "devices" / address).resolve()
    for link in (bus / "devices" / address, *bus.glob(f"drivers/*/{address}")):
        link.unlink()
    shutil.rmtree(device)


def set_version(root, version):
    """Load a driver of that version, as far as files tell."""
    path = pathlib.Path(root) / "sys/module/nvidia/version"
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name("version.new")
    aside.write_text(version + "\n")
    aside.replace(path)


def leaves(value):
    """All texts of a JSON value, keys included."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield str(value)


class NodeCase(E2ETestCase):
    """A Node, and nfd-source with the certificate of its kubelet unless a test gives it something else.

    user: who that is in the audit log. features_dir: where feature files go. vendor_settings: most tests are not about
    who writes a vendor's labels, and count requests.
    """

    vendor_settings = ("sources.vendor.nvidia.labels=on",)

    def use_new_node(self):
        super().use_new_node()
        self.user = f"system:node:{self.node}"
        self.features_dir = self.directory / "features.d"
        self.features_dir.mkdir()

    def on_new_node(self):
        """This case about a Node of its own, for two daemons at the same time; what it starts ends with this test."""
        other = copy.copy(self)
        other.use_new_node()
        return other

    def make_program(self, root, *settings, node=None):
        """nfd-source on a root with further settings and no credentials yet; short delays, long intervals."""
        basic = ("core.sleepInterval=1h", "watch.removalDelay=500ms", *self.vendor_settings)
        return Program(self.directory, self.features_dir, node or self.node, root, (*basic, *settings))

    def kubeconfig(self):
        """A file with the kubelet's certificate; returns its path."""
        path = self.directory / "kubeconfig"
        path.write_text(self.cluster.pki.kubeconfig(self.cluster.pki.node(self.node), self.cluster.port))
        path.chmod(0o600)
        return path

    def make_patcher(self, root, mode, *settings):
        """nfd-source that patches in a mode of outputs.nodeLabels, as the kubelet."""
        return self.make_program(
            root, f"outputs.nodeLabels.mode={mode}", f"api.kubeconfig={self.kubeconfig()}", *settings)

    def make_account(self, cluster_rules=(access.NODES,), rules=()):
        """A service account with these rights; becomes self.user."""
        account = access.ServiceAccount(
            self.cluster, cluster.NAMESPACE, f"account-{self.node}", self.directory / "account", cluster_rules, rules)
        self.user = account.user
        return account

    def start(self, program):
        """Start the daemon and wait until it takes signals."""
        daemon = self.keep(program.start())
        status = pathlib.Path(f"/proc/{daemon.pid}/status")

        def takes_signals():
            blocked = re.search(r"^SigBlk:\s*(\w+)", status.read_text(), re.MULTILINE)
            return blocked and int(blocked[1], 16) & 1

        self.wait_until("the daemon takes SIGHUP", takes_signals)
        return daemon

    def wait_for_exactly(self, expected):
        """Wait until the feature labels of our Node are exactly these."""
        self.assertTrue(expected, "a scan found nothing")
        self.wait_for_labels(f"exactly {expected} on the Node", lambda labels: labels == expected)

    def start_and_arrive(self, program):
        """Start the daemon and wait until exactly the labels of a scan are on the Node; returns the daemon."""
        daemon = self.start(program)
        self.wait_for_exactly(program.scan())
        return daemon

    def change(self, daemon, program):
        """Let the daemon see a change of its root and wait until the Node has what a scan finds."""
        rescan(daemon)
        self.wait_for_exactly(program.scan())

    def managed(self):
        """Keys of the labels that we own on the Node; None when we are no manager of it at all."""
        return self.cluster.api.label_managers(self.node).get(OURS)

    def requests(self, verb=None):
        """Our requests up to now, of one verb or all."""
        return [each for each in self.cluster.requests(self.user) if verb in (None, each.verb)]

    def looks(self):
        """How often we have looked at our Node."""
        path = f"/api/v1/nodes/{self.node}"
        return sum(each.path == path for each in self.requests("get"))

    def wait_for_looks(self, count):
        """Wait until we have looked at the Node that many times more."""
        wanted = self.looks() + count
        self.wait_until(f"{count} more looks at the Node", lambda: self.looks() >= wanted)

    def wait_for_log(self, daemon, *patterns):
        """Wait until one line of a part's log matches all patterns."""
        def told():
            return any(all(re.search(pattern, line) for pattern in patterns)
                       for line in daemon.log_text().splitlines())

        try:
            self.wait_until(f"the log tells of {patterns}", told)
        except TimeoutError:
            self.fail(f"no line with {patterns} in\n{daemon.log_text()}")

    def wait_for_status(self, program, *patterns):
        """Wait until one text of the status matches all patterns."""
        def told():
            try:
                status = program.status()
            except process.PartFailed:
                return False  # the daemon has not written it yet
            return any(all(re.search(pattern, text) for pattern in patterns) for text in leaves(status))

        try:
            self.wait_until(f"the status tells of {patterns}", told)
        except TimeoutError:
            self.fail(f"nothing with {patterns} in {json.dumps(program.status())}")

    def node_events(self):
        """Our Events on our Node: reason -> Event."""
        about = f"involvedObject.kind=Node,involvedObject.name={self.node}"
        items = self.cluster.api.request("GET", f"{EVENTS}?fieldSelector={about}")["items"]
        return {each["reason"]: each for each in items if each["source"].get("component") == OURS}

    def wait_for_event(self, reason, kind, *words):
        """Wait for an Event on our Node with that reason; it is of that type and has these words in its message."""
        try:
            self.wait_until(f"an Event {reason}", lambda: reason in self.node_events())
        except TimeoutError:
            self.fail(f"no Event {reason}, only {self.node_events()}")
        event = self.node_events()[reason]
        self.assertEqual(event["type"], kind)
        for word in words:
            self.assertIn(word, event["message"])

    def call_helper(self, action, status=0, **fields):
        """Run nfd-source-api with the kubelet's certificate; it ends with that status. Returns its result."""
        request = {"schema": 1, "action": action, "node": self.node,
                   "credentials": {"kubeconfig": str(self.kubeconfig())}, **fields}
        done = process.attempt([API_BINARY], stdin=json.dumps(request))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)
