# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package: what is in it, and its life in a Debian root from installation to purge."""

import hashlib
import os
import re
import shutil
import stat
import tempfile
import unittest
from pathlib import Path

import packages
from packages import FEATURES, REPOSITORY, SETTINGS, UNTOUCHED, in_root

# What every installation of any package changes: the package manager's own books.
BOOKS = re.compile(r"(var/lib/(dpkg|apt)|var/cache|var/log|tmp|proc|etc/ld\.so\.cache$)")
HELPERS = ("usr/libexec/nfd-source-api", "usr/libexec/nfd-source-nvml")


def contents(root):
    """{path: what is there} of a root, but for the books."""
    found = {}
    for folder, folders, names in os.walk(root):
        here = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if not BOOKS.match(os.path.normpath(f"{here}/{name}"))]
        for name in folders + names:
            path = os.path.normpath(f"{here}/{name}")
            if not BOOKS.match(path):
                found[path] = entry(f"{root}/{path}")
    return found


def entry(path):
    """Kind, mode, owner and content of one file."""
    state = os.lstat(path)
    content = ""
    if stat.S_ISLNK(state.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(state.st_mode):
        content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return oct(state.st_mode), state.st_uid, state.st_gid, content


def difference(before, after):
    """Paths that came, went or changed."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


class PackageTest(unittest.TestCase):
    """The package as a file."""

    def test_lintian(self):
        """Lintian has nothing to say, down to the pedantic; what is overridden has its reason beside it."""
        packages.need("lintian")
        changes = packages.only(packages.debian(), "*.changes")
        words = ("--allow-root", "--display-info", "--pedantic", "--fail-on", "error,warning,info,pedantic")
        done = packages.run("lintian", *words, changes, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_names_and_versions(self):
        """Both packages are of the version in configure.ac, and ask for the libraries that configure asks for."""
        text = (REPOSITORY / "configure.ac").read_text()
        version = re.search(r"AC_INIT\(\[nfd-source\], \[(.*?)\]\)", text)[1]
        control = (REPOSITORY / "deploy/debian/control").read_text()
        spec = (REPOSITORY / "deploy/rpm/nfd-source.spec").read_text()
        changelog = (REPOSITORY / "deploy/debian/changelog").read_text()
        self.assertRegex(changelog, rf"\Anfd-source \({re.escape(version)}-\d+\) ")
        self.assertRegex(spec, rf"(?m)^Version: +{re.escape(version)}$")
        for name, least in re.findall(r"PKG_CHECK_MODULES\(\[\w+\], \[(\S+) >= (\S+?)\]", text):
            self.assertIn(f"pkgconfig({name}) >= {least}\n", spec)
            self.assertRegex(control, rf"\(>= (1:)?{re.escape(least)}\)", name)

    def test_files(self):
        """All is root's, and nothing lies where another program would run it unasked."""
        lines = packages.run("dpkg-deb", "--contents", packages.deb()).stdout.splitlines()
        owners = {line.split()[1] for line in lines}
        paths = {line.split()[5][2:] for line in lines if not line.split()[5].endswith("/")}
        self.assertEqual(owners, {"root/root"})
        unasked = re.compile(r"etc/(?!nfd-source/)|.*/(udev/rules|apt\.conf|sysusers|system-preset)\.?d?/")
        self.assertEqual([path for path in paths if unasked.match(path)], [])
        wanted = {
            *("usr/bin/nfd-source", *HELPERS, SETTINGS, "usr/lib/tmpfiles.d/nfd-source.conf"),
            *(f"lib/systemd/system/{unit}" for unit in packages.UNITS),
            *("usr/share/man/man1/nfd-source.1.gz", "usr/share/man/man5/nfd-source.yaml.5.gz"),
            *("usr/share/bash-completion/completions/nfd-source", "usr/share/nfd-source/90-nfd-source.rules"),
            *("usr/share/nfd-source/apt-nfd-source.conf", "usr/share/nfd-source/nfd-source-hook"),
            *(f"usr/share/nfd-source/nonroot/{name}.conf" for name in ("service", "sysusers", "tmpfiles")),
            *(f"usr/share/doc/nfd-source/{name}" for name in ("README.md.gz", "changelog.gz", "copyright")),
            "usr/share/doc/nfd-source/packages.md",
        }
        self.assertEqual(sorted(wanted - {re.sub(r"^usr/lib/systemd", "lib/systemd", path) for path in paths}), [])

    def test_hardened(self):
        """The programs are position independent, bound at start, and have no executable stack."""
        packages.need("readelf")
        with tempfile.TemporaryDirectory() as folder:
            packages.run("dpkg-deb", "--extract", packages.deb(), folder)
            for name in ("usr/bin/nfd-source", *HELPERS):
                text = packages.run("readelf", "-hldW", f"{folder}/{name}").stdout
                self.assertRegex(text, r"Type: +DYN", name)
                self.assertRegex(text, r"Flags: NOW.* PIE", name)
                self.assertRegex(text, r"GNU_STACK .* RW +0x", name)
                self.assertIn("GNU_RELRO", text, name)


class LifeTest(unittest.TestCase):
    """Installation, upgrade, removal and purge, in a root without a network."""

    def setUp(self):
        self.root = packages.new_root(self)
        self.tmp = Path(tempfile.mkdtemp(prefix="nfd-source-deb-"))
        self.addCleanup(shutil.rmtree, self.tmp)
        # A kubelet was here first.
        (self.root / "etc/kubernetes/manifests").mkdir(parents=True)
        self.features = self.root / FEATURES
        self.settings = self.root / SETTINGS

    def package_state(self):
        """What dpkg says of the package."""
        return in_root(self.root, "dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Version}", "nfd-source", check=False)

    def publish(self):
        """One publication; the feature file."""
        in_root(self.root, "nfd-source", "publish", "--no-wait")
        return self.features / "nfd-source"

    def test_life(self):
        """A root is after the purge what it was before the installation."""
        before = contents(self.root)

        packages.install(self.root, packages.deb())
        version = self.package_state().stdout.split()[1]
        self.assertIn(version.split("-")[0], in_root(self.root, "nfd-source", "version").stdout)
        self.assertEqual(packages.enabled(self.root), UNTOUCHED)
        state = self.features.stat()
        self.assertEqual((oct(state.st_mode), state.st_uid, state.st_gid), ("0o40755", 0, 0))
        self.assertEqual(list(self.features.iterdir()), [])
        new = [path for path in difference(before, contents(self.root)) if path.startswith(("etc/", "run/"))]
        parents = [str(path) for path in Path(FEATURES).parents if path.name not in ("", "etc", "kubernetes")]
        self.assertEqual(new, sorted([*parents, FEATURES, "etc/nfd-source", SETTINGS]))

        feature_file = self.publish()
        self.assertIn("feature.node.kubernetes.io/kernel-version.full=", feature_file.read_text())
        self.settings.write_text(self.settings.read_text() + "core:\n  sleepInterval: 7m\n")
        edited = self.settings.read_text()
        in_root(self.root, "systemctl", "enable", "nfd-source.service")

        said = packages.install(self.root, packages.repack(self.tmp, f"{version}.1"))
        self.assertIn("Setting up nfd-source", said)
        self.assertEqual(self.package_state().stdout, f"ii  {version}.1")
        self.assertEqual(self.settings.read_text(), edited)
        self.assertRegex(in_root(self.root, "nfd-source", "settings").stdout, "sleepInterval: 7m ")
        self.assertEqual(packages.enabled(self.root), {**UNTOUCHED, "nfd-source.service": "enabled"})

        in_root(self.root, "apt-get", "remove", "-q", "-y", "nfd-source")
        self.assertEqual(self.package_state().stdout, f"rc  {version}.1")
        self.assertFalse((self.root / "usr/bin/nfd-source").exists())
        self.assertEqual(self.settings.read_text(), edited)
        self.assertTrue(feature_file.exists(), "labels go when their time is up, not with the package")

        in_root(self.root, "apt-get", "purge", "-q", "-y", "nfd-source")
        self.assertEqual(difference(before, contents(self.root)), [])

    def test_others(self):
        """A purge leaves other programs' feature files; cleanup before it takes ours away at once."""
        packages.install(self.root, packages.deb())
        feature_file = self.publish()
        other = self.features / "other"
        other.write_text("example.com/other=true\n")
        in_root(self.root, "nfd-source", "cleanup")
        self.assertFalse(feature_file.exists())
        self.publish()
        in_root(self.root, "apt-get", "purge", "-q", "-y", "nfd-source")
        self.assertEqual([path.name for path in self.features.iterdir()], ["other"])
        self.assertTrue((self.root / "etc/kubernetes/manifests").is_dir())


if __name__ == "__main__":
    unittest.main()
