# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the helper nfd-source-api share: one way to run it, credentials for it, and what must never happen.

docs/api-protocol.md says what it is asked and what it answers.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import uuid
from pathlib import Path
from typing import NamedTuple

from certificates import Certificates
from fake_api import FakeApi
from https_server import HttpsServer, Proxy
from program import BINARY, PREFIX, clean_environment, load_json

HELPER = os.environ.get("NFD_SOURCE_API_BIN") or str(Path(BINARY).with_name("nfd-source-api"))

NODE = "node-1"
TOKEN = "tOkEn-0123456789.abcdefghijklmnop"
GPU_LABELS = {f"{PREFIX}pci-10de.present": "true", f"{PREFIX}gpu-10de.count": "2"}
MARK = "NFD_SOURCE_TEST_MARK"
LOOK_EVERY_S = 0.005
GRACE_S = 2
DEADLINE_MS = 20000
SHORT_MS = 2000
SOON_S = 30


class Ended(NamedTuple):
    """The end of one run of the helper: exit status, what it printed, processes it left behind."""

    code: int
    out: bytes
    err: bytes
    left: list


def secret_forms(secret):
    """A secret as it is and in base64, at each of the three offsets it can have in something longer."""
    raw = secret.encode()
    forms = {raw}
    for offset in range(3):
        text = base64.b64encode(b"." * offset + raw)
        forms.add(text[4 if offset else 0 : len(text) // 4 * 4 - 4])
    return {form for form in forms if len(form) >= 6}


def read_proc(pid, name):
    """A file of /proc/PID, b"" when the process is gone."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def living(session, mark):
    """(pid, command line) of processes that are of this session or have the mark in their environment; no zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = read_proc(pid, "stat").rpartition(b")")[2].split()
        if len(fields) < 4 or fields[0] in (b"Z", b"X"):
            continue
        if int(fields[3]) == session or mark.encode() in read_proc(pid, "environ"):
            found.append((int(pid), read_proc(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")))
    return found


def kill_rest(session, mark):
    """Kill what is alive of a session a moment after its end, and return it; what was killed just now may still go."""
    end = time.monotonic() + GRACE_S
    while (left := living(session, mark)) and time.monotonic() < end:
        time.sleep(LOOK_EVERY_S)
    for pid, _ in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


class Watcher:
    """Looks at the command lines of a process and its session while it runs, from a thread of its own."""

    def __init__(self, pid, mark):
        self.pid, self.mark = pid, mark
        self.seen = set()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self):
        while True:
            for name in ("cmdline", "environ"):
                self.seen.add(read_proc(self.pid, name))
            for _, command in living(self.pid, self.mark):
                self.seen.add(command.encode())
            if self.over.wait(LOOK_EVERY_S):
                return

    def end(self):
        """Stop looking; returns all texts that were seen."""
        self.over.set()
        self.thread.join()
        return self.seen


def run_helper(text, env, timeout, arguments=()):
    """Run the helper with text (bytes) as standard input; returns (Ended, texts of /proc seen during the run).

    It gets a session of its own; what of that is alive after its end is in left, and is killed.
    """
    mark = uuid.uuid4().hex
    with subprocess.Popen([HELPER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**clean_environment(env), MARK: mark}, start_new_session=True) as process:
        watcher = Watcher(process.pid, mark)
        try:
            out, err = process.communicate(text, timeout)
        finally:
            seen = watcher.end()
            left = kill_rest(process.pid, mark) if process.poll() is not None else []
            process.kill()
            kill_rest(process.pid, mark)
    return Ended(process.returncode, out, err, left), seen


class ApiTest(unittest.TestCase):
    """Base: certificates of the class, a temporary directory, servers that end with the test."""

    @classmethod
    def setUpClass(cls):
        parent = Path(tempfile.mkdtemp(prefix="nfd-source-test-"))
        cls.addClassCleanup(shutil.rmtree, parent, ignore_errors=True)
        cls.pki = Certificates(parent / "pki")

    def setUp(self):
        if not os.access(HELPER, os.X_OK):
            self.fail(f"no helper at {HELPER}; build it or set NFD_SOURCE_API_BIN")
        self.tmp = Path(tempfile.mkdtemp(prefix="nfd-source-test-"))
        self.addCleanup(shutil.rmtree, self.tmp, ignore_errors=True)
        self.secrets = [TOKEN, *self.pki.secrets()]
        self.serial = 0
        self.api = FakeApi(NODE)

    def write(self, stem, content):
        """A fresh file in the test's directory; returns its path."""
        self.serial += 1
        path = self.tmp / f"{self.serial}-{stem}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def certificate(self, name="server"):
        """The pair of paths that a server takes."""
        return self.pki.path(f"{name}.crt"), self.pki.path(f"{name}.key")

    def serve(self, answer=None, certificate="server", **options):
        """Start a server that ends with the test; a fault of its answer function is a failure of the test."""
        pair = self.certificate(certificate) if certificate else None
        server = HttpsServer(answer or self.api, pair, **options)
        self.addCleanup(self.check_server, server)
        self.enterContext(server)
        return server

    def check_server(self, server):
        """Its answer function raised nothing, and the fake API knew every request."""
        self.assertIsNone(server.fault)
        self.assertEqual(self.api.surprises, [])

    def proxy(self, to=None):
        """Start a proxy that ends with the test."""
        proxy = Proxy(to)
        self.enterContext(proxy)
        return proxy

    def kubeconfig(self, server, user=None, cluster=None, context=None, **top):
        """Write a kubeconfig for the server (or its URL); the dictionaries add fields or, with None, take them away."""
        url = server if isinstance(server, str) else server.url
        clusters = {"server": url, "certificate-authority": str(self.pki.path("ca.crt")), **(cluster or {})}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", **(context or {})}}],
            "clusters": [{"name": "k", "cluster": {k: v for k, v in clusters.items() if v is not None}}],
            "users": [{"name": "u", "user": {"token": TOKEN} if user is None else user}],
            **top,
        }
        return self.write("kubeconfig", json.dumps(config))

    def credentials(self, server, **options):
        """The request's credentials, by a kubeconfig."""
        return {"kubeconfig": str(self.kubeconfig(server, **options))}

    def request(self, action, server, **fields):
        """A request; server: a server or ready-made credentials."""
        credentials = server if isinstance(server, dict) else self.credentials(server)
        value = {"schema": 1, "action": action, "deadlineMilliseconds": DEADLINE_MS, "node": NODE,
                 "credentials": credentials, **fields}
        return {name: field for name, field in value.items() if field is not None}

    def node_labels(self, server, labels=None, **fields):
        """A request that brings labels onto the Node now."""
        return self.request("node-labels", server, **{"labels": GPU_LABELS if labels is None else labels,
                                                      "bring": "now", **fields})

    def look(self, server, key=f"{PREFIX}pci-10de.present", **fields):
        """A request that looks at one label: one GET when all is well."""
        return self.request("node-look", server, key=key, **fields)

    def call_helper(self, request, env=None, timeout=60, code=0):
        """Run the helper on one request (dictionary, text or bytes) and return its result.

        code: exit status, None: 0, or 2 with an error of kind request. Whatever the request: nothing on standard
        error, one JSON object, no process left, and no secret in what it printed or in the command lines and the
        environment that others can see.
        """
        text = json.dumps(request) if isinstance(request, dict) else request
        env = env or {}
        ended, seen = run_helper(text if isinstance(text, bytes) else text.encode(), env, timeout)
        self.assertNotIn(b"Sanitizer", ended.err, ended)
        self.assertGreaterEqual(ended.code, 0, f"killed by a signal: {ended}")
        self.assert_no_secret([ended.out, ended.err, *seen], "\n".join(env.values()))
        self.assertEqual(ended.err, b"", ended)
        self.assertEqual(ended.left, [], "processes left")
        result = load_json(ended.out.decode())
        self.assertIsInstance(result, dict)
        kind = result.get("error", {}).get("kind")
        allowed = (0, 2) if code is None and kind == "request" else (code or 0,)
        self.assertIn(ended.code, allowed, ended)
        if ended.code == 2:
            self.assertEqual(kind, "request", ended)
        self.assertEqual(result.get("schema"), 1, result)
        self.check_error(result.get("error"))
        return result

    def assert_no_secret(self, texts, given=""):
        """None of the secrets is in any of the texts; one that the test gave in the environment does not count."""
        for secret in self.secrets:
            if secret in given:
                continue
            for form in secret_forms(secret):
                for text in texts:
                    self.assertNotIn(form, text, f"secret {secret!r}")

    def check_error(self, error):
        """An error has the fields of the protocol and a message of one line."""
        if error is None:
            return
        self.assertIn(error["kind"], ("request", "credentials", "connect", "tls", "reply", "refused"), error)
        self.assertIn(error["retry"], ("soon", "slow"), error)
        self.assertTrue(error["message"], error)
        self.assertNotRegex(error["message"], r"[\x00-\x1f\x7f]")
        self.assertNotIn("out of memory", error["message"])
        self.assertEqual("status" in error, error["kind"] == "refused", error)
        if "retryAfterMilliseconds" in error:
            self.assertTrue(0 < error["retryAfterMilliseconds"] <= 300000, error)

    def succeed(self, request, **options):
        """Run a request that must succeed; returns the result."""
        result = self.call_helper(request, **options)
        self.assertNotIn("error", result)
        return result

    def fail_with(self, request, kind, status=None, retry=None, **options):
        """Run a request that must fail in that way; returns the error, with the result as its field result."""
        result = self.call_helper(request, **options)
        self.assertIn("error", result)
        error = result["error"]
        self.assertIn(error["kind"], (kind,) if isinstance(kind, str) else kind, result)
        if status is not None:
            self.assertEqual(error.get("status"), status, result)
        if retry is not None:
            self.assertEqual(error["retry"], retry, result)
        return {**error, "result": result}
