# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: the container runtime and CDI (field case J3), each row on a fault and on a machine without it."""

from doctor_case import BAD, BOOT_S, UBUNTU, DoctorTest
from test_doctor_driver import VERSION

MAIN = "etc/containerd/config.toml"
DROP_IN = "etc/containerd/conf.d/99-nvidia.toml"
K3S = "var/lib/rancher/k3s/agent/etc/containerd/config.toml"
BINARY = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
IMPORTS = 'imports = ["/etc/containerd/conf.d/*.toml"]'
ROWS = ("GPU-CRI-DROPINVER", "GPU-CRI-WRONGFILE", "GPU-CRI-NOIMPORT", "GPU-CRI-NORUNTIME", "GPU-CRI-NORTTYPE",
        "GPU-CRI-BINARY", "GPU-CRI-NOTRESTARTED")
PLUGINS = {1: "plugins.cri", 2: 'plugins."io.containerd.grpc.v1.cri"', 3: "plugins.'io.containerd.cri.v1.runtime'"}


def runtime(plugin, binary=BINARY, runtime_type="io.containerd.runc.v2"):
    """The tables of the nvidia runtime, as TEXT of a file line."""
    table = f"{plugin}.containerd.runtimes.nvidia"
    kind = f'runtime_type = "{runtime_type}"\\n' if runtime_type else ""
    return f'[{table}]\\n{kind}[{table}.options]\\nBinaryName = "{binary}"'


def config(version, *parts, path=MAIN):
    """A configuration older than the process."""
    text = "\\n".join(([f"version = {version}"] if version > 1 else []) + list(parts))
    return f"file {path} {text}\nmtime {path} 1769000000"


class Containerd(DoctorTest):
    """The three shapes, imports, places."""

    def containerd(self, *lines):
        """The healthy machine with another configuration of containerd."""
        return self.machine(UBUNTU, "remove etc/containerd", *lines)

    def test_FC_J3_shapes(self):
        """Found in each version's own table, and by an import."""
        for version, plugin in PLUGINS.items():
            with self.subTest(version):
                default = f'[{plugin}.containerd]\\ndefault_runtime_name = "nvidia"'
                self.silent(self.containerd(config(version, default, runtime(plugin))), *ROWS, "GPU-CRI-NODEFAULT")
        for pattern in ("/etc/containerd/conf.d/*.toml", "conf.d/*.toml", "/etc/containerd/conf.d/99-nvidia.toml"):
            with self.subTest(pattern):
                root = self.containerd(config(3, f"imports = ['{pattern}']"),
                                       config(3, runtime(PLUGINS[3]), path=DROP_IN))
                self.silent(root, *ROWS)

    def test_no_runtime(self):
        """Not there at all, in a comment, or no file."""
        for lines in ([config(2)], [config(2, "#" + runtime(PLUGINS[2]).replace("\\n", "\\n#"))],
                      ["dir etc/containerd"]):
            with self.subTest(lines):
                root = self.containerd("remove run/cdi", *lines)
                self.both_ways(root, "GPU-CRI-NORUNTIME", "critical",
                               {MAIN if len(lines[0]) > 20 else "built-in defaults (there is no file)": "nvidia"},
                               ["nvidia-ctk runtime configure --runtime=containerd", "systemctl restart containerd"])

    def test_FC_J3_table_of_another_version(self):
        """A version 3 file with the table of version 2."""
        root = self.containerd("remove run/cdi", config(3, runtime(PLUGINS[2])))
        self.fires(root, "GPU-CRI-NORUNTIME", "critical", {MAIN: "under the plugin name of another version"})

    def test_no_runtime_but_cdi(self):
        """Injected by CDI: information."""
        self.fires(self.containerd(config(3)), "GPU-CRI-NORUNTIME", "info")

    def test_no_runtime_but_other_cdi_specifications(self):
        """The names that the operator and the device plugin give their specifications count as well."""
        text = (f'{{"cdiVersion":"0.5.0","kind":"k8s.device-plugin.nvidia.com/gpu","devices":[],"containerEdits":'
                f'{{"mounts":[{{"hostPath":"/usr/lib/x86_64-linux-gnu/libcuda.so.{VERSION}"}}]}}}}')
        root = self.containerd("remove run/cdi", config(3),
                               f"file run/cdi/k8s.device-plugin.nvidia.com-gpu.json {text}")
        self.fires(root, "GPU-CRI-NORUNTIME", "info")

    def test_no_import(self):
        """The drop-in is there, and the main file does not name it: the command names the folder it lies in."""
        for folder in ("conf.d", "config.d"):
            with self.subTest(folder):
                path = f"etc/containerd/{folder}/99-nvidia.toml"
                root = self.containerd(config(2), config(2, runtime(PLUGINS[2]), path=path))
                finding = self.both_ways(root, "GPU-CRI-NOIMPORT", "critical", {MAIN: "imports"},
                                         [f"/etc/containerd/{folder}/*.toml", "systemctl restart containerd"])
                self.assertIn(path, finding["cause"])
        root = self.containerd(config(2, f'[{PLUGINS[2]}]\\n{IMPORTS}'), config(2, runtime(PLUGINS[2]), path=DROP_IN))
        self.fires(root, "GPU-CRI-NOIMPORT", "critical")

    def test_drop_in_version(self):
        """A drop-in above the main file: containerd does not start again."""
        root = self.containerd(config(2, IMPORTS), config(3, runtime(PLUGINS[3]), path=DROP_IN))
        self.both_ways(root, "GPU-CRI-DROPINVER", "critical", {DROP_IN: "version = 3", MAIN: "version = 2"},
                       [f"sed -i 's/^version *=.*/version = 2/' /{DROP_IN}", "systemctl restart containerd"])
        self.silent(self.containerd(config(3, IMPORTS), config(2, runtime(PLUGINS[2]), path=DROP_IN)),
                    "GPU-CRI-DROPINVER")

    def test_runtime_type(self):
        """Without it no pod starts."""
        root = self.containerd(config(2, runtime(PLUGINS[2], runtime_type="")))
        self.both_ways(root, "GPU-CRI-NORTTYPE", "critical", {MAIN: "runtime_type"}, ["io.containerd.runc.v2"])

    def test_binary(self):
        """Missing, a dangling link; a bare name is looked up elsewhere."""
        for lines, binary in (([], "/opt/nvidia/runtime"), (["link opt/runtime /opt/gone"], "/opt/runtime")):
            with self.subTest(binary):
                root = self.containerd(config(2, runtime(PLUGINS[2], binary)), *lines)
                self.both_ways(root, "GPU-CRI-BINARY", "critical", {MAIN: binary, binary[1:]: "missing"},
                               ["apt-get install --reinstall nvidia-container-toolkit"])
        self.silent(self.containerd(config(2, runtime(PLUGINS[2], "nvidia-container-runtime"))), "GPU-CRI-BINARY")

    def test_not_restarted(self):
        """The file is newer than the process."""
        root = self.machine(UBUNTU, f"mtime {DROP_IN} {BOOT_S + 5000}")
        self.both_ways(root, "GPU-CRI-NOTRESTARTED", "warning",
                       {DROP_IN: "2026-02-02T04:03:20Z", "proc": "pid 800"}, ["systemctl restart containerd"])

    def test_not_default(self):
        """Information, as pods can ask for the class."""
        root = self.machine(UBUNTU, f"file {DROP_IN} version = 2\\n" + runtime(PLUGINS[2]),
                            f"mtime {DROP_IN} 1769000000")
        finding = self.both_ways(root, "GPU-CRI-NODEFAULT", "info", {MAIN: "runc"})
        self.assertIn("runtimeClassName", finding["cause"])

    def test_broken_file(self):
        """What is no TOML is not checked, and said."""
        report = self.report(self.containerd("file etc/containerd/config.toml version = = 2"))
        for name in ROWS:
            self.not_checked(report, name, "config.toml")

    def test_no_runtime_at_all(self):
        """No trace of a container runtime."""
        root = self.machine(UBUNTU, "remove etc/containerd", "remove proc/800")
        self.not_checked(self.report(root), "GPU-CRI-NORUNTIME", "no container runtime")

    def test_FC_J3_k3s(self):
        """Its own file decides; the advice names the template of that version of the file."""
        root = self.machine("doctor/k3s", "remove proc/600", "remove proc/610",
                            config(3, path=K3S), config(2, runtime(PLUGINS[2]), path=MAIN))
        finding = self.fires(root, "GPU-CRI-WRONGFILE", "critical", {MAIN: "has", K3S: "none"}, ["CONTAINERD_CONFIG"])
        self.assertIn("config-v3.toml.tmpl", finding["fix"][0])
        self.change(root, config(2, path=K3S))
        self.fires(root, "GPU-CRI-WRONGFILE", "critical", None, ["config.toml.tmpl"])
        self.silent(self.machine(), "GPU-CRI-WRONGFILE")

    def test_told_by_the_command_line(self):
        """-c, --config and --config= of the process."""
        for words in ("-c /opt/c.toml", "--config /opt/c.toml", "--log-level info --config=/opt/c.toml"):
            with self.subTest(words):
                root = self.machine(UBUNTU, config(2, runtime(PLUGINS[2]), path=MAIN), "remove proc/800",
                                    config(2, path="opt/c.toml"),
                                    f"process 800 containerd start=10 cmdline=/usr/bin/containerd {words}")
                self.fires(root, "GPU-CRI-WRONGFILE", "critical", {"opt/c.toml": "none"})

    def test_other_distributions(self):
        """rke2, microk8s, k0s."""
        for folder, path in (("var/lib/rancher/rke2/agent", "var/lib/rancher/rke2/agent/etc/containerd/config.toml"),
                             ("var/snap/microk8s/current", "var/snap/microk8s/current/args/containerd.toml"),
                             ("etc/k0s", "etc/k0s/containerd.toml")):
            with self.subTest(path):
                root = self.machine(UBUNTU, f"dir {folder}", config(2, path=path),
                                    config(2, runtime(PLUGINS[2]), path=MAIN))
                finding = self.fires(root, "GPU-CRI-WRONGFILE", "critical", {path: "none"})
                self.assertNotIn("nvidia-ctk", " ".join(finding["fix"]))
                self.change(root, config(2, runtime(PLUGINS[2]), path=path))
                self.silent(root, "GPU-CRI-WRONGFILE", "GPU-CRI-NORUNTIME")


class OtherRuntimes(DoctorTest):
    """CRI-O and Docker."""

    def test_crio(self):
        """No runtime, its program missing, and well."""
        path = "etc/crio/crio.conf.d/99-nvidia.toml"
        root = self.machine("doctor/rhel", f"file {path} [crio.runtime]\\ndefault_runtime = \"crun\"")
        self.both_ways(root, "GPU-CRI-NORUNTIME", "critical", {"etc/crio/crio.conf": "nvidia"},
                       ["nvidia-ctk runtime configure --runtime=crio", "systemctl restart crio"],
                       self.machine("doctor/rhel"))
        finding = self.fires(self.machine("doctor/rhel", "remove usr/bin/nvidia-container-runtime"), "GPU-CRI-BINARY",
                             "critical", {"usr/bin/nvidia-container-runtime": "missing"})
        self.assertNotIn("apt", " ".join(finding["fix"]))

    def test_docker(self):
        """daemon.json."""
        good = ('file etc/docker/daemon.json {"default-runtime":"nvidia","runtimes":'
                '{"nvidia":{"path":"/usr/bin/nvidia-container-runtime","runtimeArgs":[]}}}')
        lines = ["remove etc/containerd", "remove proc/800", "process 810 dockerd start=10",
                 "elf usr/bin/nvidia-container-runtime 64"]
        self.silent(self.machine(UBUNTU, *lines, good), *ROWS)
        root = self.machine(UBUNTU, *lines, "remove run/cdi", "file etc/docker/daemon.json {}")
        self.fires(root, "GPU-CRI-NORUNTIME", "critical", {"etc/docker/daemon.json": "nvidia"}, ["--runtime=docker"])
        root = self.machine(UBUNTU, *lines, "file etc/docker/daemon.json {")
        self.not_checked(self.report(root), "GPU-CRI-NORUNTIME", "JSON")


class Cdi(DoctorTest):
    """Specifications."""

    def test_stale(self):
        """A library of another version, or one that is missing."""
        spec = "var/run/cdi/nvidia.yaml"
        folder = "usr/lib/x86_64-linux-gnu"
        for more in (["elf usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15 64"], []):
            with self.subTest(more):
                root = self.machine(UBUNTU, *more)
                text = (root / "run/cdi/nvidia.yaml").read_text()
                (root / "run/cdi/nvidia.yaml").write_text(text.replace(f"libcuda.so.{VERSION}", "libcuda.so.570.86.15"))
                self.both_ways(root, "GPU-CDI-STALE", "critical",
                               {spec: f"/{folder}/libcuda.so.570.86.15", "sys/module/nvidia/version": VERSION},
                               ["nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml"])

    def test_json(self):
        """One in JSON, with the library in a device's edits."""
        text = ('{"cdiVersion":"0.5.0","kind":"management.nvidia.com/gpu","devices":[{"name":"all","containerEdits":'
                '{"mounts":[{"hostPath":"/usr/lib/libcuda.so.570.86.15","containerPath":"/x"}]}}]}')
        root = self.machine(UBUNTU, f"file etc/cdi/management.nvidia.com-gpu.json {text}")
        self.fires(root, "GPU-CDI-STALE", "critical", {"etc/cdi/management.nvidia.com-gpu.json": "missing"})

    def test_of_others(self):
        """Specifications of other vendors and files of another kind do not count."""
        text = "kind: example.com/gpu\\ncontainerEdits:\\n  mounts:\\n  - hostPath: /usr/lib/libx.so.570.86.15"
        root = self.machine(UBUNTU, f"file etc/cdi/other.yaml {text}", "file etc/cdi/broken.yaml {{{",
                            f"file etc/cdi/nvidia.yaml.bak kind: nvidia.com/gpu\\n{text}")
        self.silent(root, "GPU-CDI-STALE")

    def test_none(self):
        """Not checked without one; a warning where CDI is asked for and the toolkit should have made one."""
        root = self.machine(UBUNTU, "remove run/cdi")
        report = self.report(root)
        self.not_checked(report, "GPU-CDI-STALE", "no CDI specification")
        cdi = f"[{PLUGINS[2]}]\\nenable_cdi = true"
        root = self.machine(UBUNTU, "remove run/cdi", f"file {MAIN} version = 2\\n{IMPORTS}\\n{cdi}",
                            f"mtime {MAIN} 1769000000")
        self.both_ways(root, "GPU-CDI-UNRESOLVED", "warning", {"etc/cdi, var/run/cdi": "nvidia.com"},
                       ["nvidia-ctk cdi generate"])

    def test_not_switched_on(self):
        """A specification is there and the only way in, and containerd 1.7 has CDI off, or a file switches it off."""
        plugin = PLUGINS[2]
        for text in (f"version = 2\\n[{plugin}]\\nenable_cdi = false",
                     f"version = 3\\n[{PLUGINS[3]}]\\nenable_cdi = false"):
            with self.subTest(text):
                root = self.machine(UBUNTU, "remove etc/containerd", f"file {MAIN} {text}", f"mtime {MAIN} 1769000000")
                report = self.report(root)
                self.assertIn(self.find(report, "GPU-CDI-OFF")["verdict"], BAD)
        self.silent(self.machine(), "GPU-CDI-OFF")

    def test_by_nri(self):
        """The toolkit's NRI plugin injects without a runtime and without the runtime's own CDI."""
        config_off = f"file {MAIN} version = 2\\n[{PLUGINS[2]}]\\nenable_cdi = false"
        root = self.machine(UBUNTU, "remove etc/containerd", config_off, f"mtime {MAIN} 1769000000",
                            "file run/nri/nri.sock \\c")
        self.silent(root, "GPU-CDI-OFF")
        self.fires(root, "GPU-CRI-NORUNTIME", "info")
