# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock nfd-worker that has a fixture root for its own, and the NodeFeature that it publishes for it.

    published = ChrootWorker(program, Room(directory)).publish(root, ("kernel", "memory"))

The worker is confined to the root by chroot(2), so that also the paths for which it knows no prefix (/proc/modules,
/proc/config.gz, /lib/modules) are the fixture's. What it needs itself is put beside, in a folder that no host has. Its
API server is one of our making that knows no NodeFeature and keeps the one that it gets: no cluster is needed.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import threading

import process

ROOM = ".nfd-worker"
NAMESPACE = "e2e"
NODE = "node-a"
# Where it finds nothing, as in a container.
ENVIRONMENT = {"PATH": os.environ["PATH"], "NODE_NAME": NODE, "KUBERNETES_NAMESPACE": NAMESPACE}


def missing():
    """What this host lacks: one line, or an empty string."""
    return "" if os.geteuid() == 0 else "needs root (chroot)"


def libraries(program):
    """The loader of a program and the shared objects that it loads, as paths; none of a static one."""
    text = process.attempt(["ldd", program]).stdout
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", text)]


class Room:
    """Programs with what they load, and further files for them, in a folder that can lie in any root.

    directory: on the file system of the roots.
    """

    def __init__(self, directory):
        self.path = pathlib.Path(directory) / "room"
        self.path.mkdir()
        self.loader = {}

    def add(self, program):
        """Take a program in; returns its name there."""
        loaded = libraries(program)
        for path in (program, *loaded):
            shutil.copy(path, self.path)
        name = pathlib.Path(program).name
        self.loader[name] = next((path.name for path in loaded if path.name.startswith("ld-")), None)
        return name

    def file(self, root, name):
        """Path of a file of the room, for a program that has a root (None: this very host) for its own."""
        return f"/{ROOM}/{name}" if root else str(self.path / name)

    def command(self, root, name):
        """The words that become a program in a root; it lies beside the host's folders there."""
        if not root:
            return [self.path / name]
        beside = pathlib.Path(root) / ROOM
        beside.mkdir(exist_ok=True)
        for path in self.path.iterdir():
            (beside / path.name).unlink(missing_ok=True)  # it may be of another content by now
            os.link(path, beside / path.name)
        loader = self.loader[name]
        before = [self.file(root, loader), "--library-path", f"/{ROOM}"] if loader else []
        return ["chroot", root, *before, self.file(root, name)]


class _Server(http.server.ThreadingHTTPServer):
    """Keeps the body of the last object that was created."""

    daemon_threads = True
    created = None


class _Handler(http.server.BaseHTTPRequestHandler):
    """404 to every GET, the object itself to every POST."""

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # noqa: N802 (http.server's name)
        """Nothing is there."""
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
        self._answer(404, json.dumps(status).encode())

    def do_POST(self):  # noqa: N802 (http.server's name)
        """Take the object."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.created = json.loads(body)
        self._answer(201, body)

    def log_message(self, *_):
        """Say nothing."""


class ChrootWorker:
    """nfd-worker with a server that it publishes to.

    program: its path; room: a Room, in which it is taken.
    """

    def __init__(self, program, room):
        self.room = room
        self.name = room.add(program)
        self.server = _Server(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        kubeconfig = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": "x"}}]}
        (self.room.path / "kubeconfig").write_text(json.dumps(kubeconfig))

    def close(self):
        """End the server."""
        self.server.shutdown()
        self.server.server_close()

    def _publish(self, root, arguments, before=()):
        """The NodeFeature for a root that a call with more arguments publishes."""
        self.server.created = None
        process.run([*before, *self.room.command(root, self.name), "-oneshot", "-owner-refs=",
                     f"-kubeconfig={self.room.file(root, 'kubeconfig')}", *arguments], env=ENVIRONMENT)
        return self.server.created

    def publish(self, root, sources, before=()):
        """The NodeFeature for a root (path; None: this very host, and no chroot).

        sources: names of feature and label sources; before: words that go before the command (an emulator; not with
        a root).
        Raises process.PartFailed.
        """
        names = ",".join(sources)
        return self._publish(root, ["-config=", f"-feature-sources={names}", f"-label-sources={names}"], before)

    def publish_as(self, root, config):
        """The same for the text of an nfd-worker.conf."""
        (self.room.path / "nfd-worker.conf").write_text(config)
        return self._publish(root, [f"-config={self.room.file(root, 'nfd-worker.conf')}"])
