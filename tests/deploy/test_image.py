# SPDX-License-Identifier: GPL-2.0-or-later
"""What deploy/image/build.sh makes: what is in it and what is not, the SBOM, one digest for one input, arm64."""

import gzip
import hashlib
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import tarfile
import tempfile
import unittest

import oci
from mktree import make_tree
from program import SMALL, bare, invoke, parse_lines, wait_for

PROGRAMS = {"usr/bin/nfd-source", "usr/libexec/nfd-source-api", "usr/libexec/nfd-source-nvml"}
RECORDS = "var/lib/dpkg/status.d"
LINKER = re.compile(r"usr/lib(64)?/([^/]*-linux-gnu/)?ld-linux-[a-z0-9-]+\.so\.[12]")
LIBRARY = re.compile(r"usr/lib/[^/]*-linux-gnu/[^/]*\.so[.0-9]*")
MACHINES = {"amd64": 62, "arm64": 183}  # e_machine of ELF
AIM_BYTES = 25 * 1000 * 1000
BOTH = ("--arch", "amd64", "--arch", "arm64")
SOON_S = 60
MEDIA_TYPES = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json")
REGISTRY_TRIES = 5
REGISTRY = """version: 0.1
storage:
  filesystem:
    rootdirectory: {directory}
http:
  addr: 127.0.0.1:{port}
"""


def files_of(root):
    """The regular files below a root: relative path to Path."""
    return {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file() and not path.is_symlink()}


def control_fields(path):
    """The fields of a package's record that fit on one line."""
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", path.read_text(), re.M))


def records(root):
    """The records of the packages of an image: fields by package name."""
    return {path.name: control_fields(path) for path in (root / RECORDS).iterdir() if path.suffix != ".md5sums"}


class TemporaryCase(unittest.TestCase):
    """A directory that goes with the test."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-image-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.directory.chmod(0o755)


class Content:
    """What must hold for the image of each architecture; a mixin."""

    arch = None

    def setUp(self):
        super().setUp()
        self.image = oci.image(self.arch)
        self.root = self.image.rootfs
        self.files = files_of(self.root)

    def test_nothing_but_our_programs_is_executed(self):
        """No shell, no package manager, no interpreter: every other file is a library, a record or a text."""
        started = {path for path, file in self.files.items() if file.stat().st_mode & 0o111}
        self.assertEqual({path for path in started if not LINKER.fullmatch(path) and not LIBRARY.fullmatch(path)},
                         PROGRAMS)
        self.assertEqual(len([path for path in self.files if LINKER.fullmatch(path)]), 1)
        for path, file in self.files.items():
            with open(file, "rb") as content:
                start = content.read(20)
            self.assertFalse(start.startswith(b"#!"), path)
            if start.startswith(b"\x7fELF"):
                self.assertEqual(int.from_bytes(start[18:20], "little"), MACHINES[self.arch], path)
                self.assertTrue(path in PROGRAMS or LIBRARY.fullmatch(path) or LINKER.fullmatch(path), path)

    def test_modes(self):
        """In the layers as they are: owner root, nothing setuid, no device, nothing that others may write."""
        for layer in self.image.manifest["layers"]:
            content = gzip.decompress(self.image.blob(layer["digest"]))
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                for member in archive:
                    self.assertEqual((member.uid, member.gid), (0, 0), member.name)
                    self.assertTrue(member.isfile() or member.isdir() or member.issym(), member.name)
                    self.assertFalse(member.mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX), member.name)
                    self.assertTrue(member.issym() or not member.mode & 0o022, member.name)
                    self.assertTrue(member.mode & 0o444 == 0o444, member.name)
                    self.assertFalse(any("capability" in name for name in member.pax_headers), member.name)

    def test_size(self):
        """Small enough; a new version of ours costs a node its own layer only."""
        sizes = [layer["size"] for layer in self.image.manifest["layers"]]
        self.assertLess(sum(sizes), AIM_BYTES)
        self.assertEqual(len(sizes), 2)
        self.assertLess(sizes[1], sizes[0] / 10)

    def test_config(self):
        """Not root by default, our program, labels, one name."""
        config, version = self.image.config, invoke("version").out.split()[1]
        self.assertEqual((config["os"], config["architecture"]), ("linux", self.arch))
        self.assertEqual(config["config"]["User"], "65534:65534")
        self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/nfd-source"])
        self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.version"], version)
        self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.licenses"], "GPL-2.0-or-later")
        self.assertEqual(self.image.name, f"docker.io/library/nfd-source:{version}")
        self.assertTrue(all(entry["created_by"] for entry in config["history"]))

    def test_records(self):
        """Each file of Debian's is the one of its package, and each package is here for a file."""
        owned = {}
        for name in records(self.root):
            lines = (self.root / RECORDS / f"{name}.md5sums").read_text().splitlines()
            self.assertTrue(lines, name)
            self.assertTrue((self.root / f"usr/share/doc/{name}/copyright").read_text(), name)
            owned.update({re.sub("^lib", "usr/lib", line.split(maxsplit=1)[1]): line.split()[0] for line in lines})
        for path, file in self.files.items():
            if LIBRARY.fullmatch(path) or LINKER.fullmatch(path) or path == "usr/share/misc/pci.ids":
                self.assertEqual(hashlib.md5(file.read_bytes()).hexdigest(), owned.get(path), path)
        for path in owned:
            self.assertTrue(os.path.lexists(self.root / path), path)

    def test_sbom(self):
        """The SBOM names the image by its digest, our program, and exactly the packages that are recorded in it."""
        document = json.loads(self.image.sbom.read_text())
        self.assertEqual((document["spdxVersion"], document["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        self.assertEqual(document["creationInfo"]["created"], self.image.config["created"])
        packages = {package["SPDXID"]: package for package in document["packages"]}
        self.assertEqual(len(packages), len(document["packages"]))
        links = {(each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"])
                 for each in document["relationships"]}
        image = packages.pop("SPDXRef-Image")
        self.assertEqual(links, {("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image"),
                                 *(("SPDXRef-Image", "CONTAINS", name) for name in packages)})
        self.assertEqual("sha256:" + image["checksums"][0]["checksumValue"], self.image.descriptor["digest"])
        program = packages.pop("SPDXRef-Program")
        self.assertEqual((program["name"], program["licenseDeclared"]), ("nfd-source", "GPL-2.0-or-later"))
        found = {package["name"]: package["versionInfo"] for package in packages.values()}
        expected = records(self.root)
        self.assertEqual(found, {name: fields["Version"] for name, fields in expected.items()})
        self.assertIn("libc6", found)
        for package in packages.values():
            name, fields = package["name"], expected[package["name"]]
            purl, = (each["referenceLocator"] for each in package["externalRefs"])
            self.assertTrue(purl.startswith(f"pkg:deb/debian/{name.replace('+', '%2B')}@"), purl)
            self.assertIn(f"?arch={fields['Architecture']}", purl)
            self.assertEqual(package["supplier"].partition(" (")[0][len("Organization: "):],
                             fields["Maintainer"].partition(" <")[0])
            self.assertRegex(package["SPDXID"], r"\ASPDXRef-[A-Za-z0-9.-]+\Z")

    def run_program(self, *words):
        """Run a program of the image, with the image's own linker and libraries: CompletedProcess."""
        raise NotImplementedError

    def test_libraries_are_complete(self):
        """The dynamic linker of the image finds all that the programs load, within the image."""
        linker, = (path for path in self.files if LINKER.fullmatch(path))
        for program in PROGRAMS:
            done = self.run_program(linker, "--list", self.inside(self.root / program))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("libc.so.6 => ", done.stdout)
            self.assertNotIn("not found", done.stdout + done.stderr)

    def test_scan(self):
        """The labels of a made machine are those that the program of this tree finds there."""
        fixture = make_tree(SMALL, str(self.directory / "host"))
        done = self.run_program("usr/bin/nfd-source", "--root", self.inside(fixture), "scan")
        self.assertEqual(done.returncode, 0, done.stderr)
        labels = bare(parse_lines(done.stdout))
        self.assertEqual(labels, bare(parse_lines(invoke("--root", fixture, "scan").out)))
        self.assertIn("pci-10de.present", labels)

    def inside(self, path):
        """A path of this machine as the program of the image sees it."""
        return path


class Amd64(Content, TemporaryCase):
    """The image for amd64; its programs run in a chroot."""

    arch = "amd64"

    def setUp(self):
        if oci.NATIVE != self.arch:
            self.skipTest(f"this machine is {oci.NATIVE}")
        super().setUp()
        self.copy = self.directory / "rootfs"
        shutil.copytree(self.root, self.copy, symlinks=True)

    def inside(self, path):
        if self.root in pathlib.Path(path).parents:
            return f"/{path.relative_to(self.root)}"
        shutil.copytree(path, self.copy / "fixture", symlinks=True)
        return "/fixture"

    def run_program(self, *words):
        return subprocess.run(["chroot", self.copy, f"/{words[0]}", *words[1:]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SOON_S, check=False)


class Arm64(Content, TemporaryCase):
    """The image for arm64, cross-built; its programs run under qemu-user."""

    arch = "arm64"

    def setUp(self):
        oci.lacking("qemu-aarch64")
        super().setUp()

    def run_program(self, *words):
        return subprocess.run(["qemu-aarch64", "-L", self.root, self.root / words[0], *words[1:]],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=SOON_S, check=False)


class Tools(TemporaryCase):
    """Other people's tools on the image."""

    def test_containerd(self):
        """A real containerd imports it under its name, and would run it as nobody."""
        image = oci.image()
        with oci.Containerd() as containerd:
            spec = containerd.spec(image)
            listed = containerd.ctr("images", "ls", f"name=={image.name}")
        self.assertIn(image.descriptor["digest"], listed)
        self.assertEqual(spec["process"]["user"]["uid"], 65534)
        self.assertEqual(spec["process"]["args"], ["/usr/bin/nfd-source"])
        self.assertEqual(spec["process"]["env"], ["PATH=/usr/bin"])

    def test_skopeo(self):
        """skopeo reads the archive and the layout, and finds the same."""
        oci.lacking("skopeo")
        image = oci.image()
        for source in (f"oci-archive:{image.archive}", f"oci:{image.layout}"):
            found = json.loads(oci.call("skopeo", "inspect", source))
            self.assertEqual(found["Digest"], image.descriptor["digest"])
            self.assertEqual(found["Layers"], [layer["digest"] for layer in image.manifest["layers"]])


class Registry:
    """Debian's docker-registry on a free port of the loopback address; use as a context manager."""

    def __init__(self, directory):
        self.directory, self.process = directory, None

    def _start(self):
        with socket.create_server(("127.0.0.1", 0)) as holder:
            self.port = holder.getsockname()[1]
        config = self.directory / "registry.yml"
        config.write_text(REGISTRY.format(directory=self.directory / "registry", port=self.port))
        with open(self.directory / "registry.log", "ab") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["setpriv", "--pdeathsig", "KILL", "--", "docker-registry", "serve", config],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/v2/")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def __enter__(self):
        # Another process may take the port between the search and the bind.
        for _ in range(REGISTRY_TRIES):
            self._start()
            if wait_for(lambda: self._answers() or self.process.poll() is not None, SOON_S, "docker-registry") and \
                    self.process.poll() is None:
                return self
        raise AssertionError((self.directory / "registry.log").read_text())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def manifest(self, name, reference):
        """What has been pushed: its digest, and the manifest or index."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON_S)
        connection.request("GET", f"/v2/{name}/manifests/{reference}", headers={"Accept": ", ".join(MEDIA_TYPES)})
        answer = connection.getresponse()
        return answer.headers["Docker-Content-Digest"], json.loads(answer.read())


class Again(TemporaryCase):
    """A second build, elsewhere."""

    def copy_tree(self, seconds):
        """The tree without git and without anything that was built, from a tarball of that time."""
        copy = self.directory / "elsewhere/tree"
        for path in oci.tree_files():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(oci.TOP / path, copy / path)
        for path in ("build-aux", "docs", "hooks", "completions"):
            shutil.copytree(oci.TOP / path, copy / path, dirs_exist_ok=True)
        (copy / "NEWS.md").touch()
        os.utime(copy / "NEWS.md", (seconds, seconds))
        return copy

    def test_same_digest_and_pushed(self):
        """The same input in another folder, as a release's files, umask and zone: the same bytes; a push of both."""
        oci.lacking("skopeo", "docker-registry")
        first = [oci.image(arch) for arch in oci.TRIPLETS]
        seconds = int(oci.call("date", "-d", first[0].config["created"], "+%s"))
        self.assertEqual(first[0].config["created"], first[1].config["created"])
        tree, output = self.copy_tree(seconds), self.directory / "output"
        environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        with Registry(self.directory) as registry:
            reference = f"127.0.0.1:{registry.port}/tools/nfd-source:test"
            done = oci.call(tree / "deploy/image/build.sh", "--output", output, "--packages", oci.packages(),
                            "--push", reference, "--insecure", *BOTH, umask=0o077,
                            env={**environment, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"})
            digest, index = registry.manifest("tools/nfd-source", "test")
            self.assertIn(digest, done)
            self.assertEqual({entry["platform"]["architecture"]: entry["digest"] for entry in index["manifests"]},
                             {image.arch: image.descriptor["digest"] for image in first})
            for image in first:
                pushed = registry.manifest("tools/nfd-source", image.descriptor["digest"])
                self.assertEqual(pushed, (image.descriptor["digest"], image.manifest))
        for image in first:
            second = oci.Image(output, image.arch)
            size = second.archive.stat().st_size
            self.assertIn(f"{second.archive}\n{size} bytes, {second.descriptor['digest']}\n", done)
            self.assertEqual(second.archive.read_bytes(), image.archive.read_bytes())
            self.assertEqual(second.sbom.read_bytes(), image.sbom.read_bytes())
        self.check_joined(output, first)

    def check_joined(self, output, images):
        """containerd takes its part out of the archive of both."""
        apart = {oci.Image(output, image.arch).archive for image in images}
        joined, = set(output.glob("*.oci.tar")) - apart
        with oci.Containerd() as containerd:
            containerd.ctr("images", "import", "--snapshotter", "native", joined)
            self.assertIn(f"linux/{oci.NATIVE}", containerd.ctr("images", "ls", f"name=={images[0].name}"))
            containerd.ctr("containers", "create", "--snapshotter", "native", images[0].name, "one")

    def test_time_of_the_commit(self):
        """That is the time that an image bears when nothing else is said."""
        seconds = oci.call("date", "-d", oci.image().config["created"], "+%s")
        self.assertEqual(seconds, oci.call("git", "-C", oci.TOP, "log", "-1", "--format=%ct"))


class Refusals(TemporaryCase):
    """build.sh says what is wrong."""

    def check(self, text, *words, status=1, **variables):
        """It fails with a text."""
        done = subprocess.run([oci.BUILD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, **variables}, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)

    def test_words(self):
        """Wrong words."""
        self.check('no architecture "riscv64"', "--arch", "riscv64")
        self.check("--output needs a value", "--output")
        self.check("usage:", "--faster", status=2)

    def test_missing_packages(self):
        """Without mmdebstrap: its name, and how to get it."""
        folder = self.directory / "bin"
        folder.mkdir()
        for program in pathlib.Path("/usr/bin").iterdir():
            if program.name not in ("mmdebstrap", "umoci"):
                (folder / program.name).symlink_to(program)
        self.check("missing packages: mmdebstrap umoci; --install", "--output", self.directory / "output",
                   PATH=str(folder))
