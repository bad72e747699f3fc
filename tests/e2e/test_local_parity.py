# SPDX-License-Identifier: GPL-2.0-or-later
"""In nfd-worker's place we make of the feature files of other programs what a stock nfd-worker makes of them.

Raw features key by key; labels as nfd-master would write them: its prefix before a bare key that nothing states
in full, and none in a namespace of Kubernetes that is not NFD's.
"""

import json
import pathlib
import tempfile
import unittest

import process
import program
import stand_in
from testcase import FEATURE, mktree

FEATURES_DIR = "etc/kubernetes/node-feature-discovery/features.d"
SOURCES = ("kernel", "system", "local")
HOST = """
file sys/devices/x 1
file proc/sys/kernel/osrelease 6.1.0-13-amd64
file etc/os-release ID=debian\\nVERSION_ID=12
"""

PAST = "# +expiry-time=2020-01-02T03:04:05Z\n"
FUTURE = "# +expiry-time=2120-01-02T03:04:05Z\n"
NO_LABEL = "# +no-label\n"
NO_FEATURE = "# +no-feature\n"
LONG = "x" * 63
DOMAIN = ".".join(["y" * 62] * 4)  # 251 bytes

# Name of a file to its content: text, bytes, None for a folder, or a path for a link.
CASES = {
    "no folder": None,
    "no file": {},
    "empty": {"a": ""},
    "lines": {"a": "example.com/a=1\nexample.com/b\nexample.com/c=\r\n\n \t example.com/d=4 \v\f\r\n\n=5\n=\n"
                   "example.com/e"},
    "bare keys": {"a": "a=1\nb\nc=\n"},
    "equals signs": {"a": "example.com/a = 1\nexample.com/b= 2\nexample.com/c =3\nexample.com/d=4=5\n"},
    "comments": {"a": "# a=1\n#a=1\n  # b=1\nc=1 # no comment\n##\n#\n"},
    "keys": {"a": f"-a=1\nb-=1\nc_.-D=1\n{LONG}=1\n{LONG}x=1\n/a=1\nexample.com/=1\nA.com/a=1\na..b/c=1\na/b/c=1\n"
                  f"-a.b/c=1\na-.b/c=1\n{DOMAIN}.y/{LONG}=1\n{DOMAIN}.yy/a=1\na b=1\nlocalhost/a=1\n"},
    "values": {"a": f"a=x y\nb=-x\nc=x-\nd={LONG}\ne={LONG}x\nf=_\ng=a_b.c-D\nh=\"1\"\ni=\xe4\n"},
    "duplicates": {"a": "a=1\na=2\nexample.com/b=1\nexample.com/b=bad value\n"},
    "files in byte order": {"b": "x=b\ny=b\n", "B": "x=B\nz=B\n", "a": "x=a\ny=a\nw=a\n", "10": "v=10\n", "9": "v=9\n"},
    "bad value in a later file": {"a": "example.com/a=1\n", "b": "example.com/a=bad value\n"},
    "no-label": {"a": f"{NO_LABEL}a=1\nb=1\n\n{NO_LABEL}\n# x\nc=1\n{NO_LABEL}{NO_LABEL}d=1\ne=1\n"},
    "no-feature": {"a": f"{NO_FEATURE}a=1\nb=1\n{NO_LABEL}{NO_FEATURE}c=1\n{NO_FEATURE}{NO_LABEL}d=1\ne=1\n"},
    "with a value": {"a": "# +no-label=false\na=1\n# +no-feature=\nb=1\n"},
    "taken back": {"a": f"a=1\n{NO_LABEL}a=2\nb=1\n{NO_FEATURE}b=2\nc=1\n{NO_LABEL}c=2\nc=3\n"},
    "not of an earlier file": {"a": "a=1\nb=1\n", "b": f"{NO_LABEL}a=2\nb=2\n{NO_LABEL}b=3\n"},
    "not over to the next file": {"a": f"{PAST}{NO_LABEL}{NO_FEATURE}", "b": "a=1\n"},
    "expired": {"a": f"a=1\n{PAST}b=1\n\n# x\nc=1\n{FUTURE}d=1\n"},
    "expired lines do nothing": {"a": f"a=1\nb=1\n{PAST}a=2\n{NO_LABEL}b=2\n{FUTURE}c=1\nd=1\n"},
    "forms of a time": {
        f"{number:02}": f"# +expiry-time={text}\nt{number:02}=1\n" for number, text in enumerate((
            "2020-01-02T03:04:05Z", " 2020-01-02T03:04:05Z \t", "2020-01-02T03:04:05.5Z", "2020-01-02T03:04:05+02:00",
            "2020-01-02T03:04:05-11:30", "2020-01-02T03:04:05.123456789-00:00", "2020-01-02 03:04:05Z", "2020-01-02",
            "2020-02-30T03:04:05Z", "2020-01-02T24:00:00Z", "2020-01-02T23:59:60Z", "2020-01-02T03:04:05", "1577934245",
            "2020-01-02T03:04:05.Z", "2020-01-02T03:04:05+0200", "20-01-02T03:04:05Z", "", "soon", "2020-1-2T03:04:05Z",
            "2020-01-02t03:04:05Z", "2020-01-02T03:04:05z", "2020-01-02T3:04:05Z", "2020-01-02T03:04:05,5Z",
            "2020-01-02T03:04:05+24:60", "2020-01-02T03:04:05+25:00", "2020-01-02T03:04:05+23:61",
            "2020-02-29T03:04:05Z", "0000-01-01T00:00:00Z", "2020-01-02T:04:05Z", "2020-01-02T03:4:05Z", "2020-01-02T03:04:5Z",
        ))},
    "no time": {"a": f"{PAST}# +expiry-time=soon\na=1\n# +expiry-time\nb=1\n# +expiry-time=\nc=1\n"},
    "no directives": {"a": "#+no-label\na=1\n#  +no-label\nb=1\n#\t+no-label\nc=1\n"},
    "unknown directives": {"a": "# + no-label\na=1\n# +no-label x\nb=1\n# +no-label =\nc=1\n# +No-Label\nd=1\n# +\n"
                                "e=1\n# +=\nf=1\n   # +no-label  \t\ng=1\n# +expiry-time =2020-01-02T03:04:05Z\nh=1\n"},
    "names": {".a": "a=1\n", "..b": "b=1\n", "c~": "c=1\n", "d.bak": "d=1\n", "#e#": "e=1\n", "f g": "f=1\n"},
    "folders and links": {"a": None, "b": pathlib.Path("nothing"), "c": pathlib.Path("a"), ".d": "d=1\n",
                          "e": pathlib.Path(".d"), "f": pathlib.Path("../../../os-release"),
                          "g": "g=1\n"},
    "65536 bytes": {"a": "a=1\n#" + "x" * 65531, "b": "b=1\n#" + "x" * 65532},
    "one long line": {"a": "a=1\nb=" + "x" * 60000 + "\nc=1\n"},
    "a bare key and the same in full": {"a": f"a=bare\n{FEATURE}a=full\nb=bare\n{FEATURE}b=bad value\n"},
    "over the labels of other sources": {"a": f"{FEATURE}system-os_release.ID=mine\nkernel-version.full=mine\n"},
    "namespaces": {"a": "kubernetes.io/a=1\nnode-role.kubernetes.io/a=1\nnfd.node.kubernetes.io/a=1\nk8s.io/a=1\n"
                        "x.feature.node.kubernetes.io/a=1\nprofile.node.kubernetes.io/a=1\nxkubernetes.io/a=1\n"},
    "not UTF-8": {"a": b"a=\xff\xc3\nb=\xed\xa0\x80\nc=1\n"},
    "NUL": {"a": b"a=1\n# +no-label\n# \x00\nb=1\n"},
}


def fill(directory, files):
    """Make features.d of a case."""
    if files is None:
        return
    directory.mkdir(parents=True)
    for name, content in files.items():
        path = directory / name
        if content is None:
            path.mkdir()
        elif isinstance(content, pathlib.Path):
            path.symlink_to(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_bytes(content.encode())


def local_features(attributes):
    """Elements of both features of the source."""
    return {name: (attributes[name].get("elements") or {}) for name in ("local.label", "local.feature")}


def is_refused(key):
    """Whether nfd-master takes no such label from anybody."""
    domain = key.split("/")[0]
    allowed = any(f".{domain}".endswith(f".{name}.node.kubernetes.io") for name in ("feature", "profile"))
    return f".{domain}".endswith(".kubernetes.io") and not allowed


def as_master(base, labels):
    """What a Node has of labels of a NodeFeature beside those that we find without any feature file."""
    full = {key: value for key, value in labels.items() if "/" in key and not is_refused(key)}
    bare = {FEATURE + key: value for key, value in labels.items() if "/" not in key}
    return {**bare, **base, **full}


class LocalParity(stand_in.WorkerCase):
    """One comparison for each folder."""

    def scan(self, root, features_dir):
        """Our labels and features of a root."""
        config = pathlib.Path(self.directory) / "config.yaml"
        config.write_text(json.dumps({
            "sources": "all", "outputs": {"featureFile": {"mode": "off", "dir": str(features_dir)}}}))
        return json.loads(process.run([program.BINARY, "--config", config, "--root", root, "scan", "-o", "json"]))

    def compare(self, files):
        """Both on one root; the links of the folder lead to the same for both only where they are relative."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        mktree.make_tree(HOST, str(root))
        fill(root / FEATURES_DIR, files)
        theirs = self.worker.publish(root, SOURCES)["spec"]
        mine = self.scan(root, root / FEATURES_DIR)
        without = self.scan(root, root / "nowhere")
        self.assertEqual(local_features(mine["features"]["attributes"]),
                         local_features(theirs["features"]["attributes"]))
        self.assertEqual(mine["labels"], as_master(without["labels"], theirs["labels"]))

    def test_folders(self):
        for name, files in CASES.items():
            with self.subTest(files=name):
                self.compare(files)


if __name__ == "__main__":
    unittest.main()
