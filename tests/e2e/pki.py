# SPDX-License-Identifier: GPL-2.0-or-later
"""Throw-away certificates for one test cluster, made by openssl(1), and kubeconfig files for them."""

import base64
import json

import process

REQUEST_CONFIG = "[req]\ndistinguished_name = dn\n[dn]\n"
SERVER_EXTENSIONS = ("subjectAltName=DNS:localhost,IP:127.0.0.1", "extendedKeyUsage=serverAuth")
CLIENT_EXTENSIONS = ("extendedKeyUsage=clientAuth",)


class Pki:
    """A certificate authority and what it issued, as files NAME.crt and NAME.key in directory."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()
        self.file("request.cnf").write_text(REQUEST_CONFIG)
        self._issue("ca", "/CN=nfd-source-e2e", ("basicConstraints=critical,CA:TRUE",))
        self._issue("server", "/CN=kube-apiserver", SERVER_EXTENSIONS, signed=True)
        self.client("admin", "/O=system:masters/CN=admin")
        process.run(["openssl", "genpkey", "-algorithm", "RSA", "-out", self.file("tokens.key")])

    def file(self, name):
        """Path of a file of this authority."""
        return self.directory / name

    def client(self, name, subject):
        """Issue a client certificate. subject: as openssl's -subj, O is the group, CN the user."""
        self._issue(name, subject, CLIENT_EXTENSIONS, signed=True)

    def _issue(self, name, subject, extensions, signed=False):
        """Make NAME.key and NAME.crt; signed by ourselves when signed, else by its own key."""
        command = [
            "openssl", "req", "-x509", "-config", self.file("request.cnf"), "-days", "2", "-nodes",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", subject,
            "-keyout", self.file(f"{name}.key"), "-out", self.file(f"{name}.crt"),
        ]
        for extension in extensions:
            command += ["-addext", extension]
        if signed:
            command += ["-CA", self.file("ca.crt"), "-CAkey", self.file("ca.key")]
        process.run(command)

    def node(self, node):
        """Issue a kubelet's certificate for a node (once); returns the name of its files."""
        if not self.file(f"{node}.crt").exists():
            self.client(node, f"/O=system:nodes/CN=system:node:{node}")
        return node

    def data(self, name):
        """A file of this authority as a kubeconfig's -data fields have it."""
        return base64.b64encode(self.file(name).read_bytes()).decode()

    def kubeconfig(self, client, port):
        """The text of a kubeconfig (JSON, which is YAML) with all certificates inside it."""
        return self.kubeconfig_of(port, {"client-certificate-data": self.data(f"{client}.crt"),
                                         "client-key-data": self.data(f"{client}.key")})

    def kubeconfig_of(self, port, user):
        """The text of a kubeconfig. user: its one user's fields, as kubectl knows them."""
        return json.dumps({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "e2e",
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
            "clusters": [{"name": "e2e", "cluster": {
                "server": f"https://127.0.0.1:{port}",
                "certificate-authority-data": self.data("ca.crt"),
            }}],
            "users": [{"name": "e2e", "user": user}],
        })
