# SPDX-License-Identifier: GPL-2.0-or-later
"""The program under test: runs nfd-source with the settings of one test.

The environment variable NFD_SOURCE_BIN names the binary; without it the one of the default build
directory is taken.
"""

import json
import os
import pathlib
import signal

from process import Part, attempt, run

TOP = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("NFD_SOURCE_BIN", TOP / "build/nfd-source/nfd-source"))
API_BINARY = BINARY.with_name("nfd-source-api")

# Variables of the environment that it obeys, and those of a pod.
OURS = ("NFD_SOURCE_", "KUBERNETES_", "KUBECONFIG", "POD_NAME", "POD_UID")


def missing():
    """One line when the binary is not there, else an empty string."""
    return "" if os.access(BINARY, os.X_OK) else f"no program at {BINARY} (build it, or set NFD_SOURCE_BIN)"


class Program:
    """nfd-source on one root, writing to one features.d.

    directory: for its log and status file. root: fixture root (path), or None for this very host.
    settings: further KEY=VALUE texts, of which a later one wins; without any it talks to no API server.
    config: file with further settings, which a daemon reads again on SIGHUP; None: none.
    prefix: words of a command that becomes it (a mount namespace); variables: further environment.
    It runs under umask 077, so that modes are its own doing.
    """

    def __init__(self, directory, features_dir, node, root=None, settings=()):
        self.directory = pathlib.Path(directory)
        self.file = pathlib.Path(features_dir) / "nfd-source"
        self.status_file = self.directory / "status.json"
        self.root = root
        self.node = node
        self.config = None
        self.prefix = ()
        self.variables = {}
        self.settings = [
            f"outputs.featureFile.dir={features_dir}", "outputs.featureFile.mode=on",
            "outputs.nodeLabels.mode=off", "outputs.nodeFeature.mode=off",
            f"status.path={self.status_file}", *settings,
        ]

    def command(self, *arguments):
        """The words of a call."""
        words = [*self.prefix, BINARY]
        if self.root:
            words += ["--root", self.root]
        if self.config:
            words += ["--config", self.config]
        for setting in self.settings:
            words += ["--set", setting]
        return [*words, *arguments]

    def environment(self):
        """Our environment without what would change its settings, and with the node's name."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        return kept | {"NODE_NAME": self.node} | self.variables

    def call(self, *arguments):
        """Run a command to its end and return its stdout; PartFailed if it fails."""
        return run(self.command(*arguments), env=self.environment(), umask=0o077)

    def attempt(self, *arguments):
        """Run a command to its end; CompletedProcess with stdout and stderr, whatever its exit status."""
        return attempt(self.command(*arguments), env=self.environment(), umask=0o077)

    def status(self):
        """What the status command tells of the daemon: an object."""
        return json.loads(self.call("status", "-o", "json"))

    def scan(self):
        """The labels that a scan finds: key -> value."""
        lines = self.call("scan").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def start(self):
        """Start the daemon; the caller ends it."""
        return Part("nfd-source run", self.command("run"), self.directory / "nfd-source.log",
                    env=self.environment(), umask=0o077)


def rescan(daemon):
    """Tell a running daemon that its root has changed."""
    daemon.send(signal.SIGHUP)
