# SPDX-License-Identifier: GPL-2.0-or-later
"""A small client of the Kubernetes API for the tests: requests, and a watch on one Node."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time

import process

REQUEST_TIMEOUT_S = 30
MARK = "e2e.nfd-source/mark"


class ApiError(Exception):
    """The API server refused a request; status is the HTTP status."""

    def __init__(self, status, text):
        super().__init__(f"HTTP {status}: {text}")
        self.status = status


class Api:
    """Access to https://127.0.0.1:port with the admin certificate of pki."""

    def __init__(self, port, pki):
        self.port = port
        self.tls = ssl.create_default_context(cafile=pki.file("ca.crt"))
        self.tls.load_cert_chain(pki.file("admin.crt"), pki.file("admin.key"))

    def connect(self, timeout_s=REQUEST_TIMEOUT_S):
        """A connection of its own; the caller closes it."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout_s, context=self.tls)

    def request(self, method, path, body=None, content_type="application/json"):
        """Send one request and return the answer's object.

        body: dict or list (sent as JSON), text, or None. Raises ApiError for a status of 300 and
        more, OSError when there is no connection.
        """
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, body, {"Content-Type": content_type})
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status >= 300:
            raise ApiError(answer.status, text)
        return json.loads(text)

    def find(self, path):
        """The object at a path, or None when there is none."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def is_ready(self):
        """Whether the API server says that it is ready; no connection counts as no."""
        try:
            with contextlib.closing(self.connect(5)) as connection:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
        except OSError:
            return False

    def node(self, name):
        """The Node object."""
        return self.request("GET", f"/api/v1/nodes/{name}")

    def patch_node(self, name, metadata, manager="e2e"):
        """Merge metadata into that of a Node, as the field manager of that name."""
        self.request("PATCH", f"/api/v1/nodes/{name}?fieldManager={manager}", {"metadata": metadata},
                     "application/merge-patch+json")

    def annotate_node(self, name, key, value):
        """Set one annotation of a Node."""
        self.patch_node(name, {"annotations": {key: value}})

    def label_managers(self, name):
        """Who owns which labels of a Node: field manager -> set of keys. A manager without labels has an empty set."""
        owned = {}
        for entry in self.node(name)["metadata"].get("managedFields", ()):
            fields = entry["fieldsV1"].get("f:metadata", {}).get("f:labels", {})
            keys = {field[2:] for field in fields if field.startswith("f:")}
            owned.setdefault(entry["manager"], set()).update(keys)
        return owned


class NodeWatch:
    """A WATCH on one Node, read by a thread of its own from entering to leaving the context.

    events: list of Node objects, one for each state the API server told, in order.
    """

    def __init__(self, api, name):
        self.api = api
        self.name = name
        self.events = []
        self.fault = None
        self._connection = api.connect(timeout_s=None)
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        version = self.api.node(self.name)["metadata"]["resourceVersion"]
        self._connection.connect()
        self._socket = self._connection.sock
        self._connection.request(
            "GET", f"/api/v1/nodes?watch=1&fieldSelector=metadata.name={self.name}"
                   f"&resourceVersion={version}")
        self._thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(REQUEST_TIMEOUT_S)
        self._connection.close()

    def _read(self):
        """Collect events until the connection ends; why it ended is kept in fault."""
        try:
            for line in self._connection.getresponse():
                event = json.loads(line)
                if event["type"] != "MODIFIED":
                    self.fault = f"watch event {event['type']}: {event['object']}"
                    return
                self.events.append(event["object"])
            self.fault = "the API server ended the watch"
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.fault = repr(error)

    def drain(self):
        """Return all events up to now: marks the Node and waits until that mark has been seen.

        Raises AssertionError when the watch ended early, so that a gap never passes for silence.
        """
        mark = str(time.monotonic_ns())
        self.api.annotate_node(self.name, MARK, mark)

        def seen():
            if self.fault:
                raise AssertionError(f"watch on node {self.name}: {self.fault}")
            return any(node["metadata"]["annotations"].get(MARK) == mark for node in self.events)

        process.wait_until(f"the watch on node {self.name} shows its mark", seen)
        return list(self.events)
