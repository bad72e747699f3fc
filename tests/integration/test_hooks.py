# SPDX-License-Identifier: GPL-2.0-or-later
"""The hooks for hosts without the daemon: they are read by udev and package managers, and start the right unit."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from program import ProgramTest

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
UNIT = "nfd-source-publish.service"


class Hooks(ProgramTest):
    """Each file under hooks/ that another program runs."""

    def talk(self, process, frame):
        """Send one frame of libzypp and read the answer, up to its NUL byte."""
        process.stdin.write(frame.encode() + b"\0")
        process.stdin.flush()
        answer = b""
        while not answer.endswith(b"\0"):
            byte = process.stdout.read(1)
            self.assertTrue(byte, f"ended instead of an answer to {frame!r}")
            answer += byte
        return answer

    def test_zypp_answers_each_frame(self):
        """libzypp waits for each answer; the trigger runs at the end of the commit and not before."""
        mark = self.tmp / "triggered"
        process = subprocess.Popen([HOOKS / "zypp-nfd-source"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, "NFD_SOURCE_TRIGGER": f"touch {mark}"})
        try:
            for frame in ("PLUGINBEGIN\nuserdata:x\n\n", "COMMITBEGIN\n\n{}"):
                self.assertEqual(self.talk(process, frame), b"ACK\n\n\0")
            self.assertFalse(mark.exists())
            self.assertEqual(self.talk(process, "COMMITEND\n\n{}"), b"ACK\n\n\0")
            self.assertTrue(mark.exists())
            process.stdin.close()
            self.assertEqual(process.wait(30), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_zypp_survives_a_failing_trigger(self):
        """A failure of ours never fails the package manager."""
        result = subprocess.run([HOOKS / "zypp-nfd-source"], input=b"COMMITEND\n\n{}\0", stdout=subprocess.PIPE,
                                env={**os.environ, "NFD_SOURCE_TRIGGER": "/nonexistent"}, check=True)
        self.assertEqual(result.stdout, b"ACK\n\n\0")

    @unittest.skipUnless(shutil.which("apt-config"), "no apt here: its hook is for Debian and Ubuntu")
    def test_apt_reads_its_hook(self):
        """apt itself parses the file and lists the command."""
        out = subprocess.run(["apt-config", "-c", HOOKS / "apt-nfd-source.conf", "dump", "DPkg::Post-Invoke"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn(f"systemctl --no-block restart {UNIT}", out)

    def test_dnf_lines(self):
        """Each line has the number of fields that the plugin takes and runs our unit."""
        for name, fields in (("dnf-nfd-source.action", 3), ("dnf5-nfd-source.actions", 5)):
            lines = [line for line in (HOOKS / name).read_text().splitlines() if not line.startswith("#")]
            self.assertTrue(lines)
            for line in lines:
                self.assertEqual(len(line.split(":", fields - 1)), fields, line)
                self.assertTrue(line.endswith(f"systemctl --no-block restart {UNIT}"), line)

    def test_udev_rule_lines(self):
        """Each rule is a list of KEY==\"value\" and RUN+=\"command\", and covers what the daemon listens to."""
        lines = [line for line in (HOOKS / "90-nfd-source.rules.in").read_text().splitlines()
                 if line and not line.startswith("#")]
        part = re.compile(r'^(ACTION|SUBSYSTEM)=="[a-z|]+"$|^RUN\+="/bin/systemctl --no-block restart [a-z-]+\.service"$')
        for line in lines:
            for word in line.split(", "):
                self.assertRegex(word, part)
            self.assertIn(UNIT, line)
        text = " ".join(lines)
        for word in ("bind", "unbind", "add", "remove", "pci", "usb", "module"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
