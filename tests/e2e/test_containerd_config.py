# SPDX-License-Identifier: GPL-2.0-or-later
"""What doctor takes for containerd's effective configuration, beside what a real containerd says itself.

"containerd config dump" of Debian's 1.6 is the judge, in a private mount namespace whose /etc is that of the fixture
root. What it cannot judge is left to the fixtures: it takes files of version 3 without a word and reads none of their
sections, and it looks a wildcard with a relative path up from its working directory, which 1.7 mended.
"""

import json
import pathlib
import tempfile
import unittest

import cluster
import kubelet
import process
import program
from nodecase import GPUS
from testcase import mktree

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None

PLUGIN = "io.containerd.grpc.v1.cri"
MAIN, FOLDER = "etc/containerd/config.toml", "etc/containerd/conf.d"
DROP_IN = f"{FOLDER}/99-nvidia.toml"
BINARY = "/usr/bin/nvidia-container-runtime"
IMPORTS = 'imports = ["/etc/containerd/conf.d/*.toml"]\n'
NO_RUNTIME = {"GPU-CRI-NORUNTIME", "GPU-CRI-NOIMPORT", "GPU-CRI-WRONGFILE"}


def default(name="nvidia", plugin=f'"{PLUGIN}"'):
    """The text that makes a runtime the default one."""
    return f'[plugins.{plugin}.containerd]\ndefault_runtime_name = "{name}"\n'


def runtime(name="nvidia", plugin=f'"{PLUGIN}"', binary=BINARY):
    """The text of a runtime with a program of its own."""
    stem = f"plugins.{plugin}.containerd.runtimes.{name}"
    return f'[{stem}]\nruntime_type = "io.containerd.runc.v2"\n[{stem}.options]\nBinaryName = "{binary}"\n'


# By name: file -> text.
WHOLE = "version = 2\n" + default() + runtime()
CASES = {
    "default": {MAIN: WHOLE},
    "not the default": {MAIN: "version = 2\n" + runtime()},
    "another default": {MAIN: "version = 2\n" + default("kata") + runtime("kata") + runtime()},
    "no nvidia": {MAIN: "version = 2\n" + runtime("kata")},
    "no runtime_type": {MAIN: f'version = 2\n[plugins."{PLUGIN}".containerd.runtimes.nvidia.options]\n'
                              f'BinaryName = "{BINARY}"\n'},
    "no program": {MAIN: f'version = 2\n[plugins."{PLUGIN}".containerd.runtimes.nvidia]\n'
                         'runtime_type = "io.containerd.runc.v2"\n'},
    "dotted keys": {MAIN: f'version = 2\nplugins."{PLUGIN}".containerd.runtimes.nvidia.runtime_type = "a"\n'},
    "inline table": {MAIN: f'version = 2\n[plugins."{PLUGIN}".containerd.runtimes]\n'
                           'nvidia = { runtime_type = "a", options = { BinaryName = "/opt/n" } }\n'},
    "line ends of Windows": {MAIN: WHOLE.replace("\n", "\r\n")},
    "unknown key": {MAIN: "version = 2\nsomething = 1\n" + default() + runtime()},
    "version 1": {MAIN: default(plugin="cri") + runtime(plugin="cri")},
    "version 1, stated": {MAIN: "version = 1\n" + default(plugin="cri") + runtime(plugin="cri")},
    "names of version 2 without a version": {MAIN: default() + runtime()},
    "names of version 3 in version 2": {MAIN: "version = 2\n" + runtime(plugin='"io.containerd.cri.v1.runtime"')},
    "drop-in": {MAIN: "version = 2\n" + IMPORTS, DROP_IN: WHOLE},
    "drop-in takes the main file's default away": {
        MAIN: "version = 2\n" + IMPORTS + default(), DROP_IN: "version = 2\n" + runtime()},
    "drop-in takes the main file's runtime away": {
        MAIN: "version = 2\n" + IMPORTS + default() + runtime(),
        f"{FOLDER}/50-registry.toml": f'version = 2\n[plugins."{PLUGIN}".registry]\nconfig_path = "/etc/certs"\n'},
    "drop-in of another plugin": {
        MAIN: "version = 2\n" + IMPORTS + default() + runtime(),
        f"{FOLDER}/50-opt.toml": 'version = 2\n[plugins."io.containerd.internal.v1.opt"]\npath = "/srv"\n'},
    "last of two drop-ins": {
        MAIN: "version = 2\n" + IMPORTS, f"{FOLDER}/10-nvidia.toml": WHOLE,
        f"{FOLDER}/20-kata.toml": "version = 2\n" + runtime("kata")},
    "order of the list, not of the names": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/z.toml", "/etc/containerd/a.toml"]\n',
        "etc/containerd/z.toml": "version = 2\n" + runtime("kata"), "etc/containerd/a.toml": WHOLE},
    "drop-in of version 1": {
        MAIN: "version = 2\n" + IMPORTS, DROP_IN: "version = 1\n" + default(plugin="cri") + runtime(plugin="cri")},
    "drop-in that nothing imports": {MAIN: "version = 2\n", DROP_IN: WHOLE},
    "relative path": {MAIN: 'version = 2\nimports = ["conf.d/99-nvidia.toml"]\n', DROP_IN: WHOLE},
    "wildcard that matches nothing": {MAIN: "version = 2\n" + IMPORTS + default() + runtime()},
    "file that imports itself": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/*.toml"]\n' + default() + runtime()},
    "two files that import each other": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/a.toml"]\n' + default(),
        "etc/containerd/a.toml": f'version = 2\nimports = ["/{MAIN}"]\n' + runtime()},
    "drop-in without version": {MAIN: "version = 2\n" + IMPORTS, DROP_IN: default() + runtime()},
    "import of an import": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/a.toml"]\n',
        "etc/containerd/a.toml": "version = 2\n" + IMPORTS, DROP_IN: WHOLE},
    "import of an import takes the runtime away": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/a.toml"]\n',
        "etc/containerd/a.toml": "version = 2\n" + IMPORTS + default() + runtime(),
        f"{FOLDER}/20-kata.toml": "version = 2\n" + runtime("kata")},
    "wildcard for a folder": {
        MAIN: 'version = 2\nimports = ["/etc/containerd/*/nvidia.toml"]\n', f"{FOLDER}/nvidia.toml": WHOLE},
    "wildcard takes hidden files": {MAIN: "version = 2\n" + IMPORTS, f"{FOLDER}/.nvidia.toml": WHOLE},
}
BROKEN = {
    "open table": {MAIN: "version = 2\n[plugins\n"},
    "table twice": {MAIN: "version = 2\n" + default() + default() + runtime()},
    "broken drop-in": {MAIN: "version = 2\n" + IMPORTS, DROP_IN: "version = \n"},
}


class ContainerdConfig(unittest.TestCase):
    """One configuration a time, read by both."""

    def setUp(self):
        if not tomllib:
            self.skipTest("needs Python 3.11 (tomllib)")
        for missing in (program.missing(), cluster.missing(), kubelet.missing()):
            if missing:
                self.skipTest(missing)
        folder = tempfile.TemporaryDirectory(prefix="nfd-source-containerd-")
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def make_root(self, files):
        """A host with a GPU and these files below /etc/containerd; returns its root."""
        root = pathlib.Path(tempfile.mkdtemp(prefix="root-", dir=self.directory))
        mktree.make_tree(f"{GPUS}\ndir etc/containerd\n", str(root))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
        return root

    def containerd(self, root, command):
        """CompletedProcess of "containerd config COMMAND" on the root."""
        return process.attempt(["unshare", "-m", "sh", "-ec", kubelet.ENTER, "sh", root / "etc", "/etc", "--",
                                "containerd", "config", command])

    def truth(self, root, command="dump"):
        """What containerd makes of it: None without an nvidia runtime, else what counts of it."""
        done = self.containerd(root, command)
        self.assertEqual(done.returncode, 0, done.stderr)
        section = tomllib.loads(done.stdout)["plugins"][PLUGIN]["containerd"]
        nvidia = section["runtimes"].get("nvidia")
        return nvidia and {"typed": bool(nvidia["runtime_type"]), "default": section["default_runtime_name"],
                           "binary": nvidia.get("options", {}).get("BinaryName")}

    def report(self, root):
        """Doctor's report on the root, without NVML and the API server."""
        nfd_source = program.Program(self.directory, self.directory, "gpu-1", root)
        return json.loads(nfd_source.attempt("doctor", "-o", "json", "--no-api", "--no-nvml").stdout)

    def opinion(self, root):
        """The same of doctor, by what it finds: it names a program that is missing, and another default."""
        found = {each["id"]: each["evidence"][0]["value"] for each in self.report(root)["findings"]
                 if each["id"].startswith("GPU-CRI-")}
        if NO_RUNTIME & found.keys():
            return None
        return {"typed": "GPU-CRI-NORTTYPE" not in found, "binary": found.get("GPU-CRI-BINARY"),
                "default": found.get("GPU-CRI-NODEFAULT", 'default runtime "nvidia"').split('"')[1]}

    def test_same_runtimes_as_containerd(self):
        for name, files in CASES.items():
            with self.subTest(name):
                root = self.make_root(files)
                self.assertEqual(self.opinion(root), self.truth(root))

    def test_without_a_file_as_the_built_in_defaults(self):
        # "config dump" wants a file, unlike containerd itself.
        root = self.make_root({})
        self.assertEqual(self.opinion(root), self.truth(root, "default"))

    def test_file_that_containerd_refuses_is_not_judged(self):
        for name, files in BROKEN.items():
            with self.subTest(name):
                root = self.make_root(files)
                self.assertNotEqual(self.containerd(root, "dump").returncode, 0)
                report = self.report(root)
                self.assertEqual([each["id"] for each in report["findings"] if each["id"].startswith("GPU-CRI-")], [])
                (check,) = [each for each in report["checks"] if each["id"] == "GPU-CRI-NORUNTIME"]
                self.assertEqual(check["verdict"], "not-checked")
                self.assertIn(list(files)[-1], check["reason"])


if __name__ == "__main__":
    unittest.main()
