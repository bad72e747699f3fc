# SPDX-License-Identifier: GPL-2.0-or-later
"""The program with an API server that misbehaves: `run` and `publish` against the scripted server (design.md 5.3).

Field cases F and L of spec/field-cases.md that are decided between two runs of the helper are under their ids.
"""

import os
import signal
import time
from pathlib import Path

from api_helper import NODE, TOKEN, ApiTest
from fake_api import GROUP_PATH, not_allowed, status
from https_server import Silence
from program import PREFIX, SMALL, ProgramTest, full, wait_for

NIC = "pci 0000:5e:00.0 020000 15b3:101d driver=mlx5_core"
FPGA = "pci 0000:86:00.0 120000 10ee:5000"
NIC_KEY, FPGA_KEY = f"{PREFIX}pci-15b3.present", f"{PREFIX}pci-10ee.present"
LONG_S = 40
END_S = 10
# Names that must not come from the environment of whoever runs the tests.
ENVIRONMENT = {"NODE_NAME": NODE}


def processes():
    """(pid, parent, state) of every process."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(pid), int(fields[1]), fields[0]


def children(parent, states="RSDTZ"):
    """Ids of the children of a process that are in one of these states."""
    return [pid for pid, owner, state in processes() if owner == parent and state in states]


def are_gone(pids):
    """Whether all these processes have ended."""
    return not set(pids) & {pid for pid, _, state in processes() if state not in "ZX"}


def descriptors(pid):
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


class ApiProgramTest(ApiTest, ProgramTest):
    """The program with a kubeconfig for the scripted server; labels by patch, whatever NFD does."""

    def setUp(self):
        ProgramTest.setUp(self)
        ApiTest.setUp(self)
        self.root = self.tree(SMALL)
        self.server = self.serve()
        self.kubeconfig_path = self.kubeconfig(self.server)

    def label_settings(self, **more):
        """Settings: mode always, short times; names with _ for the dots."""
        return {
            "api.kubeconfig": self.kubeconfig_path,
            "api.deadline": "5s",
            "outputs.nodeLabels.mode": "always",
            "outputs.nodeLabels.after": "1s",
            "outputs.nodeLabels.resync": "1h",
            # Whether another program writes them is asked elsewhere: test_api_vendors.
            "sources.vendor.nvidia.labels": "on",
            **{name.replace("_", "."): value for name, value in more.items()},
        }

    def start_daemon(self, *arguments, env=None, **settings):
        """The daemon with these settings."""
        daemon = self.daemon(self.root, *arguments, env={**ENVIRONMENT, **(env or {})},
                             settings=self.label_settings(**settings))
        self.addCleanup(self.check_log, daemon)
        return daemon

    def check_log(self, daemon):
        """Neither daemon nor helper complained about itself, nor said the token."""
        self.assertNotRegex(daemon.log, r"Sanitizer|runtime error")
        self.assert_no_secret([daemon.log.encode()])

    def publish_labels(self, *arguments, **settings):
        """`publish` with these options and settings."""
        return self.run_program(self.root, "publish", "--no-wait", *arguments, env=ENVIRONMENT,
                                settings=self.label_settings(**settings))

    @property
    def wanted(self):
        """The labels of the root as it is now."""
        return full(self.labels(self.root))

    def has_labels(self):
        """Whether the Node has our labels, all of them ours."""
        return self.api.node and self.api.owned() == sorted(self.wanted)

    def await_labels(self, daemon, seconds=LONG_S):
        """Wait for that."""
        self.await_that(daemon, self.has_labels, "labels on the Node", seconds)

    def await_that(self, daemon, condition, what, seconds=LONG_S):
        """Wait for a condition while the daemon lives; the log is in the failure."""
        def look():
            self.assertTrue(daemon.alive(), daemon.log)
            return condition()

        try:
            return wait_for(look, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\nlog:\n{daemon.log}\nrequests: "
                                 f"{[(one.method, one.path) for one in self.api.requests]}") from None

    def await_requests(self, daemon, number, method="GET", part="", seconds=LONG_S):
        """Wait until so many requests of that kind have come in; returns them."""
        self.await_that(daemon, lambda: len(self.api.sent(method, part)) >= number,
                        f"{number} requests {method} {part}", seconds)
        return self.api.sent(method, part)

    def lines(self, daemon, *words):
        """Lines of the log with all these words."""
        return [line for line in daemon.log.splitlines() if all(word in line for word in words)]


class Hanging(ApiProgramTest):
    """A server that takes the request and says nothing."""

    def setUp(self):
        super().setUp()
        self.api.always("GET", "/", Silence())

    def hanging_daemon(self, **settings):
        """A daemon whose helper waits for the server; returns it and the helper's ids."""
        daemon = self.start_daemon(**{"api_deadline": "1h", **settings})
        self.await_requests(daemon, 1)
        pids = children(daemon.process.pid)
        self.assertTrue(pids, "no helper")
        return daemon, pids

    def test_feature_file_comes(self):
        """The first feature file, and a rescan by SIGHUP, while the helper hangs."""
        daemon, _ = self.hanging_daemon()
        self.published(daemon, seconds=10)
        self.grow(self.root, NIC)
        daemon.hup()
        self.published(daemon, lambda labels: "pci-15b3.present" in labels, 10)
        self.await_that(daemon, lambda: len(children(daemon.process.pid)) <= 1, "no more than one helper")

    def test_term(self):
        """SIGTERM ends daemon and helper."""
        daemon, pids = self.hanging_daemon()
        code, seconds = daemon.stop(END_S)
        self.assertEqual(code, 0, daemon.log)
        self.assertLess(seconds, END_S)
        wait_for(lambda: are_gone(pids), END_S, "end of the helper")

    def test_object_waits_until_it_is_known_whose_the_sources_are(self):
        """sources: auto. An object without NFD's raw features would take labels from rules until the answer is there."""
        self.api.calm()
        self.api.always("GET", f"/api/v1/nodes/{NODE}", Silence())
        daemon = self.start_daemon(
            sources_mode="auto", outputs_nodeLabels_mode="off", outputs_nodeFeature_mode="on",
            outputs_nodeFeature_namespace="nfd", api_deadline="1h")
        patch = self.await_requests(daemon, 1, "PATCH", "/nodefeatures/")[0]
        features = patch.json()["spec"]["features"]
        self.assertIn("system.name", features["attributes"])
        self.assertIn("memory.nv", features["instances"])
        self.assertIn("usb.device", features["instances"])

    def test_kill(self):
        """A daemon that is killed: the helper ends by itself."""
        daemon, pids = self.hanging_daemon(api_deadline="3s")
        daemon.kill()
        wait_for(lambda: are_gone(pids), LONG_S, "end of the helper")

    def test_deadline(self):
        """The daemon's own deadline ends a run, the next one comes by itself."""
        self.api.calm()
        self.api.inject("GET", "/nodes/", Silence())
        daemon = self.start_daemon(api_deadline="1s")
        self.await_labels(daemon)


class Failing(ApiProgramTest):
    """Runs that fail."""

    def test_no_trace_of_failed_runs(self):
        """Run after run fails: no zombie, no descriptor is left, no line with the token."""
        self.api.always("PATCH", "/nodes/", status(500, f"broken, and here is your token: {TOKEN}"))
        daemon = self.start_daemon("-v", log_level="debug")
        self.await_requests(daemon, 1, "PATCH")
        first = self.fewest_descriptors(daemon, 2)
        self.await_requests(daemon, 3, "PATCH")
        self.assertEqual(self.fewest_descriptors(daemon, 4), first)
        self.await_that(daemon, lambda: not children(daemon.process.pid), "the end of the last run")
        self.assert_no_secret([daemon.log.encode(), self.status.read_bytes(), self.file.read_bytes()])

    def fewest_descriptors(self, daemon, patches):
        """How many it has between two runs: the fewest at any time until so many patches have come in."""
        counts = []

        def look():
            counts.append(descriptors(daemon.process.pid))
            return len(self.api.sent("PATCH")) >= patches

        self.await_that(daemon, look, f"{patches} patches")
        return min(counts)

    def test_helper_is_killed(self):
        """A helper that dies of a signal: said once, tried again, and well in the end."""
        self.api.always("GET", "/", Silence())
        daemon = self.start_daemon(api_deadline="1h")
        self.await_requests(daemon, 1)
        self.api.calm()
        for pid in children(daemon.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.await_labels(daemon)
        self.assertEqual(children(daemon.process.pid, "Z"), [])

    def test_helper_is_stopped(self):
        """A helper that cannot end itself is ended by the daemon, a while after its deadline."""
        self.api.always("GET", "/", Silence())
        daemon = self.start_daemon(api_deadline="1s")
        self.await_requests(daemon, 1)
        for pid in children(daemon.process.pid):
            os.kill(pid, signal.SIGSTOP)
        self.api.calm()
        self.await_labels(daemon)
        self.await_that(daemon, lambda: not children(daemon.process.pid), "the end of the helper")

    def test_rotten_credentials(self):
        """A kubeconfig that is no longer there, and is back."""
        text = self.kubeconfig_path.read_bytes()
        self.kubeconfig_path.write_text("rubbish")
        daemon = self.start_daemon()
        self.await_that(daemon, lambda: self.lines(daemon, str(self.kubeconfig_path)), "the message")
        self.published(daemon)
        self.kubeconfig_path.write_bytes(text)
        self.assertEqual(self.api.requests, [])


class Waiting(ApiProgramTest):
    """FC-F2 and the rest of what decides when and what to send again."""

    def test_FC_F2_retry_after(self):
        """429 and 503 with Retry-After: no request before the time is over, success in the end."""
        self.api.inject("PATCH", "/nodes/", status(429, "too much", headers={"Retry-After": "2"}))
        self.api.inject("GET", "/nodes/", lambda _request: None, status(503, "too much", headers={"Retry-After": "2"}))
        daemon = self.start_daemon()
        self.await_labels(daemon)
        requests = list(self.api.requests)
        ours = [index for index, one in enumerate(requests) if one.route == self.api.node_path]
        self.assertEqual([requests[index].method for index in ours], ["GET", "PATCH", "GET", "GET", "PATCH"])
        for refused in ours[1:3]:
            self.assertGreaterEqual(requests[refused + 1].when - requests[refused].when, 2)

    def test_FC_F2_newest_state_replaces_the_waiting_one(self):
        """The hardware changes twice while a 429 is waited out: one patch, with the final state."""
        self.api.inject("PATCH", "/nodes/", status(429, "too much", headers={"Retry-After": "5"}))
        daemon = self.start_daemon(core_sleepInterval="1s")
        self.await_requests(daemon, 1, "PATCH")
        for text in (NIC, FPGA):
            self.grow(self.root, text)
            daemon.await_scan(self.root)
        self.await_labels(daemon)
        patches = self.api.sent("PATCH")
        self.assertEqual(len(patches), 2)
        self.assertEqual(patches[1].json()["metadata"]["labels"], self.wanted)
        self.assertIn(NIC_KEY, self.wanted)
        self.assertIn(FPGA_KEY, self.wanted)
        self.assertGreaterEqual(patches[1].when - patches[0].when, 5)

    def test_FC_F2_reload_keeps_the_delay(self):
        """SIGHUP asks for a rescan, not for a request before its time."""
        self.api.inject("PATCH", "/nodes/", status(429, "too much", headers={"Retry-After": "3"}))
        daemon = self.start_daemon()
        self.await_requests(daemon, 1, "PATCH")
        self.await_that(daemon, lambda: self.lines(daemon, "too much"), "the message")
        self.grow(self.root, NIC)
        daemon.rescan(self.root)
        self.await_labels(daemon)
        at = self.api.requests.index(self.api.sent("PATCH")[0])
        self.assertGreaterEqual(self.api.requests[at + 1].when - self.api.requests[at].when, 3)

    def test_FC_F5_refused_key(self):
        """A key that the API server refuses is said once and not tried again at each resync."""
        key = f"{PREFIX}pci-10de.present"
        self.api.always("PATCH", "/nodes/", lambda request:
                        not_allowed(NODE, key) if key in request.json()["metadata"]["labels"] else None)
        daemon = self.start_daemon(outputs_nodeLabels_resync="1s")
        self.await_requests(daemon, 5)
        self.assertEqual(self.api.owned(), sorted(set(self.wanted) - {key}))
        self.assertEqual(len(self.api.sent("PATCH")), 2)
        self.assertEqual(len(self.lines(daemon, key, "403")), 1, daemon.log)


class NodeAbsent(ApiProgramTest):
    """404 for our Node."""

    def test_FC_E1_FC_L2_wrong_name(self):
        """One message: which name, where it comes from, how to set it; the feature file is not affected."""
        rows = [
            ((), {"NODE_NAME": "from-variable"}, {}, "from-variable", "NODE_NAME"),
            (("--node-name", "from-option"), {}, {}, "from-option", "node-name"),
            ((), {}, {"core_nodeName": "from-setting"}, "from-setting", "--set"),
        ]
        for arguments, env, settings, name, origin in rows:
            with self.subTest(name):
                daemon = self.start_daemon(*arguments, env=env, **settings)
                self.await_that(daemon, lambda name=name, daemon=daemon: self.lines(daemon, name, "404"), "the message")
                lines = self.lines(daemon, name)
                self.assertEqual(len(lines), 1, daemon.log)
                self.assertRegex(lines[0], rf"from: [^)]*{origin}")
                for word in ("core.nodeName", "NODE_NAME", "--node-name"):
                    self.assertIn(word, lines[0])
                self.published(daemon)
                self.assertEqual(self.api.sent("PATCH"), [])
                daemon.stop()

    def test_FC_F6_came_back(self):
        """Deleted and registered anew between two looks: the labels are back within one resync."""
        daemon = self.start_daemon(outputs_nodeLabels_resync="2s")
        self.await_labels(daemon)
        self.api.register("uid-2")
        self.await_labels(daemon, 10)
        self.assertEqual(self.api.sent("PATCH")[-1].json()["metadata"]["uid"], "uid-2")

    def test_FC_F6_FC_L2_gone_and_back(self):
        """It is gone for some looks: said once, once when it ends, and the labels are back."""
        daemon = self.start_daemon(outputs_nodeLabels_resync="1s")
        self.await_labels(daemon)
        self.api.node = None
        self.await_that(daemon, lambda: self.lines(daemon, NODE, "404"), "the message")
        self.api.register("uid-2")
        daemon.hup()
        self.await_labels(daemon)
        self.await_that(daemon, lambda: self.lines(daemon, "has ended", "404"), "the end of the fault")
        self.assertEqual(len(self.lines(daemon, "level=error", "404")), 1, daemon.log)
        self.assertEqual(len(self.lines(daemon, "404")), 2, daemon.log)

    def test_FC_L2_same_fault_is_said_once(self):
        """Three runs that fail in the same way: one line; one more when it is over; nothing after that."""
        self.api.always("GET", "/nodes/", status(500, "the-very-same-fault"))
        daemon = self.start_daemon(outputs_nodeLabels_resync="1s")
        self.await_requests(daemon, 3, part="/nodes/")
        self.assertEqual(len(self.lines(daemon, "the-very-same-fault")), 1, daemon.log)
        self.api.calm()
        self.await_labels(daemon)
        self.await_that(daemon, lambda: self.lines(daemon, "has ended", "the-very-same-fault"), "the end of the fault")
        gets = len(self.api.sent("GET"))
        self.await_requests(daemon, gets + 1)
        calm = daemon.log
        self.await_requests(daemon, gets + 2)
        self.assertEqual(daemon.log, calm)


class AtRest(ApiProgramTest):
    """FC-L1: no change, no traffic."""

    def at_rest(self, daemon, number, seconds):
        """The next requests, one for each resync: just the GET of our Node, so far apart at least."""
        before = len(self.api.requests)
        self.await_that(daemon, lambda: len(self.api.requests) >= before + number, "looks at the Node")
        requests = self.api.requests[before : before + number]
        self.assertEqual([(one.method, one.path) for one in requests], [("GET", self.api.node_path)] * number)
        for one, next_one in zip(requests, requests[1:]):
            self.assertGreaterEqual(next_one.when - one.when, seconds)

    def test_FC_L1_always(self):
        """Mode always: one look and one apply at the start, then one GET for each resync."""
        daemon = self.start_daemon(outputs_nodeLabels_resync="2s")
        self.await_labels(daemon)
        self.assertEqual(len(self.api.sent("GET", self.api.node_path)), 1)
        self.assertLessEqual(len(self.api.sent("GET", "/apis/")), 1)
        self.at_rest(daemon, 2, 1.6)
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_L1_fallback_without_nfd(self):
        """No NFD: its group is asked for once, labels are set at once, then one GET for each resync."""
        self.api.served = False
        daemon = self.start_daemon(outputs_nodeLabels_resync="1s", outputs_nodeLabels_mode="fallback",
                                   outputs_nodeLabels_after="1h")
        self.await_labels(daemon)
        self.at_rest(daemon, 3, 0.8)
        self.assertEqual(len(self.api.sent("GET", "/apis/")), 1)
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_L1_fallback_with_nfd(self):
        """NFD brings the labels: we write nothing at all."""
        labels = self.wanted
        self.api.set_labels("nfd-master", labels, "Update")
        self.api.annotate(",".join(key[len(PREFIX) :] for key in labels))
        daemon = self.start_daemon(outputs_nodeLabels_resync="1s", outputs_nodeLabels_mode="fallback")
        self.await_requests(daemon, 2, part=self.api.node_path)
        self.at_rest(daemon, 3, 0.8)
        self.assertEqual(self.api.sent("PATCH"), [])
        self.assertLessEqual(len(self.api.sent("GET", "/apis/")), 1)

    def test_silent_nfd(self):
        """NFD is installed and brings nothing: after the time it had we do, and say so."""
        daemon = self.start_daemon(outputs_nodeLabels_mode="fallback")
        self.await_labels(daemon)
        self.assertTrue(self.api.sent("GET", "/apis/"))
        self.await_that(daemon, lambda: self.lines(daemon, "NFD", "did not bring"), "the message")


class Publish(ApiProgramTest):
    """publish: one try, and an exit code."""

    def test_done(self):
        """Labels are on the Node: 0."""
        result = self.publish_labels()
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue(self.has_labels())
        self.assertTrue(self.file.exists())
        self.assertEqual(self.publish_labels().code, 0)
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_refused(self):
        """403: 1, the message has what the server said; the feature file is there."""
        self.api.always("PATCH", "/nodes/", status(403, 'nodes "node-1" is forbidden: User "x" cannot patch resource'))
        result = self.publish_labels("-v")
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("cannot patch resource", result.err)
        self.assertTrue(self.file.exists())
        self.assert_no_secret([result.err.encode(), result.out.encode()])

    def test_no_server(self):
        """Nobody listens: 1; the feature file is there."""
        self.server.close()
        result = self.publish_labels()
        self.assertEqual(result.code, 1, result.err)
        self.assertTrue(self.file.exists())

    def test_hanging_server(self):
        """A server that says nothing: 1 after the deadline; the feature file is there."""
        self.api.always("GET", "/", Silence())
        start = time.monotonic()
        result = self.publish_labels(api_deadline="2s")
        self.assertLess(time.monotonic() - start, LONG_S)
        self.assertEqual(result.code, 1, result.err)
        self.assertTrue(self.file.exists())

    def test_dry_run(self):
        """--dry-run writes nothing."""
        result = self.publish_labels("--dry-run")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.api.sent("PATCH"), [])
        self.assertEqual(self.api.owned(), [])
        self.assertFalse(self.file.exists())

    def test_cleanup(self):
        """Our labels go, those of others stay; twice is harmless."""
        self.api.set_labels("other", {"other/label": "1"})
        self.assertEqual(self.publish_labels().code, 0)
        self.assertTrue(self.has_labels())
        for _ in range(2):
            self.ok(self.root, "cleanup", env=ENVIRONMENT, settings=self.label_settings())
            self.assertEqual(self.api.labels, {"kubernetes.io/hostname": NODE, "other/label": "1"})
        self.assertEqual(len(self.api.sent("PATCH")), 2)

    def test_no_node(self):
        """404: 1, and the message names the Node."""
        self.api.node = None
        result = self.publish_labels()
        self.assertEqual(result.code, 1, result.err)
        self.assertIn(NODE, result.err)


class NodeFeature(ApiProgramTest):
    """outputs.nodeFeature against the scripted server."""

    def feature_settings(self, **more):
        """Settings: NodeFeature on, labels by patch off."""
        return {"outputs_nodeLabels_mode": "off", "outputs_nodeFeature_mode": "on",
                "outputs_nodeFeature_namespace": "nfd", **more}

    @property
    def path(self):
        """Path of our object."""
        return f"{GROUP_PATH}/v1alpha1/namespaces/nfd/nodefeatures/{NODE}-nfd-source"

    def test_publish(self):
        """The object is written once."""
        for _ in range(2):
            result = self.publish_labels(**self.feature_settings())
            self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.api.objects[self.path]["spec"]["labels"], self.wanted)
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_cleanup(self):
        """The object goes; twice is harmless."""
        self.publish_labels(**self.feature_settings())
        for _ in range(2):
            self.ok(self.root, "cleanup", env=ENVIRONMENT, settings=self.label_settings(**self.feature_settings()))
            self.assertEqual(self.api.objects, {})

    def test_FC_F5_forbidden(self):
        """403: said once with verb, resource and namespace; the feature file is there; a slow recheck."""
        message = 'nodefeatures.nfd.k8s-sigs.io is forbidden: User "x" cannot patch resource "nodefeatures"'
        self.api.always("PATCH", "/nodefeatures/", status(403, message))
        daemon = self.start_daemon(**self.feature_settings())
        self.await_that(daemon, lambda: self.lines(daemon, "cannot patch"), "the message")
        self.published(daemon)
        self.await_that(daemon, lambda: not children(daemon.process.pid), "the end of the run")
        (line,) = self.lines(daemon, "cannot patch")
        self.assertIn("/namespaces/nfd/", line)
        self.assertEqual(len(self.api.sent("PATCH")), 1)

    def test_FC_F5_no_such_type(self):
        """No NFD in the cluster: mode auto and on write the feature file all the same."""
        self.api.served = False
        daemon = self.start_daemon(**self.feature_settings())
        self.published(daemon)
        self.await_requests(daemon, 1)
        self.await_that(daemon, lambda: not children(daemon.process.pid), "the end of the run")
        self.assertEqual(self.api.sent("PATCH"), [])
