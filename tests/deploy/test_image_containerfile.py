# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/image/Containerfile, built by buildah: it makes the image that build.sh makes.

No registry is asked: debian:12-slim is a root that mmdebstrap makes, in a store of the test's own.
"""

import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import oci

BASE = "docker.io/library/debian:12-slim"
# In a chroot instead of a container of its own: no more is needed, and it runs anywhere.
BUILD = ("bud", "--pull-never", "--isolation", "chroot", "--layers=false")
# As the published image has them.
DPKG_OPTIONS = ("force-unsafe-io", "path-exclude=/usr/share/doc/*", "path-exclude=/usr/share/locale/*",
                "path-exclude=/usr/share/man/*")
RECORDS = "var/lib/dpkg/status.d/"
CONFIG = ("User", "Env", "Entrypoint", "Cmd")


def base_root():
    """A tar of Debian 12 without documents, kept from run to run: the build updates what it needs of it."""
    oci.lacking("mmdebstrap")
    path = oci.CACHE / "debian-12-slim.tar"
    with oci.locked("debian-12-slim"):
        if not path.exists():
            temporary = path.with_suffix(".new.tar")
            options = [f"--dpkgopt={option}" for option in DPKG_OPTIONS]
            oci.call("mmdebstrap", "--variant=minbase", *options, "bookworm", temporary)
            temporary.rename(path)
    return path


def unversioned(paths):
    """Paths without the versions of libraries."""
    return {re.sub(r"\.so[.0-9]+$", ".so", path) for path in paths}


def contents(root):
    """What is in a root: for each path its mode and its bytes or where its link leads."""
    found = {}
    for path in root.rglob("*"):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


class Containerfile(unittest.TestCase):
    """One build."""

    def setUp(self):
        oci.lacking("buildah")
        self.image = oci.image()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="nfd-source-containerfile-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def buildah(self, *words):
        """Run buildah with a store of its own; its stdout."""
        return oci.call("buildah", "--root", self.directory / "store", "--runroot", self.directory / "run",
                        "--storage-driver", "vfs", *words).strip()

    def make_base(self):
        """debian:12-slim."""
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, base_root(), "/")
        self.buildah("commit", "--quiet", "--disable-compression", "--rm", container, BASE)

    def built(self):
        """Root and configuration of what the Containerfile makes of the files that are in git, or could be."""
        context = self.directory / "context"
        listed = oci.call("git", "-C", oci.TOP, "ls-files", "-z", "-c", "-o", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            if (oci.TOP / name).is_file():
                shutil.copy(oci.TOP / name, context / name)
        layout = self.directory / "layout"
        self.buildah(*BUILD, "--quiet", "-f", context / "deploy/image/Containerfile", "-t", "built", context)
        self.buildah("push", "--quiet", "--disable-compression", "built", f"oci:{layout}:built")
        oci.call("umoci", "raw", "unpack", "--image", f"{layout}:built", self.directory / "rootfs")
        manifest, = json.loads((layout / "index.json").read_text())["manifests"]
        blobs = layout / "blobs/sha256"
        config = json.loads((blobs / manifest["digest"][7:]).read_text())["config"]["digest"][7:]
        return self.directory / "rootfs", json.loads((blobs / config).read_text())["config"]

    def test_same_image(self):
        """The same files and the same configuration as build.sh, when Debian has had no update in between."""
        self.make_base()
        root, config = self.built()
        expected = self.image.config["config"]
        self.assertEqual({key: config.get(key) for key in CONFIG}, {key: expected.get(key) for key in CONFIG})
        labels = {key: value for key, value in config["Labels"].items() if key.startswith("org.opencontainers.")}
        self.assertEqual(labels, {key: value for key, value in expected["Labels"].items() if key in labels})
        ours, theirs = contents(root), contents(self.image.rootfs)
        self.assertEqual(unversioned(ours), unversioned(theirs))
        # The packages of build.sh may be those of an earlier run.
        if all(ours.get(path) == theirs[path] for path in theirs if path.startswith(RECORDS)):
            self.assertEqual({path for path in theirs if ours.get(path) != theirs[path]}, set())
