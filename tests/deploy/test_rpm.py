# SPDX-License-Identifier: GPL-2.0-or-later
"""The RPM package: what is in it, and its life in a root. The root is Debian's, whose libraries it was built with, so
that its programs and scripts really run; rpm itself works from outside."""

import re
import unittest

import packages
from packages import FEATURES, SETTINGS, UNITS, UNTOUCHED, in_root

HOOKS = (
    *("90-nfd-source.rules", "dnf-nfd-source.action", "dnf5-nfd-source.actions"),
    *("nfd-source-hook", "zypp-nfd-source"),
)
CONFIG, NOREPLACE = 1 << 0, 1 << 4  # RPMFILE_CONFIG, RPMFILE_NOREPLACE


class PackageTest(unittest.TestCase):
    """The package as a file."""

    def query(self, *words):
        """What rpm says of the package."""
        return packages.run("rpm", "--query", *words, "--package", packages.rpm()).stdout

    def test_files(self):
        """All is root's, and nothing lies where another program would run it unasked."""
        lines = self.query("--queryformat", "[%{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]").splitlines()
        self.assertEqual({line.split()[0] for line in lines}, {"root:root"})
        paths = {line.split()[1] for line in lines}
        unasked = re.compile(r"/etc/(?!nfd-source(/|$))|.*/(rules\.d|actions\.d|plugins|sysusers\.d|system-preset)/")
        self.assertEqual([path for path in paths if unasked.match(path)], [])
        wanted = {
            *("/usr/bin/nfd-source", "/usr/libexec/nfd-source-api", "/usr/libexec/nfd-source-nvml", f"/{SETTINGS}"),
            *(f"/usr/lib/systemd/system/{unit}" for unit in UNITS),
            *("/usr/lib/tmpfiles.d/nfd-source.conf", "/usr/share/bash-completion/completions/nfd-source"),
            *(f"/usr/share/nfd-source/{name}" for name in HOOKS),
            *(f"/usr/share/nfd-source/nonroot/{name}.conf" for name in ("service", "sysusers", "tmpfiles")),
        }
        self.assertEqual(sorted(wanted - paths), [])
        self.assertNotIn("/usr/share/nfd-source/apt-nfd-source.conf", paths)
        for page in ("man1/nfd-source.1", "man5/nfd-source.yaml.5"):
            self.assertTrue(any(path.startswith(f"/usr/share/man/{page}") for path in paths), page)

    def test_settings_are_the_administrators(self):
        """The settings file is marked so that an upgrade does not replace it."""
        self.assertEqual(self.query("--configfiles").split(), [f"/{SETTINGS}"])
        lines = self.query("--queryformat", "[%{FILENAMES} %{FILEFLAGS}\n]").splitlines()
        flags = int(dict(line.split() for line in lines)[f"/{SETTINGS}"])
        self.assertEqual(flags, CONFIG | NOREPLACE)

    def test_scripts(self):
        """Nothing is enabled, started or left to a preset."""
        text = self.query("--scripts")
        self.assertIn("try-restart", text)
        self.assertEqual(re.findall(r"\b(?:enable|start|restart|preset|link)\b", text.replace("try-restart", "")), [])

    def test_dependencies(self):
        """It asks for the libraries that its programs load, by the names that rpm finds itself."""
        text = self.query("--requires")
        for library in ("libpci.so.3", "libudev.so.1", "libyaml-0.so.2", "libcjson.so.1", "libcurl.so.4"):
            self.assertIn(library, text)


class LifeTest(unittest.TestCase):
    """Installation, upgrade and removal."""

    def setUp(self):
        packages.need("rpm")
        self.root = packages.new_root(self)

    def rpm(self, *words):
        """rpm for the root, with books of its own in there; Debian's packages are not in these."""
        return packages.beside_root(self.root, "rpm", "--root", self.root, "--dbpath", "/var/lib/rpm", *words)

    def test_life(self):
        """Installed, it works and nothing is enabled; upgraded, settings stay; removed, labels stay."""
        package = packages.rpm()
        self.rpm("--initdb")
        self.rpm("--install", "--nodeps", package)
        self.assertIn(package.name.split("-")[2], in_root(self.root, "nfd-source", "version").stdout)
        self.assertEqual(packages.enabled(self.root), UNTOUCHED)
        features, settings = self.root / FEATURES, self.root / SETTINGS
        self.assertEqual((oct(features.stat().st_mode), features.stat().st_uid), ("0o40755", 0))
        in_root(self.root, "nfd-source", "publish", "--no-wait")
        self.assertEqual(self.rpm("--verify", "--nodeps", "nfd-source").stdout, "")

        settings.write_text("core:\n  sleepInterval: 7m\n")
        self.rpm("--upgrade", "--replacepkgs", "--nodeps", package)
        self.assertEqual(settings.read_text(), "core:\n  sleepInterval: 7m\n")

        self.rpm("--erase", "nfd-source")
        self.assertFalse((self.root / "usr/bin/nfd-source").exists())
        self.assertFalse(settings.exists())
        self.assertEqual(settings.with_name("nfd-source.yaml.rpmsave").read_text(), "core:\n  sleepInterval: 7m\n")
        self.assertTrue((features / "nfd-source").exists(), "labels go when their time is up, not with the package")
        left = [path for path in self.root.glob("usr/**/*nfd-source*") if "dpkg" not in str(path)]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
