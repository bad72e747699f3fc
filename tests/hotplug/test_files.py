# SPDX-License-Identifier: GPL-2.0-or-later
"""What the daemon sees by inotify: driver libraries below the root, and its own file in features.d."""

import os
import shutil

from hotplug import PATIENCE, HotplugTest
from inotify import Watch
from program import SMALL, is_touch, renames, wait_for

OLD, NEW = "550.90.07", "550.107.02"
LOADED = f"nvidia {OLD} open loaded"
DEBIAN, FEDORA = "usr/lib/x86_64-linux-gnu", "usr/lib64"
MATCH = "driver-nvidia.match"
LIBRARY = "driver-nvidia.library.version.full"


def library(directory, version):
    """The description lines of an installed libnvidia-ml."""
    name = f"libnvidia-ml.so.{version}"
    return f"elf {directory}/{name} 64\nlink {directory}/libnvidia-ml.so.1 {name}"


def link_aside(target, path):
    """Replace a link as package managers do: made aside, renamed over the old one."""
    aside = path.with_name(f"{path.name}.dpkg-new")
    aside.symlink_to(target)
    os.rename(aside, path)


def upgrade_steps(folder):
    """What dpkg does for an upgrade, one call after the other."""
    old, new = folder / f"libnvidia-ml.so.{OLD}", folder / f"libnvidia-ml.so.{NEW}"
    unpacked = folder / f"{new.name}.dpkg-new"
    yield lambda: shutil.copyfile(old, unpacked)
    yield lambda: os.rename(unpacked, new)
    yield lambda: link_aside(new.name, folder / "libnvidia-ml.so.1")
    yield old.unlink


class Libraries(HotplugTest):
    """A driver package that changes behind a loaded module."""

    def renames_until_touch(self, watch):
        """How often our file was renamed into place, up to the touch after the last of it."""
        return len(renames(watch.until(is_touch, PATIENCE)))

    def upgrade(self, directory, after_each):
        """Upgrade the library in a folder; one publication tells of it, and the label never comes back."""
        root = self.tree(SMALL, LOADED, library(directory, OLD))
        daemon = self.begin(root)
        self.assertEqual(self.feature_file().labels[MATCH], "true")
        publications = self.publications()
        with Watch(self.features) as watch:
            for step in upgrade_steps(root / directory):
                scans = self.scans()
                step()
                after_each(scans)
            labels = self.await_key(daemon, MATCH, "false")
            self.assertEqual(labels[LIBRARY], NEW)
            self.assertEqual(self.renames_until_touch(watch), 1)
            self.assertEqual(renames(watch.read()), [])
        self.assertEqual(self.labels(root)[MATCH], "false")
        wait_for(lambda: self.publications() > publications, PATIENCE, "status")
        self.assertEqual(self.publications(), publications + 1)
        self.end(daemon)

    def test_upgrade(self):
        """At the speed of a package manager."""
        for directory in (DEBIAN, FEDORA):
            with self.subTest(directory):
                self.upgrade(directory, lambda scans: None)

    def test_slow_upgrade(self):
        """With a scan after each step of it."""
        self.upgrade(DEBIAN, lambda scans: self.await_scans(scans + 1))

    def test_upgrade_without_link(self):
        """The file is replaced, no link is there (a container's driver root)."""
        root = self.tree(SMALL, LOADED, f"elf {FEDORA}/libnvidia-ml.so.{OLD} 64")
        daemon = self.begin(root)
        (root / FEDORA / f"libnvidia-ml.so.{OLD}").rename(root / FEDORA / f"libnvidia-ml.so.{NEW}")
        self.await_key(daemon, MATCH, "false")

    def test_removal(self):
        """The package is removed: match goes, as one side of it is unknown."""
        root = self.tree(SMALL, LOADED, library(DEBIAN, OLD))
        daemon = self.begin(root)
        shutil.rmtree(root / DEBIAN)
        self.await_key(daemon, MATCH, None)

    def comes_later(self, directory, *there):
        """A library whose folder is not there at the start is noticed, and so is its next change."""
        root = self.tree(SMALL, LOADED, *there)
        daemon = self.begin(root)
        self.assertNotIn(MATCH, self.feature_file().labels)
        self.grow(root, library(directory, OLD))
        self.await_key(daemon, MATCH, "true")
        for step in upgrade_steps(root / directory):
            step()
        self.await_key(daemon, MATCH, "false")
        self.end(daemon)

    def test_folder_appears(self):
        """Folders that appear later: a driver container's, GKE's, those of a distribution."""
        for directory in (
            "run/nvidia/driver/usr/lib/x86_64-linux-gnu",
            "run/nvidia/driver/usr/lib64",
            "home/kubernetes/bin/nvidia/lib64",
            "opt/nvidia/lib64",
            "usr/local/nvidia/lib64",
            DEBIAN,
        ):
            with self.subTest(directory):
                self.comes_later(directory)

    def test_folder_fills_up(self):
        """The driver container's root is there, empty, before the driver."""
        for there in ("dir run/nvidia/driver", "dir run/nvidia/driver/usr/lib", "dir run/nvidia"):
            with self.subTest(there):
                self.comes_later("run/nvidia/driver/usr/lib/x86_64-linux-gnu", there)

    def test_folder_grows_slowly(self):
        """Each folder on the way is made after the daemon has looked at the one before."""
        root = self.tree(SMALL, LOADED)
        daemon = self.begin(root)
        path = root
        for part in "run/nvidia/driver/usr/lib/x86_64-linux-gnu".split("/"):
            path, scans = path / part, self.scans()
            path.mkdir()
            # Only a folder that is waited for makes it look; the last one holds the library.
            if part in ("run", "nvidia", "driver"):
                self.await_scans(scans + 1)
        self.grow(root, library("run/nvidia/driver/usr/lib/x86_64-linux-gnu", OLD))
        self.await_key(daemon, MATCH, "true")

    def test_driver_root_is_replaced(self):
        """A driver container restarts: its root goes and comes back with another version."""
        directory = "run/nvidia/driver/usr/lib/x86_64-linux-gnu"
        root = self.tree(SMALL, LOADED, library(directory, OLD))
        daemon = self.begin(root)
        shutil.rmtree(root / "run/nvidia")
        self.await_key(daemon, MATCH, None)
        self.grow(root, library(directory, NEW))
        self.await_key(daemon, MATCH, "false")

    def test_linked_folder(self):
        """A folder that is a link (usrmerge) is watched where it leads."""
        root = self.tree(SMALL, LOADED, f"dir {FEDORA}", "link lib64 usr/lib64", library(FEDORA, OLD))
        daemon = self.begin(root)
        for step in upgrade_steps(root / "lib64"):
            step()
        self.await_key(daemon, MATCH, "false")


class OurFile(HotplugTest):
    """Our file in features.d, and the folder itself."""

    def begin_small(self, settings=None):
        """A daemon at rest on a small machine, and the file that it wrote."""
        daemon = self.begin(self.tree(SMALL), settings)
        return daemon, self.feature_file()

    def await_file(self, daemon, before):
        """Wait until the file has what it had before."""
        self.await_labels(daemon, lambda labels: labels == before.labels)

    def mangle(self, path, text):
        """Put text into a file that is no longer ours to read as a feature file."""
        path.write_text(text)
        return path

    def test_removed(self):
        """Removed by somebody: put back."""
        daemon, before = self.begin_small()
        for _ in range(3):
            self.file.unlink()
            self.await_file(daemon, before)

    def test_replaced(self):
        """Replaced by somebody's file: put back."""
        daemon, before = self.begin_small()
        foreign = before.text.replace("pci-10de.present=true", "pci-10de.present=false")
        self.assertNotEqual(foreign, before.text)
        os.rename(self.mangle(self.tmp / "other", foreign), self.file)
        self.await_file(daemon, before)

    def test_written_into(self):
        """Somebody wrote into it: put back."""
        daemon, before = self.begin_small()
        self.mangle(self.file, before.text.replace("pci-10de.present=true", "pci-10de.present=false"))
        self.await_file(daemon, before)

    def test_renamed_away(self):
        """Renamed to another name: put back."""
        daemon, before = self.begin_small()
        os.rename(self.file, self.features / "elsewhere")
        self.await_file(daemon, before)

    def test_not_ours(self):
        """Files of other programs, our own renames and touches are no reason for anything."""
        daemon, _ = self.begin_small()
        before = self.watch_status()
        with Watch(self.features) as watch:
            for number in range(50):
                self.mangle(self.features / f"other-{number}", "vendor.example/a=b\n")
            events = [event for event in watch.collect(1.0) if event.name.startswith("nfd-source")]
        self.assertEqual(events, [], daemon.log)
        self.assertEqual(self.watch_status(), before)

    def test_folder_appears(self):
        """Mode auto: a features.d that appears later, with its parents, is used."""
        for last in ("features.d", "kubernetes/node-feature-discovery/features.d"):
            with self.subTest(last):
                folder = self.name("later") / last
                root = self.tree(SMALL)
                settings = {"outputs.featureFile.mode": "auto", "outputs.featureFile.dir": folder}
                daemon = self.daemon(root, settings=settings)
                wait_for(self.status.exists, PATIENCE, "status")
                self.assertFalse(folder.exists())
                folder.mkdir(parents=True)
                self.file = folder / self.file.name
                self.await_labels(daemon, lambda labels, root=root: labels == self.labels(root))
                self.end(daemon)

    def test_folder_is_made_again(self):
        """features.d is removed and made again: the file is put back, and watched there too."""
        for mode in ("auto", "on"):
            with self.subTest(mode):
                daemon, before = self.begin_small({"outputs.featureFile.mode": mode})
                shutil.rmtree(self.features)
                self.features.mkdir(exist_ok=True)
                self.await_file(daemon, before)
                self.file.unlink()
                self.await_file(daemon, before)
                self.end(daemon)

    def test_folder_is_missed_for_a_while(self):
        """features.d stays away until the daemon has looked, and then comes back."""
        daemon, before = self.begin_small({"outputs.featureFile.mode": "auto"})
        shutil.rmtree(self.features)
        wait_for(lambda: not self.watch_status()["outputs"][0]["on"], PATIENCE, "output that is off")
        self.features.mkdir()
        self.await_file(daemon, before)

    def test_folder_is_replaced(self):
        """features.d is renamed away and another one takes its place."""
        daemon, before = self.begin_small({"outputs.featureFile.mode": "auto"})
        os.rename(self.features, self.tmp / "old")
        self.features.mkdir()
        self.await_file(daemon, before)
