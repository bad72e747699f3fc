# SPDX-License-Identifier: GPL-2.0-or-later
"""The helper's actions for doctor: node-read, event, dcgm (docs/api-protocol.md)."""

import re
import time

from api_helper import DEADLINE_MS, NODE, SHORT_MS, SOON_S, TOKEN, ApiTest
from fake_api import status
from https_server import Endless, Raw, Reply, Reset, Silence, Truncated, json_reply, refused_port

EVENTS = "/api/v1/namespaces/default/events"
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
DELETED = object()
MIB = 1 << 20

SAMPLES = """# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA L4",Hostname="n"} 3
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA L4",Hostname="n"} 0
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA L4",Hostname="n"} 12
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA L4",Hostname="n"} 12
"""


class NodeRead(ApiTest):
    """node-read: what doctor wants to know of our Node."""

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def test_all(self):
        """uid, annotation of NFD, labels, capacity, allocatable, in one GET."""
        self.api.set_labels("x", {"nvidia.com/gpu.product": "NVIDIA-L4"})
        self.api.node["status"] = {"capacity": {"cpu": "64", "nvidia.com/gpu": "2", "memory": "512Gi"},
                                   "allocatable": {"cpu": "63500m", "nvidia.com/gpu": "0"}}
        result = self.succeed(self.request("node-read", self.server))
        self.assertEqual(result["node"], {"uid": "uid-1", "nfd": False})
        self.assertEqual(result["labels"], self.api.labels)
        self.assertEqual(result["capacity"], self.api.node["status"]["capacity"])
        self.assertEqual(result["allocatable"], self.api.node["status"]["allocatable"])
        self.assertEqual(result["requests"], {"get": 1})
        self.assertEqual([(request.method, request.path) for request in self.api.requests],
                         [("GET", f"/api/v1/nodes/{NODE}")])
        self.api.annotate("x")
        self.assertTrue(self.succeed(self.request("node-read", self.server))["node"]["nfd"])

    def test_fields_that_lack(self):
        """Empty objects stand for what the Node does not have."""
        for node in ({"metadata": {"uid": "u"}}, {"metadata": {"uid": "u"}, "status": {}},
                     {"metadata": {"uid": "u", "labels": None}, "status": {"capacity": [], "allocatable": 5}}):
            with self.subTest(node):
                self.api.inject("GET", "", json_reply(200, node))
                result = self.succeed(self.request("node-read", self.server))
                self.assertEqual((result["labels"], result["capacity"], result["allocatable"]), ({}, {}, {}))

    def test_refused(self):
        """The API server's words and status; nothing of the Node."""
        for code, retry in ((401, "slow"), (403, "slow"), (404, "slow"), (429, "soon"), (500, "soon"), (503, "soon")):
            with self.subTest(code):
                self.api.always("GET", "", status(code, f"words of {code}"))
                error = self.fail_with(self.request("node-read", self.server), "refused", code, retry)
                self.assertIn(f"words of {code}", error["message"])
                self.assertNotIn("labels", error["result"])
                self.api.calm()

    def test_odd_replies(self):
        """Replies that are no Node are an error or an empty Node, never a crash."""
        for reply in (Reply(200, ""), Reply(200, "x"), json_reply(200, []), json_reply(200, 5), Reply(200, "{" * 10000),
                      Truncated(200, "{}"), Raw(b"HTTP/1.1 200 OK\r\n"), Reset()):
            with self.subTest(type(reply).__name__):
                self.api.always("GET", "", reply)
                self.fail_with(self.request("node-read", self.server), ("reply", "connect"))
                self.api.calm()

    def test_name_is_escaped(self):
        """A name cannot lead to another path."""
        for name in ("../pods", "a/b", "a?b", "..", "a%2fb"):
            with self.subTest(name):
                before = len(self.server.requests)
                self.call_helper(self.request("node-read", self.server, node=name), code=None)
                for request in self.server.requests[before:]:
                    self.assertRegex(request.path, r"\A/api/v1/nodes/[^/?]+\Z")
        self.api.surprises.clear()


class Event(ApiTest):
    """event: an Event on our Node."""

    def setUp(self):
        super().setUp()
        self.answer = json_reply(201, {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "x"}})
        self.server = self.serve(lambda request: self.answer)

    def event(self, **fields):
        """A request."""
        text = {"reason": "GPUDriverMismatch", "message": "library and module differ"}
        return self.request("event", self.server, **{**text, **fields})

    def test_body(self):
        """One POST; the object is about our Node and from us."""
        result = self.succeed(self.event(warning=True))
        self.assertEqual((result["written"], result["requests"]), (True, {"post": 1}))
        (request,) = self.server.requests
        self.assertEqual((request.method, request.path, request.token), ("POST", EVENTS, TOKEN))
        self.assertEqual(request.headers["Content-Type"].partition(";")[0], "application/json")
        body = request.json()
        name = body["metadata"].pop("name")
        self.assertRegex(name, rf"\A{NODE}\.[0-9a-f]+\Z")
        first, last = body.pop("firstTimestamp"), body.pop("lastTimestamp")
        self.assertRegex(first, TIME)
        self.assertEqual(first, last)
        self.assertEqual(body, {
            "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "default"},
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": NODE},
            "reason": "GPUDriverMismatch", "message": "library and module differ", "type": "Warning",
            "source": {"component": "nfd-source", "host": NODE}, "reportingComponent": "nfd-source",
            "reportingInstance": NODE, "count": 1})

    def test_type(self):
        """Normal unless it is a warning; names differ from event to event."""
        for warning, kind in ((None, "Normal"), (False, "Normal"), (True, "Warning")):
            self.succeed(self.event(warning=warning))
            self.assertEqual(self.server.requests[-1].json()["type"], kind)
        names = [request.json()["metadata"]["name"] for request in self.server.requests]
        self.assertEqual(len(set(names)), len(names))

    def test_texts(self):
        """Any text arrives as it is."""
        for text in ('"quotes" \\ and / more', "line\nline", "\u00e9\u20ac\U0001f600", "<&>", "x" * 1024):
            with self.subTest(text[:10]):
                self.succeed(self.event(message=text))
                self.assertEqual(self.server.requests[-1].json()["message"], text)

    def test_long_name(self):
        """A Node's name may have 253 letters, and so may the Event's, as a whole."""
        self.succeed(self.event(node="n" * 253))
        body = self.server.requests[-1].json()
        self.assertLessEqual(len(body["metadata"]["name"]), 253)
        self.assertEqual(body["involvedObject"]["name"], "n" * 253)

    def test_refused(self):
        """No right to write events, and others: an error, nothing written."""
        for code, retry in ((401, "slow"), (403, "slow"), (404, "slow"), (422, "slow"), (429, "soon"), (500, "soon")):
            with self.subTest(code):
                self.answer = status(code, f"words of {code}")
                error = self.fail_with(self.event(), "refused", code, retry)
                self.assertIn(f"words of {code}", error["message"])
                self.assertNotIn("written", error["result"])

    def test_connection(self):
        """Cut, silent."""
        self.answer = Reset()
        self.fail_with(self.event(), "connect", retry="soon")
        self.answer = Silence()
        self.fail_with(self.event(deadlineMilliseconds=SHORT_MS), "connect", retry="soon")

    def test_wrong_requests(self):
        """Each field missing or of a wrong kind: nothing is sent."""
        rows = [("reason", (DELETED, "", 5, None, [])), ("message", (DELETED, "", 5, None, {})),
                ("warning", (5, "true", [], {})), ("node", (DELETED, "", ".", "..", 5))]
        for name, values in rows:
            for value in values:
                with self.subTest((name, value if value is not DELETED else "missing")):
                    request = {**self.event(), name: value}
                    if value is DELETED:
                        del request[name]
                    self.fail_with(request, "request", code=2)
        self.assertEqual(self.server.requests, [])


class Dcgm(ApiTest):
    """dcgm: plain HTTP to a loopback address, without credentials."""

    def setUp(self):
        super().setUp()
        self.answer = Reply(200, SAMPLES)

    def exporter(self, **options):
        """A dcgm-exporter on a free port."""
        return self.serve(lambda request: self.answer, None, **options)

    def ask(self, url, **fields):
        """A request without credentials and node."""
        return {"schema": 1, "action": "dcgm", "deadlineMilliseconds": DEADLINE_MS, "url": url, **fields}

    def test_counts(self):
        """Different GPUs with samples."""
        line = 'DCGM_FI_DEV_GPU_UTIL{{gpu="{}",UUID="GPU-a"}} 3\n'
        rows = [
            (SAMPLES, 2), ("", 0), ("\n\n", 0), (SAMPLES.rstrip("\n"), 2), ("# only a comment\n", 0),
            ("go_goroutines 7\n", 0), ('other{gpu="0"} 1\n', 0), ("DCGM_FI_DEV_GPU_UTIL 3\n", 0),
            ("".join(map(line.format, range(8))), 8), (line.format(0) * 1000, 1), (line.format(7), 1),
            (line.format("99999999999999999999"), 0), (line.format(-1), 0), ("\0\xff" * 100, 0),
            ('DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-a",GPU_I_ID="3"} 3\n' * 2, 1),
        ]
        server = self.exporter()
        for text, count in rows:
            with self.subTest(text[:60]):
                self.answer = Reply(200, text.encode("latin-1"))
                result = self.succeed(self.ask(f"{server.url}/metrics"))
                self.assertEqual((result["gpus"], result["requests"]), (count, {"get": 1}))
        self.assertEqual({(request.method, request.path) for request in server.requests}, {("GET", "/metrics")})

    def test_addresses(self):
        """Each form of a loopback address."""
        server = self.exporter()
        for url in (f"http://127.0.0.1:{server.port}/metrics", f"http://localhost:{server.port}/metrics"):
            with self.subTest(url):
                self.assertEqual(self.succeed(self.ask(url))["gpus"], 2)
        try:
            six = self.exporter(host="::1")
        except OSError:
            return
        self.assertEqual(self.succeed(self.ask(f"http://[::1]:{six.port}/metrics"))["gpus"], 2)

    def test_no_credentials_are_sent(self):
        """Those that a request has stay with us; no cookie, no proxy."""
        server, proxy = self.exporter(), self.proxy()
        kubeconfig = self.credentials(server.url.replace("http", "https"))
        env = {name: proxy.url for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")}
        for fields in ({}, {"credentials": kubeconfig, "node": NODE}, {"credentials": {"inCluster": True}},
                       {"credentials": kubeconfig, "proxy": proxy.url}):
            with self.subTest(fields):
                self.assertEqual(self.succeed(self.ask(f"{server.url}/metrics", **fields), env=env)["gpus"], 2)
        for request in server.requests:
            for header in ("Authorization", "Proxy-Authorization", "Cookie"):
                self.assertIsNone(request.headers.get(header))
        self.assertEqual(proxy.accepted, 0)

    def test_no_broken_credentials_matter(self):
        """A kubeconfig that is not there is not read."""
        server = self.exporter()
        request = self.ask(f"{server.url}/metrics", credentials={"kubeconfig": "/none"})
        self.assertEqual(self.succeed(request)["gpus"], 2)

    def test_other_urls(self):
        """Only http:// to a loopback address with a port; nothing is sent anywhere."""
        server, other = self.exporter(), self.exporter(host="127.0.0.2")
        rows = [
            "", "x", "http://", f"https://127.0.0.1:{server.port}/metrics", f"HTTP://127.0.0.1:{server.port}/metrics",
            f"ftp://127.0.0.1:{server.port}/", "file:///etc/passwd", "http://127.0.0.1/metrics",
            f"http://127.0.0.1.example:{server.port}/", f"http://10.0.0.1:{server.port}/",
            f"http://127.0.0.2:{other.port}/metrics", f"//127.0.0.1:{server.port}/",
            f" http://127.0.0.1:{server.port}/", f"http://user@127.0.0.1:{server.port}/", 5, None, [], {},
        ]
        for url in rows:
            with self.subTest(url):
                self.fail_with(self.ask(url), "request", code=2)
        self.assertEqual((server.requests, other.requests), ([], []))

    def test_another_host_behind_a_loopback_address(self):
        """What looks like one and is a user name, or a redirection, does not lead elsewhere."""
        server, other = self.exporter(), self.exporter(host="127.0.0.2")
        rows = [f"http://127.0.0.1:{server.port}@127.0.0.2:{other.port}/metrics",
                f"http://localhost:x@127.0.0.2:{other.port}/metrics",
                f"http://127.0.0.1:@127.0.0.2:{other.port}/metrics",
                f"http://[::1]:1@127.0.0.2:{other.port}/metrics"]
        for url in rows:
            with self.subTest(url):
                self.fail_with(self.ask(url), "request", code=2)
        self.answer = Reply(302, "", {"Location": f"http://127.0.0.2:{other.port}/metrics"})
        self.fail_with(self.ask(f"{server.url}/metrics"), "refused", 302)
        self.assertEqual(other.requests, [])

    def test_bad_port(self):
        """No number, none at all, or too large: no crash."""
        for port in ("", "x", "0", "65536", "-1", "9400 x", "99999999999999999999"):
            with self.subTest(port):
                self.fail_with(self.ask(f"http://127.0.0.1:{port}/metrics"), ("request", "connect", "reply"), code=None)

    def test_refused(self):
        """It answers, and not with samples."""
        server = self.exporter()
        for code in (404, 500, 503):
            with self.subTest(code):
                self.answer = Reply(code, "words")
                error = self.fail_with(self.ask(f"{server.url}/metrics"), "refused", code)
                self.assertNotIn("gpus", error["result"])

    def test_nobody_listens(self):
        """A port without a listener."""
        holder, port = refused_port()
        with holder:
            self.fail_with(self.ask(f"http://127.0.0.1:{port}/metrics"), "connect", retry="soon")

    def test_cut_and_silent(self):
        """A cut reply, none at all, one without end: within the deadline."""
        server = self.exporter()
        for reply, kinds in ((Truncated(200, SAMPLES), ("connect", "reply")), (Reset(), ("connect",)),
                             (Raw(b"rubbish\r\n\r\n"), ("connect", "reply")), (Silence(), ("connect",)),
                             (Endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536), ("reply",))):
            with self.subTest(type(reply).__name__):
                self.answer = reply
                start = time.monotonic()
                self.fail_with(self.ask(f"{server.url}/metrics", deadlineMilliseconds=SHORT_MS), kinds)
                self.assertLess(time.monotonic() - start, SOON_S)

    def test_large(self):
        """Samples of many GPUs and pods are taken up to 4 MiB."""
        server = self.exporter()
        text = "".join(f'DCGM_FI_X{{gpu="{number}",pod="{"p" * 200}"}} 1\n' for number in range(256)) * 60
        self.answer = Reply(200, text)
        self.assertLess(len(text), 4 * MIB)
        self.assertEqual(self.succeed(self.ask(f"{server.url}/metrics"))["gpus"], 256)
        self.answer = Reply(200, text * 2)
        self.fail_with(self.ask(f"{server.url}/metrics"), "reply")
