# SPDX-License-Identifier: GPL-2.0-or-later
"""The container image, built once for one state of the tree, and a Pod's container of it as a node would run it.

deploy/image/build.sh makes the image. A real containerd imports it and says what it would run: the image's user and
environment, its own mounts and its default seccomp profile. To that comes what the kubelet makes of the Pod: its
securityContext, volumes, words and limits. The result is run by the runc of the machine, with the host's network.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "deploy/image/build.sh"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nfd-source/image"
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
NATIVE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
# What the image is made of.
INPUTS = ("autogen.sh", "configure.ac", "Makefile.am", "COPYING", "*/Makemodule.am", "nfd-source", "deploy/image")
KEPT_S = 86400
READY_S = 60
# containerd 1.6 takes them out of the default set one by one.
DEFAULT_CAPABILITIES = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
                        "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT")
PROPAGATION = {"None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared"}
UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

CONTAINERD_CONFIG = """version = 2
root = "{directory}/root"
state = "{directory}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.aufs",
	"io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "{directory}/socket"
[ttrpc]
address = "{directory}/socket.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
path = "{directory}/opt"
"""


def lacking(*programs):
    """Skip the test when one of these programs, or root, is not there."""
    if os.geteuid():
        raise unittest.SkipTest("needs root")
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f"needs the program '{program}'")


def call(*command, **options):
    """Run a program to its end and return its stdout; AssertionError with its words when it fails."""
    done = subprocess.run([os.fspath(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600, check=False, **options)
    if done.returncode:
        raise AssertionError(f"status {done.returncode}: {done.args}\n{done.stdout}{done.stderr}")
    return done.stdout


def tree_files():
    """The files that the image is made of, sorted."""
    listed = call("git", "-C", TOP, "ls-files", "-z", "-c", "-o", "--exclude-standard", "--", *INPUTS)
    return [path for path in sorted(listed.split("\0")) if path and (TOP / path).is_file()]


def state(paths):
    """A hash of some files of the tree."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path}\0".encode() + (TOP / path).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def locked(name):
    """One process at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def packages():
    """Folder of Debian's packages for build.sh, kept from run to run."""
    return CACHE / f"packages-{state(['deploy/image/packages'])}"


class Image:
    """What build.sh left in a folder for one architecture, and the files of the image in rootfs-ARCH."""

    def __init__(self, folder, arch):
        self.arch = arch
        self.archive, = folder.glob(f"nfd-source-*-{arch}.oci.tar")
        self.layout = self.archive.with_suffix("")
        self.sbom = folder / f"{self.layout.stem}.spdx.json"
        self.rootfs = folder / f"rootfs-{arch}"

    @property
    def descriptor(self):
        """The entry of the layout's index: digest and name."""
        entry, = json.loads((self.layout / "index.json").read_text())["manifests"]
        return entry

    def blob(self, digest):
        """A blob's bytes."""
        return (self.layout / "blobs" / digest.replace(":", "/")).read_bytes()

    @property
    def manifest(self):
        """The manifest: config, layers."""
        return json.loads(self.blob(self.descriptor["digest"]))

    @property
    def config(self):
        """The image's configuration."""
        return json.loads(self.blob(self.manifest["config"]["digest"]))

    @property
    def name(self):
        """The name that it is imported under."""
        return self.descriptor["annotations"]["org.opencontainers.image.ref.name"]


def build(arch, output, **environment):
    """Run build.sh; packages are taken from, or put into, the cache."""
    with locked("packages"):
        call(BUILD, "--arch", arch, "--output", output, "--packages", packages(), env={**os.environ, **environment})


def remove_old():
    """Images of states of the tree that nobody has used for a day, and what killed builds left."""
    for folder in (*CACHE.glob("image-*-*"), *CACHE.glob("new-*")):
        if time.time() - folder.stat().st_mtime > KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def image(arch=NATIVE):
    """The Image of this state of the tree; built at most once. Skips the test where something is missing."""
    lacking("mmdebstrap", "umoci", "autoconf", "automake", "pkg-config", f"{TRIPLETS[arch]}-gcc")
    # Its time is that of the last commit.
    commit = call("git", "-C", TOP, "rev-parse", "--short", "HEAD").strip()
    folder = CACHE / f"image-{state(tree_files())}-{commit}-{arch}"
    with locked(f"image-{arch}"):
        if not folder.exists():
            remove_old()
            temporary = pathlib.Path(tempfile.mkdtemp(prefix="new-", dir=CACHE))
            try:
                build(arch, temporary)
                made = Image(temporary, arch)
                call("umoci", "raw", "unpack", "--image", f"{made.layout}:{made.name}", made.rootfs)
                temporary.rename(folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        os.utime(folder)
    return Image(folder, arch)


class Containerd:
    """A containerd with all that is its own in a new folder; use as a context manager."""

    def __init__(self):
        lacking("containerd", "ctr")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-containerd-"))
        config = self.directory / "config.toml"
        config.write_text(CONTAINERD_CONFIG.format(directory=self.directory))
        self.log = self.directory / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "-m", "containerd", "-c", config],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ctr(self, *words):
        """Run ctr, in the namespace of Kubernetes; its stdout."""
        return call("ctr", "-a", self.directory / "socket", "-n", "k8s.io", *words)

    def __enter__(self):
        end = time.monotonic() + READY_S
        while True:
            try:
                self.ctr("version")
                return self
            except AssertionError as error:
                if time.monotonic() > end or self.process.poll() is not None:
                    self.__exit__()
                    raise AssertionError(f"containerd: {error}\n{self.log.read_text()}") from error
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def spec(self, an_image):
        """Import an image; what containerd would run of it, without capabilities and with its seccomp profile."""
        self.ctr("images", "import", "--snapshotter", "native", an_image.archive)
        dropped = [word for name in DEFAULT_CAPABILITIES for word in ("--cap-drop", f"CAP_{name}")]
        self.ctr("containers", "create", "--snapshotter", "native", "--seccomp", *dropped, an_image.name, "one")
        return json.loads(self.ctr("containers", "info", "one"))["Spec"]


@functools.cache
def runtime_spec(arch=NATIVE):
    """What containerd would run of our image, as JSON text."""
    with Containerd() as containerd:
        return json.dumps(containerd.spec(image(arch)))


def size(text):
    """Bytes of a quantity of memory."""
    return int(text[:-2]) * UNITS[text[-2:]]


def mount_options(mount):
    """Options of a bind mount, from an entry of volumeMounts."""
    options = ["rbind", PROPAGATION[mount.get("mountPropagation", "None")]]
    if not mount.get("readOnly"):
        return [*options, "rw"]
    # Without "rro" only the top is read-only, and what is mounted below it stays writable.
    recursive = mount.get("recursiveReadOnly", "Disabled") != "Disabled"
    return [*options, "ro", *(["rro"] if recursive else [])]


def apply_security(spec, pod):
    """Put the pod's securityContext into a spec, as the kubelet and containerd do."""
    container = pod["containers"][0]
    context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
    process = spec["process"]
    if "runAsUser" in context:
        uid, gid = context["runAsUser"], context.get("runAsGroup", 0 if context["runAsUser"] == 0 else 65534)
        process["user"] = {"uid": uid, "gid": gid, "additionalGids": [gid]}
    if context.get("runAsNonRoot") and not process["user"]["uid"]:
        raise AssertionError("the kubelet would not start it: runAsNonRoot with uid 0")
    capabilities = context.get("capabilities", {})
    if capabilities.get("drop") != ["ALL"]:
        raise AssertionError("the pod keeps capabilities by default")
    # Nothing ambient: only uid 0 has them after all.
    added = [f"CAP_{name}" for name in capabilities.get("add", [])]
    process["capabilities"] = {each: added for each in ("bounding", "effective", "permitted")}
    process["noNewPrivileges"] = not context.get("allowPrivilegeEscalation", True)
    spec["root"]["readonly"] = context.get("readOnlyRootFilesystem", False)
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        del spec["linux"]["seccomp"]


def container_spec(pod, sources, rootfs, environment):
    """The runtime configuration of a pod's first container. pod: its spec; sources: path of each volume by its name."""
    spec, container = json.loads(runtime_spec()), pod["containers"][0]
    apply_security(spec, pod)
    process = spec["process"]
    process["args"] = [*container.get("command", process["args"]), *container.get("args", [])]
    process["env"] += [f"{name}={value}" for name, value in environment.items()]
    spec["root"]["path"] = str(rootfs)
    # /run is ctr's own idea; the kubelet's runtimes have none.
    spec["mounts"] = [mount for mount in spec["mounts"] if mount["destination"] != "/run"] + [
        {"destination": mount["mountPath"], "type": "bind",
         "source": str(sources[mount["name"]] / mount.get("subPath", "")),
         "options": mount_options(mount)} for mount in container["volumeMounts"]]
    linux = spec["linux"]
    linux["namespaces"] = [each for each in linux["namespaces"] if each["type"] != "network"]
    limit = container.get("resources", {}).get("limits", {}).get("memory")
    if limit:
        linux["resources"]["memory"] = {"limit": size(limit), "swap": size(limit)}
    return spec


class Runc:
    """Containers of one pod. directory: made here. pod, sources, environment: as for container_spec()."""

    def __init__(self, directory, pod, sources, environment):
        lacking("runc")
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.pod, self.sources, self.environment = pod, sources, environment
        # runc makes the folders of mounts in it.
        self.rootfs = self.directory / "rootfs"
        shutil.copytree(image().rootfs, self.rootfs, symlinks=True)

    def command(self, *words):
        """A new container's name, and the command that runs it with these words in place of the pod's (if any)."""
        name = f"nfd-source-{uuid.uuid4().hex[:12]}"
        spec = container_spec(self.pod, self.sources, self.rootfs, self.environment)
        spec["linux"]["cgroupsPath"] = f"/{name}"
        if words:
            spec["process"]["args"] = list(map(str, words))
        bundle = self.directory / name
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(spec))
        # Should the tests die, the container is told to end: runc passes the signal on.
        return name, ["setpriv", "--pdeathsig", "TERM", "--", *self.runc("run", "--bundle", bundle, name)]

    def runc(self, *words):
        """The words of a call of runc."""
        return ["runc", "--root", str(self.directory / "state"), *map(str, words)]

    def state(self, name):
        """What runc says of a container, None when it is not there."""
        done = subprocess.run(self.runc("state", name), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return None if done.returncode else json.loads(done.stdout)

    def remove(self, name):
        """Take away a container, also one that runs."""
        subprocess.run(self.runc("delete", "--force", name), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)

    def run(self, *words):
        """Run a container to its end; CompletedProcess with stdout and stderr."""
        name, command = self.command(*words)
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=120, check=False)
        finally:
            self.remove(name)

    def execute(self, name, *words):
        """As kubectl exec, in a running container."""
        return subprocess.run(self.runc("exec", name, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def start(self, log):
        """Start what the pod runs; a Running."""
        return Running(self, log)


class Running:
    """A container that runs; its log is a file."""

    def __init__(self, runc, log):
        self.runc, self.log_path = runc, pathlib.Path(log)
        self.name, command = runc.command()
        with open(log, "ab") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,  # pylint: disable=R1732
                                            stderr=output)

    @property
    def log(self):
        """All that it said."""
        return self.log_path.read_text(errors="replace")

    @property
    def pid(self):
        """The program's process id, as this machine sees it; 0 before it runs."""
        state_now = self.runc.state(self.name)
        return state_now["pid"] if state_now and state_now["status"] == "running" else 0

    def alive(self):
        """Whether it runs."""
        return self.process.poll() is None

    def stop(self, number=signal.SIGTERM):
        """Send a signal as the kubelet does, wait for the end, return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def kill(self):
        """As when the machine kills it: at once, whatever it does. Returns its exit status."""
        os.kill(self.pid, signal.SIGKILL)
        return self.process.wait(60)

    def execute(self, *words):
        """As kubectl exec: CompletedProcess with stdout and stderr."""
        return self.runc.execute(self.name, *words)

    def remove(self):
        """Take away all of it, also when it runs."""
        self.runc.remove(self.name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
