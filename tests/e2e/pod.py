# SPDX-License-Identifier: GPL-2.0-or-later
"""A container of a Pod without a kubelet: the built image, run by runc, on a fixture root.

What the API server admitted is what counts, also what its admission plug-ins put in (the token's volume). The image is
the one that deploy/image/build.sh makes of this tree; tests/lib/oci.py says how its container comes to be, and
tests/lib/pods.py fills its volumes. Only the network is the host's.
"""

import pathlib
import sys

import process

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import oci  # noqa: E402 (found by the line above)
import pods  # noqa: E402

FEATURES_DIR = "/etc/kubernetes/node-feature-discovery/features.d"


class ContainerPart(process.Part):
    """A running container; runc passes signals on to its program."""

    def __init__(self, runc, log):
        self.runc = runc
        self.container, command = runc.command()
        super().__init__("container", command, log)

    def end(self, *arguments):
        """As Part's own; nothing of the container is left after that, also when it would not end."""
        try:
            return super().end(*arguments)
        finally:
            self.runc.remove(self.container)


class Container:
    """The first container of a Pod.

    cluster: where it was admitted. pod: the object. directory: made here, for its volumes. root: fixture root, which is
    the host of its hostPath volumes. host_paths: other folders for some paths of the host. token: its service
    account's. log: of the daemon. volumes: its pods.Volumes.
    """

    def __init__(self, cluster, pod, directory, root, host_paths, token):
        self.cluster, self.pod, self.token = cluster, pod, token
        self.directory = pathlib.Path(directory)
        self.spec = pod["spec"]["containers"][0]
        self.log = self.directory / "container.log"
        self.running = None
        self.volumes = pods.Volumes(pod["spec"], self.directory / "volumes", pods.fixture_host(root, host_paths),
                                    self._settings(), self._account())
        self.runc = oci.Runc(self.directory / "runc", pod["spec"], self.volumes.sources, self.environment())

    def _settings(self):
        """The files of its ConfigMap."""
        name, = (volume["configMap"]["name"] for volume in self.pod["spec"]["volumes"] if "configMap" in volume)
        path = f"/api/v1/namespaces/{self.pod['metadata']['namespace']}/configmaps/{name}"
        return self.cluster.api.request("GET", path)["data"]

    def _account(self):
        """The files of its token."""
        return {"token": self.token, "namespace": self.pod["metadata"]["namespace"],
                "ca.crt": self.cluster.pki.file("ca.crt").read_text()}

    def environment(self):
        """Its variables: those of the pod, and those that the kubelet gives to each."""
        metadata = self.pod["metadata"]
        fields = {"spec.nodeName": self.pod["spec"]["nodeName"], "metadata.name": metadata["name"],
                  "metadata.uid": metadata["uid"]}
        return pods.environment(self.pod["spec"], fields, ("127.0.0.1", self.cluster.port))

    def start(self):
        """Start what the pod runs; the caller ends it."""
        self.running = ContainerPart(self.runc, self.log)
        return self.running

    def execute(self, *command):
        """As kubectl exec in the started container: CompletedProcess with stdout and stderr."""
        return self.runc.execute(self.running.container, *command)

    def call(self, command, *options):
        """One of the program's commands with the pod's global options, in a new container of the pod; its stdout.

        PartFailed when it fails.
        """
        done = self.runc.run(*self.spec["command"], *self.spec["args"][:-1], *options, command)
        if done.returncode:
            raise process.PartFailed(f"status {done.returncode}: {command}\n{done.stdout}{done.stderr}")
        return done.stdout
