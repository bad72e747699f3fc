# SPDX-License-Identifier: GPL-2.0-or-later
"""Field cases I (operating system facts) of spec/field-cases.md, each under its id."""

from program import ProgramTest, select

STEM = "system-os_release."


class FieldCasesI(ProgramTest):
    """I1."""

    def os_release(self, text, path="etc/os-release", *more):
        """The os-release labels for a file's text (mktree escapes)."""
        labels = self.labels(self.tree("dir sys/bus/pci/devices", f"file {path} {text}", *more))
        self.assert_legal(labels)
        return {key[len(STEM) :]: value for key, value in select(labels, STEM).items()}

    def test_FC_I1_no_version(self):
        """Rolling and testing releases have no VERSION_ID: no such label, the others stay."""
        for text in (
            'NAME="Arch Linux"\\nPRETTY_NAME="Arch Linux"\\nID=arch\\nBUILD_ID=rolling',
            'PRETTY_NAME="Debian GNU/Linux trixie/sid"\\nID=arch\\nVERSION_CODENAME=trixie',
            "ID=arch\\nVERSION_ID=",
            'ID=arch\\nVERSION_ID=""',
            "ID=arch\\nVERSION_ID=''",
        ):
            with self.subTest(text):
                self.assertEqual(self.os_release(text), {"ID": "arch"})

    def test_FC_I1_quotes(self):
        """Single and double quotes are undone; an escaped quote in another line does not confuse."""
        expected = {"ID": "example", "VERSION_ID": "12.4", "VERSION_ID.major": "12", "VERSION_ID.minor": "4"}
        for text in (
            "ID=example\\nVERSION_ID=12.4",
            "ID='example'\\nVERSION_ID='12.4'",
            'ID="example"\\nVERSION_ID="12.4"',
            'PRETTY_NAME="A \\\\"quoted\\\\" name"\\nID="example"\\nVERSION_ID="12.4"',
        ):
            with self.subTest(text):
                self.assertEqual(self.os_release(text), expected)

    def test_FC_I1_odd_lines(self):
        """Comments, blank lines, CRLF ends, lines without '=' and no final newline."""
        expected = {"ID": "example", "VERSION_ID": "12", "VERSION_ID.major": "12"}
        for text in (
            "# ID=comment\\n\\n   \\nID=example\\n#VERSION_ID=1\\nVERSION_ID=12\\c",
            "NAME=Example\\r\\nID=example\\r\\nVERSION_ID=12\\r".replace("\\r", "\\x0d"),
            "garbage\\n=nothing\\nID=example\\nVERSION_ID=12\\nID_LIKE=other",
        ):
            with self.subTest(text):
                self.assertEqual(self.os_release(text), expected)

    def test_FC_I1_fallback_path(self):
        """usr/lib/os-release counts where etc/os-release is missing, and only there."""
        text, path = "ID=fallback", "usr/lib/os-release"
        self.assertEqual(self.os_release(text, path), {"ID": "fallback"})
        self.assertEqual(self.os_release(text, path, "file etc/os-release ID=first"), {"ID": "first"})

    def test_FC_I1_link(self):
        """etc/os-release is usually a link; also an absolute one is resolved below the root."""
        for target in ("../usr/lib/os-release", "/usr/lib/os-release"):
            with self.subTest(target):
                labels = self.os_release("ID=linked", "usr/lib/os-release", f"link etc/os-release {target}")
                self.assertEqual(labels, {"ID": "linked"})

    def test_FC_I1_missing(self):
        """No file at all: no label and no failure."""
        labels = self.labels(self.tree("dir sys/bus/pci/devices", "file proc/sys/kernel/osrelease 6.8.0"))
        self.assert_none(labels, STEM)
        self.assertEqual(labels["kernel-version.full"], "6.8.0")
