# SPDX-License-Identifier: GPL-2.0-or-later
"""Throw-away certificates for the scripted HTTPS server and its clients, made by openssl(1)."""

import base64
import subprocess
from pathlib import Path

SUBJECT_NAMES = "DNS:localhost,IP:127.0.0.1,IP:::1"
OTHER_NAME = "api.example.test"
LONG_AGO = ("20200101000000Z", "20200102000000Z")

CONFIG = """
[req]
distinguished_name = dn
[dn]
[ca]
default_ca = tool
[tool]
database = {directory}/index.txt
new_certs_dir = {directory}
rand_serial = yes
default_md = sha256
policy = policy
copy_extensions = copy
[policy]
commonName = supplied
"""


def openssl(*arguments):
    """Run openssl with these arguments; CalledProcessError has its complaints."""
    subprocess.run(["openssl", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, check=True)


class Certificates:
    """What two authorities issued, as NAME.crt and NAME.key in directory.

    ca, other-ca  authorities; all below is of ca unless it says otherwise
    server        for localhost, 127.0.0.1 and ::1
    other-name    for OTHER_NAME only
    expired       as server, but valid for one day of 2020
    strange       as server, of other-ca
    client        a client's, with the subject CN=client
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir()
        self.config = self.directory / "openssl.cnf"
        self.config.write_text(CONFIG.format(directory=self.directory))
        (self.directory / "index.txt").write_text("")
        for name in ("ca", "other-ca"):
            self._certificate(name, ["basicConstraints=critical,CA:TRUE"], ["-days", "2"])
        self._server("server", SUBJECT_NAMES)
        self._server("other-name", f"DNS:{OTHER_NAME}")
        self._server("strange", SUBJECT_NAMES, "other-ca")
        self._certificate("client", ["extendedKeyUsage=clientAuth"], self._signed_by("ca"))
        self._expired()

    def path(self, name):
        """Path of a file, such as server.key."""
        return self.directory / name

    def text(self, name):
        """Text of a file."""
        return self.path(name).read_text()

    def data(self, name):
        """A file in base64, as the fields ...-data of a kubeconfig have it."""
        return base64.b64encode(self.path(name).read_bytes()).decode()

    def secrets(self):
        """What of the private keys must not be printed anywhere: one line of each key, and the start of its base64."""
        keys = [path.name for path in self.directory.glob("*.key")]
        return [self.text(key).splitlines()[1] for key in keys] + [self.data(key)[60:120] for key in keys]

    def _new_key(self, name, *more):
        openssl("req", "-config", self.config, "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-subj", f"/CN={name}", "-keyout", self.path(f"{name}.key"), *more)

    def _signed_by(self, authority):
        return ["-days", "2", "-CA", self.path(f"{authority}.crt"), "-CAkey", self.path(f"{authority}.key")]

    def _certificate(self, name, extensions, signing):
        added = [word for extension in extensions for word in ("-addext", extension)]
        self._new_key(name, "-x509", *signing, *added, "-out", self.path(f"{name}.crt"))

    def _server(self, name, names, authority="ca"):
        self._certificate(name, [f"subjectAltName={names}", "extendedKeyUsage=serverAuth"], self._signed_by(authority))

    def _expired(self):
        # Only openssl-ca takes both dates in every version.
        request, (start, end) = self.path("expired.csr"), LONG_AGO
        self._new_key("expired", "-new", "-addext", f"subjectAltName={SUBJECT_NAMES}", "-out", request)
        openssl("ca", "-batch", "-notext", "-config", self.config, "-cert", self.path("ca.crt"),
                "-keyfile", self.path("ca.key"), "-startdate", start, "-enddate", end, "-in", request,
                "-out", self.path("expired.crt"))
