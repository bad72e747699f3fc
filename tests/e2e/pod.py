# SPDX-License-Identifier: GPL-2.0-or-later
"""A container of a Pod without a kubelet: its mounts, its user, its environment, its token, on a fixture root.

What the API server admitted is what counts, also what its admission plug-ins put in (the token's volume). The
container is a mount namespace with a root of its own: the system's programs and libraries instead of an image, the
pod's volumes, all else read-only; with the capabilities and the user of the pod. Network, processes and devices are the
host's.
"""

import os
import pathlib

import process
from program import BINARY

PROGRAM_FOLDER = str(BINARY.resolve().parent)
FEATURES_DIR = "/etc/kubernetes/node-feature-discovery/features.d"

# $1: an empty folder. Then SOURCE TARGET ro|rw for each volume, "--", UID, GID, capabilities, and the command.
ENTER = """
root=$1
shift
mount -t tmpfs -o mode=0755 none "$root"
for name in bin sbin lib lib32 lib64; do
	[ ! -L "/$name" ] || cp -a "/$name" "$root/"
done
while [ "$1" != -- ]; do
	if [ -d "$1" ]; then
		mkdir -p "$root$2"
	elif [ ! -e "$root$2" ]; then
		mkdir -p "$(dirname "$root$2")"
		: >"$root$2"
	fi
	mount --rbind "$1" "$root$2"
	[ "$3" != ro ] || mount -o remount,bind,ro "$root$2"
	shift 3
done
mount -o remount,ro "$root"
uid=$2 gid=$3 kept=$4
shift 4
cd /
exec chroot "$root" setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all --bounding-set="$kept" \\
	--no-new-privs --pdeathsig KILL -- "$@"
"""

# What stands in for the image.
IMAGE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/dev", "/proc", "/sys")


def image_mounts():
    """The system's own folders; those that are links are made as links."""
    for path in (*IMAGE, PROGRAM_FOLDER):
        if os.path.exists(path) and not os.path.islink(path):
            yield from (path, path, "rw" if path == "/dev" else "ro")


class Container:
    """The first container of a Pod.

    cluster: where it was admitted. pod: the object. directory: made here, for its volumes. root: fixture root, which is
    the host of its hostPath volumes. host_paths: other folders for some paths of the host. token: its service
    account's. log: of the daemon.
    """

    def __init__(self, cluster, pod, directory, root, host_paths, token):
        self.cluster, self.pod, self.token = cluster, pod, token
        self.directory, self.root, self.host_paths = pathlib.Path(directory), root, host_paths
        self.spec = pod["spec"]["containers"][0]
        self.log = self.directory / "container.log"
        (self.directory / "root").mkdir(parents=True)
        self.sources = {volume["name"]: self._make_volume(volume) for volume in pod["spec"]["volumes"]}

    def _make_volume(self, volume):
        """The folder or file that a volume stands for."""
        if "hostPath" in volume:
            path = volume["hostPath"]["path"]
            source = pathlib.Path(self.host_paths.get(path) or self.root / path.lstrip("/"))
            if volume["hostPath"]["type"] != "File":
                source.mkdir(parents=True, exist_ok=True)
            return source
        folder = self.directory / "volumes" / volume["name"]
        folder.mkdir(parents=True)
        for name, text in self._files(volume).items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o644)
        # As the kubelet makes an emptyDir.
        folder.chmod(0o777 if "emptyDir" in volume else 0o755)
        return folder

    def _files(self, volume):
        """The files of a volume that the kubelet fills: name -> text."""
        namespace = self.pod["metadata"]["namespace"]
        if "configMap" in volume:
            return self.cluster.api.request(
                "GET", f"/api/v1/namespaces/{namespace}/configmaps/{volume['configMap']['name']}")["data"]
        if "projected" in volume:
            return {"token": self.token, "namespace": namespace, "ca.crt": self.cluster.pki.file("ca.crt").read_text()}
        return {}

    def _user(self):
        """Its uid and gid."""
        context = self.spec["securityContext"]
        uid = context["runAsUser"]
        if context.get("runAsNonRoot") and not uid:
            raise process.PartFailed("the kubelet would not start it: runAsNonRoot with uid 0")
        return str(uid), str(context.get("runAsGroup", 0))

    def _capabilities(self):
        """What it keeps, in setpriv's words."""
        capabilities = self.spec["securityContext"]["capabilities"]
        if capabilities["drop"] != ["ALL"]:
            raise process.PartFailed("the pod keeps capabilities by default")
        return ",".join(["-all", *(f"+{name.lower()}" for name in capabilities.get("add", ()))])

    def environment(self):
        """Its variables: those of the pod, and those that the kubelet gives to each."""
        fields = {"spec.nodeName": self.pod["spec"]["nodeName"], "metadata.name": self.pod["metadata"]["name"]}
        variables = {item["name"]: fields[item["valueFrom"]["fieldRef"]["fieldPath"]]
                     for item in self.spec.get("env", ())}
        return variables | {
            "PATH": f"{PROGRAM_FOLDER}:/usr/sbin:/usr/bin:/sbin:/bin",
            "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}

    def enter(self, *command):
        """The words that become a command in the container."""
        mounts = list(image_mounts())
        for mount in self.spec["volumeMounts"]:
            source = self.sources[mount["name"]] / mount.get("subPath", "")
            mounts += [source, mount["mountPath"], "ro" if mount.get("readOnly") else "rw"]
        return ["unshare", "-m", "sh", "-ec", ENTER, "sh", self.directory / "root", *mounts, "--",
                *self._user(), self._capabilities(), *command]

    def start(self):
        """Start what the pod runs; the caller ends it."""
        return process.Part("container", self.enter(*self.spec["command"], *self.spec["args"]), self.log,
                            env=self.environment())

    def execute(self, *command):
        """As kubectl exec: CompletedProcess with stdout and stderr."""
        return process.attempt(self.enter(*command), env=self.environment())

    def call(self, command, *options):
        """One of the program's commands with the pod's global options; stdout, PartFailed when it fails."""
        words = [*self.spec["command"], *self.spec["args"][:-1], *options, command]
        return process.run(self.enter(*words), env=self.environment())
