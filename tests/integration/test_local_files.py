# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon in nfd-worker's place follows the feature files of other programs.

No output is on: what it has is in its status file. What a file may say is in tests/unit, and compared with a real
nfd-worker in tests/e2e/test_local_parity.py.
"""

import os
import shutil
import subprocess
import unittest

from program import BINARY, PREFIX, SMALL, ProgramTest, clean_environment, load_json, wait_for

OS_ID = PREFIX + "system-os_release.ID"


class LocalFiles(ProgramTest):
    """One daemon, and a folder that changes."""

    def follow(self, mode="all", settings=None):
        """Start the daemon and wait for its first scan."""
        self.root = self.tree(SMALL)
        daemon = self.daemon(self.root, settings={
            "sources.mode": mode, "outputs.featureFile.mode": "off", "watch.removalDelay": "0s", **(settings or {})})
        wait_for(self.status.exists, 15, "the first scan")
        return daemon

    def state(self):
        """The status file as it is now."""
        return load_json(self.status.read_text())

    def write(self, name, text):
        """As a writer of good manners: aside, then renamed."""
        staged = self.features / f".{name}"
        staged.write_text(text)
        os.rename(staged, self.features / name)

    def has(self, key, value, what):
        """Wait for a label; long before the next scan that no event asks for."""
        wait_for(lambda: self.state()["labels"].get(key) == value, 20, what)

    def test_file_comes_changes_and_goes(self):
        self.follow()
        self.write("other", "example.com/a=1\na=1\n")
        self.has("example.com/a", "1", "a new file")
        self.has(PREFIX + "a", "1", "a bare key")
        (self.features / "other").write_text("example.com/a=2\n")
        self.has("example.com/a", "2", "a file that is written in place")
        (self.features / "other").unlink()
        self.has("example.com/a", None, "a file that goes")

    def test_label_of_a_scanner_comes_back(self):
        """What a file hid is there again as soon as the file is gone."""
        self.write("other", f"{OS_ID}=mine\n")
        self.follow()
        self.has(OS_ID, "mine", "the file's label")
        (self.features / "other").unlink()
        self.has(OS_ID, "ubuntu", "the scanner's label")

    def test_folder_comes_later(self):
        (self.features / "nothing").mkdir()
        self.features = self.features / "nothing/features.d"
        self.follow()
        self.features.mkdir()
        self.write("other", "example.com/a=1\n")
        self.has("example.com/a", "1", "a file in a new folder")

    def test_own_file_and_broken_files(self):
        """Our own name and what is no feature file are passed over; a broken line costs only itself."""
        self.write("nfd-source", "example.com/own=1\n")
        os.mkfifo(self.features / "fifo")
        (self.features / "folder").mkdir()
        (self.features / "dangling").symlink_to("nothing")
        (self.features / "large").write_text("example.com/large=1\n" + "#" * 65536)
        self.write("other", "bad key=1\nexample.com/bad=x y\n# +nothing\nkubernetes.io/a=1\nexample.com/a=1")
        self.follow()
        self.has("example.com/a", "1", "the good line")
        keys = [key for key in self.state()["labels"] if not key.startswith(PREFIX)]
        self.assertEqual(sorted(key for key in keys if not key.startswith("nvidia.com/")), ["example.com/a"])

    def test_file_that_is_kept_from_us(self):
        """A pod of ours is nobody on the host: such a file says nothing, and puts nothing in doubt."""
        setpriv = shutil.which("setpriv")
        if os.geteuid() != 0 or not setpriv:
            self.skipTest("needs root and setpriv")
        self.write("other", "example.com/a=1\n")
        (self.features / "secret").write_text("example.com/b=1\n")
        (self.features / "secret").chmod(0o600)
        settings = {"sources.mode": "all", "outputs.featureFile.mode": "off"}
        command = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", BINARY,
                   *self.options(self.tree(SMALL), settings), "scan", "-o", "json"]
        done = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        if done.returncode in (126, 127):
            self.skipTest(f"user 65534 cannot start {BINARY}")
        found = load_json(done.stdout.decode())
        self.assertEqual(found["labels"]["example.com/a"], "1", done.stderr)
        self.assertNotIn("example.com/b", found["labels"])
        self.assertNotIn("", [each["keys"] for each in found["unknown"]], found["unknown"])

    def test_not_beside_nfd_worker(self):
        """There the files are nfd-worker's: neither read nor followed."""
        self.write("other", "example.com/a=1\n")
        daemon = self.follow("own")
        self.write("another", "example.com/b=1\n")
        # What was told of before the first of two scans is counted at the second.
        for _ in range(2):
            daemon.rescan(self.root)
        self.assertEqual(self.state()["watch"]["events"], 0)
        self.assertFalse([key for key in self.state()["labels"] if key.startswith("example.com/")])


if __name__ == "__main__":
    unittest.main()
