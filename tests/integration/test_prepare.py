# SPDX-License-Identifier: GPL-2.0-or-later
"""prepare: features.d for a daemon without root's rights, as an init container makes it."""

import os
import shutil
import subprocess
import unittest

from program import BINARY, FEATURE_FILE, SMALL, STAGING, ProgramTest, clean_environment

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


@unittest.skipUnless(os.geteuid() == 0, "only root gives folders away")
class Prepare(ProgramTest):
    """Who owns what afterwards, and what that is good for."""

    def setUp(self):
        super().setUp()
        self.root = self.tree(SMALL)

    def owner(self, path=None):
        """uid, gid and mode of features.d or another path."""
        status = os.stat(path or self.features)
        return status.st_uid, status.st_gid, oct(status.st_mode & 0o7777)

    def test_missing_folder(self):
        """Made with the folders above it, which stay root's."""
        self.features = self.tmp / "made/too/features.d"
        self.ok(self.root, "prepare", "65534")
        self.assertEqual(self.owner(), (65534, 65534, "0o755"))
        self.assertEqual(self.owner(self.features.parent), (0, 0, "0o755"))

    def test_group(self):
        """A group of its own."""
        self.ok(self.root, "prepare", "1000:2000")
        self.assertEqual(self.owner()[:2], (1000, 2000))

    def test_what_is_there_stays(self):
        """Files of others and ours stay as they are; a staging folder, which its new owner could not use, goes."""
        self.publish(self.root)
        self.assertTrue((self.features / STAGING).is_dir())
        (self.features / "other").write_text("x")
        self.ok(self.root, "prepare", "65534")
        self.assertEqual(sorted(os.listdir(self.features)), [FEATURE_FILE, "other"])
        self.assertEqual([self.owner(self.features / name)[0] for name in (FEATURE_FILE, "other")], [0, 0])

    def test_again(self):
        """A second time nothing happens, also while its user has a staging folder there."""
        self.ok(self.root, "prepare", "65534")
        staging = self.features / STAGING
        staging.mkdir(mode=0o700)
        self.assertIn("already", self.ok(self.root, "prepare", "65534").err)
        self.assertTrue(staging.is_dir())

    def test_another_owner(self):
        """Root that may do nothing of others' but change owners, as in an init container: from one user to the next."""
        if not shutil.which("setpriv"):
            self.skipTest("needs setpriv")
        staging = self.features / STAGING
        staging.mkdir(mode=0o700)
        (staging / "left").write_text("x")
        for path in (self.features, staging, staging / "left"):
            os.chown(path, 65534, 65534)
        command = ["setpriv", "--reuid=0", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all,+chown",
                   "--no-new-privs", BINARY, *self.options(self.root), "prepare"]
        for owner in ("1000:2000", "0"):
            done = subprocess.run([*map(str, command), owner], env=clean_environment(), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            uid, _, gid = owner.partition(":")
            self.assertEqual(self.owner()[:2], (int(uid), int(gid or uid)))
            self.assertFalse(staging.exists())
            staging.mkdir(mode=0o700)
            os.chown(staging, int(uid), int(uid))

    def test_link(self):
        """A features.d that is a link is followed, never replaced."""
        real = self.temporary_directory()
        self.features.rmdir()
        self.features.symlink_to(real)
        self.ok(self.root, "prepare", "65534")
        self.assertTrue(self.features.is_symlink())
        self.assertEqual(self.owner(real)[0], 65534)

    def test_daemon_of_nobody(self):
        """What it is for: uid 65534 takes over from root, and without it could not."""
        self.publish(self.root)
        status = self.temporary_directory()
        os.chown(status, 65534, 65534)
        settings = {"core.sleepInterval": "1h", "status.path": status / "status.json"}
        self.file.unlink()
        refused = self.run_program(self.root, "publish", "--no-wait", settings=settings, **NOBODY)
        self.assertEqual(refused.code, 1)
        self.ok(self.root, "prepare", "65534")
        daemon = self.start(self.root, "run", settings=settings, **NOBODY)
        self.published(daemon, lambda labels: "pci-10de.present" in labels)
        self.assertEqual(self.owner(self.file), (65534, 65534, "0o644"))

    def test_wrong_owners(self):
        """Refused with what is allowed, and nothing changes."""
        before = self.owner()
        for owner in ("", "nobody", "1:", ":1", "1:2:3", "4294967295", "99999999999", "1 2", "1.5"):
            with self.subTest(owner=owner):
                result = self.run_program(self.root, "prepare", owner)
                self.assertEqual(result.code, 2)
                self.assertIn("UID or UID:GID", result.err)
        self.assertEqual(self.owner(), before)

    def test_not_root(self):
        """Says which folder cannot be given."""
        os.chown(self.features, 1000, 1000)
        result = self.run_program(self.root, "prepare", "65534", **NOBODY)
        self.assertEqual(result.code, 1)
        self.assertIn(str(self.features), result.err)

    def test_no_folder(self):
        """A file in its place."""
        self.features.rmdir()
        self.features.write_text("x")
        self.assertEqual(self.run_program(self.root, "prepare", "65534").code, 1)
