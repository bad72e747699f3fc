# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted HTTPS server and a small CONNECT proxy: they answer as they are told, also wrongly, and keep what came in.

    with HttpsServer(script(json_reply(503, {}), Reset()), certificate) as server: ...

The server asks its answer function for each request, function(Request) -> reply; a reply is any object with a method
send(handler). Both bind a free port of a loopback address and end with all connections when they are left.
"""

import contextlib
import http.client
import http.server
import json
import os
import select
import socket
import socketserver
import ssl
import struct
import threading
import time
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

NO_LINGER = struct.pack("ii", 1, 0)
CHUNK = 65536


class Request(NamedTuple):
    """One request as it came in.

    path: with the query. headers: looked up in any case. when: monotonic seconds at which it was there as a whole.
    client: common name of the client's certificate, "" without one.
    """

    method: str
    path: str
    headers: object
    body: bytes
    when: float
    client: str

    @property
    def route(self):
        """The path without the query."""
        return urlsplit(self.path).path

    @property
    def query(self):
        """The query as dictionary, name to value."""
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}

    @property
    def token(self):
        """The bearer token, None without one."""
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if kind == "Bearer" else None

    def json(self):
        """The body as object."""
        return json.loads(self.body)


class Reply:
    """A plain answer. body: bytes or text; headers: dictionary, replaces those of the server."""

    def __init__(self, status, body=b"", headers=None):
        self.status = status
        self.body = body.encode() if isinstance(body, str) else body
        self.headers = {"Content-Length": str(len(self.body)), **(headers or {})}

    def head(self):
        """Status line and headers."""
        lines = [f"HTTP/1.1 {self.status} {http.client.responses.get(self.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    def send(self, handler):
        """Write it as a whole."""
        handler.wfile.write(self.head() + self.body)


class Truncated(Reply):
    """Promises more bytes than it sends, then ends the connection."""

    def __init__(self, status, body, missing=1000):
        super().__init__(status, body)
        self.headers["Content-Length"] = str(len(self.body) + missing)

    def send(self, handler):
        super().send(handler)
        handler.close_connection = True


class Slow(Reply):
    """One byte a second, from the status line on."""

    def send(self, handler):
        handler.close_connection = True
        for byte in self.head() + self.body:
            handler.wfile.write(bytes([byte]))
            if handler.server.closing.wait(1):
                return


class Raw:
    """Just these bytes, then the end of the connection."""

    def __init__(self, text):
        self.text = text

    def send(self, handler):
        """Write it."""
        handler.wfile.write(self.text)
        handler.close_connection = True


class Endless:
    """start, then more again and again until the client or the server has had enough."""

    def __init__(self, start, more):
        self.start, self.more = start, more

    def send(self, handler):
        """Write until the connection ends."""
        handler.close_connection = True
        handler.wfile.write(self.start)
        while not handler.server.closing.is_set():
            handler.wfile.write(self.more)


class Reset:
    """Cuts the connection with a TCP reset."""

    def send(self, handler):
        """Reset it."""
        handler.close_connection = True
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        os.close(handler.connection.detach())


class Silence:
    """Never answers; the connection stays open."""

    def send(self, handler):
        """Wait until the server ends."""
        handler.close_connection = True
        handler.server.closing.wait()


def json_reply(status, value, headers=None):
    """value as JSON."""
    return Reply(status, json.dumps(value), {"Content-Type": "application/json", **(headers or {})})


def script(*replies):
    """An answer function: the replies in turn, the last one for every request after it."""
    left = list(replies)

    def answer(_request):
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection: TLS handshake, then requests until either side ends it."""

    protocol_version = "HTTP/1.1"

    def handle(self):
        with contextlib.suppress(OSError, ValueError):
            if self.server.silent:
                self.server.closing.wait()
                return
            if isinstance(self.connection, ssl.SSLSocket):
                self.connection.do_handshake()
            super().handle()

    def _serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, self.headers, body, time.monotonic(), self._client())
        self.server.answer(request).send(self)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do_HEAD = do_CONNECT = _serve  # pylint: disable=invalid-name

    def _client(self):
        certificate = isinstance(self.connection, ssl.SSLSocket) and self.connection.getpeercert() or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        return names[0] if names else ""

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        """Print nothing."""


class _Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """What server and proxy share: a free loopback port, and an end that ends all connections.

    closing: event that wakes up whatever waits. accepted: number of connections.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host, handler):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.accepted = 0
        self.open = set()
        super().__init__((host, 0), handler)
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def get_request(self):
        connection, address = super().get_request()
        with self.lock:
            self.accepted += 1
            self.open.add(connection)
        return connection, address

    def shutdown_request(self, request):
        with self.lock:
            self.open.discard(request)
        with contextlib.suppress(OSError):
            super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """A client that went away is no matter."""

    @property
    def port(self):
        """The port it listens on."""
        return self.server_address[1]

    def close(self):
        """End it, its thread and all connections; harmless when it has ended."""
        if self.closing.is_set():
            return
        self.closing.set()
        self.shutdown()
        self.thread.join()
        self.socket.close()
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.close()


class HttpsServer(_Listener):
    """Answers each request with answer(Request).send(handler).

    certificate: pair of paths, certificate and key; None: plain HTTP. client_ca: path, asks the client for a
    certificate of this authority. silent: takes connections and says nothing, not even of TLS.
    requests: list of all Requests so far. fault: first exception of an answer function, or None.
    """

    def __init__(self, answer, certificate, host="127.0.0.1", client_ca=None, silent=False):
        self.silent = silent
        self.answers = answer
        self.requests = []
        self.fault = None
        self.tls = self._tls(certificate, client_ca) if certificate else None
        super().__init__(host, _Handler)

    @staticmethod
    def _tls(certificate, client_ca):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        if client_ca:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def get_request(self):
        connection, address = super().get_request()
        if not self.tls:
            return connection, address
        with self.lock:
            self.open.discard(connection)
            connection = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            self.open.add(connection)
        return connection, address

    def answer(self, request):
        """Keep the request and find its reply; one at a time, so an answer function needs no lock."""
        with self.lock:
            self.requests.append(request)
            try:
                return self.answers(request)
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.fault = self.fault or error
                return Reply(500, f"fault of the test: {error!r}")

    @property
    def url(self):
        """https://HOST:PORT."""
        host = self.server_address[0]
        return f"http{'s' if self.tls else ''}://{f'[{host}]' if ':' in host else host}:{self.port}"


class Proxy(_Listener):
    """A proxy that knows CONNECT only.

    to: (host, port) of the server that every tunnel leads to; None: every CONNECT is refused with 502.
    targets: the host:port of every CONNECT. heads: all that clients said before the tunnel, as text.
    """

    def __init__(self, to=None):
        self.to = to
        self.targets, self.heads = [], []
        super().__init__("127.0.0.1", _Tunnel)

    @property
    def url(self):
        """http://HOST:PORT."""
        return f"http://127.0.0.1:{self.port}"


class _Tunnel(socketserver.BaseRequestHandler):
    """One connection to the proxy."""

    def handle(self):
        with contextlib.suppress(OSError):
            head = self._head()
            with self.server.lock:
                self.server.heads.append(head)
                self.server.targets.append((head.split() + ["", ""])[1])
            if not self.server.to or not head.startswith("CONNECT "):
                self.request.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            with socket.create_connection(self.server.to) as there:
                self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._carry(there)

    def _head(self):
        text = b""
        while b"\r\n\r\n" not in text:
            part = self.request.recv(CHUNK)
            if not part:
                raise ConnectionError("no CONNECT")
            text += part
        return text.decode(errors="replace")

    def _carry(self, there):
        """Move bytes both ways until one side ends."""
        other = {self.request: there, there: self.request}
        while not self.server.closing.is_set():
            for side in select.select(list(other), [], [], 0.1)[0]:
                part = side.recv(CHUNK)
                if not part:
                    return
                other[side].sendall(part)


def refused_port():
    """A loopback port on which nobody listens; bound to a socket that is returned, so that nobody takes it."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]
