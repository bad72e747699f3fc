# SPDX-License-Identifier: GPL-2.0-or-later
"""nfd-source and the vendors' own programs on one Node: a vendor's labels have one writer, and never a gap while that
changes hands.

NVIDIA's is the real gpu-feature-discovery with its NodeFeature object, beside a real nfd-master; AMD's is another field
manager that owns a label. Our daemon has the chart's rights unless a test says otherwise.
"""

import contextlib
import unittest

import access
import cluster
import discovery
from api import NodeWatch
from nodecase import NodeCase
from program import TOP, rescan
from test_node_feature import NAMESPACE, RIGHTS

PRODUCT, STAMP = "nvidia.com/gpu.product", discovery.TIMESTAMP
NVIDIA, DISCOVERY = "nvidia.com/", "gpu-feature-discovery"
VRAM, LABELLER = "amd.com/gpu.vram", "k8s-node-labeller"
OPERATOR = "gpu-operator"
OBJECTS = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{OPERATOR}/nodefeatures"
LIST = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeatures"
EVENTS = {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}
CHART = (access.NODES, access.NODE_FEATURES_LIST, EVENTS)
RESYNC = "outputs.nodeLabels.resync=1s"
ALWAYS = ("outputs.nodeLabels.mode=always", RESYNC)
FALLBACK = ("outputs.nodeLabels.mode=fallback", "outputs.nodeLabels.after=1s", RESYNC)
ONE_L4 = discovery.machine(discovery.gpu("0000:3b:00.0", "NVIDIA L4"))


class VendorCase(NodeCase):
    """A Node, and words on whose labels are on it."""

    vendor_settings = ()

    def labels(self, *prefixes):
        """The labels of our Node that begin with one of the prefixes."""
        return {key: value for key, value in self.cluster.labels(self.node, "").items() if key.startswith(prefixes)}

    def wait_for_vendor(self, expected, *prefixes):
        """Wait until the labels with these prefixes are exactly these."""
        try:
            self.wait_until(f"exactly {expected}", lambda: self.labels(*prefixes) == expected)
        except TimeoutError:
            self.assertEqual(self.labels(*prefixes), expected)

    def vendor(self, program, name):
        """What the status tells of a vendor: "labels" and "why"."""
        return next((each for each in program.status().get("vendors", ()) if each["name"] == name), {})

    def wait_for_verdict(self, program, name, verdict, *words):
        """Wait until the status has a verdict on a vendor with all words in its reason."""
        def told():
            entry = self.vendor(program, name)
            return entry.get("labels") == verdict and all(word in entry["why"] for word in words)

        self.wait_for_status(program, "")
        try:
            self.wait_until(f"{name}: {verdict}, {words}", told)
        except TimeoutError:
            self.fail(f"{name}: not {verdict} for {words} in {program.status()}")

    def asked(self):
        """How often we have asked for the objects of others."""
        return sum(each.path == LIST for each in self.requests("list"))

    @contextlib.contextmanager
    def asking(self, count=1):
        """At the end wait until since the beginning we have asked for the objects of others, and looked at the Node."""
        wanted = self.asked() + count
        yield
        self.wait_until(f"{count} more lists of NodeFeatures", lambda: self.asked() >= wanted)
        self.wait_for_looks(2)

    def wait_for_asking(self, count):
        """Wait until we have asked for the objects of others that many times more."""
        with self.asking(count):
            pass


class Nvidia(VendorCase):
    """A host with a GPU, the library's stand-in, and gpu-feature-discovery when a test starts it."""

    def setUp(self):
        if discovery.missing():
            self.skipTest(discovery.missing())
        discovery.tools()
        super().setUp()
        self.host = discovery.Host(self.directory, ONE_L4)
        self.root = self.host.root
        if not self.cluster.api.find(f"/api/v1/namespaces/{OPERATOR}"):
            self.cluster.api.request("POST", "/api/v1/namespaces", {"metadata": {"name": OPERATOR}})

    def make_program(self, root, *settings, node=None):
        program = super().make_program(root, *settings, node=node)
        program.variables |= self.host.variables()
        return program

    def patcher(self, *settings, rules=CHART):
        """nfd-source that patches with the rights of the chart; no feature file."""
        program = self.make_program(self.root, *ALWAYS, "outputs.featureFile.mode=off", *settings)
        self.make_account(rules).enter(program)
        return program

    def expected(self, program):
        """NVIDIA's labels of a scan."""
        found = {key: value for key, value in program.scan().items() if key.startswith(NVIDIA)}
        self.assertEqual(found[PRODUCT], "NVIDIA-L4")
        self.assertEqual(found["nvidia.com/gpu.memory"], "23028")
        return found

    def start_ours(self, program):
        """Start the daemon and wait until NVIDIA's labels are on the Node; returns it and the labels."""
        expected = self.expected(program)
        daemon = self.start(program)
        self.wait_for_vendor(expected, NVIDIA)
        return daemon, expected

    def discover(self):
        """gpu-feature-discovery makes its object for our Node; returns the object's path."""
        name = self.host.discover_into(self.cluster.directory / "kubeconfig", self.node, OPERATOR)
        path = f"{OBJECTS}/{name}"
        self.addCleanup(lambda: self.cluster.api.find(path) and self.cluster.api.request("DELETE", path))
        return path

    def check_never_missing(self, watch, expected):
        """Each state of the Node had all labels, with the same values."""
        for node in watch.drain():
            self.assertLessEqual(expected.items(), node["metadata"]["labels"].items())

    def without_master(self):
        """No nfd-master for now; the next test has one in any case."""
        self.cluster.stop_master()
        self.addCleanup(lambda: self.cluster.master or self.cluster.start_master())

    def wait_for_handover(self):
        """Wait until we own none of NVIDIA's labels; the verdict is told first."""
        self.wait_until("we own none", lambda: not any(key.startswith(NVIDIA) for key in self.managed() or ()))

    def check_left(self, program):
        """The status and explain say that the object's program writes the labels; we own none."""
        named = f"NodeFeature {OPERATOR}/nvidia-features-for-{self.node}"
        self.wait_for_verdict(program, "nvidia", "not written", DISCOVERY, named)
        done = program.attempt("explain", PRODUCT)
        self.assertIn(f"vendor nvidia: not written, because {DISCOVERY} writes them: {named}", done.stdout)
        self.wait_for_handover()


class Alone(Nvidia):
    """Nobody else writes them."""

    def test_by_patch(self):
        program = self.patcher()
        daemon, expected = self.start_ours(program)
        self.assertGreaterEqual(self.managed(), expected.keys())
        self.wait_for_verdict(program, "nvidia", "written", f"{DISCOVERY} is not here")
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.assertEqual(daemon.end(), 0)
            program.status_file.unlink()
            program.call("publish")
            with self.asking():
                self.start(program)
            self.check_never_missing(watch, expected)
        self.assertEqual([each for each in self.requests() if each.code >= 400], [])

    def test_through_worker_and_master(self):
        worker = self.make_worker()
        self.features_dir = worker.features_dir
        self.start_worker(worker)
        program = self.make_program(self.root, *FALLBACK)
        self.make_account(CHART).enter(program)
        daemon, expected = self.start_ours(program)
        self.wait_for_looks(2)
        self.assertEqual(self.managed() or set(), set())
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.assertEqual(daemon.end(), 0)
            program.call("publish")
            with self.asking():
                daemon = self.start(program)
            with self.asking():
                rescan(daemon)
            self.check_never_missing(watch, expected)
        self.wait_for_verdict(program, "nvidia", "written", f"{DISCOVERY} is not here")

    def test_through_an_object_of_ours(self):
        """Nothing but the object tells, after a restart, that the labels which NFD wrote are ours."""
        program = self.make_program(self.root, "outputs.nodeFeature.mode=on", RESYNC, "outputs.featureFile.mode=off",
                                    f"outputs.nodeFeature.namespace={NAMESPACE}")
        self.make_account(CHART, RIGHTS).enter(program)
        daemon, expected = self.start_ours(program)
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.assertEqual(daemon.end(), 0)
            program.status_file.unlink()
            program.call("publish")
            self.check_never_missing(watch, expected)
            program.status_file.unlink(missing_ok=True)
            self.start(program)
            self.wait_for_verdict(program, "nvidia", "written", f"{DISCOVERY} is not here")
            self.check_never_missing(watch, expected)
        self.assertIn(PRODUCT, self.cluster.node_feature(f"{self.node}-nfd-source")["spec"]["labels"])


class Discovery(Nvidia):
    """gpu-feature-discovery is there before us, comes, and goes."""

    def test_was_there_before(self):
        self.discover()
        self.wait_until("its labels are on the Node", lambda: STAMP in self.labels(NVIDIA))
        theirs = self.labels(NVIDIA)
        program = self.patcher()
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.start(program)
            self.check_left(program)
            self.wait_for_asking(2)
            self.check_never_missing(watch, theirs)
        self.assertEqual(self.labels(NVIDIA), theirs)
        self.assertFalse(any(key.startswith(NVIDIA) for key in program.status()["labels"]))

    def test_comes_and_goes(self):
        program = self.patcher()
        daemon, expected = self.start_ours(program)
        with NodeWatch(self.cluster.api, self.node) as watch:
            path = self.discover()
            rescan(daemon)
            self.check_left(program)
            self.wait_for_asking(2)
            self.check_never_missing(watch, expected)
        self.assertIn(STAMP, self.labels(NVIDIA))
        self.cluster.api.request("DELETE", path)
        self.wait_for_verdict(program, "nvidia", "written", f"{DISCOVERY} is not here")
        self.wait_for_vendor(expected, NVIDIA)
        self.wait_until("they are ours", lambda: self.managed() >= expected.keys())

    def test_comes_before_nfd_master(self):
        """Its object alone brings nothing: ours stay until NFD has it."""
        program = self.patcher()
        daemon, expected = self.start_ours(program)
        self.without_master()
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.discover()
            rescan(daemon)
            self.wait_for_verdict(program, "nvidia", "not written yet", DISCOVERY, OPERATOR)
            self.wait_for_asking(2)
            self.check_never_missing(watch, expected)
            self.cluster.start_master()
            self.check_left(program)
            self.wait_for_asking(2)
            self.check_never_missing(watch, expected)
        self.assertIn(STAMP, self.labels(NVIDIA))

    def test_comes_beside_a_worker(self):
        worker = self.make_worker()
        self.features_dir = worker.features_dir
        self.start_worker(worker)
        program = self.make_program(self.root, *FALLBACK)
        self.make_account(CHART).enter(program)
        daemon, expected = self.start_ours(program)
        with NodeWatch(self.cluster.api, self.node) as watch:
            path = self.discover()
            rescan(daemon)
            self.check_left(program)
            self.wait_until("our file has none", lambda: NVIDIA not in program.file.read_text())
            self.wait_for_asking(2)
            self.check_never_missing(watch, expected)
        self.cluster.api.request("DELETE", path)
        self.wait_for_vendor(expected, NVIDIA)

    def test_without_the_right_to_list_objects(self):
        """Keys on the Node tell: those that NFD lists and that we do not publish."""
        program = self.make_patcher(self.root, "always", RESYNC)
        daemon, expected = self.start_ours(program)
        self.assertIn(403, [each.code for each in self.requests("list") if each.path == LIST])
        with NodeWatch(self.cluster.api, self.node) as watch:
            path = self.discover()
            self.wait_until("NFD has it", lambda: STAMP in self.labels(NVIDIA))
            rescan(daemon)
            self.wait_for_verdict(program, "nvidia", "not written", DISCOVERY, "on the Node", "nfd-master")
            self.wait_for_handover()
            self.wait_for_looks(2)
            self.check_never_missing(watch, expected)
        self.cluster.api.request("DELETE", path)
        self.wait_for_vendor(expected, NVIDIA)

    def test_setting_on(self):
        """Both write the same; nothing flaps, and who owns what is NFD's and ours to settle."""
        program = self.patcher("sources.vendor.nvidia.labels=on")
        daemon, expected = self.start_ours(program)
        with NodeWatch(self.cluster.api, self.node) as watch:
            self.discover()
            self.wait_until("NFD has it", lambda: STAMP in self.labels(NVIDIA))
            rescan(daemon)
            self.wait_for_looks(3)
            self.check_never_missing(watch, expected)
            states = len(watch.drain())
            self.wait_for_looks(3)
            self.assertEqual(len(watch.drain()), states + 1, "the Node is written again and again")
        self.wait_for_verdict(program, "nvidia", "written", "the setting is on")


class Amd(VendorCase):
    """AMD's node labeller, as far as the API server tells: a field manager of that name."""

    get_cluster = staticmethod(cluster.without_nfd)
    OURS = ("amd.com/", "beta.amd.com/", "feature.node.kubernetes.io/amd-")

    def setUp(self):
        super().setUp()
        self.root = self.make_root(TOP / "tests/fixtures/machines/amd-mi300.tree")

    def patcher(self, *settings):
        """nfd-source that patches as the kubelet."""
        return self.make_patcher(self.root, "always", RESYNC, *settings)

    def expected(self, program):
        """AMD's labels of a scan."""
        found = {key: value for key, value in program.scan().items() if key.startswith(self.OURS)}
        self.assertEqual(found[VRAM], "192G")
        return found

    def label(self, value):
        """The labeller sets its label, or takes it away for None."""
        self.cluster.api.patch_node(self.node, {"labels": {VRAM: value}}, LABELLER)

    def test_nobody_else(self):
        program = self.patcher()
        expected = self.expected(program)
        self.start(program)
        self.wait_for_vendor(expected, *self.OURS)
        self.wait_for_verdict(program, "amd", "written", "is not here")
        self.assertEqual([each for each in self.requests("list") if each.path == LIST], [], "AMD's makes no objects")

    def test_was_there_before(self):
        self.label("16G")
        program = self.patcher()
        self.start(program)
        self.wait_for_verdict(program, "amd", "not written", VRAM, LABELLER)
        self.wait_for_looks(3)
        self.assertEqual(self.labels(*self.OURS), {VRAM: "16G"})
        self.assertEqual(program.status()["faults"], [])

    def test_comes_and_goes(self):
        program = self.patcher()
        expected = self.expected(program)
        daemon = self.start(program)
        self.wait_for_vendor(expected, *self.OURS)
        self.label("16G")
        rescan(daemon)
        self.wait_for_verdict(program, "amd", "not written", VRAM, LABELLER)
        self.wait_for_vendor({VRAM: "16G"}, *self.OURS)
        self.label(None)
        self.wait_for_vendor(expected, *self.OURS)
        self.wait_for_verdict(program, "amd", "written", "is not here")

    def test_setting_on(self):
        self.label("16G")
        program = self.patcher("sources.vendor.amd.labels=on")
        daemon = self.start(program)
        self.wait_for_vendor({**self.expected(program), VRAM: "16G"}, *self.OURS)
        self.wait_for_log(daemon, VRAM, LABELLER)
        self.wait_for_status(program, VRAM, LABELLER)
        self.assertNotIn(VRAM, self.managed())
        self.wait_for_looks(3)
        self.assertEqual(self.labels(VRAM), {VRAM: "16G"})

    def test_setting_off(self):
        program = self.patcher("sources.vendor.amd.labels=off")
        self.start(program)
        self.wait_for_exactly({key: value for key, value in program.scan().items()})
        self.assertEqual(self.labels(*self.OURS), {})


class NoHardware(VendorCase):
    """Where no vendor's program could be expected, nobody is asked for it."""

    get_cluster = staticmethod(cluster.without_nfd)

    def test_no_look(self):
        program = self.make_patcher(self.make_root("\nfile etc/os-release ID=debian\n"), "always", RESYNC)
        self.start_and_arrive(program)
        self.wait_for_looks(2)
        self.assertEqual([each for each in self.requests("list") if each.path == LIST], [])


if __name__ == "__main__":
    unittest.main()
