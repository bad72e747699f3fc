# SPDX-License-Identifier: GPL-2.0-or-later
"""A stock nfd-worker that has a fixture root for its own, and the NodeFeature that it publishes for it.

    published = ChrootWorker(nfd, directory).publish(root, ("kernel", "memory"))

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


def missing():
    """What this host lacks: one line, or an empty string."""
    return "" if os.geteuid() == 0 else "needs root (chroot)"


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


def libraries(program):
    """The loader of a program and the shared objects that it loads, as paths."""
    text = process.run(["ldd", program])
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", text)]


class ChrootWorker:
    """nfd-worker with a server that it publishes to.

    nfd: folder of NFD's programs. directory: for files of this object.
    """

    def __init__(self, nfd, directory):
        self.room = pathlib.Path(directory) / "room"
        self.room.mkdir()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.program = nfd / "nfd-worker"
        self.loaded = libraries(self.program)
        for path in (self.program, *self.loaded):
            shutil.copy(path, self.room)
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        kubeconfig = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": "x"}}]}
        (self.room / "kubeconfig").write_text(json.dumps(kubeconfig))

    def close(self):
        """End the server."""
        self.server.shutdown()
        self.server.server_close()

    def _confined(self, root):
        """The first words of a command below root; the program and its loader lie beside the host's folders."""
        room = root / ROOM
        shutil.copytree(self.room, room, dirs_exist_ok=True)
        words = ["chroot", root]
        loader = [path.name for path in self.loaded if path.name.startswith("ld-")]
        if loader:
            words += [f"/{ROOM}/{loader[0]}", "--library-path", f"/{ROOM}"]
        return [*words, f"/{ROOM}/nfd-worker", f"-kubeconfig=/{ROOM}/kubeconfig"]

    def _publish(self, root, arguments):
        """The NodeFeature for a root that a call with more arguments publishes."""
        if root:
            words = self._confined(pathlib.Path(root))
        else:
            words = [self.program, f"-kubeconfig={self.room}/kubeconfig"]
        self.server.created = None
        process.run([*words, "-oneshot", "-owner-refs=", *arguments],
                    env={"PATH": os.environ["PATH"], "NODE_NAME": NODE, "KUBERNETES_NAMESPACE": NAMESPACE})
        return self.server.created

    def publish(self, root, sources, options=None):
        """The NodeFeature for a root (path; None: this very host, and no chroot).

        sources: names of feature and label sources; options: the worker's "sources" configuration.
        Raises process.PartFailed.
        """
        return self._publish(root, ["-config=", f"-options={json.dumps({'sources': options or {}})}",
                                    f"-feature-sources={','.join(sources)}", f"-label-sources={','.join(sources)}"])

    def publish_as(self, root, config):
        """The same for the text of an nfd-worker.conf."""
        (self.room / "nfd-worker.conf").write_text(config)
        return self._publish(root, [f"-config={f'/{ROOM}' if root else self.room}/nfd-worker.conf"])
